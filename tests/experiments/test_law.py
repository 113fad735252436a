"""A law shows its formula, its source and its call, and the call gives its result."""

from __future__ import annotations

import functools
import math

import pytest

from readahead.errors import require_range
from readahead.experiments.round import Applied, alone

PAGE_BYTES = 8_192


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


@functools.lru_cache(maxsize=2)
def pages(size_bytes: float, page_bytes: int = PAGE_BYTES) -> int:
    """Return how many pages some bytes take; it needs a library, a constant, a decorator and another function."""
    require_range("size_bytes", size_bytes, low=0, advice="Give bytes.")
    return sum(1 for _ in range(math.ceil(trips(size_bytes, page_bytes))))


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
        == "trips(length_bytes=1e8, request_bytes=2e-5)"
    )


def test_the_call_that_is_shown_gives_the_result_that_is_shown() -> None:
    law = Applied(trips, length_bytes=1 / 3, request_bytes=8_192)
    assert abs(eval(law.call, {"trips": trips}) / law.result - 1) < 1e-5
    assert law.imports == f"from {trips.__module__} import trips"


def test_the_functions_that_are_shown_run_by_themselves() -> None:
    law, known = Applied(pages, size_bytes=100_000), {}  # type: ignore[var-annotated]
    exec(law.source, known)
    assert eval(law.call, known) == law.result == 13
    assert law.source.splitlines()[1:5] == [
        "import functools",
        "from readahead.errors import require_range",
        "import math",
        "",
    ]
    assert "\nPAGE_BYTES = 8192\n" in law.source
    with pytest.raises(NameError, match="trips"):
        exec(law.source.replace("def trips", "def other") + "\n" + law.call, {})


def test_a_function_that_two_others_call_is_shown_once() -> None:
    assert alone([pages, trips]).count("def trips") == alone([trips, trips]).count("def trips") == 1


def test_a_function_without_a_formula_shows_the_rest() -> None:
    law = Applied(bare, rows=3)
    assert (law.formula, law.symbols, law.cited, law.call) == ("", "", "", "bare(rows=3)")


def test_a_law_may_be_an_argument_and_the_call_can_still_be_typed() -> None:
    inner = Applied(trips, length_bytes=1e6, request_bytes=8_192)
    law = Applied(
        trips, length_bytes=Applied(trips, length_bytes=1e9, request_bytes=10.0), request_bytes=inner
    )
    assert law.result == trips(trips(1e9, 10.0), inner.result)
    assert abs(eval(law.call, {"trips": trips}) / law.result - 1) < 1e-5
    assert max(map(len, law.call.splitlines())) <= 100
    assert law.source.count("def trips") == 1
