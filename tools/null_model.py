"""What the other printed figures alone say of a figure: a mean or a straight line; a model should do better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from readahead.experiments.residual import Array, Residual, Tally


def scatter(tally: Tally) -> tuple[float, float]:
    """Return the root mean square of log(model / print), of the model and of its null model.

    Over the foretold figures for which there is a null model; not a number if there is none.
    """
    pairs = [
        (one.ratio, null / one.figure.value)
        for one, null in zip(tally.foretold, null_model(tally.residuals), strict=True)
        if np.isfinite(null)
    ]
    if not pairs:
        return float("nan"), float("nan")
    model, null = np.sqrt(np.mean(np.log(np.array(pairs)) ** 2, axis=0)).tolist()
    return model, null


def null_model(residuals: Sequence[Residual]) -> list[float]:
    """Return what the best of three null models says of each foretold figure, each time from the other figures alone.

    For the figures of one column or, where there is none, of one unit: their mean, a straight line over what changes
    from one to the next, and a straight line through the logarithms of both. The best of the three is taken for each
    column, in favour of the null model. Not a number where a figure has no other of its kind.
    """
    told = [one for one in residuals if one.role == "foretold"]
    said = np.full(len(told), np.nan)
    series: dict[tuple[str, str, bool], list[int]] = {}
    for n, one in enumerate(told):
        column = one.figure.name.rpartition(".")[0] if isinstance(one.figure.x_value, float) else ""
        series.setdefault((column, one.figure.unit, one.base != 1.0), []).append(n)
    for (column, _, _), members in series.items():
        base = np.array([told[n].base for n in members])
        y = np.array([told[n].figure.value for n in members]) / base
        x = np.array([float(told[n].figure.x_value or 0) if column else 0.0 for n in members])
        tried = [_guess(x, y, line=line) for line in ("mean", *(("plain", "logarithms") if column else ()))]
        tried = [guess for guess in tried if np.all(guess > 0)]
        if tried:
            said[members] = base * min(tried, key=lambda guess: float(np.sum(np.log(guess / y) ** 2)))
    return said.tolist()


def _guess(x: Array, y: Array, line: str) -> Array:
    """Return each y as guessed from the others: by their mean (of logarithms), or by a straight line over x."""
    few = 2 if line == "mean" else 4
    if len(y) < few:
        return np.full(len(y), np.nan)
    over, of, weight = {
        "mean": (np.zeros_like(x), np.log(y), np.ones_like(y)),
        "plain": (x, y, 1 / y),
        "logarithms": (np.log(np.maximum(x, 1e-300)), np.log(y), np.ones_like(y)),
    }[line]
    terms = np.column_stack([np.ones_like(over), over][: 1 if line == "mean" else 2])
    guess = np.empty(len(y))
    for n in range(len(y)):
        rest = np.arange(len(y)) != n
        line_of, *_ = np.linalg.lstsq(terms[rest] * weight[rest, None], of[rest] * weight[rest], rcond=None)
        guess[n] = terms[n] @ line_of
    return guess if line == "plain" else np.exp(guess)
