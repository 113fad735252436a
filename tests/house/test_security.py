"""What the workbook executes: nothing out of a file that is data, and at the start only what is listed here."""

from __future__ import annotations

import ast
import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

import readahead
from readahead.commands import lab as command
from readahead.paths import ROOT

SOURCES = sorted(Path(readahead.__file__).parent.rglob("*.py"))
MODULES = {"pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib"}
CALLS = {"eval", "exec", "os.system", "os.popen", "pd.read_pickle", "yaml.unsafe_load", "yaml.full_load"}
"""What would run code that it reads."""


def risks(source: str) -> list[str]:
    """Return what in a module could run code out of a file."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in MODULES]
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            found.append(str(node.module))
        if isinstance(node, ast.Call):
            name, given = ast.unparse(node.func), {key.arg: ast.unparse(key.value) for key in node.keywords}
            if name in CALLS:
                found.append(name)
            if name == "yaml.load" and "SafeLoader" not in ast.unparse(node):
                found.append(name)
            found += [key for key in ("shell", "allow_pickle") if given.get(str(key), "False") != "False"]
    return found


def test_nothing_read_from_a_file_is_executed() -> None:
    assert {path.name: seen for path in SOURCES if (seen := risks(path.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize(
    "code",
    ["import pickle", "from joblib import load", "eval(x)", "np.load(x, allow_pickle=True)", "yaml.load(x, Loader)",
     "subprocess.run(x, shell=True)"],
)  # fmt: skip
def test_the_search_finds(code: str) -> None:
    assert len(risks(code)) == 1


def test_one_extension_starts_with_jupyterlab_and_nothing_else() -> None:
    files = {path.name: json.loads(path.read_text()) for path in command.CONFIG.rglob("*") if path.is_file()}
    assert files.keys() == {"readahead.json", "default_setting_overrides.json"}
    assert files["readahead.json"] == {"ServerApp": {"jpserver_extensions": {"readahead.commands.lab": True}}}
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert told["scripts"].keys() == {"readahead"} and not told.keys() & {"entry-points", "gui-scripts"}


def test_the_extension_changes_one_setting() -> None:
    before = {command.SETTING: ZMQChannelsWebsocketConnection, "token": "kept"}
    app = SimpleNamespace(
        web_app=SimpleNamespace(settings=dict(before)), log=SimpleNamespace(info=lambda _: None)
    )
    command._load_jupyter_server_extension(app)
    assert app.web_app.settings == before | {command.SETTING: command.PromptConnection}


def test_jupyterlab_is_told_nothing_that_opens_it() -> None:
    told = {word.partition("=")[0] for word in command.arguments(browser=False, port=8888)}
    own = {"--ServerApp.root_dir", "--LabApp.default_url", "--ServerApp.port", "--ServerApp.port_retries"}
    assert told <= own | {"--no-browser", "--allow-root"}
