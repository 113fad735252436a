"""Ten times on one page, two of which somebody should have taken again. What MariaDB printed of one server and two, as
a product of factors with an anomaly of its own."""

from __future__ import annotations

from collections.abc import Sequence

from readahead import published
from readahead.chapters.scale_out import laws as arithmetic
from readahead.experiments.figure import Axis, Line, Picture, Proof
from readahead.experiments.residuals import against_print


def printed(name: str, topic: str = "scale_out") -> float:
    """Return a figure of this chapter or another, in SI units."""
    return published.figure(topic, name).best


def totals() -> list[tuple[str, list[bool], float]]:
    """Return MariaDB's ten times: (name, whether each of `arithmetic.FACTORS` is in it, seconds)."""
    found = []
    for cold in (True, False):
        state = "cold" if cold else "warm"
        for order in ("unsorted", "sorted"):
            facts = [order == "sorted", False, False, False, cold, False]
            found.append(
                (f"one node, {state}, {order}", facts, printed(f"total_s.{state}.{order}", "elimination"))
            )
        for order in ("unsorted", "redundant", "sorted"):
            odd = cold and order != "sorted"
            facts = [order == "sorted", order == "redundant", cold, not cold, cold, odd]
            found.append((f"two nodes, {state}, {order}", facts, printed(f"total_s.{state}.{order}")))
    return found


FITTED = 7
"""A base and the six factors of `arithmetic.FACTORS`, of which the last is the anomaly's own, fitted to all ten."""


def residuals() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed) for MariaDB's ten times, all of them fitted: three degrees of freedom.

    What stays unexplained has a factor of its own: unsorted data, cold, on two nodes (`anomaly`).
    """
    rows = totals()
    facts, seconds = [row[1] for row in rows], [row[2] for row in rows]
    fitted = arithmetic.product_s(arithmetic.log_linear(facts, seconds), facts)
    return [(name, float(model), said) for (name, _, said), model in zip(rows, fitted, strict=True)]


def anomaly() -> list[tuple[str, float, float]]:
    """Return (figure, model, printed) for the two odd times, from a product fitted to the other eight alone."""
    rows = totals()
    plain = [row for row in rows if not row[1][-1]]
    factors = arithmetic.log_linear([row[1][:-1] for row in plain], [row[2] for row in plain])
    odd = [row for row in rows if row[1][-1]]
    foretold = arithmetic.product_s(factors, [row[1][:-1] for row in odd])
    return [(name, float(model), said) for (name, _, said), model in zip(odd, foretold, strict=True)]


def caches(_bench: object) -> Picture:
    """Draw what a second cache does to a repeated query, by how much of the data one cache holds."""
    warmer = printed("total_s.cold.unsorted", "elimination") / printed("total_s.warm.unsorted", "elimination")
    shares = [0.02, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2]
    gains = []
    for share in shares:
        one, two = arithmetic.cached_s(
            [1, 2], data_bytes=1.0, cache_bytes=share, cache_bytes_per_s=warmer, device_bytes_per_s=1.0
        )
        gains.append((share, float(one / two)))
    said = printed("speedup.warm.unsorted")
    return Picture(
        title="Caches that add up",
        sentence="Two nodes are more than twice as fast as one only while one cache is too small for the data: most"
        " where it holds half, and no more once it holds all.",
        x=Axis(label="share of the data that one cache holds", kind="1", log=False),
        y=Axis(label="speed-up of two nodes", kind="times", log=False),
        lines=(
            Line(name="model", points=gains),
            Line(name="MariaDB, warm, unsorted", points=[(0.02, said), (1.2, said)], source="published"),
        ),
        marks={},
    )


def outlier(_bench: object) -> Picture:
    """Draw each printed time against the product that was fitted to the eight without an anomaly."""
    odd = {name for name, _, _ in anomaly()}
    told = {name: (model, said) for name, model, said in (*residuals(), *anomaly())}
    plain = [pair for name, pair in told.items() if name not in odd]
    both = [value for pair in told.values() for value in pair]
    return Picture(
        title="The outlier",
        sentence="Eight of the ten times lie on the line of one product; unsorted data read cold by two nodes lies"
        " above it, with and without redundancy.",
        x=Axis(label="model", kind="s"),
        y=Axis(label="printed", kind="s"),
        lines=(
            Line(name="as foretold", points=[(min(both), min(both)), (max(both), max(both))]),
            Line(name="MariaDB", points=sorted(plain), source="published", joined=False),
            Line(
                name="unsorted, cold, two nodes",
                points=[told[name] for name in sorted(odd)],
                source="other",
                joined=False,
            ),
        ),
        marks={},
    )


def proof(_bench: object) -> Proof:
    """Set the product of factors against each printed time."""
    return against_print(residuals(), FITTED)
