"""Notebooks of a few cells, run for good and for ill through the command line and the function."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from readahead.__main__ import run as command_line
from readahead.commands.run import (
    RunFailed,
    ThisInterpreter,
    check_parameters,
    defaults,
    read_parameters,
    run_notebook,
)
from readahead.errors import BadValue, DataError

PARAMETERS = "latency_s = 0.004  # seconds\nrows: int = 25\ndevice = 'sas-15k'\nreveal = True\nlimit = None"
RESULT = """
import json, os, pathlib, sys
facts = {"latency_s": latency_s, "rows": rows, "cwd": os.getcwd(), "python": sys.executable}
facts["run"] = os.environ["READAHEAD_RUN"]
pathlib.Path(os.environ["READAHEAD_OUT"], "tiny.json").write_text(json.dumps(facts))
print("rows:", rows)
"""
OUT_OF_RANGE = "from readahead.errors import require_range\nrequire_range('rows', rows, low=1, high=10_000)"


def notebook(folder: Path, *cells: str, name: str = "tiny.ipynb") -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A tiny notebook")])
    made.cells.append(nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}))
    made.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    folder.mkdir(exist_ok=True)
    nbformat.write(made, folder / name)
    return folder / name


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


# -- before anything runs ------------------------------------------------------------------------------
def test_the_door_knows_every_parameter_and_its_default(tmp_path: Path) -> None:
    expected = {"latency_s": 0.004, "rows": 25, "device": "sas-15k", "reveal": True, "limit": None}
    assert defaults(notebook(tmp_path)) == expected


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("latency_s", "1e-3", 0.001),
        ("latency_s", "1", 1.0),
        ("rows", "100", 100),
        ("device", "7", "7"),
        ("reveal", "false", False),
        ("limit", "5", 5),
        ("limit", "a word", "a word"),
        ("limit", "[1, 2]", [1, 2]),
        *(("limit", text, text) for text in ("{1, 2}", "1j", "...", "{[]: 1}", "-" * 5_000, "(" * 3_000)),
    ],
)
def test_texts_become_values_of_the_parameter_s_type(
    tmp_path: Path, name: str, text: str, value: object
) -> None:
    found = read_parameters(notebook(tmp_path), [(name, text)])[name]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("rows", "many", "rows='many' must be a whole number."),
        ("rows", "2.5", "rows=2.5 must be a whole number."),
        ("rows", "true", "rows=True must be a whole number."),
        ("latency_s", "4 ms", "latency_s='4 ms' must be a number."),
        ("reveal", "1", "reveal=1 must be True or False."),
        ("row", "3", "'row' is no parameter of tiny.ipynb."),
        ("latency_s", "1" + "0" * 400, "0 must be a number."),
        ("latency_s", "-" * 5_000 + "1", "1' must be a number."),
    ],
)
def test_the_command_line_refuses_what_the_notebook_does_not_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, allowed: str
) -> None:
    path, out = notebook(tmp_path, "1/0"), tmp_path / "out"
    assert command_line(["run", str(path), "--out", str(out), "-p", name, text]) == 2
    said = capsys.readouterr().err
    assert allowed in said and "latency_s=0.004, rows=25, device='sas-15k'" in said
    assert files(out) == []


def test_a_parameter_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="rows is given twice"):
        read_parameters(notebook(tmp_path), [("rows", "1"), ("rows", "2")])


def test_the_function_takes_values_and_checks_them_too(tmp_path: Path) -> None:
    path = notebook(tmp_path)
    assert check_parameters(path, {"latency_s": 1}) == {"latency_s": 1.0}
    with pytest.raises(BadValue, match="device=5 must be a text"):
        check_parameters(path, {"device": 5})


def test_the_notebook_is_not_overwritten_by_its_copy(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="own folder"):
        run_notebook(notebook(tmp_path), tmp_path)


@pytest.mark.parametrize(
    "cell", ["x = (", "x = '\0'", "x = " + "(" * 3_000 + ")" * 3_000, "x = {[]: 1}", "x = 1 + y"]
)
def test_a_parameters_cell_that_says_nothing_is_an_error_in_words(tmp_path: Path, cell: str) -> None:
    path = notebook(tmp_path)
    made = nbformat.read(path, as_version=4)
    made.cells[1].source = cell
    nbformat.write(made, path)
    with pytest.raises(DataError, match=r"The parameters of tiny.ipynb cannot be read"):
        defaults(path)


@pytest.mark.parametrize(
    "content", [None, "no notebook", '{"nbformat": 4, "cells": [{"metadata": {"tags": null}}]}']
)
def test_a_file_that_is_no_notebook_is_an_error_in_words(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "x.ipynb"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match="x.ipynb"):
        defaults(path)


# -- in a kernel -----------------------------------------------------------------------------------------
@pytest.mark.notebook
def test_a_run_leaves_the_executed_copy_and_the_notebook_s_own_result(tmp_path: Path) -> None:
    path = notebook(tmp_path / "with {braces} and blanks", RESULT)
    before, out = path.read_bytes(), tmp_path / "out"
    executed = run_notebook(path, out, {"rows": 73})
    assert executed.cells[-1].outputs[0].text == "rows: 73\n"
    assert files(out) == ["tiny.ipynb", "tiny.json"]
    facts = json.loads((out / "tiny.json").read_text())
    assert facts == {
        "latency_s": 0.004,
        "rows": 73,
        "cwd": str(path.parent.resolve()),
        "python": sys.executable,
        "run": "papermill",
    }
    assert path.read_bytes() == before
    assert "READAHEAD_OUT" not in os.environ


@pytest.mark.notebook
def test_a_failing_cell_is_told_in_words_and_the_next_good_run_clears_it_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = notebook(tmp_path, "quotient = rows / (rows - 25)"), tmp_path / "out"
    assert command_line(["run", str(path), "--out", str(out)]) == 1
    said = capsys.readouterr().err
    assert "tiny.ipynb failed in its cell [2], `quotient = rows / (rows - 25)`:" in said
    assert "ZeroDivisionError: division by zero" in said and "Traceback" not in said
    assert files(out) == ["tiny.failed.ipynb"]
    assert command_line(["run", str(path), "--out", str(out), "-p", "rows", "26"]) == 0
    assert files(out) == ["tiny.ipynb"]


@pytest.mark.notebook
def test_a_value_out_of_range_is_told_by_its_own_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunFailed) as failed:
        run_notebook(notebook(tmp_path, OUT_OF_RANGE), tmp_path / "out", {"rows": 0})
    assert "\n  rows=0 must be from 1 to 10000.\n" in str(failed.value)
    assert "BadValue" not in str(failed.value)
    assert files(tmp_path / "out") == ["tiny.failed.ipynb"]


@pytest.fixture
def _heard() -> Iterator[None]:
    """Let an interrupt be heard by what the test starts: a shell has its background jobs, and theirs, ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.notebook
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C another way")
@pytest.mark.usefixtures("_heard")
def test_ctrl_c_ends_the_run_and_its_kernel_and_leaves_no_copy(tmp_path: Path) -> None:
    started = tmp_path / "started"
    path = notebook(
        tmp_path, f"import os, time\nopen({str(started)!r}, 'w').write(str(os.getpid()))\ntime.sleep(120)"
    )
    command = [sys.executable, "-m", "readahead", "run", str(path), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (started.exists() and started.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "Cancelled" in said and "Traceback" not in said
    assert files(tmp_path / "out") == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.skipif(os.name != "posix", reason="sockets that are files")
def test_kernels_that_start_at_the_same_moment_cannot_take_the_same_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = ThisInterpreter(), ThisInterpreter()
    assert one.transport == two.transport == "ipc" and one.ip != two.ip
    assert Path(one.ip).parent == Path(tempfile.gettempdir())
    monkeypatch.setattr(tempfile, "tempdir", "/" + 100 * "x")  # no socket has so long a name
    assert (ThisInterpreter().transport, ThisInterpreter().ip) == ("tcp", "127.0.0.1")
