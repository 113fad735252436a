"""A claim says agrees, differs (and why) or too noisy (and what to do), and never more than it saw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toybox import CHAPTER, study

from readahead.experiments.claim import AGREES, DIFFERS, NOISY, Claim, Reason
from readahead.measure import calibrate
from readahead.measure.sample import Value, exactly


def seen(median: float, spread: float = 0.0, repeats: int = 5, warnings: tuple[str, ...] = ()) -> Value:
    return Value(
        median=median,
        low=median * (1 - spread),
        high=median * (1 + spread),
        repeats=repeats,
        warnings=warnings,
    )


def claim(relation: str, factor: float = 1.0, tolerance: float = 0.0, *reasons: Reason) -> Claim:
    return Claim(
        id="c",
        left=lambda study: 1,
        right=lambda study: 1,
        left_name="this",
        right_name="that",
        relation=relation,
        factor=factor,
        tolerance=tolerance,
        reasons=reasons,
    )


@pytest.mark.parametrize(
    ("relation", "factor", "tolerance", "left", "right", "verdict"),
    [
        ("at least", 2.0, 0.0, 5.0, 2.0, AGREES),
        ("at least", 2.0, 0.0, 3.0, 2.0, DIFFERS),
        ("at least", 2.0, 0.1, 3.7, 2.0, AGREES),
        ("at most", 2.0, 0.0, 3.0, 2.0, AGREES),
        ("at most", 2.0, 0.0, 5.0, 2.0, DIFFERS),
        ("within", 1.0, 0.1, 1.05, 1.0, AGREES),
        ("within", 1.0, 0.1, 1.2, 1.0, DIFFERS),
        ("within", 1.0, 0.1, 0.8, 1.0, DIFFERS),
        ("faster than", 1.0, 0.0, 0.5, 1.0, AGREES),
        ("faster than", 3.0, 0.0, 0.5, 1.0, DIFFERS),
        ("faster than", 1.0, 0.0, 2.0, 1.0, DIFFERS),
    ],
)
def test_the_four_relations(
    relation: str, factor: float, tolerance: float, left: float, right: float, verdict: str
) -> None:
    assert claim(relation, factor, tolerance).test(seen(left), seen(right)).verdict == verdict


def test_an_interval_over_the_limit_is_too_noisy_and_says_what_to_do() -> None:
    finding = claim("faster than").test(seen(0.95, 0.2), seen(1.0, 0.2))
    assert finding.verdict == NOISY and "repeat more often" in finding.reasons[0]
    with_warnings = claim("faster than").test(seen(0.95, 0.2, warnings=("Close other programs.",)), seen(1.0))
    assert with_warnings.reasons == ("Close other programs.",)


def test_few_repeats_claim_nothing_however_clear() -> None:
    finding = claim("faster than").test(seen(0.001, repeats=3), seen(1.0))
    assert finding.verdict == NOISY and "at least 5 times" in finding.reasons[0]


def test_the_reasons_that_fit_are_given_in_order_and_no_other() -> None:
    stated = claim(
        "faster than",
        1.0,
        0.0,
        Reason(says="not this", when=lambda left, right, study: left.median < right.median),
        Reason(says="this", when=lambda left, right, study: left.median > 2 * right.median),
        Reason(says="or that"),
    )
    assert stated.test(seen(3.0), seen(1.0)).reasons == ("this", "or that")
    assert "No known reason" in claim("faster than").test(seen(3.0), seen(1.0)).reasons[0]


def test_the_sentence_names_both_sides_their_numbers_and_the_limit() -> None:
    says = claim("at least", 2.0).test(seen(5.0, 0.01), exactly(2.0)).says
    assert (
        says == "Agrees. This: 5 s (4.95 s to 5.05 s); that: 2 s;"
        " ratio 2.5× (2.48× to 2.52×), expected at least 2×."
    )


@given(
    st.floats(0.01, 100),
    st.floats(0, 0.5),
    st.floats(0.01, 100),
    st.floats(0, 0.5),
    st.sampled_from(["at least", "at most", "within", "faster than"]),
)
def test_it_agrees_only_if_every_ratio_in_the_interval_does(
    left: float, spread: float, right: float, other_spread: float, relation: str
) -> None:
    stated = claim(relation, 1.0, 0.1)
    mine, theirs = seen(left, spread), seen(right, other_spread)
    verdict = stated.test(mine, theirs).verdict
    ratio = mine / theirs
    corners = {stated.test(exactly(r), exactly(1.0)).verdict for r in (ratio.low, ratio.median, ratio.high)}
    if verdict == AGREES:
        assert corners == {AGREES}
    if verdict == DIFFERS:
        assert corners == {DIFFERS}


def test_the_toy_claims_on_a_quiet_a_noisy_and_a_hasty_study() -> None:
    rope, fits = CHAPTER.claim("rope_costs"), CHAPTER.claim("model_fits")
    assert rope.on(study()).verdict == AGREES
    found = fits.on(study())
    assert (found.verdict, found.reasons) == (DIFFERS, ("The farmer rests at each bucket.",))
    assert fits.on(study(wobble=0.6, repeats=9)).verdict == NOISY
    assert rope.on(study(repeats=2)).verdict == NOISY


def test_what_differs_beside_other_work_is_too_noisy_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control runs are given: before and after the one sample, and after it was measured anew."""
    fits, controls = CHAPTER.claim("model_fits"), iter([1.5, 1.4, 1.5, 1.0, 1.0, 1.0])
    monkeypatch.setattr(calibrate, "control_s", lambda: next(controls))
    monkeypatch.setattr(calibrate, "strayed", lambda took_s: took_s - 1.0)
    toy = study()
    for _ in range(2):
        found = fits.on(toy)  # the second time of the sample that was kept
        assert found.verdict == NOISY and found.says.startswith("Too noisy to say. ")
        assert "45 %" in found.reasons[0] and "Close other programs" in found.reasons[0]
    toy.forget()
    assert fits.on(toy).verdict == NOISY
    toy.forget()
    assert fits.on(toy).verdict == DIFFERS and not [*controls]


def test_what_differs_while_other_programs_take_a_core_is_too_noisy_to_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A control run that drives them to another core is as quick as ever."""
    fits, shares = CHAPTER.claim("model_fits"), iter([0.5, 0.05])
    monkeypatch.setattr(calibrate.OtherPrograms, "share", lambda self: next(shares))
    toy = study()
    found = fits.on(toy)
    assert found.verdict == NOISY and "50 %" in found.reasons[0]
    toy.forget()
    assert fits.on(toy).verdict == DIFFERS


def test_a_count_of_nothing_is_told_and_not_raised() -> None:
    none = claim("within", 1.0, 0.1).test(exactly(0.0), exactly(147.0))
    assert none.verdict == DIFFERS and "This: 0" in none.says and none.reasons
    assert claim("within", 1.0, 0.1).test(exactly(0.0), exactly(0.0)).verdict == AGREES
