"""A bet is a number in a unit or one of a few words, and is held against the truth as a factor."""

import pytest
from toybox import CHAPTER

from readahead.errors import BadValue
from readahead.questions.question import Prediction


def test_a_guess_is_read_in_its_unit_and_a_bare_number_in_the_shown_one() -> None:
    fetch = CHAPTER.prediction("fetch")
    assert fetch.read("8 ms") == fetch.read("8") == fetch.read("0.008 s") == 0.008
    assert CHAPTER.prediction("longer_rope").read("3x") == 3
    assert CHAPTER.prediction("half").read("64") == 65536


def test_a_guess_outside_the_scale_is_still_a_guess() -> None:
    assert CHAPTER.prediction("fetch").read("2 hours") == 7200


@pytest.mark.parametrize("words", ["0 ms", "-3 ms"])
def test_a_guess_that_no_log_scale_holds_is_asked_back(words: str) -> None:
    with pytest.raises(BadValue, match="above 0"):
        CHAPTER.prediction("fetch").read(words)


def test_how_far_off_is_said_as_a_factor() -> None:
    fetch = CHAPTER.prediction("fetch")
    assert [fetch.verdict(guess, 1.0) for guess in (8.0, 0.5, 1.01)] == ["8× high", "2× low", "right on"]


def test_words_are_right_or_not() -> None:
    which = CHAPTER.prediction("which")
    assert which.read("slower") == "slower"
    assert [which.verdict(word, 16.0) for word in ("slower", "faster")] == ["right", "not so"]
    with pytest.raises(BadValue, match="must be one of: slower, faster"):
        which.read("much")


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        ({"low": 0, "high": 9}, "low=0"),
        ({"low": 5, "high": 6}, "high=6"),
        ({"kind": "1", "low": 0.1, "high": 1.5}, "high=1.5"),
        ({"low": 1, "high": 9, "word": "MB"}, "word='MB'"),
    ],
)
def test_a_scale_that_cannot_be_drawn_is_refused(facts: dict[str, object], named: str) -> None:
    with pytest.raises(BadValue, match=named):
        Prediction(id="p", **facts)  # type: ignore[arg-type]
