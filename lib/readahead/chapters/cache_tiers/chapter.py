"""Cache tiers: queries that come again, memory for a part of what they ask for, a disk between, and the price."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from readahead import published
from readahead.chapters.cache_tiers import laws
from readahead.chapters.cache_tiers.cached_case import CachedCase
from readahead.chapters.cache_tiers.workload import DISK, DROP, SCAN, UNIFORM, ZIPF, CachedQueries
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import Settings
from readahead.experiments.figure import Line, Picture, curve
from readahead.experiments.knobs import experiment
from readahead.experiments.residual import Tally, tally
from readahead.experiments.round import Applied, Round, Study, along, compared
from readahead.experiments.steps import Box, Frame
from readahead.questions.question import Computed
from readahead.units import GiB, KiB, MiB

EXPERIMENT = experiment(
    CachedQueries,
    __file__,
    "Cache tiers: cold, warm, and the tier between",
    fixed={"dataset": "comments", "threads": 1},
    calibrated_each=("access",),
)

FAST_S, SLOW_S = 1e-3, 50e-3
"""Two tiers, as the third round gives them."""
PAGE_BYTES = 4 * KiB
"""The page of the five-minute rule, and the reads that a drive is rated by."""
GRAY_1987 = {"drive_price": 2e3, "reads_per_s": 1.0, "memory_price_per_byte": 5.0 / KiB}
"""Gray and Putzolu's own prices: $2,000 for each access a second, arm, channel and processor; $5 a kilobyte."""


# -- the settings of each round, and what is asked there ---------------------------------------------------
def counted(access: str, **more: Any) -> dict[str, Any]:
    """Return the knobs with which hits are counted: many queries, on a near device (its distance changes none)."""
    return {"access": access, "skew": 1.0, "latency_s": 100e-6, "queries": 192, **more}


def scanned(share: float, **more: Any) -> dict[str, Any]:
    """Return the knobs of a scan that comes back, with memory for a share of the table."""
    return {"access": SCAN, "memory_share": share, "queue_depth": 2, **more}


def far(spill: str, rows: int = 4_096) -> dict[str, Any]:
    """Return the knobs of the rounds with a tier between: a far device, and half of what is asked for in memory."""
    room = {2_048: 0.1, 4_096: 0.16}[rows]
    few = {"access": UNIFORM, "queries": 24, "memory_share": room, "latency_s": 0.01}
    return {**few, "spill": spill, "row_group_rows": rows}


def again(run: int, share: float = 0.5) -> dict[str, Any]:
    """Return the knobs of the rounds on repeats."""
    return {"run": run, "queries": 32, "memory_share": share, "latency_s": 0.01}


TIGHT = 0.25
"""A share of memory that holds most of what those queries ask for, and not all."""


def blocks(block_bytes: int) -> dict[str, Any]:
    """Return the knobs of a first scan into a cache of such blocks."""
    return scanned(1.25, run=1, block_bytes=block_bytes, queue_depth=8, latency_s=0.002)


def seen(study: Study, **changes: Any) -> float:
    """Return the hit ratio of one run in DuckDB: the share of the wanted bytes that was not read from the device."""
    wanted = EXPERIMENT.work(study.settings(**changes))
    return max(0.0, 1 - study.glance(**changes).bytes_read / wanted)


def long_run(study: Study, **changes: Any) -> float:
    """Return the hit ratio by Che's law, or by the law of the scan that comes back."""
    return case(study, **changes).law().result


def replayed(study: Study, **changes: Any) -> float:
    """Return the hit ratio of an LRU cache on the very accesses that DuckDB gets."""
    return 1 - case(study, **changes).shares()[2]


def case(study: Study, **changes: Any) -> CachedCase:
    """Return the case at some settings."""
    return EXPERIMENT.case(study.settings(**changes))


# -- the law of each round ---------------------------------------------------------------------------------
def five_minute_rule(study: Study, page_bytes: float = PAGE_BYTES) -> Applied:
    """Return the five-minute rule with the prices of this notebook; of long pages a drive reads as many bytes."""
    return Applied(
        laws.break_even_s,
        page_bytes=page_bytes,
        drive_price=study.base["drive_dollars"],
        reads_per_s=study.base["drive_reads_per_s"] * min(1.0, PAGE_BYTES / page_bytes),
        memory_price_per_byte=study.base["dram_dollars_per_gib"] / GiB,
    )


def _gain(study: Study, before: Settings, after: Settings) -> Applied:
    one, other = case(study, **before), case(study, **after)
    missing, hitting = one.access_s(), other.access_s()
    times_s = tuple(round(s, 6) for s in (hitting.memory_s, hitting.disk_s, sum(missing.device_s.values())))
    shares = [tuple(round(share, 4) for share in each.shares()) for each in (one, other)]
    return Applied(laws.gain, before=shares[0], after=shares[1], times_s=times_s, own_s=missing.own_s)


def _scan_gain(study: Study, before: Settings, after: Settings) -> Applied:
    few, many = case(study, **after), case(study, **before)
    reads = [one.blocks * one.shares()[2] for one in (many, few)]
    waits = {"in_flight": few.window.slots, "latency_s": few.device.latency_s}
    own_s = study.model.estimate(**after).terms_s["cpu"]
    return Applied(laws.scan_gain, before=reads[0], after=reads[1], **waits, own_s=own_s)


def _replay(study: Study) -> Applied:
    trace = case(study, **again(4, TIGHT)).trace
    return Applied(laws.replayed, asked=list(trace.asked), room=int(TIGHT * len(trace.sizes)), run=4)


def _hits(**knobs: Any) -> Round:
    """Return the round that asks what share DuckDB's cache finds."""
    return Round(law=lambda study: case(study, **knobs).law(), measured=partial(seen, **knobs))


ROUNDS = {
    "uniform": _hits(**counted(UNIFORM, memory_share=0.5)),
    "favourites": _hits(**counted(ZIPF, memory_share=0.5)),
    "too_small": _hits(**counted(**scanned(0.9))),
    "scan_gain": compared(scanned(0.5), scanned(1.25), _scan_gain),
    "eighty": Round(
        law=lambda _: Applied(laws.gain, before=(0, 1), after=(0.8, 0.2), times_s=(FAST_S, SLOW_S))
    ),
    "spill": compared(far(DROP), far(DISK), _gain),
    "short_blocks": compared(far(DROP, 2_048), far(DISK, 2_048), _gain),
    "second": compared(again(1), again(2), _gain),
    "fourth": Round(
        model=partial(replayed, **again(4, TIGHT)), measured=partial(seen, **again(4, TIGHT)), law=_replay
    ),
    "tiny_blocks": compared(blocks(16 * KiB), blocks(1 * MiB), _scan_gain),
    "break_even": Round(law=five_minute_rule),
}


# -- figures ---------------------------------------------------------------------------------------------
def _found(study: Study, name: str, ask: Callable[..., float], shares: Iterable[float], **knobs: Any) -> Line:
    """Return a hit ratio at some shares of memory: a line, or points where DuckDB was asked."""
    points = [(float(share), ask(study, **{**knobs, "memory_share": float(share)})) for share in shares]
    source = {seen: "measured", replayed: "other"}.get(ask, "modeled")
    return Line(name=name, points=points, source=source, joined=ask is not seen)


def _memory(study: Study) -> Picture:
    lines = []
    for access in (UNIFORM, ZIPF):
        knobs, name = counted(access), EXPERIMENT.knob("access").text(access)
        lines += [
            _found(study, f"Che's law, {name}", long_run, np.linspace(0.1, 1.0, 19), **knobs),
            _found(study, f"LRU on these queries, {name}", replayed, np.linspace(0.1, 1.0, 19), **knobs),
            _found(study, f"DuckDB, {name}", seen, (0.25, 0.5), **knobs),
        ]
    return Picture(lines=tuple(lines))


def _cliff(study: Study) -> Picture:
    lines = []
    for depth in (2, 8):
        knobs, name = scanned(1.0, queue_depth=depth), f"{depth} row groups ahead"
        lines += [
            _found(study, f"model, {name}", long_run, np.linspace(0.5, 1.5, 41), **knobs),
            _found(study, f"DuckDB, {name}", seen, (0.9, 1.1, 1.25), **knobs),
        ]
    return Picture(lines=tuple(lines), marks={"the table": 1.0})


def _tiers(study: Study) -> Picture:
    without = along(study, "latency_s", seen=[0.01], label="memory and device", seconds=True, **far(DROP))
    between = along(study, "latency_s", seen=[0.01], label="a disk between", seconds=True, **far(DISK))
    return Picture(lines=without + between)


def _repeats(study: Study) -> Picture:
    lines: list[Line] = []
    for name, knobs, runs in (
        ("favourites that fit", again(1), (1, 2, 4)),
        ("a scan, room for 90 %", scanned(0.9), (1, 2)),
        ("a scan, room for all", scanned(1.25), (1, 2)),
    ):
        there = {key: value for key, value in knobs.items() if key != "run"}
        lines += along(study, "run", seen=runs, label=name, seconds=True, **there)
    return Picture(lines=tuple(lines))


def _break_even(study: Study) -> Picture:
    sizes = [float(1 * KiB * 2**n) for n in range(11)]
    now = [five_minute_rule(study, size).result for size in sizes]
    then = [laws.break_even_s(size, **GRAY_1987) for size in sizes]
    return Picture(
        lines=(
            curve("with this notebook's prices", sizes, now),
            curve("Gray and Putzolu's of 1987", sizes, then, "published"),
        ),
        marks={"their record": float(KiB)},
    )


FIGURES = {
    "hits": _memory,
    "rescan": {"first run": scanned(0.9, run=1), "second run": scanned(0.9)},
    "cliff": _cliff,
    "tiers": _tiers,
    "thinner": {"first run": again(1, 0.2), "second run": again(2, 0.2)},
    "repeats": _repeats,
    "blocks": {"blocks of 1 MiB": blocks(1 * MiB), "blocks of 16 KiB": blocks(16 * KiB)},
    "price": _break_even,
}


# -- what others printed ---------------------------------------------------------------------------------
def in_print() -> Tally:
    """Return every printed figure that a law of this chapter meets; one of them could have failed.

    A load that is read from storage cold and from memory warm has the ratio of the two, whatever it reads: the unsorted
    load's on two nodes predicts the warm time of the redundant one. The other times are held to a model in the
    chapters on elimination and on scale-out, and count there.
    """
    printed = partial(published.best, "cache_tiers")
    loads = ("cold.unsorted", "warm.unsorted", "cold.redundant")
    cold_s, warm_s, again_s = (published.best("scale_out", f"total_s.{load}") for load in loads)
    again = "scale_out:total_s.warm.redundant"
    models = {
        again: again_s * warm_s / cold_s,
        "imdt_bytes": (printed("optane_drives") - 1) * printed("optane_drive_bytes"),
    }
    return tally(__file__, models, {again: again_s})


# -- answers of exercises, and the two sides of each claim ---------------------------------------------------
CLAIMS = {
    "least_recently": Sides(left=partial(seen, **counted(ZIPF)), right=partial(replayed, **counted(ZIPF))),
    "no_use": Sides(left=scanned(0.9), right=scanned(0.9, run=1)),
    "read_ahead_takes": Sides(
        left=partial(seen, **scanned(1.1, queue_depth=8)),
        right=partial(seen, **scanned(1.1, queue_depth=2)),
        when={"row_groups_so": lambda left, right, study: study.base["row_group_rows"] < 4_096},
    ),
    "spill_pays": Sides(left=far(DISK), right=far(DROP)),
}

ANSWERS = {
    "ten_points": Computed(answer=lambda _: laws.gain((0.8, 0.2), (0.9, 0.1), (FAST_S, SLOW_S))),
    "five_minutes": Computed(
        law=lambda given: Applied(
            laws.break_even_s,
            page_bytes=given["page_bytes"],
            drive_price=given["drive_price"],
            reads_per_s=given["reads_a_second"],
            memory_price_per_byte=3 / GiB,
        ),
        wrong={"the_price_of": lambda given: given["drive_price"] * GiB / 3 / given["page_bytes"]},
    ),
}


def _lru(_: Study) -> Iterator[Frame]:
    """Return the accesses of an LRU cache with room for three, as the law has them."""
    before: list[str] = []
    for item, hit, holds in laws.lru(list("abcadbae"), room=3):
        dropped = [other for other in before if other not in holds]
        says = f"{item} is asked for, and is {'there.' if hit else 'not there: it is read.'}"
        says += f" {dropped[0]} was used longest ago, and is dropped." if dropped else ""
        lanes: dict[str, list[Box]] = {
            "Asked for": [(item, "done" if hit else "work")],
            "In the cache, used last to used longest ago": [(other, "done") for other in holds]
            + [("", "free")] * (3 - len(holds)),
            "Dropped": [(other, "gone") for other in dropped] or [("", "free")],
        }
        yield Frame(says=f"{says} It stands first now.", lanes=lanes)
        before = holds


STEPS = {"lru": _lru}
