"""Checks values for a notebook's parameters: its cell tagged `parameters` says which there are and, by their defaults,
of which type. Another name or another type is refused before anything runs.
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
        cells = nbformat.read(path, as_version=4).cells
    except FileNotFoundError as error:
        raise DataError(f"There is no notebook {path}. Give the path of an .ipynb file.") from error
    except Exception as error:
        raise DataError(
            f"{path} cannot be read as a notebook: {error}. Restore it from the repository."
        ) from error
    source = next((cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])), "")
    found: dict[str, Any] = {}
    for line in ast.parse(source).body:
        match line:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                try:
                    found[name] = ast.literal_eval(value)
                except ValueError as error:
                    raise DataError(
                        f"Parameter {name!r} of {path.name} has the default {ast.unparse(value)!r}, which is no plain"
                        " value. Write a number, a text, True, False or None."
                    ) from error
    return found


def check(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
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
    """Return whether a value is of the default's type. A default of None takes anything, a float whole numbers too."""
    return default is None or type(value) is type(default) or (type(value), type(default)) == (int, float)


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
