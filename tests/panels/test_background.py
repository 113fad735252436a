"""Work in the background begins when no cell of the notebook runs, one piece at a time, and can be stopped before."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from IPython.core.interactiveshell import InteractiveShell

from readahead.panels import background
from readahead.panels.background import Cells, Worker
from readahead.running import alone


class Notebook:
    """A notebook without a browser. What its work does is only that it has begun; all that it told is in `said`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shell = InteractiveShell()
        self.begun, self.said = threading.Event(), list[str]()
        self.worker = Worker(lambda note, _: self.said.append(note), lambda error: None)
        self._cells: Cells | None = None
        monkeypatch.setattr(background, "cells", self.cells)

    def cells(self) -> Cells:
        """Return its cells; who asks first makes them."""
        self._cells = self._cells or Cells(self.shell)
        return self._cells

    def run(self, cell: Callable[[], None]) -> None:
        """Run a cell."""
        self.shell.user_ns["cell"] = cell
        self.shell.run_cell("cell()").raise_error()

    def start(self) -> None:
        """Start the work, as a panel does in a cell and a button outside of them."""
        self.worker.start(self.begun.set, lambda _: None)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    return Notebook(monkeypatch)


def test_it_begins_after_the_last_of_the_cells_that_run(notebook: Notebook) -> None:
    def first() -> None:
        notebook.start()
        assert not notebook.begun.wait(0.5)

    def second() -> None:
        assert not notebook.begun.wait(0.5)

    notebook.run(first)
    notebook.run(second)
    notebook.worker.join(30)
    assert notebook.begun.is_set()
    assert notebook.said == ["starting …", "waiting for the cells that run …", ""]


def test_it_begins_though_a_cell_failed(notebook: Notebook) -> None:
    def failed() -> None:
        notebook.start()
        raise ValueError("it failed")

    with pytest.raises(ValueError, match="it failed"):
        notebook.run(failed)
    notebook.worker.join(30)
    assert notebook.begun.is_set()


def test_a_button_waits_for_no_cell(notebook: Notebook) -> None:
    notebook.start()
    notebook.worker.join(30)
    assert notebook.begun.is_set() and notebook.said == ["starting …", ""]


def test_it_can_be_stopped_while_it_waits(notebook: Notebook) -> None:
    def cell() -> None:
        notebook.start()
        notebook.worker.cancel()
        notebook.worker.join(30)

    notebook.run(cell)
    assert not notebook.begun.is_set() and notebook.said[-1] == "cancelled"


def test_it_waits_for_another_measurement(notebook: Notebook) -> None:
    with alone():
        notebook.start()
        assert not notebook.begun.wait(0.5)
    notebook.worker.join(30)
    assert notebook.begun.is_set()
