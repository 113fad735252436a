"""Works out the sums that the published figures must pass ("pages × 8 KiB / seconds is the printed rate"),
or fail for a reason that stands beside them, in `data/published/checks.csv`.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from readahead import published
from readahead.errors import BadValue, DataError, require_choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One sum over the figures: the left side equals (=), is at most (<=) or at least (>=) the right."""

    topic: str
    left: str
    relation: str
    right: str
    tolerance: float
    """How far apart the two may be, as a share of the right one."""
    verdict: str
    """agrees or disagrees: what the sum is known to say."""
    why: str
    left_value: float
    right_value: float

    @property
    def agrees(self) -> bool:
        """Return whether the two sides keep the relation within the tolerance."""
        slack = self.tolerance * abs(self.right_value)
        above = self.left_value - self.right_value
        return {"=": abs(above) <= slack, "<=": above <= slack, ">=": -above <= slack}[self.relation]


_NAME = re.compile(r"(?<![\w.])(?:([a-z_]+):)?([a-z_][a-z0-9_]*(?:\.[a-z0-9_]+)*)(!?)(?!\w*\()")
_SUMS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_CALLS: dict[str, Callable[[float], float]] = {"floor": math.floor, "ceil": math.ceil}


def _sum(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SUMS:
            return float(_SUMS[type(op)](_sum(left), _sum(right)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_sum(operand)
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in _CALLS:
            return float(_CALLS[name](_sum(argument)))
    raise BadValue(f"{ast.unparse(node)!r} is not a sum. Use names, numbers, + - * / **, floor() and ceil().")


def work_out(expression: str, topic: str, folder: Path | None = None) -> float:
    """Return what a sum over figures gives, such as `leaf_pages * read_ahead:page_bytes / elapsed_s.count`.

    A name is one of `topic`, `other:name` one of another topic, and `name!` its corrected value. Raises
    `BadValue` for an unknown name or anything that is not arithmetic.
    """

    def value(match: re.Match[str]) -> str:
        one = published.figure(match[1] or topic, match[2], folder)
        return repr(one.best if match[3] else one.value)

    try:
        return _sum(ast.parse(_NAME.sub(value, expression), mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise BadValue(f"{expression!r} cannot be worked out: {error}. Mend the sum.") from error


def checks(folder: Path | None = None) -> tuple[Check, ...]:
    """Return every sum of `checks.csv`, worked out. Raises `DataError` that names the line of a bad one."""
    path = (folder or published.FOLDER) / "checks.csv"
    columns = [field.name for field in fields(Check)][:7]
    worked = []
    for line, row in enumerate(published.rows(path, columns), start=2):
        tolerance = published.number(path, line, "tolerance", row.pop("tolerance"))
        try:
            require_choice("relation", row["relation"], ("=", "<=", ">="))
            require_choice("verdict", row["verdict"], ("agrees", "disagrees"))
            left, right = (work_out(row[side], row["topic"], folder) for side in ("left", "right"))
        except BadValue as error:
            raise DataError(f"Line {line} of {path}: {error}") from error
        worked.append(Check(**row, tolerance=tolerance, left_value=left, right_value=right))
    return tuple(worked)
