"""One reading room and one visitor for all browser tests; a chapter's test asks for `open_notebook`."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import lab as reading_room


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A JupyterLab as `make lab` starts it, on a copy of the notebooks."""
    reason = reading_room.why_not()
    if reason and os.environ.get("CI"):
        pytest.fail(f"{reason} Under CI the browser tests must run.")
    if reason:
        pytest.skip(reason)
    with reading_room.lab(tmp_path_factory.mktemp("lab")) as started:
        yield started


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the very last line that browser tests were skipped, and how to have them."""
    reason = reading_room.why_not()
    if reason and "browser" in config.getoption("markexpr", "").split(" and ") and not os.environ.get("CI"):
        print(f"The browser tests were skipped. {reason} Then: make test")


@pytest.fixture(scope="module")
def open_notebook(running: Any) -> Iterator[Callable[..., AbstractContextManager[Any]]]:
    """Open a notebook by its file name; the tests of a file share a browser."""
    with reading_room.browser() as started:
        yield lambda name, **more: reading_room.visitor(running, name, using=started, **more)
