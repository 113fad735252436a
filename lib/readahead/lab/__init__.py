"""A Jupyter server extension that sets TCP_NODELAY on the kernel's websocket.

By default the system holds a small answer back until the one before it is acknowledged (J. Nagle, RFC 896, 1984), and
the other side waits about 40 ms with that: every answer of the kernel, every step of a slider, is 40 ms late.

`config/` beside this file switches the extension on. Another connection class than the server's own (a gateway's,
say) is left alone.
"""

from __future__ import annotations

import asyncio
from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

SETTING = "kernel_websocket_connection_class"


class PromptConnection(ZMQChannelsWebsocketConnection):
    """The server's own connection from browser to kernel, with TCP_NODELAY set."""

    def connect(self) -> asyncio.Future[None] | None:
        """Set TCP_NODELAY, then connect as ever."""
        self.websocket_handler.set_nodelay(True)
        connected: asyncio.Future[None] | None = super().connect()
        return connected


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "readahead.lab"}]


def _load_jupyter_server_extension(app: Any) -> None:
    if app.web_app.settings.get(SETTING) is ZMQChannelsWebsocketConnection:
        app.web_app.settings[SETTING] = PromptConnection
        app.log.info("readahead | kernel websockets answer without delay (TCP_NODELAY)")
