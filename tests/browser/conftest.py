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
def chromium() -> Iterator[Any]:
    """One Chromium, in which every page has a context of its own."""
    reason = reading_room.why_not()
    if reason and os.environ.get("CI"):
        pytest.fail(f"{reason} Under CI the browser tests must run.")
    if reason:
        pytest.skip(reason)
    with reading_room.browser() as started:
        yield started


@pytest.fixture(scope="session")
def running(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A JupyterLab as `make lab` starts it, on a copy of the notebooks; an answer is measured once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("READAHEAD_REPEATS", "1")
        with reading_room.lab(tmp_path_factory.mktemp("lab")) as started:
            yield started


@pytest.fixture(scope="session")
def open_notebook(running: Any, chromium: Any) -> Callable[..., AbstractContextManager[Any]]:
    """Open a notebook by its file name."""
    return lambda name: reading_room.visitor(running, name, using=chromium)


@pytest.fixture(scope="session")
def guest(open_notebook: Callable[..., AbstractContextManager[Any]]) -> Iterator[Any]:
    """A visitor before the panel of the start notebook, which was run and has measured its first point.

    It is the same one for all tests; nothing is being measured.
    """
    with open_notebook("00_start_here.ipynb") as visitor:
        visitor.run_all()
        visitor.page.wait_for_selector(
            ".readahead-panel .readahead-line[d]", timeout=90_000, state="attached"
        )
        visitor.show_panel()
        visitor.wait_until(lambda: visitor.dots >= 1, 90)  # it may have to build the dataset
        assert "DuckDB measured" in visitor.sentence
        assert not visitor.page.get_by_text("Jupyter news").count()  # it would have popped up by now
        visitor.screen("start")
        visitor.page.locator(".readahead-auto input").uncheck()
        visitor.wait_until(lambda: not visitor.page.locator(".readahead-cancel").is_enabled(), 90)
        yield visitor


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the very last line that browser tests were skipped, and how to have them."""
    reason = reading_room.why_not()
    if reason and "browser" in config.getoption("markexpr", "").split(" and ") and not os.environ.get("CI"):
        print(f"The browser tests were skipped. {reason} Then: make test")
