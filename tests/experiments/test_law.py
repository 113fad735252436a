"""A law shows its formula, its source and its call, and the call gives its result."""

from __future__ import annotations

from types import SimpleNamespace

from readahead.experiments.round import Applied


def trips(length_bytes: float, request_bytes: float) -> float:
    """Return how many requests a length takes.

    .. math:: n = L / r

    where n is the number of requests, L (`length_bytes`) the length and
    r (`request_bytes`) one request.

    Source: plain arithmetic.
    """
    return length_bytes / request_bytes


def bare(rows: int) -> int:
    """Return the rows."""
    return rows


def test_everything_is_read_from_the_function_itself() -> None:
    law = Applied(trips, length_bytes=1e6, request_bytes=8_192)
    assert law.fact == "How many requests a length takes."
    assert law.formula == "n = L / r"
    assert law.symbols.endswith("the length and r (`request_bytes`) one request.")
    assert law.cited == "plain arithmetic."
    assert "return length_bytes / request_bytes" in law.source


def test_large_and_small_numbers_of_a_call_are_short() -> None:
    assert (
        Applied(trips, length_bytes=1e8, request_bytes=2e-5).call
        == "laws.trips(length_bytes=1e8, request_bytes=2e-5)"
    )


def test_the_call_that_is_shown_gives_the_result_that_is_shown() -> None:
    law = Applied(trips, length_bytes=1 / 3, request_bytes=8_192)

    class laws:  # noqa: N801 - it stands for a chapter's module
        trips = staticmethod(trips)

    assert abs(eval(law.call, {"laws": laws}) / law.result - 1) < 1e-5


def test_a_function_without_a_formula_shows_the_rest() -> None:
    law = Applied(bare, rows=3)
    assert (law.formula, law.symbols, law.cited, law.call) == ("", "", "", "laws.bare(rows=3)")


def test_a_law_may_be_an_argument_and_the_call_can_still_be_typed() -> None:
    inner = Applied(trips, length_bytes=1e6, request_bytes=8_192)
    law = Applied(
        trips, length_bytes=Applied(trips, length_bytes=1e9, request_bytes=10.0), request_bytes=inner
    )
    assert law.result == trips(trips(1e9, 10.0), inner.result)
    assert abs(eval(law.call, {"laws": SimpleNamespace(trips=trips)}) / law.result - 1) < 1e-5
    assert max(map(len, law.call.splitlines())) <= 100
    assert law.source.count("def trips") == 1
