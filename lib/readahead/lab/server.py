"""The key to the reading room: starts JupyterLab on a notebook, with the settings in `config/` in front of the
learner's own, which are neither changed nor hidden. Token and password stay as JupyterLab has them.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from readahead import paths
from readahead.errors import DataError

CONFIG = Path(__file__).parent / "config"
"""Settings for the workbook: our server extension on, the news pop-up off."""

START = paths.NOTEBOOKS / "00_start_here.ipynb"


def arguments(notebook: Path | None = None, *, browser: bool = True, port: int | None = None) -> list[str]:
    """Return JupyterLab's arguments for opening `notebook` (the start notebook) in the folder of the repository.

    A notebook elsewhere is served from its own folder. Raises `DataError` for one that is not there.
    """
    notebook = (notebook or START).resolve()
    if not notebook.is_file():
        raise DataError(f"There is no notebook {notebook}. The chapters are in {paths.NOTEBOOKS}.")
    root = paths.ROOT if notebook.is_relative_to(paths.ROOT) else notebook.parent
    chosen = [f"--ServerApp.root_dir={root}", f"--LabApp.default_url=/lab/tree/{_url(notebook, root)}"]
    chosen += [] if browser else ["--no-browser"]
    chosen += [] if port is None else [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        chosen.append("--allow-root")  # a container's only user is root, and Jupyter refuses it otherwise
    return chosen


def environment(outer: dict[str, str]) -> dict[str, str]:
    """Return what to add to the environment `outer` so that Jupyter finds our settings first."""
    before = outer.get("JUPYTER_CONFIG_PATH")
    return {"JUPYTER_CONFIG_PATH": os.pathsep.join([str(CONFIG), *([before] if before else [])])}


def start(notebook: Path | None = None, *, browser: bool = True, port: int | None = None) -> None:
    """Run JupyterLab until it is shut down. Raises `DataError` for a notebook that is not there."""
    chosen = arguments(notebook, browser=browser, port=port)
    os.environ.update(environment(dict(os.environ)))
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(chosen)


def _url(notebook: Path, root: Path) -> str:
    """Return the notebook's address below the root, with slashes on every system."""
    return quote(notebook.relative_to(root).as_posix())
