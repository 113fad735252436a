"""The JupyterLab that `make lab` starts, really started, with a kernel asked something over its websocket."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
import websocket

from readahead import paths
from readahead.commands import lab as command
from readahead.errors import DataError

TOKEN = "a-token-for-the-test"
WATCH = """
import readahead.commands.lab as extension, socket
before = extension.PromptConnection.connect
def connect(self):
    result = before(self)
    held = self.websocket_handler.ws_connection.stream.socket
    print("NODELAY", held.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), type(self).__name__, flush=True)
    return result
extension.PromptConnection.connect = connect
import sys
from readahead.__main__ import run
sys.exit(run(sys.argv[1:]))
"""
"""Starts the command as ever, and prints the socket option of each connection once it is made."""


@dataclass
class Lab:
    port: int
    log: Path
    home: Path

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("home")
    notebook = home / "my notebook.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), notebook)
    running = Lab(port=free_port(), log=home / "log", home=home)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
    command = [sys.executable, "-c", WATCH, "lab", "--no-browser", "--port", str(running.port), str(notebook)]
    with running.log.open("wb") as log:
        process = subprocess.Popen(
            command, env=kept | {"HOME": str(home), "JUPYTER_TOKEN": TOKEN}, stdout=log, stderr=log
        )
    try:
        wait_until_ready(running, process)
        yield running
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_ready(lab: Lab, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            lab.ask("/api/status")
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"JupyterLab did not start:\n{lab.log.read_text()}")


def test_a_kernel_s_connection_is_ours_and_does_not_wait(lab: Lab) -> None:
    kernel = lab.ask("/api/kernels", {"name": "python3"})["id"]
    address = f"ws://127.0.0.1:{lab.port}/api/kernels/{kernel}/channels?session_id=one&token={TOKEN}"
    connection = websocket.create_connection(address, timeout=30)
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "kernel_info_request", "session": "one", "username": ""}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": {}, "channel": "shell"}
    connection.send(json.dumps(message))
    while json.loads(connection.recv())["msg_type"] != "kernel_info_reply":
        pass
    connection.close()
    for _ in range(100):  # its line may come a little later than its answer
        if "NODELAY 1 PromptConnection" in lab.log.read_text():
            return
        time.sleep(0.1)
    pytest.fail(lab.log.read_text())


def test_the_news_pop_up_is_off(lab: Lab) -> None:
    settings = lab.ask("/lab/api/settings/@jupyterlab/apputils-extension:notification")["schema"][
        "properties"
    ]
    assert settings["fetchNews"]["default"] == "false"
    assert settings["checkForUpdates"]["default"] is False


def test_the_token_stays_on(lab: Lab) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"http://127.0.0.1:{lab.port}/api/contents", timeout=30)
    assert refused.value.code == 403


def test_the_notebook_s_own_folder_is_served(lab: Lab) -> None:
    assert "my notebook.ipynb" in [entry["name"] for entry in lab.ask("/api/contents")["content"]]
    assert "/lab/tree/my%20notebook.ipynb" in lab.log.read_text()


def test_nothing_is_written_to_the_learner_s_own_settings(lab: Lab) -> None:
    written = (
        {path.name for path in (lab.home / ".jupyter").rglob("*")}
        if (lab.home / ".jupyter").exists()
        else set()
    )
    assert not {name for name in written if "config" in name and name != "migrated"}, written


def test_the_start_notebook_is_opened_from_the_repository(tmp_path: Path) -> None:
    own = paths.ROOT / "README.md"  # any file of the repository
    assert command.arguments(own)[:2] == [
        f"--ServerApp.root_dir={paths.ROOT}",
        "--LabApp.default_url=/lab/tree/README.md",
    ]


def test_a_notebook_that_is_not_there_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no notebook .*none.ipynb. The chapters are in"):
        command.arguments(tmp_path / "none.ipynb")


def test_the_learner_s_own_config_path_is_kept_behind_ours() -> None:
    added = command.config_path("/my/own")
    assert added == os.pathsep.join([str(command.CONFIG), "/my/own"])
