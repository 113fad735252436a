"""A law of a chapter with this run's numbers put in: its formula, its source, and the function that computes it.

What a learner is shown is read from the function itself. Its docstring has a first line with the plain fact, a line
`.. math::` with the formula, a paragraph that begins with `where` and says what each symbol stands for, and one that
begins with `Source:`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any


class Applied:
    """A function of a chapter's `laws.py` and the arguments of this run."""

    def __init__(self, function: Callable[..., Any], **arguments: Any) -> None:
        self.function = function
        self.arguments = arguments

    @property
    def result(self) -> float:
        """Return what the function computes."""
        return float(self.function(**self.arguments))

    @property
    def call(self) -> str:
        """Return the call as a learner can type it: `laws.distinct(row_groups=128, keys=100)`."""
        given = ", ".join(f"{name}={_plain(value)}" for name, value in self.arguments.items())
        return f"laws.{self.function.__name__}({given})"

    @property
    def source(self) -> str:
        """Return the function's own lines, docstring and all."""
        return inspect.getsource(self.function).rstrip()

    @property
    def fact(self) -> str:
        """Return the first line of the docstring."""
        return self._paragraphs()[0]

    @property
    def formula(self) -> str:
        """Return the formula in LaTeX, or nothing if the docstring has none."""
        found = re.search(r"^\.\. math:: *(.+)$", inspect.getdoc(self.function) or "", re.MULTILINE)
        return found[1].strip() if found else ""

    @property
    def symbols(self) -> str:
        """Return what the symbols stand for, or nothing."""
        return next((one for one in self._paragraphs() if one.startswith("where ")), "")

    @property
    def cited(self) -> str:
        """Return where the formula comes from, or nothing."""
        return next((one[8:] for one in self._paragraphs() if one.startswith("Source: ")), "")

    def _paragraphs(self) -> list[str]:
        text = inspect.getdoc(self.function) or ""
        return [" ".join(part.split()) for part in text.split("\n\n")]


def _plain(value: Any) -> str:
    """Return a number as Python reads it, with as many digits as matter."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value)
