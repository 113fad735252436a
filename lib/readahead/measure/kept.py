"""The drawer below the scales: costs that were weighed on this machine, each slip with what it holds for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from readahead import paths
from readahead.errors import require_range

Weighed = TypeVar("Weighed")

_unwritten: dict[Path, dict[str, Any]] = {}


def kept(path: Path, kind: type[Weighed], holds_for: Mapping[str, Any]) -> Weighed | None:
    """Return the costs in a file if they were weighed under the very same conditions, else None.

    A damaged file counts as none, and so does a cost that no weighing finds.
    """
    try:
        told = _unwritten.get(path) or json.loads(path.read_text(encoding="utf-8"))
        for name, value in told["costs"].items():
            require_range(name, value, low=0, high=10, advice="Weigh it again.")
        return kind(**told["costs"]) if told["weighed"] == holds_for else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def keep(path: Path, costs: Any, holds_for: Mapping[str, Any]) -> None:
    """Keep costs, a dataclass of seconds, for these conditions.

    Where the cupboard can only be read, as one that a class shares, they are kept until this kernel ends.
    """
    facts = {"weighed": dict(holds_for), "costs": asdict(costs)}
    _unwritten.pop(path, None)
    try:
        paths.write_whole(path, json.dumps(facts, indent=1), make_folder=True)
    except OSError:
        _unwritten[path] = facts
