"""Read-ahead: a scan with it on and off, with a window from one read to many, and what is asked for in vain."""

from __future__ import annotations

import functools
from typing import Any

from readahead import published
from readahead.chapters.read_ahead import laws
from readahead.chapters.read_ahead.workload import ALONE, EXPERIMENT, LIMIT, NATIVE, OFF, ON, PARQUET, TWO
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import DISK_COLD, DISK_WARM, Settings
from readahead.experiments.figure import Line, Picture, dots
from readahead.experiments.residual import Tally, tally
from readahead.experiments.round import Applied, Round, Source, Study, along, compared
from readahead.experiments.steps import Frame, scan_frames
from readahead.measure.sample import Value
from readahead.published import Ratio
from readahead.questions.question import Computed
from readahead.storage import page_cache
from readahead.units import GB, KiB, MiB

figure = functools.partial(published.figure, "read_ahead")
printed = functools.partial(published.best, "read_ahead")
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
SSD = {"latency_s": 100e-6, "bandwidth_bytes_per_s": 3 * GB}
"""A fast drive, as the second round gives it."""
LIMIT_DEPTH = 32
DEEP, DEEP_ALONE = {"queue_depth": 128}, {"queue_depth": 128, "read_ahead": ALONE}


def switched(way: str, stored: str = PARQUET) -> dict[str, Any]:
    """Return the knobs of the on-and-off rounds: groups and a latency at which "off" ends within a breath."""
    return {"read_ahead": way, "stored": stored, "row_group_rows": 16_384, "latency_s": 0.002}


def switched_here(way: str) -> dict[str, Any]:
    """Return the knobs of the on-and-off round on this machine's own disk, cold where the system can forget."""
    own = DISK_COLD if page_cache.can_evict() else DISK_WARM
    return {"read_ahead": way, "row_group_rows": 16_384, "where": own}


def holed(gap_bytes: int) -> dict[str, Any]:
    """Return the knobs for two columns with a hole between them, one read at a time."""
    return {"query": TWO, "column_gap_bytes": gap_bytes, "row_group_rows": 16_384, "queue_depth": 1}


def gain(see: Source, **more: Any) -> Value:
    """Return how many times as long a scan of DuckDB's own format takes without read-ahead."""
    off_s, on_s = (see.seconds(**{**switched(way, NATIVE), **more}) for way in (OFF, ON))
    return off_s / on_s


def limit_reads(study: Study, depth: int) -> float:
    """Return the reads of a query that stops after ten rows: the footer's, and a window of row groups."""
    case = EXPERIMENT.case(study.settings(query=LIMIT, queue_depth=depth))
    case.build()
    return float(case.scan().count)


def limit_reads_seen(study: Study, depth: int) -> float:
    """Return how many reads DuckDB sent for it."""
    return float(len(study.sample(query=LIMIT, queue_depth=depth).reads))


# -- in print --------------------------------------------------------------------------------------------
def sheas_device() -> tuple[float, float]:
    """Return the (latency in s, bandwidth in bytes/s) that both of Shea's times betray."""
    off, on = ((printed(f"read_bytes.{way}"), printed(f"elapsed_s.{way}")) for way in (OFF, ON))
    return laws.device_of(off, on, total_bytes=printed("table_bytes"))


def shea_rate(size_bytes: float) -> float:
    """Return the bytes a second of Shea's device with one request of so many bytes at a time."""
    latency_s, bandwidth = sheas_device()
    return laws.window_rate(size_bytes, 1, latency_s=latency_s, bandwidth_bytes_per_s=bandwidth)


def in_print() -> Tally:
    """Return every printed figure that a law of this chapter meets; none of them could have failed.

    Chang's three scans fit windows of the two sizes that he names, if the larger belongs to the two faster scans.
    """
    table, unlocked = printed("table_bytes"), _without_locks().result
    models = {f"elapsed_s.{way}": table / shea_rate(printed(f"read_bytes.{way}")) for way in (ON, OFF)}
    models |= {
        "scan_bytes_per_s.read_committed_cold": printed("scan_bytes_per_s.read_committed_cold"),
        "scan_bytes_per_s.nolock_cold": unlocked,
        "scan_bytes_per_s.read_committed_warm": unlocked,
    }
    return tally(__file__, models)


def _without_locks() -> Applied:
    """Return the law of Chang's scan with NOLOCK, from his scan with locks."""
    return Applied(
        laws.longer_reads_rate,
        bytes_per_s=printed("scan_bytes_per_s.read_committed_cold"),
        read_bytes=printed("scan_read_bytes.low"),
        longer_bytes=printed("scan_read_bytes.high"),
    )


def _total(study: Study, changes: Settings, *terms: str) -> float:
    """Return the model's time for some terms, hidden behind others or not."""
    estimate = study.model.estimate(**changes)
    return sum(part.get(term, 0.0) for part in (estimate.terms_s, estimate.overlapped_s) for term in terms)


def _gain_law(study: Study, without: Settings, ahead: Settings) -> Applied:
    """Return the law of a scan with read-ahead against one without."""
    settings = study.settings(**ahead)
    device, reads = EXPERIMENT.device(settings), EXPERIMENT.case(settings).scan()
    return Applied(
        laws.gain,
        open_s=_total(study, ahead, "open"),
        waits_s=_total(study, without, "seek", "latency", "transfer", "engine"),
        decode_s=_total(study, without, "cpu"),
        first_s=device.latency_s + reads.bytes_read / reads.count / device.channel_bandwidth_bytes_per_s,
        ahead_s=_total(study, ahead, "seek", "latency", "transfer"),
        hand_out_s=_total(study, ahead, "engine"),
    )


def _hole_law(study: Study, *ways: Settings) -> Applied:
    """Return what a hole costs in one row group, on average."""
    apart, through = (EXPERIMENT.case(study.settings(**changes)).scan() for changes in ways)
    device, groups = EXPERIMENT.device(study.base), len(through.groups)
    return Applied(
        laws.jump_cost,
        wanted_bytes=(apart.bytes_read - int(apart.footer[:, 1].sum())) / groups,
        hole_bytes=(through.bytes_read - apart.bytes_read) / groups,
        latency_s=device.latency_s,
        bandwidth_bytes_per_s=device.channel_bandwidth_bytes_per_s,
    )


def _waste_law(study: Study) -> Applied:
    scan = EXPERIMENT.case(study.settings(queue_depth=LIMIT_DEPTH)).scan()
    found = {"first_reads": len(scan.footer), "row_groups": len(scan.groups)}
    return Applied(laws.asked_for, **found, depth=LIMIT_DEPTH)


# -- the rounds ------------------------------------------------------------------------------------------
ROUNDS = {
    "shea": Round(
        published=(figure("scan_bytes_per_s.off"),),
        law=lambda _: Applied(
            laws.rate, total_bytes=printed("table_bytes"), elapsed_s=printed("elapsed_s.off")
        ),
    ),
    "file_copy": Round(
        law=lambda _: Applied(
            laws.window_share, request_bytes=printed("file_copy_read_bytes"), in_flight=1, **SSD
        )
    ),
    "nolock": Round(published=(figure("scan_bytes_per_s.nolock_cold"),), law=lambda _: _without_locks()),
    "switch": compared(switched(OFF), switched(ON), law=_gain_law, published=(figure("slowdown_factor"),)),
    "switch_native": compared(
        switched(OFF, NATIVE), switched(ON, NATIVE), law=_gain_law, published=(figure("slowdown_factor"),)
    ),
    "switch_here": compared(switched_here(OFF), switched_here(ON), law=_gain_law),
    "depth": compared({"queue_depth": 1}, DEEP, law=_gain_law),
    "alone": compared({"queue_depth": 1}, DEEP_ALONE, law=_gain_law),
    "waste": Round(
        model=lambda study: limit_reads(study, LIMIT_DEPTH),
        measured=lambda study: limit_reads_seen(study, LIMIT_DEPTH),
        law=_waste_law,
    ),
    "hole": compared(holed(1 * KiB), holed(1 * MiB), law=_hole_law),
}


def _longer_reads(study: Study, _: Ratio) -> Value:
    """Return how many times faster a scan is in row groups twice as long, one read at a time."""
    short, long = (study.measured.seconds(queue_depth=1, row_group_rows=rows) for rows in (16_384, 32_768))
    return short / long


def _read_bytes(study: Study, _: Ratio) -> float:
    """Return how many times as long the reads are with read-ahead as without."""
    ahead, without = (study.sample(**switched(way)) for way in (ON, OFF))
    return ahead.bytes_read / len(ahead.reads) / (without.bytes_read / len(without.reads))


ANALOGUES = {"read_bytes": _read_bytes, "longer_reads": _longer_reads}


# -- the figures -----------------------------------------------------------------------------------------
def _depth(study: Study) -> Picture:
    both = along(study, "queue_depth", seen=DEPTHS, label="both settings")
    alone = along(study, "queue_depth", seen=(16, 128), label="async_threads alone", read_ahead=ALONE)
    device = EXPERIMENT.device(study.base)
    enough = laws.depth_to_ask_for(
        EXPERIMENT.work(study.base) / EXPERIMENT.case(study.base).recipe.row_groups,
        latency_s=device.latency_s,
        bandwidth_bytes_per_s=device.bandwidth_bytes_per_s,
    )
    return Picture(lines=(*both, *alone), marks={"bandwidth × delay": enough})


def _window(_: Study) -> Picture:
    small, large = printed("read_bytes.off"), printed("read_bytes.on")
    said = [(small, printed("scan_bytes_per_s.off"))]
    said += [(large, printed(f"scan_bytes_per_s.{end}")) for end in ("on_low", "on_high")]
    counter = [(large, printed("readahead_pages_per_s.on") * printed("page_bytes"))]
    sizes = [4.0 * KiB * 2**n for n in range(12)]
    latency_s, bandwidth = sheas_device()
    return Picture(
        lines=(
            Line(name="one request at a time", points=[(size, shea_rate(size)) for size in sizes]),
            dots("Shea's rates", said, "published"),
            dots("Shea's page counter", counter, "published"),
        ),
        marks={"half speed": laws.bytes_to_ask_for(latency_s=latency_s, bandwidth_bytes_per_s=bandwidth)},
    )


def _waste(study: Study) -> Picture:
    modeled = [(depth, limit_reads(study, depth)) for depth in DEPTHS]
    seen = [(depth, limit_reads_seen(study, depth)) for depth in (1, 8, LIMIT_DEPTH, 128)]
    return Picture(lines=(Line(name="model", points=modeled), dots("DuckDB", seen)))


FIGURES = {
    "window": _window,
    "asked": {"read-ahead on": switched(ON), "read-ahead off": switched(OFF)},
    "depth": _depth,
    "deep": {f"queue depth {depth}": {"queue_depth": depth} for depth in (1, 8, 128)},
    "waste": _waste,
}


# -- claims and computed answers -------------------------------------------------------------------------
CLAIMS: dict[str, Sides] = {
    "both_settings": Sides(
        left=DEEP,
        right={"queue_depth": 1},
        when={"the_latency_was": lambda left, right, study: study.base["latency_s"] < 0.004},
    ),
    "flat_alone": Sides(
        left=DEEP_ALONE,
        right={"queue_depth": 16, "read_ahead": ALONE},
        when={"with_many_workers": lambda left, right, study: study.base["threads"] > 4},
    ),
    "model_holds": Sides(left={"queue_depth": 8}, right=lambda study: study.model.seconds(queue_depth=8)),
    "in_memory": Sides(
        left=lambda study: gain(study.measured, latency_s=20e-6),
        right=lambda study: gain(study.measured),
    ),
}

ANSWERS: dict[str, Computed] = {
    "latency": Computed(answer=lambda _: sheas_device()[0]),
    "longest_hole": Computed(
        law=lambda given: Applied(laws.bytes_to_ask_for, **given),
        wrong={"a_second_s": lambda given: given["bandwidth_bytes_per_s"]},
    ),
}


def _ahead(study: Study) -> list[Frame]:
    device = EXPERIMENT.device(study.base)
    scan: dict[str, Any] = {"read_bytes": 150_000, "group_s": 0.002}
    return [
        *scan_frames(device, reads=3, slots=1, depth=1, lead="Without read-ahead.", **scan),
        *scan_frames(device, reads=6, slots=3, depth=4, lead="With read-ahead.", **scan),
    ]


STEPS = {"ahead": _ahead}
