"""Lookups: rows by their keys, one at a time through an index, many at once past a step, or the whole table instead."""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from readahead.chapters.lookups import laws
from readahead.chapters.lookups.workload import EXPERIMENT, PARQUET, SHUFFLED, STRIPE_BYTES, UNSORTED
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import Settings
from readahead.experiments.figure import Line, Picture, curve, dots
from readahead.experiments.residual import Tally, fitted, left_out, tally
from readahead.experiments.round import Analogue, Applied, Round, Source, Study, along, compared
from readahead.experiments.steps import Box, Frame
from readahead.measure.sample import Sample, Value
from readahead.published import Ratio, best, figure
from readahead.questions.question import Computed
from readahead.units import KiB

# -- Chang's eight disks, in print -------------------------------------------------------------------------
# J. Chang's tables of key lookups ("IO Cost Structure", 2010), and the law that was fitted to them. Every constant was
# in `print.yaml`.
printed = functools.partial(best, "lookups")
ROWS = (10, 20, 25, 26, 30, 50, 100, 300, 1_000, 3_000, 10_000)
"""The rows a query fetches in his tables."""
DISKS = 8
WARM, COLD = "8k", "64k"
"""His two columns: a warm cache, which reads a page of 8 KB, and a cold one, which reads 64 KB for it."""
STEP_ROWS = {WARM: 25, COLD: 24}
"""The most rows that are fetched one at a time."""
LEAP_ROWS = 3_000
"""From so many rows on, the warm column is faster than this law by a factor that is fitted and not explained."""
FITTED = fitted(__file__)
"""Every number that was fitted to his tables, by least squares of logarithms."""


def reads_a_row(rows: float, column: str, fit: Mapping[str, float] = FITTED) -> float:
    """Return the disk reads for each row fetched."""
    if column == WARM:
        return fit["warm_reads_a_row"] + fit["warm_reads_a_query"] / rows
    if rows <= STEP_ROWS[COLD]:
        return fit["cold_reads_a_row_alone"]
    return float(fit["cold_reads_least"] + fit["cold_reads_more"] / rows ** fit["cold_reads_power"])


def query_s(rows: float, column: str, fit: Mapping[str, float] = FITTED) -> float:
    """Return the seconds of a query: reads one by one; past its step those of the index, and a batch on eight disks."""
    reads, service_s = rows * reads_a_row(rows, column, fit), fit[f"service_s.{column}"]
    if rows <= STEP_ROWS[column]:
        return reads * service_s
    alone = fit[f"serial_reads.{column}"]
    leap = fit["leap"] if column == WARM and rows >= LEAP_ROWS else 1.0
    return alone * service_s + leap * laws.batch_s(reads - alone, DISKS, service_s, fit["gain"])


def mean_latency_s(rows: int, fit: Mapping[str, float] = FITTED) -> float:
    """Return how long a read takes on average beyond the step: those down the index alone, the rest in a batch."""
    reads, alone, alone_s = rows * reads_a_row(rows, WARM, fit), fit["serial_reads.8k"], fit["service_s.8k"]
    batch = reads - alone
    service_s = alone_s * max(1.0, batch / DISKS) ** -fit["gain"]
    waited_s = batch * laws.mean_wait_s(batch, DISKS, service_s) + alone * alone_s
    return float(waited_s / reads)


def columns(rows: float, fit: Mapping[str, float] = FITTED) -> dict[str, float]:
    """Return what the law says for each column of his tables, by the rows of a query.

    A row from disk takes the processor what a row in memory does, and its reads. At 26 rows, where some reads are still
    alone, a read takes the mean of both kinds.
    """
    warm_s, cold_s = query_s(rows, WARM, fit), query_s(rows, COLD, fit)
    warm_reads, cold_reads = reads_a_row(rows, WARM, fit), reads_a_row(rows, COLD, fit)
    memory_cpu_s = fit["memory_query_cpu_s"] / rows + fit["memory_row_cpu_s"]
    many = np.clip(rows - STEP_ROWS[WARM], 0, 2) / 2
    read_cpu_s = float((1 - many) * fit["read_cpu_s.8k_alone"] + many * fit["read_cpu_s.8k_many"])
    return {
        "memory_rows_per_s": rows / (fit["memory_query_s"] + rows * fit["memory_row_s"]),
        "disk_8k_rows_per_s": rows / warm_s,
        "disk_8k_reads_per_s": rows * warm_reads / warm_s,
        "disk_64k_rows_per_s": rows / cold_s,
        "disk_64k_reads_per_s": rows * cold_reads / cold_s,
        "cpu_per_row_s.memory": memory_cpu_s,
        "cpu_per_row_s.disk_8k": memory_cpu_s + warm_reads * read_cpu_s,
        "cpu_per_read_s.8k": read_cpu_s,
        "cpu_per_read_s.64k": fit["read_cpu_s.64k"],
    }


CPU = {
    "cpu_per_row_s.memory": "row in memory",
    "cpu_per_row_s.disk_8k": "row from disk",
    "cpu_per_read_s.8k": "read of 8 KB",
    "cpu_per_read_s.64k": "read of 64 KB",
}
RATES = {
    "disk_8k_rows_per_s": "8 KB, rows/s",
    "disk_8k_reads_per_s": "8 KB, reads/s",
    "disk_64k_rows_per_s": "64 KB, rows/s",
    "disk_64k_reads_per_s": "64 KB, reads/s",
}
"""The columns that the disks decide."""
WORKED_OUT = "cpu_per_row_s.disk_8k"
"""The column that follows from three others: memory, reads a row, and processor time of a read."""


@functools.cache
def told_from_others() -> dict[str, float]:
    """Return what the law says of each figure of the tables when it is fitted to all other rows of them.

    The row of a table is left out whole: the figures of one number of rows a query were measured together.
    """
    measured = [name for name in columns(ROWS[0]) if name != WORKED_OUT]
    places = list(itertools.product(measured, ROWS))

    def law(parameters: np.ndarray) -> list[float]:
        fit = dict(zip(FITTED, parameters.tolist(), strict=True))
        told = {rows: columns(rows, fit) for rows in ROWS}
        return [told[rows][column] for column, rows in places]

    names = [f"{column}.n{rows}" for column, rows in places]
    seen = [printed(name) for name in names]
    found = left_out(law, tuple(FITTED.values()), seen, groups=[rows for _, rows in places])
    return dict(zip(names, found.tolist(), strict=True))


def in_print() -> Tally:
    """Return every figure of both tables, foretold by the law as it is fitted to the other rows of the tables.

    Rows and reads a second are one rate. The rows test it, so that no miss counts twice, and the reads are foretold
    from the printed rows: they test the reads of a row.
    """
    models, bases = dict(told_from_others()), dict[str, float]()
    for name, rate in ((name, name.replace("_reads_per_s", "_rows_per_s")) for name in told_from_others()):
        if name != rate:
            bases[name] = printed(rate)
            models[name] *= bases[name] / told_from_others()[rate]
    latencies_s = {"read_latency_s.n25": FITTED["service_s.8k"], "read_latency_s.n26": mean_latency_s(26)}
    return tally(__file__, models | latencies_s, bases)


# -- what is asked of model and measurement ----------------------------------------------------------------
BEFORE, AFTER = 25, 26
_BEFORE = {"rows_per_lookup": BEFORE}
MANY: dict[str, Any] = {"stored": PARQUET, "queue_depth": 128, "rows_per_lookup": AFTER}
"""Twenty-six rows, all asked for at once: a Parquet file has no index to walk down first."""
EIGHT = MANY | {"channels": 8}
DISTINCT_KEYS = 100
DRAWS = 6
"""How often keys are drawn anew where an average is asked for."""


def wait_s(study: Study, **changes: Any) -> float:
    """Return how long a read of rows took on average, from its submission until the device had its bytes."""
    footer = len(EXPERIMENT.case(study.settings(**changes)).scan().footer)
    data = study.sample(**changes).reads[footer:]
    return float(np.mean([read.due_s - read.submitted_s for read in data]))


def groups_hit(study: Study, keys: int, draws: Sequence[int] = range(1, DRAWS + 1)) -> float:
    """Return how many row groups DuckDB read for so many keys, averaged over draws of keys."""
    asked = {**MANY, "rows_per_lookup": keys, "latency_s": 20e-6}
    return float(np.mean([study.sample(**asked, key_draw=draw).row_groups_scanned for draw in draws]))


def row_groups(study: Study) -> int:
    """Return how many row groups the table has."""
    return EXPERIMENT.case(study.base).recipe.row_groups


def by_index(rows: int) -> dict[str, int]:
    """Return the knobs of a lookup that goes through the index, whatever its step."""
    return {"rows_per_lookup": rows, "step_rows": 10_000}


def break_even(study: Study) -> int:
    """Return from how many rows on the model has the whole table read sooner than rows through the index."""
    every_s = study.model.seconds(query="scan").median
    return 1 + bisect_left(
        range(1, 10_000), every_s, key=lambda rows: study.model.seconds(**by_index(rows)).median
    )


def _around(study: Study) -> tuple[int, int]:
    """Return two numbers of rows, below and above the break-even of the model."""
    about = max(2, break_even(study))
    return max(1, about // 2), min(10_000, about * 3 // 2)


def measured_break_even(study: Study) -> float:
    """Return the same as measured: two lookups around the model's answer, and the straight line between them."""
    low, high = _around(study)
    low_s, high_s = (study.measured.seconds(**by_index(rows)).median for rows in (low, high))
    share = (study.measured.seconds(query="scan").median - low_s) / max(1e-9, high_s - low_s)
    return max(1.0, low + share * (high - low))


def step(see: Source) -> Value:
    """Return how many times as long 25 rows take as 26."""
    return see.seconds(rows_per_lookup=BEFORE) / see.seconds(rows_per_lookup=AFTER)


def at_the_step(study: Study) -> dict[str, float]:
    """Return the reads of 25 rows, those of 26 that come one by one, the seconds of a read, and of all others."""
    below, above = (EXPERIMENT.case(study.settings(rows_per_lookup=rows)).scan() for rows in (BEFORE, AFTER))
    device = EXPERIMENT.device(study.base)
    return {
        "before": below.count,
        "alone": len(above.footer),
        "service_s": device.latency_s + study.base["block_bytes"] / device.channel_bandwidth_bytes_per_s,
        "together_s": study.model.estimate(rows_per_lookup=AFTER).terms_s["many at once"],
    }


def _eight(study: Study, one: Settings, eight: Settings) -> Applied:
    """Return Amdahl's law for eight disks: what is not asked for at once, and a batch that its fullest disk ends."""
    spans = EXPERIMENT.case(study.settings(**eight)).scan().spans
    disks = np.bincount(spans[:, 0] // STRIPE_BYTES % DISKS)
    terms = study.model.estimate(**one).terms_s
    return Applied(
        laws.gain_at_most,
        alone_s=terms["open"] + terms["footer"] + terms["cpu"],
        together_s=terms["many at once"],
        speed_up=len(spans) / int(disks.max()),
    )


def _worth_looking_up(study: Study) -> Applied:
    """Return the rule of the key points: the time of the scan over that of a row."""
    scan_s, lookup_s = (study.model.seconds(**how).median for how in ({"query": "scan"}, by_index(BEFORE)))
    return Applied(laws.worth_looking_up, scan_s=scan_s, lookup_s=lookup_s, rows=BEFORE)


# -- the rounds --------------------------------------------------------------------------------------------
ROUNDS = {
    "one_by_one": Round(
        published=(figure("lookups", "disk_8k_rows_per_s.n25"),),
        law=lambda _: Applied(
            laws.lookups_per_s,
            reads_a_row=printed("disk_8k_reads_per_s.n25") / printed("disk_8k_rows_per_s.n25"),
            latency_s=printed("read_latency_s.n25"),
        ),
    ),
    "disks": compared(
        {"channels": 1}, {"channels": 64}, law=lambda *_: Applied(laws.speed_up, reads=1, disks=64)
    ),
    "balls": Round(
        published=(figure("lookups", "duration_s.n26"),),
        law=lambda _: Applied(
            laws.batch_s, reads=AFTER, disks=DISKS, service_s=printed("read_latency_s.n25")
        ),
    ),
    "eight": compared(MANY | {"channels": 1}, EIGHT, law=_eight),
    "little": Round(
        law=lambda _: Applied(
            laws.in_flight,
            reads_per_s=printed("disk_8k_reads_per_s.n26"),
            wait_s=printed("read_latency_s.n26"),
        )
    ),
    "wait": Round(
        measured=lambda study: wait_s(study, **EIGHT) / wait_s(study, **EIGHT | {"queue_depth": 1}),
        law=lambda study: Applied(
            laws.mean_wait_s, reads=laws.distinct(row_groups(study), AFTER), disks=DISKS, service_s=1.0
        ),
    ),
    "step": Round(ask=step, law=lambda study: Applied(laws.step_gain, **at_the_step(study))),
    "distinct": Round(
        measured=lambda study: groups_hit(study, DISTINCT_KEYS),
        law=lambda study: Applied(laws.distinct, places=row_groups(study), rows=DISTINCT_KEYS),
    ),
    "break_even": Round(
        model=break_even,
        measured=measured_break_even,
        law=_worth_looking_up,
        model_also="knows which rows share a read",
    ),
}


def _against(what: Callable[[Sample, float], float]) -> Analogue:
    """Return how many times as much of something a lookup of the figure's rows has as one of the other's rows.

    The rates of a whole table are a run each; the two that the round measures have as many repeats as it has.
    """

    def ratio(study: Study, told: Ratio) -> float:
        points = (float(one.x_value or 0) for one in (told.figure, told.over) if one is not None)
        of, over = (what(study.glance(rows_per_lookup=int(rows)), rows) for rows in points)
        return of / over

    return ratio


ANALOGUES: Mapping[str, Analogue] = {
    "rows_per_s": _against(lambda sample, rows: rows / sample.median_s),
    "reads_per_s": _against(lambda sample, _: len(sample.reads) / sample.median_s),
    "elapsed_s": _against(lambda sample, _: sample.median_s),
    "cpu_s": _against(lambda sample, _: float(np.median(sample.cpu_s))),
}


# -- the figures -------------------------------------------------------------------------------------------
def _chart(names: Mapping[str, str]) -> Picture:
    """Return the chart of some columns, each with its name: the law's line and the printed points."""
    lines = []
    for column, name in names.items():
        told = [(float(rows), printed(f"{column}.n{rows}")) for rows in ROWS]
        lines.append(curve(f"{name}, model", ROWS, [columns(rows)[column] for rows in ROWS]))
        lines.append(dots(f"{name}, printed", told, "published"))
    return Picture(lines=tuple(lines), marks={"25 | 26": 25.5})


def _printed(_: Study) -> Picture:
    told = in_print()
    ratios = {one.figure.name: one.ratio for one in told.residuals}
    lines = [
        dots(name, [(float(rows), ratios[f"{column}.n{rows}"]) for rows in ROWS], "published")
        for column, name in RATES.items()
    ]
    return Picture(
        values={"tally": told.sentence, "free": told.free, "leap": 1 / FITTED["leap"] - 1},
        lines=tuple(lines),
        marks={"unexplained": float(LEAP_ROWS)},
    )


def _bins(_: Study) -> Picture:
    disks = (1, 2, 4, 8, 16, 32, 64)
    lines = [curve("as many as disks", disks, disks, "other")]
    for reads in (AFTER, 300, 10_000):
        lines.append(curve(f"{reads:,} reads at once", disks, [laws.speed_up(reads, d) for d in disks]))
    return Picture(lines=tuple(lines), marks={"Chang": float(DISKS)})


def _step(study: Study) -> Picture:
    index = along(study, "rows_per_lookup", seen=(5, BEFORE, AFTER, 100), label="index")
    parquet = along(study, "rows_per_lookup", seen=(5, AFTER, 100), label="Parquet", stored=PARQUET)
    return Picture(lines=(*index, *parquet), marks={"25 | 26": 25.5})


def _distinct(study: Study) -> Picture:
    groups, rows = row_groups(study), EXPERIMENT.case(study.base).recipe.rows
    seen = {keys: groups_hit(study, keys) for keys in (10, DISTINCT_KEYS, 400)}
    law = {keys: laws.distinct(groups, keys) for keys in seen}
    every = [int(keys) for keys in np.unique(np.geomspace(1, 2_000, 40).round())]
    return Picture(
        values={
            "draws": DRAWS,
            "worst": max(abs(seen[keys] / law[keys] - 1) for keys in seen),
            "error": max(laws.spread(groups, keys) / law[keys] for keys in seen) / DRAWS**0.5,
        },
        lines=(
            curve("Cardenas", every, [laws.distinct(groups, keys) for keys in every]),
            curve("Yao", every, [laws.distinct_of(groups, rows, keys) for keys in every]),
            dots("DuckDB", seen.items()),
        ),
    )


def _even(study: Study) -> Picture:
    about = break_even(study)
    index = along(
        study, "rows_per_lookup", seen=_around(study), label="index", seconds=True, step_rows=10_000
    )
    whole = along(study, "rows_per_lookup", seen=(about,), label="whole table", seconds=True, query="scan")
    return Picture(
        values={"rows": about, "table": EXPERIMENT.case(study.base).recipe.rows},
        lines=(*index, *whole),
        marks={"break-even": about},
    )


def _amplified(study: Study) -> Picture:
    rows, modeled, seen = 10, [], []
    wanted = rows * EXPERIMENT.case(study.base).recipe.source.bytes_per_row
    for block in (16 * KiB, 64 * KiB, 256 * KiB):
        changes = {"block_bytes": block, **by_index(rows)}
        reads = EXPERIMENT.case(study.settings(**changes)).scan()
        modeled.append((block, reads.bytes_read / wanted))
        seen.append((block, study.sample(**changes).bytes_read / wanted))
    least, most = (float(f"{times:.2g}") for _, times in (seen[0], seen[-1]))  # more digits say nothing here
    return Picture(
        values={"rows": rows, "width": wanted / rows, "least": least, "most": most},
        lines=(Line(name="model", points=modeled), dots("DuckDB", seen)),
    )


FIGURES = {
    "rates": lambda _: _chart(
        {"disk_8k_rows_per_s": "8 KB", "disk_64k_rows_per_s": "64 KB", "memory_rows_per_s": "memory"}
    ),
    "reads": lambda _: _chart({"disk_8k_reads_per_s": "8 KB", "disk_64k_reads_per_s": "64 KB"}),
    "cpu": lambda _: _chart(CPU),
    "printed": _printed,
    "asked": {f"{rows} rows": {"rows_per_lookup": rows} for rows in (BEFORE, AFTER)},
    "bins": _bins,
    "step": _step,
    "distinct": _distinct,
    "even": _even,
    "amplified": _amplified,
}


# -- claims and computed answers -------------------------------------------------------------------------
CLAIMS: dict[str, Sides] = {
    "flat": Sides(left={**_BEFORE, "channels": 64}, right={**_BEFORE, "channels": 1}),
    "moved": Sides(left={"rows_per_lookup": AFTER, "step_rows": 100}, right=_BEFORE),
    "order_of_keys": Sides(left={**_BEFORE, "asked": UNSORTED}, right=_BEFORE),
    "order_of_rows": Sides(
        left=MANY,
        right={**MANY, "table_order": SHUFFLED},
        when={"so_many_disks": lambda left, right, study: study.base["channels"] > 16},
    ),
    "model_holds": Sides(left=lambda study: step(study.measured), right=lambda study: step(study.model)),
    "both_sides": Sides(
        left=lambda study: study.measured.seconds(**by_index(max(1, break_even(study) // 2))),
        right={"query": "scan"},
        when={"on_this_device": lambda left, right, study: break_even(study) < 3},
    ),
}

ANSWERS: dict[str, Computed] = {
    "reads": Computed(answer=lambda _: printed("duration_s.n25") / printed("read_latency_s.n25")),
    "latency_at_depth": Computed(answer=lambda _: 64 / printed("disk_8k_reads_per_s.n10000")),
    "fullest": Computed(answer=lambda _: laws.fullest(8, 8)),
    "large_read": Computed(answer=lambda _: 8 * FITTED["read_cpu_s.8k_alone"] / FITTED["read_cpu_s.64k"]),
    "groups_hit": Computed(
        law=lambda given: Applied(laws.distinct, **given),
        wrong={
            "one_for_each": lambda given: given["rows"],
            "half_of_them": lambda given: given["places"] / 2,
        },
    ),
    "my_break_even": Computed(
        answer=break_even,
        examples={
            "an_index_is": lambda study: f"{EXPERIMENT.case(study.base).recipe.rows // 100}",
            "lookups_by_index": lambda study: "1" if break_even(study) > 2 else "900",
        },
    ),
}


def _filling(_: Study) -> Iterator[Frame]:
    """Return reads that chance throws on disks, one by one, and then how each disk serves its own."""
    lying: list[list[int]] = [[] for _ in range(4)]
    for read in range(1, 11):
        counts = laws.throw(read, len(lying), seed=5).tolist()
        [disk] = (at for at, count in enumerate(counts) if count > len(lying[at]))
        lying[disk].append(read)
        says = f"Read {read} falls on disk {disk + 1}, where {counts[disk]} wait now."
        yield Frame(says=says.replace("1 wait now", "it is alone"), lanes=_on_disks(lying, served=0))
    for served in range(1, max(counts) + 1):
        idle = sum(count <= served for count in counts)
        says = f"After {served} service time{'s' * (served > 1)}, {idle} of {len(counts)} disks have nothing left."
        says += " The fullest disk is done, and so is the query." * (idle == len(counts))
        yield Frame(says=says, lanes=_on_disks(lying, served=served))


def _on_disks(lying: Sequence[Sequence[int]], served: int) -> dict[str, list[Box]]:
    return {
        f"Disk {disk}": [(str(read), "done" if at < served else "wait") for at, read in enumerate(here)]
        or [("", "free")]
        for disk, here in enumerate(lying, 1)
    }


STEPS = {"filling": _filling}
