"""The chapter's study: one read a group in the real engine, curves through their points, figures with words."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from readahead import chapters as book
from readahead.chapters.row_groups import chapter, laws
from readahead.chapters.row_groups.chapter import (
    FIGURES,
    LARGE_ROWS,
    ROUNDS,
    SMALL_ROWS,
    latency_moves,
    one_each,
    packed,
)
from readahead.chapters.row_groups.workload import EXPERIMENT, FAR, NEAR
from readahead.experiments.round import Study
from readahead.models.schedule import Costs


@pytest.mark.parametrize("rows", [8_192, 131_072, 1_048_576])
@pytest.mark.parametrize("compression", ["snappy", "zstd", "uncompressed"])
def test_the_engine_reads_each_group_once_and_the_model_knows_the_bytes(rows: int, compression: str) -> None:
    settings = EXPERIMENT.settings(row_group_rows=rows, compression=compression)
    sample = EXPERIMENT.measure(settings, repeats=1)
    case = EXPERIMENT.case(settings)
    plan = case.plan()
    assert len(sample.reads) == len(plan.footer) + case.recipe.row_groups
    assert sample.bytes_read == plan.bytes_read


def test_a_native_file_gives_the_same_answer_in_reads_that_do_not_follow_its_groups() -> None:
    parquet, native = (
        EXPERIMENT.settings(row_group_rows=8_192, format=form) for form in ("parquet", "native")
    )
    one, other = (EXPERIMENT.measure(settings, repeats=1) for settings in (parquet, native))
    groups = EXPERIMENT.case(native).recipe.row_groups
    assert len(one.reads) == groups + 1
    block = EXPERIMENT.case(native).recipe.block_bytes  # whole blocks, wherever a group ends
    assert all(read.size_bytes % block == 0 for read in other.reads)
    assert any(read.size_bytes % block for read in one.reads)
    assert other.answer == one.answer
    assert EXPERIMENT.model(native).seconds > 0
    assert "compression" in EXPERIMENT.disabled(native) and "compression" not in EXPERIMENT.disabled(parquet)


def test_there_is_one_group_for_each_read_in_flight() -> None:
    for depth in (1, 8, 32):
        settings = EXPERIMENT.settings(queue_depth=depth)
        rows = one_each(settings)
        case = EXPERIMENT.case({**settings, "row_group_rows": rows})
        assert rows % 2_048 == 0
        assert case.recipe.row_groups <= case.window.slots


@pytest.mark.parametrize("threads", [1, 4, 7, 15])
def test_the_questions_have_eight_groups_on_any_number_of_cores(threads: int) -> None:
    question = " ".join(book.chapter("row_groups").question("predict", "near").split())
    settings = EXPERIMENT.settings(size="tiny", queue_depth=8, threads=threads)
    rows = one_each(settings)
    assert f"8 groups of {rows:,} rows" in question
    assert EXPERIMENT.case({**settings, "row_group_rows": rows}).recipe.row_groups == 8


def test_small_groups_are_dearer_far_away_and_one_is_too_few() -> None:
    study = Study(EXPERIMENT)
    one = one_each(study.base)
    far, near = (
        study.model.seconds(device=name, row_group_rows=2_048).median
        / study.model.seconds(device=name, row_group_rows=one).median
        for name in (FAR, NEAR)
    )
    assert far > near > 1
    largest = study.model.seconds(device=FAR, row_group_rows=1_048_576).median
    assert largest > study.model.seconds(device=FAR, row_group_rows=one).median


def times_s(study: Study, name: str, costs: Costs, rows: Iterable[float]) -> list[float]:
    """Return the scan's times in row groups of so many rows, by an engine that takes so much."""
    settings = [study.settings(device=name, row_group_rows=int(min(n, LARGE_ROWS))) for n in rows]
    return [EXPERIMENT.case(one).predict(costs).finished_s for one in settings]


def rows_to_write(study: Study, name: str, costs: Costs, **changes: float) -> float:
    """Return the rows of the rule for a device and an engine that takes so much."""
    told = EXPERIMENT.law(study.settings(device=name)).arguments
    device = {key: told[key] for key in ("latency_s", "bandwidth_bytes_per_s", "in_flight")}
    recipe = EXPERIMENT.case(study.base).recipe
    table = {"row_bytes": recipe.source.bytes_per_row, "table_rows": recipe.rows}
    numbers = table | device | {"dispatch_s": costs.dispatch_s, **changes}
    return max(2_048, laws.rows_to_write(**numbers))


@pytest.mark.parametrize("costs", [Costs(), Costs(dispatch_s=300e-6, row_s=25e-9)], ids=["quick", "slow"])
@pytest.mark.parametrize("table", ["comments", "comments_narrow"])
@pytest.mark.parametrize("size", ["tiny", "small", "full"])
@pytest.mark.parametrize("name", [NEAR, FAR])
@pytest.mark.parametrize("depth", [1, 8, 32])
def test_the_size_to_write_scans_nearly_as_fast_as_the_best(
    costs: Costs, table: str, size: str, name: str, depth: int
) -> None:
    study = Study(EXPERIMENT, size=size, dataset=table, queue_depth=depth)
    [written] = times_s(study, name, costs, [rows_to_write(study, name, costs)])
    # A file of as many row groups as reads may be in flight is asked for at once, and some of it comes late.
    most = 2.0 if (size, name, depth) == ("tiny", NEAR, 32) else 1.45
    assert written <= most * min(times_s(study, name, costs, laws.sizes(points=30)))


def test_with_the_bandwidth_of_the_link_the_rule_misses_by_far() -> None:
    """The link is shared: what one read gets decides, and there must be a group for each read in flight."""
    study, costs = Study(EXPERIMENT, size="tiny", queue_depth=8), Costs()
    link = EXPERIMENT.device(study.settings(device=FAR)).bandwidth_bytes_per_s
    misread = rows_to_write(study, FAR, costs, bandwidth_bytes_per_s=link, table_rows=float("inf"))
    right, wrong = times_s(study, FAR, costs, [rows_to_write(study, FAR, costs), misread])
    assert wrong > 1.5 * right


@pytest.mark.parametrize("name", ["near", "far", "too_large", "packed"])
def test_a_question_gives_the_reads_and_bytes_of_its_files(name: str) -> None:
    study = Study(EXPERIMENT, size="tiny", queue_depth=8)
    question = " ".join(book.chapter("row_groups").question("predict", name).split())
    made = ROUNDS[name].law
    assert made is not None
    files = {
        "packed": [packed("zstd"), packed("uncompressed")],
        "too_large": [{"row_group_rows": LARGE_ROWS}, {"row_group_rows": one_each(study.base)}],
    }.get(name, [{"row_group_rows": SMALL_ROWS}, {"row_group_rows": one_each(study.base)}])
    for changes in files:
        EXPERIMENT.case(study.settings(**changes)).build()
    one, other = (made(study).arguments[side].arguments for side in ("one_s", "other_s"))
    told = [float(number.replace(",", "")) for number in re.findall(r"[\d,]*\.?\d+", question)]
    for side in (one, other):
        assert f"{side['size_bytes'] / 1e6:.1f} MB" in question
        assert side["reads"] == 1 or side["reads"] in told
        assert f"{side['bandwidth_bytes_per_s'] / 1e6:.0f} MB/s" in question
    if name != "near":  # what opening takes there is this machine's own
        footers = {len(EXPERIMENT.case(study.settings(**one)).plan().footer) for one in files}
        for many in footers:
            assert any(many * 0.03 <= number / 1000 < many * 0.03 + 0.01 for number in told)


def test_the_point_of_the_workbook() -> None:
    assert latency_moves(1) > 20
    assert latency_moves(1) > latency_moves(8) > latency_moves(32)


def test_a_slower_answer_never_asks_for_smaller_groups() -> None:
    rows = [chapter._smallest_good(latency_s, 1) for latency_s in (20e-6, 1e-4, 1e-3, 0.01, 0.05)]
    assert rows == sorted(rows) and rows[0] < rows[-1]


@pytest.mark.parametrize(
    ("dataset", "rows", "rate"), [("comments", 104_800, 22e6), ("comments_narrow", 1_045_000, 55e6)]
)
def test_the_published_points_lie_on_the_drive_they_were_measured_on(
    dataset: str, rows: float, rate: float
) -> None:
    settings = EXPERIMENT.settings(device="usb-disk", dataset=dataset)
    [(x, y, figure)] = EXPERIMENT.published(settings, "row_group_rows")
    assert (x, y) == (pytest.approx(rows, rel=0.01), pytest.approx(rate, rel=0.01))
    assert figure.author == "Niko Neugebauer"
    assert EXPERIMENT.published({**settings, "device": NEAR}, "row_group_rows") == ()


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_says_in_words_what_it_shows(name: str) -> None:
    picture = book.chapter("row_groups").figure(name)(Study(EXPERIMENT, repeats=1))
    assert picture.sentence.endswith(".") and picture.rows
