"""Holds what was read from a file to its JSON schema: a chapter's questions, a learner's progress, a sheet."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema


def schema_fault(told: object, schema: Path) -> str:
    """Return where something breaks a schema first, and how; nothing if it does not."""
    fault = next(_validator(schema).iter_errors(told), None)
    if fault is None:
        return ""
    return f"{'.'.join(map(str, fault.absolute_path)) or 'the whole'}: {fault.message[:200]}"


@functools.cache
def _validator(schema: Path) -> Any:
    return jsonschema.Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))
