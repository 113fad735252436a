"""An answer has four outcomes, and checking one never raises."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from toybox import CHAPTER, study

from readahead.questions.answers import Amount
from readahead.questions.question import Misconception, Outcome

HALF, CHOICE, SET, RANK = (
    CHAPTER.exercise(name) for name in ("half_bucket", "bottleneck", "what_helps", "rank")
)


def test_the_answer_follows_the_learners_own_settings() -> None:
    near, far = study(rope_s=1e-3), study(rope_s=1e-2)
    assert HALF.check("100 kB", near).right and not HALF.check("100 kB", far).right
    assert HALF.check("1 MB", far).right and HALF.check("0.95 MiB", far).right
    assert HALF.check("1,000,000 bytes", far).right
    assert all(HALF.check(same, near).right for same in ("100,000 bytes", "97.66", "0.09537 MiB"))


def test_a_wrong_amount_is_told_its_side_and_not_the_answer() -> None:
    verdict = HALF.check("300 kB", study())
    assert (
        verdict.outcome is Outcome.WRONG
        and verdict.why == "300 kB is too high."
        and not verdict.misconception
    )
    assert HALF.check("10 kB", study()).why == "10 kB is too low."
    assert HALF.check("10", study()).why == "10 KiB is too low."


def test_a_misconception_brings_its_own_hint() -> None:
    verdict = HALF.check("100 MB", study())
    assert verdict.misconception == "the bucket that fills in a second"
    assert (verdict.why, verdict.hint) == ("100 MB is too high.", "How long is the rope?")


def test_what_is_wrong_in_a_set_or_an_order_is_named() -> None:
    assert SET.check(["a shorter rope"]).why == "All you picked belong; 1 is missing."
    assert SET.check(["a shorter rope", "a faster stream"]).why == "'a faster stream' does not belong."
    assert RANK.check(["a barrel", "a thimble", "a bucket"]).why.startswith("Place 2 is not 'a thimble'")
    assert RANK.check(["a barrel"]).outcome is Outcome.RAISED


@given(st.permutations(["a shorter rope", "a larger bucket"]))
def test_order_never_fails_a_right_set(order: list[str]) -> None:
    assert SET.check(order).right and SET.check(set(order)).right


def test_what_is_picked_may_be_told_by_its_letter() -> None:
    assert CHOICE.check("Rope").right and CHOICE.check("a").right
    assert SET.check("b, a").right and SET.check(["b", "a"]).right and RANK.check("c, b, a").right


@given(st.floats(1e-9, 1e12), st.floats(0, 0.5))
def test_the_tolerance_is_the_same_above_and_below(right: float, tolerance: float) -> None:
    shape = Amount(kind="s", tolerance=tolerance)
    assert shape.same(right * (1 + tolerance), right) and shape.same(right / (1 + tolerance), right)
    assert not shape.same(right * (1 + tolerance) * 1.01, right)
    assert not shape.same(-right, right)


def test_an_examiner_who_falls_over_says_so() -> None:
    broken = replace(HALF, answer=lambda study: 1 / 0)
    verdict = broken.check("1 MB", study())
    assert verdict.outcome is Outcome.RAISED and "ZeroDivisionError" in verdict.why
    bad_idea = Misconception(name="bad", example="1 MB", hint="", between=("x", 1))
    assert replace(HALF, misconceptions=(bad_idea,) * 2).check("7 GB", study()).outcome is Outcome.RAISED
