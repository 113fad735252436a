"""`python -m readahead lab`: starts JupyterLab on a notebook, as `make lab` does, or on a copy of all of them.

The settings of `config/` beside this file stand in front of the learner's own, which are neither changed nor hidden.
Token and password stay as JupyterLab has them. They switch on what stands at the end of this file: a server extension
that sets TCP_NODELAY on the kernel's websocket. By default the system holds a small answer back until the one before it
is acknowledged (J. Nagle, RFC 896, 1984), and the other side waits about 40 ms with that: every answer of the kernel,
every step of a slider, is 40 ms late.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

from readahead import paths
from readahead.errors import DataError

START = "00_start_here.ipynb"
CONFIG = Path(__file__).with_name("config")
"""Settings for the workbook: our server extension on, the news pop-up off."""
SETTING = "kernel_websocket_connection_class"


def arguments(notebook: Path | None = None, *, browser: bool = True, port: int | None = None) -> list[str]:
    """Return JupyterLab's arguments for opening `notebook` (the start notebook) in the folder of the repository.

    A notebook elsewhere is served from its own folder. Raises `DataError` for one that is not there.
    """
    notebook = (notebook or paths.NOTEBOOKS / START).resolve()
    if not notebook.is_file():
        raise DataError(f"There is no notebook {notebook}. The chapters are in {paths.NOTEBOOKS}.")
    root = paths.ROOT if notebook.is_relative_to(paths.ROOT) else notebook.parent
    address = quote(notebook.relative_to(root).as_posix())
    chosen = [f"--ServerApp.root_dir={root}", f"--LabApp.default_url=/lab/tree/{address}"]
    chosen += [] if browser else ["--no-browser"]
    chosen += [] if port is None else [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        chosen.append("--allow-root")  # a container's only user is root, and Jupyter refuses it otherwise
    return chosen


def copied(folder: Path) -> Path:
    """Copy the notebooks into a folder, but for those that are there, and return the first. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in paths.NOTEBOOKS.glob("*.ipynb"):
        if not (folder / notebook.name).exists():
            shutil.copyfile(notebook, folder / notebook.name)
    return folder / START


def config_path(own: str | None) -> str:
    """Return where Jupyter looks for settings: ours first, then those of the learner's JUPYTER_CONFIG_PATH."""
    return os.pathsep.join([str(CONFIG), *([own] if own else [])])


@click.command()
@click.option("--no-browser", is_flag=True, help="Print the address, open nothing.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Use this port or fail. Without it: 8888 or the next free."
)
@click.argument("place", required=False, type=click.Path(path_type=Path))
def lab(*, place: Path | None, no_browser: bool, port: int | None) -> None:
    """Open the workbook in JupyterLab, or PLACE: a notebook, or a folder, into which the notebooks are copied.

    A notebook that is in the folder already is left as it is. Of an installed workbook the folder is ./readahead if
    none is named.
    """
    place = place or (None if paths.IS_CHECKOUT else Path("readahead"))
    if place is not None and place.suffix != ".ipynb":
        place = copied(place)
    chosen = arguments(place, browser=not no_browser, port=port)
    os.environ["JUPYTER_CONFIG_PATH"] = config_path(os.environ.get("JUPYTER_CONFIG_PATH"))
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(chosen)


# -- the server extension -------------------------------------------------------------------------------
class PromptConnection(ZMQChannelsWebsocketConnection):
    """The server's own connection from browser to kernel, with TCP_NODELAY set."""

    def connect(self) -> asyncio.Future[None] | None:
        """Set TCP_NODELAY, then connect as ever."""
        self.websocket_handler.set_nodelay(True)
        connected: asyncio.Future[None] | None = super().connect()
        return connected


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    # Another connection class than the server's own (a gateway's, say) is left alone.
    if app.web_app.settings.get(SETTING) is ZMQChannelsWebsocketConnection:
        app.web_app.settings[SETTING] = PromptConnection
        app.log.info("readahead | kernel websockets answer without delay (TCP_NODELAY)")
