"""`python -m readahead run`: runs a notebook from end to end with papermill; its parameters are checked first.

A cell tagged `parameters` says which there are and, by their defaults, of which type; another name or another type is
refused before anything runs. What was printed and drawn is kept in the executed copy; the notebook itself is not
touched. Inside it READAHEAD_OUT is the folder of the copy, where a result may be written beside it, and READAHEAD_RUN
is `papermill`, so that nobody's progress is written.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import sys
import tempfile
import uuid
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest import mock

import click
import duckdb
import nbformat
import traitlets
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from readahead import __version__, errors, paths
from readahead.errors import BadValue, Cancelled, DataError, ReadaheadError
from readahead.measure.sample import this_machine

# -- parameters -----------------------------------------------------------------------------------------
_NO_VALUE = (ValueError, SyntaxError, TypeError, RecursionError, MemoryError)
"""What Python raises, here and there, for a text that is no plain value."""
_WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}


def defaults(path: Path) -> dict[str, Any]:
    """Return the parameters of a notebook with their defaults, in the notebook's order.

    Raises `DataError` for a file that is no notebook, or a default that is no plain value.
    """
    try:
        cells = nbformat.reads(paths.read_text(path), as_version=4).cells
        source = next((cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])), "")
    except FileNotFoundError as error:
        raise DataError(f"There is no notebook {path}. Give the path of an .ipynb file.") from error
    except Exception as error:
        raise DataError(
            f"{path} cannot be read as a notebook: {error}. Restore it from the repository."
        ) from error
    found: dict[str, Any] = {}
    name = ""
    try:
        for line in ast.parse(source).body:
            match line:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    found[name] = ast.literal_eval(value)
    except _NO_VALUE as error:
        raise DataError(
            f"The parameters of {path.name} cannot be read{f' at {name!r}' if name else ''}: {error}. Write"
            " name = value, where the value is a number, a text, True, False or None."
        ) from error
    return found


def check_parameters(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return `given` with every value of its parameter's type.

    Raises `BadValue` that names every unknown parameter and every wrong type, and lists what is allowed.
    """
    known = defaults(path)
    faults = []
    for name, value in given.items():
        if name not in known:
            faults.append(f"{name!r} is no parameter of {path.name}.")
        elif not _fits(value, known[name]):
            faults.append(f"{name}={value!r} must be {_WORDS.get(type(known[name]), 'of its type')}.")
    if faults:
        listed = ", ".join(f"{name}={value!r}" for name, value in known.items()) or "no parameters"
        raise BadValue(f"{' '.join(faults)} {path.name} takes: {listed}.")
    return {name: float(v) if isinstance(known[name], float) else v for name, v in given.items()}


def _fits(value: Any, default: Any) -> bool:
    """Return whether a value is of the default's type. A default of None takes what is plain, a float whole numbers."""
    if default is None or type(value) is type(default):
        return isinstance(value, (bool, int, float, str, list, type(None)))
    return (type(value), type(default)) == (int, float) and abs(value) <= sys.float_info.max


def read_parameters(path: Path, words: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Turn the command line's texts into checked values: by the default's type, or as Python writes them.

    Raises `BadValue` as `check_parameters` does, and for a parameter that is given twice.
    """
    known = defaults(path)
    given: dict[str, Any] = {}
    for name, text in words:
        if name in given:
            raise BadValue(f"{name} is given twice, as {given[name]!r} and {text!r}. Give it once.")
        given[name] = text if isinstance(known.get(name), str) else _value(text)
    return check_parameters(path, given)


def _value(text: str) -> Any:
    """Read a value as Python writes it (true and false in small letters too); else it is a text."""
    try:
        value = ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
        json.dumps(value)
    except _NO_VALUE:
        return text
    return value


# -- the run --------------------------------------------------------------------------------------------
class RunFailed(ReadaheadError):
    """A cell of the notebook failed. The copy up to that cell is kept as NAME.failed.ipynb."""


LONGEST_FOLDER = 80
"""Characters of the temporary folder's path; with its own name a socket may have 104 of them on macOS."""


class ThisInterpreter(AsyncKernelManager):
    """A kernel of the Python that runs the command, whatever kernels else are installed on the machine.

    Where the system has sockets that are files it gets those: of kernels that start at the same moment two may take
    the same port.
    """

    @traitlets.default("transport")
    def _kind_of_socket(self) -> str:
        short = len(tempfile.gettempdir()) < LONGEST_FOLDER
        return "ipc" if os.name == "posix" and short else "tcp"

    @traitlets.default("ip")
    def _name_of_sockets(self) -> str:
        if self.transport == "tcp":
            return "127.0.0.1"
        return str(Path(tempfile.gettempdir()) / f"readahead-{uuid.uuid4().hex[:12]}")

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """Return the kernel's command line; it keeps quiet, for what matters is in the copy."""
        options = ["-f", os.path.realpath(self.connection_file), "--IPKernelApp.log_level=CRITICAL"]
        return [sys.executable, "-m", "ipykernel_launcher", *options, *(extra_arguments or [])]


def digest(path: Path, parameters: Mapping[str, Any]) -> str:
    """Return a hash of what decides a run, besides the machine: notebook, parameters, versions."""
    facts = [path.read_text(encoding="utf-8"), dict(parameters), __version__, duckdb.__version__]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def run_notebook(
    path: Path, out: Path, parameters: Mapping[str, Any] | None = None, *, progress: bool = False
) -> NotebookNode:
    """Run a notebook and return its executed copy, which is also written to the folder `out` under its name.

    Raises `BadValue` for a parameter it does not take, `RunFailed` for a cell that failed, and `Cancelled` for
    Ctrl-C, after which no copy is left.
    """
    path, out = path.resolve(), out.resolve()
    checked = check_parameters(path, parameters or {})
    if out == path.parent:
        raise BadValue(
            f"out={str(out)!r} is the notebook's own folder: the copy would overwrite it. Give another."
        )
    out.mkdir(parents=True, exist_ok=True)
    failed, part = out / f"{path.stem}.failed.ipynb", out / f".{path.stem}.{os.getpid()}.part.ipynb"
    try:
        why = _execute(path, part, checked, progress=progress)
        if why:
            part.replace(failed)
            raise RunFailed(f"{why} The run so far is in {failed}.")
        executed: NotebookNode = nbformat.read(part, as_version=4)
        executed.metadata["readahead"] = {"digest": digest(path, checked), "machine": asdict(this_machine())}
        nbformat.write(executed, part)
        part.replace(out / path.name)
    finally:
        part.unlink(missing_ok=True)
    failed.unlink(missing_ok=True)
    return executed


def _execute(path: Path, part: Path, checked: Mapping[str, Any], *, progress: bool) -> str:
    """Run a notebook, write `part` at the end, and return why it failed, or nothing. Raises `Cancelled`."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    bar = {"desc": path.name, "file": sys.stderr, "leave": False, "disable": not sys.stderr.isatty()}
    try:
        with (
            mock.patch.dict(os.environ, READAHEAD_OUT=str(part.parent), READAHEAD_RUN="papermill"),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # of papermill's own libraries
            papermill.execute_notebook(
                _literal(path),
                _literal(part),
                parameters=dict(checked),
                cwd=str(path.parent),
                kernel_name="python3",
                language="python",
                kernel_manager_class=ThisInterpreter,
                request_save_on_cell_execute=False,
                autosave_cell_every=0,
                store_widget_state=False,
                progress_bar=bar if progress else False,
            )
    except PapermillExecutionError as error:
        if error.ename == "KeyboardInterrupt":
            raise Cancelled(f"{path.name} was cancelled. No copy is kept.") from error
        return _in_words(path, error)
    except DeadKernelError:
        shutil.copy(path, part)
        return f"The kernel of {path.name} died, perhaps for want of memory. Try size='tiny'."
    return ""


def _in_words(path: Path, error: Any) -> str:
    """Say which cell failed and why; an error that is a sentence already is shown by that sentence."""
    first = next((line.strip() for line in error.source.splitlines() if line.strip()), "")
    is_ours = hasattr(errors, error.ename)
    why = error.evalue if is_ours else f"{error.ename}: {error.evalue}".rstrip(": ")
    return f"{path.name} failed in its cell [{error.exec_count}], `{first}`:\n  {why}\n"


def _literal(path: Path) -> str:
    """Return a path with its braces doubled: papermill takes braces in a path for parameters."""
    return str(path).replace("{", "{{").replace("}", "}}")


@click.command()
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder for the copy."
)
@click.option(
    "-p", "pairs", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter; may be repeated."
)
@click.argument("notebook", type=click.Path(path_type=Path))
def run(notebook: Path, out: Path, pairs: tuple[tuple[str, str], ...]) -> None:
    """Run NOTEBOOK from end to end and keep the executed copy in a folder."""
    try:
        given = read_parameters(notebook, pairs)
    except BadValue as error:
        raise click.UsageError(str(error)) from error
    run_notebook(notebook, out, given, progress=True)
    click.echo(f"Done: {out / notebook.name}")
