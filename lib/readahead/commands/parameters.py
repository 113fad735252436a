"""The form at a notebook's door. Its cell tagged `parameters` says which values it takes and, by their
defaults, of which type; who brings another name or another type is told before anything runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat

from readahead.errors import BadValue, DataError

_WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}


def defaults(path: Path) -> dict[str, Any]:
    """Return the parameters of a notebook with their defaults, in the notebook's order.

    Raises `DataError` for a file that is no notebook, or a default that is no plain value.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except FileNotFoundError as error:
        raise DataError(f"There is no notebook {path}. Give the path of an .ipynb file.") from error
    except Exception as error:
        raise DataError(
            f"{path} cannot be read as a notebook: {error}. Restore it from the repository."
        ) from error
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    return _assigned(tagged[0].source, path) if tagged else {}


def _assigned(source: str, path: Path) -> dict[str, Any]:
    """Return what the cell's plain assignments give."""
    found: dict[str, Any] = {}
    for line in ast.parse(source).body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            name, value = line.targets[0].id, line.value
        elif isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value is not None:
            name, value = line.target.id, line.value
        else:
            continue
        try:
            found[name] = ast.literal_eval(value)
        except ValueError as error:
            raise DataError(
                f"Parameter {name!r} of {path.name} has the default {ast.unparse(value)!r}, which is no plain value."
                " Write a number, a text, True, False or None."
            ) from error
    return found


def check(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return `given` with every value of its parameter's type.

    Raises `BadValue` that names every unknown parameter and every wrong type, and lists what is allowed.
    """
    known = defaults(path)
    listed = ", ".join(f"{name}={value!r}" for name, value in known.items()) or "no parameters"
    unknown = [name for name in given if name not in known]
    if unknown:
        raise BadValue(f"{_and(unknown)} is no parameter of {path.name}. It takes: {listed}.")
    wrong = [name for name, value in given.items() if not _fits(value, known[name])]
    if wrong:
        said = " ".join(
            f"{name}={given[name]!r} must be {_WORDS.get(type(known[name]), type(known[name]).__name__)}."
            for name in wrong
        )
        raise BadValue(f"{said} {path.name} takes: {listed}.")
    return {name: float(v) if isinstance(known[name], float) else v for name, v in given.items()}


def read(path: Path, words: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Turn the command line's texts into checked values: by the default's type, or as Python writes them.

    Raises `BadValue` as `check` does, and for a parameter that is given twice.
    """
    known = defaults(path)
    given: dict[str, Any] = {}
    for name, text in words:
        if name in given:
            raise BadValue(f"{name} is given twice, as {given[name]!r} and {text!r}. Give it once.")
        given[name] = text if isinstance(known.get(name), str) else _value(text)
    return check(path, given)


def _value(text: str) -> Any:
    """Read a value as Python writes it (true and false in small letters too); else it is a text."""
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (ValueError, SyntaxError):
        return text


def _fits(value: Any, default: Any) -> bool:
    """Return whether `value` is of the default's type. A default of None takes anything."""
    if default is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


def _and(names: list[str]) -> str:
    return " and ".join(repr(name) for name in names)
