"""A sheet of music for the whole orchestra: which notebooks are played, and with which parameters. Plain YAML, in
`data/sheets` or anywhere.

    title: "Files in an object store"
    common: {reveal: true, size: tiny}        # for every notebook that has the parameter
    notebooks:                                # more for some of them
      03_row_groups: {queue_depth: 32}
    only: [03_row_groups]                     # if not all are wanted
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import yaml

from readahead import __version__, paths
from readahead.commands import parameters
from readahead.errors import BadValue, DataError

FOLDER = paths.DATA / "sheets"
_KEYS = ("title", "common", "notebooks", "only")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One notebook with its parameters."""

    path: Path
    given: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Return what decides the outcome, besides the machine: notebook, parameters, versions."""
        facts = [self.path.read_text(encoding="utf-8"), dict(self.given), __version__, duckdb.__version__]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A named set of parameters for the workbook."""

    name: str
    title: str
    pieces: tuple[Piece, ...]


def names() -> list[str]:
    """Return the sheets that come with the workbook."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str, folder: Path = paths.NOTEBOOKS) -> Sheet:
    """Return a sheet by its name or its path, every parameter checked against its notebook.

    Raises `DataError` for a file that is missing or no YAML, `BadValue` for what is in it and cannot be played.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    told = _read(path, name)
    common, more = _values(told, "common", path), _mapping(told, "notebooks", path)
    found = {notebook.stem: notebook for notebook in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}
    only = _only(told, path) or list(found)
    for wanted in (*more, *only):
        if wanted not in found:
            raise BadValue(f"{path.name}: {wanted!r} is no notebook. There are: {', '.join(found)}.")
    pieces = []
    for stem in (stem for stem in found if stem in only):
        known = parameters.defaults(found[stem])
        own = {key: value for key, value in common.items() if key in known}
        given = parameters.check(found[stem], {**own, **_values(more, stem, path)})
        pieces.append(Piece(path=found[stem], given=given))
    stray = [key for key in common if not any(key in parameters.defaults(piece.path) for piece in pieces)]
    if stray:
        raise BadValue(
            f"{path.name}: no notebook takes {', '.join(map(repr, stray))}. Mend the line under common."
        )
    return Sheet(name=path.stem, title=str(told.get("title") or path.stem), pieces=tuple(pieces))


def _read(path: Path, name: str) -> dict[str, Any]:
    try:
        told = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(
            f"There is no sheet {name!r}. There are: {', '.join(names())}; or give the path of a .yaml file."
        ) from error
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise DataError(f"{path} cannot be read as a sheet: {error}. Mend it, or take another.") from error
    if not isinstance(told, dict) or not set(told) <= set(_KEYS):
        raise BadValue(f"{path} must be a mapping with the keys {', '.join(_KEYS)}, all of them optional.")
    return told


def _mapping(told: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = told.get(key) or {}
    if not isinstance(found, dict):
        raise BadValue(f"{path.name}: {key} must be a mapping of names to values, not {found!r}.")
    return {str(name): value for name, value in found.items()}


def _values(told: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = _mapping(told, key, path)
    for name, value in found.items():
        if value is not None and not isinstance(value, str | int | float | bool):
            raise BadValue(
                f"{path.name}: {name}={value!r} under {key} must be a text, a number, true or false. Write one of"
                " these, a text in quotes."
            )
    return found


def _only(told: Mapping[str, Any], path: Path) -> list[str]:
    found = [] if told.get("only") is None else told["only"]
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise BadValue(
            f"{path.name}: only={found!r} must be a list of notebooks, such as [03_row_groups]. Mend it."
        )
    return found
