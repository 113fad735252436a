"""Reads a sheet: which notebooks run with which parameters. Plain YAML, in `data/sheets` or anywhere.

title: "Files in an object store"
common: {reveal: true, size: tiny}        # for every notebook that has the parameter
notebooks:                                # more for some of them
03_row_groups: {queue_depth: 32}
only: [03_row_groups]                     # if not all are wanted
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from readahead import paths
from readahead.commands import parameters
from readahead.errors import BadValue, DataError

FOLDER = paths.DATA / "sheets"
_VALUES = {
    "type": ["object", "null"],
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
}
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "title": {"type": "string"},
        "common": _VALUES,
        "notebooks": {"type": ["object", "null"], "additionalProperties": _VALUES},
        "only": {"type": ["array", "null"], "items": {"type": "string"}},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A named set of parameters for the workbook."""

    name: str
    title: str
    runs: Mapping[Path, Mapping[str, Any]]
    """Each notebook with its parameters."""


def names() -> list[str]:
    """Return the sheets that come with the workbook."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str, folder: Path = paths.NOTEBOOKS) -> Sheet:
    """Return a sheet by its name or its path, every parameter checked against its notebook.

    Raises `DataError` for a file that is missing or no YAML, `BadValue` for what is in it and cannot be run.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    told = _read(path, name)
    common, more = told.get("common") or {}, told.get("notebooks") or {}
    found = {notebook.stem: notebook for notebook in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}
    only = told.get("only") or list(found)
    for wanted in (*more, *only):
        if wanted not in found:
            raise BadValue(f"{path.name}: {wanted!r} is no notebook. There are: {', '.join(found)}.")
    runs, stray = {}, set(common)
    for stem in (stem for stem in found if stem in only):
        known = parameters.defaults(found[stem])
        own = {key: value for key, value in common.items() if key in known}
        stray -= own.keys()
        runs[found[stem]] = parameters.check(found[stem], {**own, **(more.get(stem) or {})})
    if stray:
        listed = ", ".join(map(repr, sorted(stray, key=str)))
        raise BadValue(f"{path.name}: no notebook takes {listed}. Mend the line under common.")
    return Sheet(name=path.stem, title=told.get("title") or path.stem, runs=runs)


def _read(path: Path, name: str) -> dict[str, Any]:
    try:
        told = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(
            f"There is no sheet {name!r}. There are: {', '.join(names())}; or give the path of a .yaml file."
        ) from error
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise DataError(f"{path} cannot be read as a sheet: {error}. Mend it, or take another.") from error
    try:
        jsonschema.validate(told, _SCHEMA)
    except jsonschema.ValidationError as error:
        where = "".join(f" {key}:" for key in error.absolute_path)
        raise BadValue(
            f"{path.name}:{where} {error.message}. A sheet has title: TEXT, common: {{parameter: value}},"
            " notebooks: {03_row_groups: {parameter: value}} and only: [03_row_groups], all of them optional; a value"
            " is a text, a number, true or false."
        ) from error
    found: dict[str, Any] = told
    return found
