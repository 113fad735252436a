"""What DuckDB itself takes on this machine, read off a few short runs and kept.

A `Calibration` is data: the runs to make, and how the costs are read off them. The engine's runs on emulated devices
show what it takes to plan, to open a file, to issue a read, to decode a row. Each of these costs is read off the runs
that show it: one read at a time shows the pause between an arrival and the next request, which grows with the rows to
decode; many in flight show the slowest step that all reads pass. Where each run shows several costs at once, and none
can be seen in a trace, they are `fitted`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import psutil
from numpy.typing import NDArray

from readahead import paths, units
from readahead.datasets.recipe import Recipe
from readahead.devices import Device, calibrated
from readahead.errors import require_range
from readahead.measure.case import Case
from readahead.measure.run import EngineSettings, one_engine, spare_threads
from readahead.measure.sample import DISTURBED, Sample, steady, this_machine
from readahead.models import schedule
from readahead.models.schedule import Costs
from readahead.running import quietly, tell
from readahead.storage import page_cache
from readahead.storage.trace import Read

MEMORY = Device(name="memory", latency_s=1e-6, bandwidth_bytes_per_s=1e10, channels=64)
"""What a warm file is read from."""

CostsT = TypeVar("CostsT")
_unwritten: dict[Path, dict[str, Any]] = {}
"""Costs whose folder can only be read, as one that a class shares: they are kept until this kernel ends."""

_DAMAGED = (OSError, ValueError, KeyError, TypeError, RecursionError)
"""What reading a file raises that is not there, or that somebody else has written."""

STRAYED = 0.10
"""How far a control run may lie from the usual."""
MOST_TIMES = 2
"""How often a run of a calibration is made at most, if the control run strays beside it."""
LATELY = 600
"""How many control runs are kept, one of each second."""
CONTROL_CORES = 8
"""So many cores tell how the machine is."""
BOOT_S = 60.0
"""Two times of the machine's start that are nearer than this are the same: the clock is set right now and then."""


def control_s() -> float:
    """Return the mean seconds of the control run, now: the same sum on each core that is ours.

    No model can be nearer to a measurement than the machine is to itself. A core of a virtual machine whose other half
    works for somebody else is up to 1.7 times as slow, for a second or for ten, and its neighbour need not be.
    """
    if not hasattr(os, "sched_setaffinity"):
        return _sum_s()
    ours = os.sched_getaffinity(0)
    took_s = []
    try:
        for core in sorted(ours)[:CONTROL_CORES]:
            with contextlib.suppress(OSError):  # a container may forbid it
                os.sched_setaffinity(0, {core})
            took_s.append(_sum_s())
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, ours)
    return float(np.mean(took_s))


class OtherPrograms:
    """What other programs take of this machine's cores from now on; a control run on a core drives them to another."""

    def __init__(self) -> None:
        self._cores, self._begun = os.cpu_count() or 1, self._now()

    def _now(self) -> tuple[float, float, float]:
        times = psutil.cpu_times()
        rest_s = sum(getattr(times, name, 0.0) for name in ("idle", "iowait", "guest", "guest_nice"))
        return time.perf_counter(), sum(times) - rest_s, time.process_time()

    def share(self) -> float:
        """Return it as a share of all cores; what a hypervisor gave to other machines counts too."""
        elapsed_s, all_s, own_s = (now - then for now, then in zip(self._now(), self._begun, strict=True))
        return min(1.0, max(0.0, all_s - own_s) / (elapsed_s * self._cores))


def _sum_s() -> float:
    """Return the median seconds of three sums: a single one is now and then a tenth quicker than the usual."""
    took_s = []
    for _ in range(3):
        start_s = time.perf_counter()
        sum(number * number % 7 for number in range(10_000))
        took_s.append(time.perf_counter() - start_s)
    return float(np.median(took_s))


def strayed(took_s: float) -> float:
    """Return how far a control run lies from the usual, as a share."""
    return abs(took_s / usual_s(took_s) - 1)


def usual_s(seen_s: float) -> float:
    """Return what a control run took of late, `seen_s` among them: the lower quartile. Keep `seen_s` too.

    Not the least, for a machine may be quickest for a moment only; nor the median, for one that shares its cores with
    others is slowed down for half of its time and more. One control run a second is kept, of the last seconds in which
    any was made since this machine was started: its pace may change for good, as when it is warm.
    """
    now_s, (last_s, took_s) = time.time(), _controls()
    took_s = [*took_s[-LATELY:], seen_s]
    if not 0 <= now_s - last_s < 1:
        lately = {"last_s": now_s, "took_s": took_s}
        _write(_controls_path(), {"holds_for": _machine(), "boot_s": psutil.boot_time(), **lately})
    return sorted(took_s)[(len(took_s) - 1) // 4]


def quick_for_long() -> bool:
    """Return whether the machine is quick often, and for long: then the quickest runs compare, short and long ones.

    A control run is quick that took `DISTURBED` more than can be, at most; of the quickest one in twenty is left out.
    Where fewer than a third of late are, or a slow one is followed by a quick one a second later more than once in
    three times, a short run meets a quick moment now and then and a long one does not.
    """
    took_s = _controls()[1]
    limit_s = (1 + DISTURBED) * sorted(took_s)[len(took_s) // 20] if took_s else 0.0
    slow = [one_s > limit_s for one_s in took_s]
    after_slow = [later for before, later in pairwise(slow) if before]
    return sum(slow) <= len(slow) * 2 / 3 and sum(after_slow) >= len(after_slow) * 2 / 3


def _controls_path() -> Path:
    return paths.cache_dir() / "controls.json"


def _controls() -> tuple[float, list[float]]:
    """Return when a control run was last kept and what those of late took, or that there are none."""
    with contextlib.suppress(*_DAMAGED):  # none yet, or damaged: the next one is the first
        told = _unwritten.get(_controls_path()) or paths.read_json(_controls_path())
        for one_s in (told["last_s"], *told["took_s"]):
            require_range("control run", one_s, low=1e-9, high=1e11)
        if told["holds_for"] == _machine() and _since_boot(told):
            return told["last_s"], [*told["took_s"]]
    return 0.0, []


_TYPICAL = ContextVar("typical", default=False)


@contextmanager
def typical_costs() -> Iterator[None]:
    """Let models take typical costs, whatever was calibrated here: their numbers are then those of any machine."""
    before = _TYPICAL.set(True)
    try:
        yield
    finally:
        _TYPICAL.reset(before)


def only_typical() -> bool:
    """Return whether models take typical costs now."""
    return _TYPICAL.get()


class _Made(NamedTuple):
    """The runs of a calibration."""

    seen: list[list[Any]]
    """Of each case."""
    offs: list[float]
    """How far the control runs beside each strayed, as a share; of one that was made again, the steadier time."""


_EARLIER = ContextVar[dict[str, _Made] | None]("earlier", default=None)


@contextmanager
def turns_add_up() -> Iterator[None]:
    """While the block runs, the turns of a calibration that is run again count together with its earlier ones."""
    before = _EARLIER.set({})
    try:
        yield
    finally:
        _EARLIER.reset(before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Generic[CostsT]):
    """Costs that a few runs on this machine show."""

    name: str
    kind: type[CostsT]
    """A dataclass of seconds, and of whatever else the runs show."""
    cases: Callable[[], Sequence[Callable[[], Any]]]
    """Returns the runs to make, one call each."""
    read_off: Callable[[list[Any]], CostsT]
    """Returns the costs that the results of the runs show, turn after turn."""
    typical: Callable[[], CostsT]
    """Returns what is usual, before anything was run."""
    turns: int = 6
    """How often all runs are made. Each cost is a median over the turns: a machine that is slow for a second then
    spoils one turn, not one cost."""
    of_disk: bool = False
    """Whether the costs hold only for this machine's disk as it is calibrated."""
    control: Callable[[], float] = control_s
    """Returns the seconds of a run that is always the same."""

    def run(self, turns: int = 0) -> CostsT:
        """Make the runs, keep the costs and return them. Raises `Cancelled`; what was kept before then stays.

        A run beside which the control run strayed is made again, and those count that nobody slowed down; if it strays
        beside that one too, no other is made again before one was undisturbed. How far the machine strayed beside half
        of the runs, and how they scatter, is kept with the costs. Inside `turns_add_up` what was run before counts too.
        """
        cases, earlier = self.cases(), _EARLIER.get()
        made = _Made([[] for _ in cases], [])
        if earlier is not None:
            made = earlier.setdefault(self.name, made)
        runs = [*zip(cases, made.seen, strict=True)] * (turns or self.turns)
        before_s, helps = self.control(), True
        with one_engine():
            for number, (one, seen) in enumerate(runs):
                tell(number, len(runs), f"calibrating on this machine: {self.name}")
                offs = list[float]()
                while not offs or (helps and offs[-1] > STRAYED and len(offs) < MOST_TIMES):
                    with quietly():
                        seen.append(one())
                    after_s = self.control()
                    offs.append(max(strayed(before_s), strayed(after_s)))
                    before_s = after_s
                helps = offs[-1] <= STRAYED
                made.offs.append(min(offs))
        tell(len(runs), len(runs), "done")
        costs = _none_below_0(self.read_off(_steadiest_turns(made.seen)))
        self.keep(costs, float(np.median(made.offs or [0.0])), _scatter(made.seen))
        return costs

    @paths.asked_once
    def costs(self) -> CostsT:
        """Return what was last calibrated on this very machine, or what is typical before that."""
        return (None if only_typical() else self.kept()) or self.typical()

    def ensure(self) -> CostsT:
        """Return what was calibrated since this machine was started; else calibrate now, in one turn."""
        told = self._told()
        if told is not None and _since_boot(told):
            return self.kind(**told["costs"])
        return self.run(1)

    def kept(self) -> CostsT | None:
        """Return the costs if they were kept for this machine, these versions and this disk, else None."""
        told = self._told()
        return None if told is None else self.kind(**told["costs"])

    @property
    def strayed(self) -> float:
        """Return how far the machine strayed while the kept costs were calibrated, as a share; 0 if none are kept."""
        told = self._told()
        return 0.0 if told is None else float(told["strayed"])

    @property
    def off(self) -> float:
        """Return how far a run may be from the kept costs, as a share: as the machine strayed, or as runs scatter."""
        told = self._told()
        return 0.0 if told is None else max(float(told["strayed"]), float(told["scatter"]))

    @property
    def doubt(self) -> str:
        """Return why the kept costs may be wrong, and what to do; nothing if they are steady."""
        if self.strayed <= STRAYED:
            return ""
        return (
            f"This machine was busy while it was calibrated: a control run, always the same, strayed by"
            f" {units.text(self.strayed, '1', 2)}, so the model may be off as much. Close other programs and calibrate"
            " again: lesson.calibrate()"
        )

    def _told(self) -> dict[str, Any] | None:
        """Return what was kept, if it holds for this machine; a damaged file counts as none, and one of other costs."""
        try:
            told = _unwritten.get(self.path) or _costs_in(self.path)
            names = {field.name for field in fields(self.kind)}  # type: ignore[arg-type]
            whole = told["costs"].keys() == names
            return told if whole and told["holds_for"] == self._holds_for() else None
        except _DAMAGED:
            return None

    def keep(self, costs: CostsT, strayed: float = 0.0, scatter: float = 0.0) -> None:
        """Keep the costs for this machine, these versions and this disk."""
        facts = {"holds_for": self._holds_for(), "boot_s": psutil.boot_time()}
        shares = {"strayed": strayed, "scatter": scatter}
        _write(self.path, {**facts, **shares, "costs": asdict(costs)})  # type: ignore[call-overload]

    @property
    def path(self) -> Path:
        """Return the file of the costs."""
        return paths.cache_dir() / f"costs-{self.name}.json"

    def _holds_for(self) -> dict[str, Any]:
        own = calibrated() if self.of_disk else None
        return {"machine": _machine(), "device": asdict(own) if own else None}


def _none_below_0(costs: CostsT) -> CostsT:
    """Return the costs, nothing for one that noise made negative: it is too small to be seen in these runs."""
    seen = asdict(costs)  # type: ignore[call-overload]
    return replace(costs, **{name: 0.0 for name, cost in seen.items() if cost < 0})  # type: ignore[type-var]


def _sample(found: Any) -> Sample:
    """Return the sample of a trial, or what is one."""
    told: Sample = getattr(found, "sample", found)
    return told


def _steadiest_turns(seen: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the runs of each case that nobody slowed down, turn after turn, see `sample.steady`.

    Of a case of which fewer are left than of another, some come again, evenly from the steadiest to the least steady:
    every turn is whole then, and what is usual for a case stays as it is.
    """
    by_case, quick = [], quick_for_long()
    for found in seen:
        runs = sorted(found, key=lambda one: _sample(one).cpu_s[0])
        by_case.append(runs[: steady([_sample(one).cpu_s[0] for one in runs], quick=quick)])
    turns = max(map(len, by_case), default=0)
    return [runs[(2 * turn + 1) * len(runs) // (2 * turns)] for turn in range(turns) for runs in by_case]


def _scatter(seen: Sequence[Sequence[Any]]) -> float:
    """Return how far single runs lie from the median of their case over the turns, nine times in ten, as a share."""
    off = list[float]()
    for runs in seen:
        took = np.array([_sample(one).median_s for one in runs])
        off += np.abs(took / np.median(took) - 1).tolist()
    return float(np.quantile(off or [0.0], 0.9))


@functools.cache
def _machine() -> dict[str, Any]:
    return asdict(this_machine())


def _since_boot(told: Mapping[str, Any]) -> bool:
    """Return whether it was kept since this machine was started: a restart changes what runs beside us."""
    return bool(abs(float(told["boot_s"]) - psutil.boot_time()) < BOOT_S)


@paths.kept
def _costs_in(path: Path) -> dict[str, Any]:
    """Return what a file keeps, read once: a slider asks for it hundreds of times. Raises one of `_DAMAGED`.

    So it does for a time that no run takes.
    """
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    shares = {name: told[name] for name in ("strayed", "scatter")}
    for name, value in {**told["costs"], **shares, "boot": told["boot_s"]}.items():
        high = 10.0 if name.endswith("_s") else 1e10
        require_range(name, value, low=0, high=high, advice="Calibrate again.")
    return told


def _write(path: Path, facts: dict[str, Any]) -> None:
    _unwritten.pop(path, None)
    try:
        paths.write_whole(path, json.dumps(facts, indent=1), make_folder=True)
    except OSError:
        _unwritten[path] = facts


TYPICAL = {
    "comments": Costs(dispatch_s=210e-6, group_s=30e-6, row_s=90e-9, passed_share=0.14),
    "lineitem": Costs(read_s=10e-6, dispatch_s=190e-6, group_s=65e-6, row_s=44e-9),
}
"""As calibrated on a machine of 2 cores with one worker, where that is far from the usual: text and many columns take
their time."""
WARM, COLD = "warm", "cold"
"""This machine's own disk, its page cache full or emptied. DuckDB reads it by itself, where a read of the emulated
device passes through Python."""


@functools.cache
def engine(table: str, where: str = "emulated") -> Calibration[Costs]:
    """Return the calibration of the engine on `table`: on the emulated device, or `WARM` or `COLD` on this disk."""
    if where == WARM:
        return Calibration(
            name=f"{table}-{WARM}",
            kind=Costs,
            cases=lambda: [partial(trial, case, here=True) for case in _disk_cases(table)],
            read_off=partial(_warm_costs, table),
            typical=engine(table).costs,
        )
    if where == COLD:
        return Calibration(
            name=f"{table}-{COLD}",
            kind=Costs,
            cases=partial(_cold_cases, table),
            read_off=partial(_cold_costs, table),
            typical=engine(table).costs,
            of_disk=True,
        )
    return Calibration(
        name=table,
        kind=Costs,
        cases=lambda: [partial(trial, case) for case in _engine_cases(table)],
        read_off=_engine_costs,
        typical=lambda: TYPICAL.get(table, Costs()),
        turns=5,
    )


def query(case: Case, name: str, typical: Callable[[], Costs]) -> Calibration[Costs]:
    """Return the calibration of one query on its table: its columns and its operators have costs of their own."""

    def read_off(trials: list[Trial]) -> Costs:
        costs = _reading_alike(_scan_costs(without_stale_pages(trials)))
        return _with_contention(replace(engine(case.recipe.table).costs(), **costs), trials)

    return Calibration(
        name=f"{case.recipe.table}-{name}",
        kind=Costs,
        cases=lambda: [partial(trial, one) for one in _scans(case)],
        read_off=read_off,
        typical=typical,
        turns=4,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A case, and what came of it."""

    case: Case
    sample: Sample
    stale_page_s: float = 0.0
    """What stale pages are known to take, `Costs.stale_page_s`; it is no part of pauses, of opening and of closing."""
    stale_early_share: float = Costs().stale_early_share

    @property
    def group_rows(self) -> int:
        """Return the rows of a full row group."""
        return self.case.recipe.effective_row_group_rows

    @property
    def group_bytes(self) -> float:
        """Return the bytes that are read of a row group, on average."""
        plan = self.case.plan()
        return plan.data_bytes / plan.read_groups

    @property
    def cached(self) -> bool:
        """Return whether its row groups are so short that the processor's caches usually hold them."""
        return self.group_bytes <= CACHED_BYTES

    @property
    def large_bytes(self) -> float:
        """Return the bytes of its row groups that count as too many for the processor's caches."""
        plan = self.case.plan()
        return float(schedule.large_bytes(plan.sizes, self.case.window.depth, CACHED_BYTES).sum())

    @property
    def last_read_bytes(self) -> float:
        """Return the bytes of a row group's last read, on average: a pause is after it."""
        plan = self.case.plan()
        return float(plan.spans[plan.ends[plan.counts > 0] - 1, 1].mean())

    @property
    def fresh_bytes(self) -> float:
        """Return the bytes that are read into memory that was not used for long."""
        return float(schedule.fresh_bytes(self.case.plan().sizes, self.case.window.depth).sum())

    def pauses(self) -> list[float]:
        """Return, for one read at a time, the seconds between the arrival of each row group and the next request."""
        plan = self.case.plan()
        ends = set(plan.ends.tolist())
        data = enumerate(pairwise(self._data()), start=1)
        seen = [after.submitted_s - before.due_s for at, (before, after) in data if at in ends]
        return [pause_s - self._stale_pause_s(pause_s, self.stale_page_s) for pause_s in seen]

    def pause_s(self) -> float:
        """Return the mean of the pauses: a scan takes as long as all of them."""
        return float(np.mean(self.pauses()))

    def passed_over(self) -> list[tuple[float, float]]:
        """Return, for one read at a time, how many row groups were passed over in each pause, and its seconds."""
        gaps = np.diff(np.flatnonzero(self.case.plan().counts)) - 1
        return [(float(gap), pause_s) for gap, pause_s in zip(gaps, self.pauses(), strict=True)]

    def per_read_s(self) -> float:
        """Return, for many in flight, the time from one read to the next, once the window has been filled."""
        filled = round(self.case.window.depth * self.reads_a_group)
        return _spacing_s(sorted(read.submitted_s for read in self._data())[filled:])

    def asking_s(self) -> float:
        """Return, for many in flight, the time between two reads until one is back; infinite where there is one."""
        data = self._data()
        first_s = min(read.due_s for read in data)
        return _spacing_s([read.submitted_s for read in data if read.submitted_s < first_s])

    def asked_for_s(self) -> float:
        """Return the time from the first read to the last one that is asked for."""
        return float(np.ptp([read.submitted_s for read in self._data()]))

    def filling_s(self) -> float:
        """Return, for many in flight, the time between two reads after one is back and before slots are used again;
        infinite where there is one.
        """
        data = self._data()
        first_s = min(read.due_s for read in data)
        asked = sorted(read.submitted_s for read in data)[: self.case.window.slots]
        return _spacing_s([at_s for at_s in asked if at_s >= first_s])

    def _data(self) -> Sequence[Read]:
        """Return the reads behind the footer's."""
        return self.sample.reads[len(self.case.plan().footer) :]

    def per_group_s(self) -> float:
        """Return the same from one row group to the next."""
        return self.per_read_s() * self.reads_a_group

    @property
    def reads_a_group(self) -> float:
        """Return the reads of a row group, on average."""
        plan = self.case.plan()
        return len(plan.spans) / plan.read_groups

    def planning_s(self) -> float:
        """Return the time before the first read."""
        return self.sample.reads[0].submitted_s

    def opening_s(self) -> float:
        """Return the time from the footer's arrival to the first data read."""
        footer = len(self.case.plan().footer)
        seen_s = self.sample.reads[footer].submitted_s - self.sample.reads[footer - 1].due_s
        return seen_s - self._stale_opening_s(self.stale_page_s)

    def closing_s(self) -> float:
        """Return the time from the last arrival to the answer, of the run whose reads were kept: the last one."""
        seconds = self.sample.seconds[-1]
        seen_s = seconds - max(read.due_s for read in self.sample.reads)
        closing_s = schedule.stale_closing_s(self.stale_page_s, self.stale_early_share, seconds)
        return seen_s - closing_s - self._stale_pause_s(seen_s, self.stale_page_s)

    def _stale_pause_s(self, pause_s: float, page_s: float) -> float:
        """Return what stale pages take, each `page_s`, of a pause in which decoding takes so long."""
        latency_s = self.case.device.latency_s
        handing_s = page_s * schedule.PASSING_PAGES * schedule.stale(latency_s)
        early = schedule.stale_early(latency_s, self.stale_early_share)
        return float(handing_s + schedule.stale_decoding_s(pause_s, page_s) * early)

    def _stale_opening_s(self, page_s: float) -> float:
        """Return the same of opening the file. What parsing takes is nearly the same for every light table."""
        latency_s, footer = self.case.device.latency_s, len(self.case.plan().footer)
        handing_s = page_s * schedule.PASSING_PAGES * schedule.stale(latency_s)
        parsing_s = schedule.stale_decoding_s(self.case.recipe.row_groups * Costs().open_group_s, page_s)
        opening_s = page_s * schedule.OPENING_PAGES + parsing_s
        return float(handing_s + opening_s * schedule.stale(footer * latency_s))

    def stale_pages(self, pause_s: float) -> float:
        """Return how many of them a pause and opening use, where a pause takes so long as long as no page is stale."""
        page_s = 1e-9  # so little that decoding never takes the most that it may
        return (self._stale_pause_s(pause_s, page_s) + self._stale_opening_s(page_s)) / page_s

    @property
    def last_rows(self) -> int:
        """Return the rows of the last row group, which may be part full."""
        return self.case.recipe.rows % self.group_rows or self.group_rows


def _spacing_s(asked_s: Sequence[float]) -> float:
    """Return the mean time from one of these moments to the next; infinite where there is none."""
    return (max(asked_s) - min(asked_s)) / (len(asked_s) - 1) if len(asked_s) > 1 else math.inf


def trial(case: Case, *, here: bool = False, cold: bool = False) -> Trial:
    """Try a case on its emulated device or on this machine's disk."""
    measure = partial(case.measure_here, cold=cold) if here else case.measure
    return Trial(case=case, sample=measure(repeats=1))


def without_stale_pages(trials: Sequence[Trial]) -> list[Trial]:
    """Return trials whose pauses, opening and closing are told without what stale pages take, once calibrated."""
    return _without_stale_pages(trials, engine(KEYED).costs())


def _without_stale_pages(trials: Sequence[Trial], known: Costs) -> list[Trial]:
    page_s, early_share = known.stale_page_s, known.stale_early_share
    return [replace(one, stale_page_s=page_s, stale_early_share=early_share) for one in trials]


def _disk_cases(table: str) -> list[Case]:
    """Return scans of many small row groups and of fewer large ones: they tell the price of a group and of a row."""
    size = "small" if table == "comments_narrow" else "tiny"
    recipes = [Recipe(table=table, size=size, row_group_rows=rows) for rows in (2_048, 16_384, 122_880)]
    return [Case(recipe=recipe, device=MEMORY, engine=EngineSettings(threads=1)) for recipe in recipes]


def _warm_costs(table: str, trials: Sequence[Trial]) -> Costs:
    known = engine(table).ensure()
    rows = trials[0].case.recipe.rows
    took = [(t.case.recipe.row_groups / rows, (t.sample.median_s - known.plan_s) / rows) for t in trials]
    row_s, group_s = line(took)
    return replace(
        known,
        dispatch_s=min(known.dispatch_s, group_s),
        read_s=min(known.read_s, group_s),
        open_s=min(known.open_s, group_s),
        group_s=group_s,
        row_s=row_s,
        first_row_s=0.0,  # the line goes through large groups too
        fresh_byte_s=0.0,  # nothing is read into memory: it is there
        large_byte_s=0.0,
        copy_byte_s=0.0,
        fetch_byte_s=0.0,
        shared_read_s=0.0,  # whoever decodes reads it
        lost_read_s=0.0,
    )


def _cold_cases(table: str) -> list[Callable[[], Trial]]:
    """Return a cold scan of one row-group size; none before the disk is calibrated, or where nothing can be cold."""
    own = calibrated()
    if own is None or not page_cache.can_evict():
        return []
    return [partial(trial, replace(_disk_cases(table)[1], device=own), here=True, cold=True)]


def _cold_costs(table: str, trials: Sequence[Trial]) -> Costs:
    """Return the warm costs, and on each row its share of what fetching the pages takes.

    That is what a cold scan takes beyond the calibrated device and the warm costs.
    """
    warm = engine(table, WARM).ensure()
    if not trials:
        return warm
    case = trials[0].case
    cold_s = float(np.median([trial.sample.median_s for trial in trials]))
    more_s = max(0.0, cold_s - case.predict(warm).finished_s)
    return replace(warm, row_s=warm.row_s + more_s / case.recipe.rows)


PROBE = Device(name="probe", latency_s=0.0005, bandwidth_bytes_per_s=4e9, channels=64)
"""Slow enough that a pause after a read is seen, quick enough that a calibration takes seconds."""
QUICK = PROBE.but(latency_s=0.00025)
"""So quick that with eight reads in flight it is the engine that is waited for."""
SHARED = QUICK.but(name="shared")
"""The same, read by a machine whose cores all decode."""
LONG = PROBE.but(name="long", latency_s=0.005)
"""So slow that all reads of a short file are asked for before one is back."""
SLEEP = PROBE.but(name="sleep", latency_s=schedule.SLEPT_S)
"""After such a wait another core has slept."""
EARLY = PROBE.but(name="early", latency_s=schedule.EARLY_S)
"""After such a wait some pages of memory are stale."""
SLOW = PROBE.but(name="slow", latency_s=schedule.STALE_S)
"""After such a wait all are."""
AT_ONCE = 256
"""So deep a queue that all row groups of a small file are under way."""
WHOLE = 524_288
"""So many rows that a small file is one row group, which the processor's caches do not hold."""
HIDDEN = 1.25
"""Up to so many times what handing out takes, decoding may be hidden behind it."""
CACHED_BYTES = Costs().cached_bytes
"""So many bytes of a row group the processor's caches usually hold."""
ENOUGH_BYTES, FRESH_BYTE_S, LARGE_BYTE_S = 3_000_000, 0.6e-9, 0.2e-9
"""At 1 ns each so many bytes take longer than a scan's seconds scatter. What fresh and large bytes take where there are
fewer: scans of a table of 38 MB with up to 32 row groups at once, of 131,072 to 1,048,576 rows, are told best so."""
HARDLY_STALE = 0.1
"""By less than this share of decoding a whole file all its stale pages are not seen in how it scatters."""
DECODING_SHARE = 0.75
"""The share of what all at once takes the processor longer that goes to decoding. The rest goes to the threads that
read from memory meanwhile. Scans of two tables with 1 to 32 row groups at once, of 16,384 to 262,144 rows, were told
best with 0.9 and 0.7 of it."""


def _scans(case: Case) -> list[Case]:
    """Return the case's query on small files of its table, one read at a time, many in flight, and all at once.

    The last file is one row group. Few and all at once come from memory, so that neither waits: they differ by the
    memory that they take alone.
    """
    spare, cores = spare_threads(), this_machine().cores
    return [
        replace(
            case,
            recipe=replace(case.recipe, size="tiny", row_group_rows=rows),
            device=device,
            engine=replace(case.engine, threads=workers, queue_depth=depth),
            fragment_bytes=0,
            time_scale=1.0,
        )
        for rows, depth, workers, device in (
            (schedule.FIRST_ROWS, 1, spare, PROBE),
            (2_048, 32, spare, PROBE),
            (2_048, 1, spare, QUICK),
            (32_768, 2, 1, MEMORY),
            (65_536, 1, spare, PROBE),
            (8_192, 8, spare, QUICK),
            (32_768, AT_ONCE, spare, MEMORY),
            (8_192, 8, cores, SHARED),
            (WHOLE, 1, spare, QUICK),
        )
    ]


KEYED = "comments_narrow"
"""This table shows what a key takes, and waking, and handing a read over: it is the same for every table."""
CACHED_KEYS, LEAST_CACHED = 2, 0.2
"""The keys of a lookup that shows what is saved where caches hold what planning and opening use; the least share."""
MATCHED_KEYS = 4_000
"""The keys of a lookup that shows what a matching row takes: several match in every vector of rows."""


def _engine_cases(table: str) -> list[Case]:
    """Return short cases that between them show each cost: one read at a time, many in flight, and lookups.

    A lookup of few keys passes over most row groups, one of many over none. What a matching row takes, and a longer row
    group that caches hold, is another thing for each table.
    """
    scans = _scans(Case(recipe=Recipe(table=table), device=PROBE))
    longer = replace(scans[0], recipe=replace(scans[0].recipe, row_group_rows=32_768))
    matched = replace(longer, keys=MATCHED_KEYS)
    if table != KEYED:
        return [*scans, longer, matched, replace(scans[0], keys=CACHED_KEYS)]
    _, crowded, short, _, large, *_, whole = scans
    sleep = replace(
        short,
        recipe=replace(short.recipe, row_group_rows=4_096),
        device=SLEEP,
        engine=replace(short.engine, queue_depth=8),
    )
    early, slow = replace(whole, device=EARLY), replace(large, device=SLOW)
    many = replace(crowded, keys=2_000)
    few = replace(many, keys=20, device=QUICK, engine=replace(crowded.engine, queue_depth=1))
    asked = replace(longer, device=LONG, engine=replace(longer.engine, queue_depth=AT_ONCE))
    return [*scans, matched, asked, sleep, early, slow, few, many]


def _engine_costs(trials: Sequence[Trial]) -> Costs:
    """Return the costs that the trials of `_engine_cases` show, each case tried once or more."""
    scans, cached, matched = (
        [t for t in trials if t.case.keys == keys] for keys in (0, CACHED_KEYS, MATCHED_KEYS)
    )
    lookups = [t for t in trials if t.case.keys not in {0, CACHED_KEYS, MATCHED_KEYS}]
    stale = _stale_costs(scans) if lookups else engine(KEYED).costs()
    slept, asked = ([t for t in scans if t.case.device == device] for device in (SLEEP, LONG))
    awake = [t for t in scans if t.case.device not in {SLEEP, LONG, EARLY, SLOW}]
    scans, matched, lookups = (_without_stale_pages(some, stale) for some in (awake, matched, lookups))
    costs = _scan_costs(scans)
    if not lookups:
        usual = TYPICAL.get(trials[0].case.recipe.table, Costs())
        costs = {**_reading_alike(costs), "passed_share": usual.passed_share}
        known = replace(engine(KEYED).costs(), **costs)
        known = replace(known, match_s=_match_s(matched, known), cached_share=_cached_share(cached, known))
        return _with_contention(known, scans)
    of_one_file = [t for t in trials if t.group_rows == lookups[0].group_rows]
    _, plan_key_s = line([(float(t.case.keys), t.planning_s()) for t in of_one_file])
    _, open_key_s = line([(float(t.case.keys), t.opening_s()) for t in lookups])
    few_keys, keys = sorted({t.case.keys for t in lookups})
    few, many = ([t for t in lookups if t.case.keys == asked] for asked in (few_keys, keys))
    per_group_s = float(np.median([t.per_group_s() for t in many])) * many[0].case.window.threads
    pruning_s = per_group_s - Costs(**costs).decode_s(many[0].group_rows)
    prune_key_s = max(1e-10, pruning_s / keys)
    _, passed_s = line([seen for t in few for seen in t.passed_over()])
    keyed = {
        "plan_key_s": plan_key_s,
        "open_key_s": open_key_s,
        "prune_key_s": prune_key_s,
        "skip_group_s": max(1e-9, passed_s - few_keys * prune_key_s),
    }
    keyed |= _lookup_costs(few, Costs(**{**costs, **keyed}))
    known = replace(stale, **costs, **keyed)
    known = replace(
        known,
        match_s=_match_s(matched, known),
        cached_share=_cached_share(few, known),
        fetch_byte_s=_fetch_byte_s(asked, known),
    )
    return _with_contention(replace(known, other_core_s=_other_core_s(slept, known)), scans)


def _fetch_byte_s(asked: Sequence[Trial], known: Costs) -> float:
    """Return `Costs.fetch_byte_s`, by the time between two reads where all are asked for at once; nothing where handing
    one out takes as long.
    """
    spacing_s = float(np.median([t.asking_s() for t in asked]))
    return spacing_s / asked[0].last_read_bytes if spacing_s > known.asking_s else 0.0


def _match_s(matched: Sequence[Trial], known: Costs) -> float:
    """Return `Costs.match_s`: how much longer a pause is than a scan's, for each row that a row group has of a key."""
    one = matched[0]
    more_s = _longer_s(matched, known) - one.case.keys * known.prune_key_s
    return max(0.0, more_s / (one.case.keys * one.group_rows / one.case.recipe.rows))


def _cached_share(cached: Sequence[Trial], known: Costs) -> float:
    """Return `Costs.cached_share`, by planning and opening of a lookup of few rows."""
    case = cached[0].case
    groups, keyed_s = case.recipe.row_groups, case.keys * (known.plan_key_s + known.open_key_s)
    passed_s = int(case.plan().is_read.argmax()) * (known.skip_group_s + case.keys * known.prune_key_s)
    seen_s = float(np.median([t.planning_s() + t.opening_s() for t in cached])) - keyed_s - passed_s
    told_s = known.plan_s + known.open_s + groups * known.open_group_s
    return min(1.0, max(LEAST_CACHED, seen_s / told_s))


def _longer_s(trials: Sequence[Trial], known: Costs) -> float:
    """Return how much longer a pause is, in the median of trials of one case, than handing a read over and decoding."""
    one = trials[0]
    told_s = known.read_s + known.decode_s(one.group_rows) + known.copy_byte_s * one.last_read_bytes
    return float(np.median([t.pause_s() for t in trials])) - told_s


def _lookup_costs(few: Sequence[Trial], costs: Costs) -> dict[str, float]:
    """Return, by name, what opening and closing take a lookup more than a scan, besides its keys: its filter is made.

    `few` are one read at a time; what is passed over before the first and after the last is in neither.
    """
    case = few[0].case
    wanted = np.flatnonzero(case.plan().counts)
    before, after = wanted[0], case.recipe.row_groups - 1 - wanted[-1]
    pruning_s = case.keys * costs.prune_key_s
    passing_s = costs.skip_group_s + pruning_s
    open_s = costs.open_s + case.recipe.row_groups * costs.open_group_s + case.keys * costs.open_key_s
    decoding_s = costs.decode_s(few[0].group_rows) + costs.copy_byte_s * few[0].last_read_bytes + pruning_s
    return {
        "open_lookup_s": float(np.median([t.opening_s() for t in few])) - open_s - before * passing_s,
        "close_lookup_s": float(np.median([t.closing_s() for t in few]))
        - costs.close_s
        - decoding_s
        - after * passing_s,
    }


def _scan_costs(trials: Sequence[Trial]) -> dict[str, float]:
    """Return, by name, the costs that scans show: the pause after a row group grows with its rows, and so on."""
    awake = [t for t in trials if t.case.device != SHARED]
    whole = [t for t in awake if t.group_rows >= WHOLE]
    at_once = [t for t in awake if t.case.engine.queue_depth == AT_ONCE]
    crowded = [t for t in awake if 1 < t.case.engine.queue_depth < AT_ONCE]
    in_flight = _by_rows(crowded, Trial.per_group_s)
    small, middle, large = sorted(in_flight)
    decoded = {large: in_flight[large]}
    if in_flight[middle] >= HIDDEN * in_flight[small]:
        decoded[middle] = in_flight[middle] * crowded[0].case.window.threads
    one_by_one = [t for t in awake if t.case.engine.queue_depth == 1 and t.group_rows < WHOLE]
    cached, larger = ([t for t in one_by_one if t.cached == held] for held in (True, False))
    pauses = _by_rows(cached, Trial.pause_s)
    few, short = ([t for t in crowded if t.group_rows == rows] for rows in (large, small))
    prices = _row_costs(pauses, decoded)
    longest = max(cached, key=lambda t: t.group_rows)
    copy_byte_s = prices.pop("copy_row_s") * longest.group_rows / longest.last_read_bytes
    read_s = prices.pop("read_s")
    plan_s, plan_group_s = by_groups([(t, t.planning_s()) for t in awake])
    open_s, open_group_s = by_groups([(t, t.opening_s()) for t in awake])
    decode_s = Costs(**prices).decode_s
    close_s = [t.closing_s() - decode_s(t.last_rows) - copy_byte_s * t.last_read_bytes for t in cached]
    return {
        "plan_s": plan_s,
        "open_s": open_s,
        "open_group_s": open_group_s + plan_group_s,
        "read_s": read_s,
        "clear_s": clearing_s(read_s, prices["group_s"]),
        **passing_out(in_flight[small] / short[0].reads_a_group, short),
        **prices,
        "copy_byte_s": copy_byte_s,
        "close_s": max(1e-6, float(np.median(close_s))),
        "fresh_byte_s": _fresh_byte_s(at_once, few),
        **_large_costs(whole, larger, cached, _row_costs(pauses, {})),
    }


def passing_out(dispatch_s: float, trials: Sequence[Trial]) -> dict[str, float]:
    """Return, by name, what passing out a read takes once all slots have been used, and the shares of that which are
    saved before: as long as slots were never used, and as long as none of these trials' reads is back.
    """
    filling, asking = (
        float(np.median([seen_s(one) for one in trials])) / dispatch_s
        for seen_s in (Trial.filling_s, Trial.asking_s)
    )
    refill_share = max(0.0, 1 - filling)
    return {
        "dispatch_s": dispatch_s,
        "refill_share": refill_share,
        "returned_share": max(0.0, 1 - refill_share - asking),
    }


CLEARING = 0.16
"""The share of what a read and a row group take besides rows and bytes that goes into clearing a row group's place. In
scans of 128 and 147 short row groups, one at a time from the device and 2 to 96 under way, closing takes 20 to 62 us
longer for each that is under way, 0.13 to 0.19 of both, of six queries of three tables."""


def clearing_s(read_s: float, group_s: float) -> float:
    """Return `Costs.clear_s`, no more than decoding a row group takes."""
    return min(group_s, CLEARING * (read_s + group_s))


def by_groups(seen: Sequence[tuple[Trial, float]]) -> tuple[float, float]:
    """Return what something takes that was seen of trials, and what more for each row group of the file."""
    return line([(float(one.case.recipe.row_groups), took_s) for one, took_s in seen])


def _by_rows(trials: Sequence[Trial], seen: Callable[[Trial], float]) -> dict[int, float]:
    """Return the median of what trials of row groups of so many rows show, for each number of rows."""
    return {
        rows: float(np.median([seen(t) for t in trials if t.group_rows == rows]))
        for rows in {t.group_rows for t in trials}
    }


def _row_costs(pauses: Mapping[int, float], decoded: Mapping[int, float]) -> dict[str, float]:
    """Return, by name, what handing a read over takes, a row group, a row, each first row more, and copying a row.

    `pauses` are those between two reads, `decoded` the seconds from one row group to the next where only decoding is
    waited for: each by the rows of a row group. A line goes through the pauses of short row groups, and from there
    another one to the longest; if that is not less steep, one line goes through all of them. What a row adds to a pause
    and not to decoding is copied meanwhile, by the thread that has read it; that is not seen in one size of row groups.
    """
    pause_s, each_s = line([(rows, took_s) for rows, took_s in pauses.items() if rows <= schedule.FIRST_ROWS])
    ends = (schedule.FIRST_ROWS, max(pauses))
    _, row_s = line([(rows, pauses[rows]) for rows in ends])
    first_row_s = each_s - row_s
    if not 1e-10 < row_s < each_s:
        pause_s, row_s = line([*pauses.items()])
        first_row_s = 0.0
    copy_row_s, group_s = 0.0, pause_s
    if len(decoded) == 1:
        ((rows, took_s),) = decoded.items()
        group_s = min(pause_s, took_s - schedule.decode_s(rows, 0.0, row_s, first_row_s))
    elif decoded:
        (middle, middle_s), (large, large_s) = sorted(decoded.items())
        streamed_s = large_s - middle_s - (schedule.FIRST_ROWS - middle) * first_row_s
        if middle_s <= pause_s + middle * (row_s + first_row_s):  # a pause is decoding, and more
            copy_row_s = max(0.0, row_s - max(0.5 * row_s, streamed_s / (large - middle)))
            row_s -= copy_row_s
            group_s = min(pause_s, middle_s - middle * (row_s + first_row_s))
    group_s = max(1e-6, group_s)
    read_s = max(1e-6, pause_s - group_s)
    prices = {"read_s": read_s, "group_s": group_s, "row_s": row_s, "first_row_s": first_row_s}
    return {**prices, "copy_row_s": copy_row_s}


def _large_costs(
    whole: Sequence[Trial], larger: Sequence[Trial], cached: Sequence[Trial], prices: dict[str, float]
) -> dict[str, float]:
    """Return, by name, how much longer decoding a whole file takes than its rows would in row groups that caches hold,
    for each byte that is too many; and how many bytes they hold, by how much of that `larger` row groups take.

    It is `LARGE_BYTE_S` where those bytes are few, and what caches hold is what they usually do where none are larger.
    """
    if whole[0].large_bytes < ENOUGH_BYTES:
        return {"large_byte_s": LARGE_BYTE_S, "cached_bytes": CACHED_BYTES}
    costs = Costs(**{name: prices[name] for name in ("read_s", "group_s", "row_s", "first_row_s")})
    whole_s, cached_s = (
        float(np.median([t.closing_s() - costs.decode_s(t.last_rows) for t in trials]))
        for trials in (whole, cached)
    )
    large_s = max(1e-6, whole_s - cached_s)
    held = CACHED_BYTES
    if larger:
        size = larger[0].group_bytes
        lost = _longer_s(larger, costs) / size * whole[0].large_bytes / large_s
        held = size / (1 + min(1.0, max(0.0, lost)))
    return {"large_byte_s": large_s / whole[0].large_bytes, "cached_bytes": held}


def _fresh_byte_s(at_once: Sequence[Trial], few: Sequence[Trial]) -> float:
    """Return how much longer the processor takes for all row groups at once than for few, for each fresh byte more.

    See `DECODING_SHARE`. Where fresh bytes are too few to be told from noise, it is `FRESH_BYTE_S`.
    """
    fresh = at_once[0].fresh_bytes - few[0].fresh_bytes
    if fresh < ENOUGH_BYTES:
        return FRESH_BYTE_S
    at_once_s, few_s = (float(np.median([t.sample.cpu_s[-1] for t in trials])) for trials in (at_once, few))
    return max(0.0, DECODING_SHARE * (at_once_s - few_s) / fresh)


MOST_LOST_S = 2e-3
"""A worker loses no more than this to a read, on any machine."""


def _with_contention(costs: Costs, trials: Sequence[Trial]) -> Costs:
    """Return the costs with what workers lose to each read: where a core is spare, and where every core has a worker.

    Each is as long as makes the model of such scans, with many reads in flight, as long as these are. Where a core is
    spare it is not seen behind passing out: where that takes longer in all of them, `costs` keep theirs.
    """
    crowded = [t for t in trials if 2 < t.case.engine.queue_depth < AT_ONCE]
    for name, shared in (("lost_read_s", False), ("shared_read_s", True)):
        some = [
            t for t in crowded if (t.case.device == SHARED) == shared and (shared or not _hidden(t, costs))
        ]
        if not some:
            continue
        cases = {t.group_rows: t.case for t in some}.values()
        seen_s = sum(_by_rows(some, lambda t: t.sample.median_s).values())
        low_s, high_s = 0.0, MOST_LOST_S
        for _ in range(20):
            middle_s = (low_s + high_s) / 2
            told = replace(costs, **{name: middle_s})
            told_s = sum(case.predict(told).finished_s for case in cases)
            low_s, high_s = (middle_s, high_s) if told_s < seen_s else (low_s, middle_s)
        costs = replace(costs, **{name: low_s})
    return costs


def _hidden(one: Trial, costs: Costs) -> bool:
    """Return whether decoding a row group is hidden behind passing out its reads."""
    return costs.decode_s(one.group_rows) < HIDDEN * costs.dispatch_s * one.reads_a_group


def _reading_alike(costs: dict[str, float]) -> dict[str, float]:
    """Return the costs, where what a read takes is no matter of columns but that of `KEYED`, once calibrated.

    Passing out a read cannot be told from decoding where much is decoded, nor handing a read over where little is: what
    the pause between two row groups takes beyond that is decoding.
    """
    light = engine(KEYED).kept()
    if light is None:
        return costs
    pause_s = costs["read_s"] + costs["group_s"]
    read_s = max(costs["read_s"], min(light.read_s, pause_s - 1e-6))
    told = {**costs, "read_s": read_s, "group_s": pause_s - read_s}
    if light.dispatch_s < costs["dispatch_s"]:
        told |= {name: getattr(light, name) for name in ("dispatch_s", "refill_share", "returned_share")}
    return told


def _stale_costs(scans: Sequence[Trial]) -> Costs:
    """Return what stale pages take, as `scans` show that wait for the device for long and for short."""
    page_s = _stale_page_s(scans)
    return Costs(stale_page_s=page_s, stale_early_share=_stale_early_share(scans, page_s))


def _stale_page_s(scans: Sequence[Trial]) -> float:
    """Return `Costs.stale_page_s`: what pausing and opening take longer after long waits than after short ones."""
    long = [t for t in scans if t.case.device == SLOW]
    short = [t for t in scans if t.case == replace(long[0].case, device=PROBE)]
    (short_s, opening_s), (long_s, opened_s) = (
        [float(np.median([seen(t) for t in some])) for seen in (Trial.pause_s, Trial.opening_s)]
        for some in (short, long)
    )
    pages = long[0].stale_pages(short_s) - short[0].stale_pages(short_s)
    return max(0.0, (long_s - short_s + opened_s - opening_s) / pages)


def _stale_early_share(scans: Sequence[Trial], page_s: float) -> float:
    """Return `Costs.stale_early_share`: what decoding a whole file takes longer after `EARLY` than after `QUICK`, as a
    share of what it does where all pages are stale. It is the usual where that is hardly longer.
    """
    early = [t for t in scans if t.case.device == EARLY]
    short = [t for t in scans if t.case == replace(early[0].case, device=QUICK)]
    early_s, short_s = (float(np.median([t.closing_s() for t in some])) for some in (early, short))
    all_s = schedule.stale_decoding_s(short_s, page_s)
    if all_s < HARDLY_STALE * short_s:
        return Costs().stale_early_share
    handing_s = page_s * schedule.PASSING_PAGES * schedule.stale(EARLY.latency_s)
    return min(1.0, max(0.0, (early_s - short_s - handing_s) / all_s))


def _other_core_s(slept: Sequence[Trial], known: Costs) -> float:
    """Return `Costs.other_core_s`: by how much later than `known` tells reads are asked for, each time all slots are
    used again.
    """
    case = slept[0].case
    told_s = np.ptp(case.predict(known).reads_s[:, 0])
    seen_s = np.median([t.asked_for_s() for t in slept])
    return max(0.0, float(seen_s - told_s) / (len(case.plan().spans) / case.window.slots - 1))


KNOWN, SCATTER = 3.0, 0.05
"""Within such a factor costs are taken to be known before anything was run; and a run's seconds scatter so much."""


def fitted(
    usual: CostsT, told: Callable[[CostsT], Sequence[float]], seen_s: Sequence[float] | NDArray[np.float64]
) -> CostsT:
    """Return the costs with which a model tells the seconds that were seen, as nearly as it can.

    `told` returns the model's seconds, of the same runs. Each cost is a factor on the usual one: the fit is that of
    least squares, where the model is off by `SCATTER` or a cost by `KNOWN`, both on a log scale. So what these runs
    hardly show stays as usual. Raises `ValueError` where a cost or a time is not above 0.
    """
    from scipy.optimize import least_squares

    names = [field.name for field in fields(usual)]  # type: ignore[arg-type]

    def costs(factors: Sequence[float]) -> CostsT:
        each = zip(names, np.exp(factors), strict=True)
        return replace(usual, **{name: getattr(usual, name) * float(factor) for name, factor in each})  # type: ignore[type-var]

    def off(factors: Sequence[float]) -> NDArray[np.float64]:
        runs = np.log(np.divide(told(costs(factors)), seen_s)) / math.log1p(SCATTER)
        return np.append(runs, np.divide(factors, math.log(KNOWN)))

    with paths.unchanged():
        return costs(least_squares(off, np.zeros(len(names)), ftol=1e-3, max_nfev=20).x)


def trimmed_mean(took_s: Sequence[Sequence[float]] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, of each run, the mean of its seconds over all turns but a tenth at either end; `took_s` has a row a turn.

    A core that somebody else slows down half of the time has two paces, and a median is now the one and now the other.
    """
    turns = np.sort(took_s, axis=0)
    ends = len(turns) // 10
    return np.asarray(turns[ends : len(turns) - ends].mean(axis=0))


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Fit y = a + b x, both in seconds and neither below 0, through the medians of points with equal x.

    Where noise would make one of them negative it is left out: y then stays level, or grows in proportion.
    """
    xs = sorted({x for x, _ in points})
    ys = [max(1e-9, float(np.median([y for x, y in points if x == at]))) for at in xs]
    weights = [1 / y for y in ys]  # relative errors: a small pause is known as well as a long one
    slope, intercept = np.polyfit(xs, ys, 1, w=weights) if len(xs) > 1 else (0.0, ys[0])
    if slope <= 0:
        return float(np.median(ys)), 1e-10
    if intercept < 0:
        return 1e-9, float(np.median([y / x for x, y in zip(xs, ys, strict=True) if x > 0]))
    return float(max(1e-9, intercept)), float(slope)
