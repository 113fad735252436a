"""MariaDB's ten printed times of one server and two, as a product of factors with an anomaly of its own."""

from __future__ import annotations

import itertools

from readahead import published
from readahead.chapters.scale_out import laws

Row = tuple[str, float, float]
"""A figure's name, what the model says, and what was printed."""
FITTED = 7
"""A base and six factors (sorted, redundant, two nodes cold, two nodes warm, cold, the anomaly), fitted to all ten."""


def printed(name: str, topic: str = "scale_out") -> float:
    """Return a figure of this chapter or another, in SI units."""
    return published.figure(topic, name).best


def totals() -> list[tuple[str, list[bool], float]]:
    """Return MariaDB's ten times: (name, whether each of the six factors is in it, seconds)."""
    found = []
    states, servers, orders = ("cold", "warm"), ("one node", "two nodes"), ("unsorted", "redundant", "sorted")
    for state, nodes, order in itertools.product(states, servers, orders):
        cold, two = state == "cold", nodes == "two nodes"
        if two or order != "redundant":
            odd = cold and two and order != "sorted"
            facts = [order == "sorted", order == "redundant", two and cold, two and not cold, cold, odd]
            seconds = printed(f"total_s.{state}.{order}", "scale_out" if two else "elimination")
            found.append((f"{nodes}, {state}, {order}", facts, seconds))
    return found


def residuals() -> list[Row]:
    """Return (figure, model, printed) for MariaDB's ten times, all of them fitted: three degrees of freedom.

    What stays unexplained has a factor of its own: unsorted data, cold, on two nodes (`anomaly`).
    """
    names, facts, seconds = zip(*totals(), strict=True)
    return list(zip(names, laws.product_s(facts, seconds, facts).tolist(), seconds, strict=True))


def anomaly() -> list[Row]:
    """Return (figure, model, printed) for the two odd times, from a product fitted to the other eight alone."""
    _, plain, fitted = zip(*[(name, row[:-1], s) for name, row, s in totals() if not row[-1]], strict=True)
    names, odd, seconds = zip(*[(name, row[:-1], s) for name, row, s in totals() if row[-1]], strict=True)
    return list(zip(names, laws.product_s(plain, fitted, odd).tolist(), seconds, strict=True))
