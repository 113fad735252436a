"""A proof sheet. What the model foretells, laid on what somebody printed, figure by figure, with the count of how many
could have failed."""

from __future__ import annotations

from collections.abc import Sequence

from readahead.experiments.figure import Proof


def against_print(rows: Sequence[tuple[str, float, float]], fitted: int) -> Proof:
    """Return the proof of (figure, model, printed); `fitted` parameters were fitted to those very figures."""
    errors = sorted((abs(model / printed - 1), name) for name, model, printed in rows)
    middle, (worst, where) = errors[len(errors) // 2][0], errors[-1]
    return Proof(
        title="Model against print",
        sentence=f"{len(rows)} printed figures, {len(rows) - fitted} degrees of freedom: the median is off by"
        f" {middle:.1%}; farthest off, by {worst:.0%}, is {where.replace('_', ' ')}.",
        figures=tuple((name.replace("_", " "), model, printed) for name, model, printed in rows),
    )
