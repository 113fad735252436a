"""The common experiment: a table, a query over it, a device. Most topics turn knobs of this one; what a topic adds is
which knobs, with which defaults, and what was published.

Knobs by these names mean the same everywhere (see `knobs.yaml`); a topic that means something else overrides `case`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from readahead.datasets.recipe import Recipe
from readahead.devices import THIS_MACHINE, Device, calibrated, device_or_stand_in
from readahead.experiments.experiment import DISK_COLD, DISK_WARM, EMULATED, Experiment, Settings
from readahead.experiments.knobs import USUAL
from readahead.experiments.round import Applied, Study
from readahead.measure.calibrate import KEYED, MEMORY, Calibration, engine
from readahead.measure.case import Case
from readahead.measure.run import EngineSettings
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate, query_s, times_as_long
from readahead.models.reads import Reads
from readahead.models.schedule import Costs, Window

DEVICE_KNOBS = ("latency_s", "seek_s", "bandwidth_bytes_per_s", "channels")


CaseT = TypeVar("CaseT", bound=Case)


def once(case: Callable[[Any, Settings], CaseT]) -> Callable[[Any, Settings], CaseT]:
    """Let the case of some settings be made once, as long as this machine's own device is calibrated as it was.

    Along a curve the model, the costs and the work all ask for it.
    """

    @functools.lru_cache(maxsize=512)
    def kept(self: Any, settings: tuple[tuple[str, Any], ...], _own: object) -> CaseT:
        return case(self, dict(settings))

    @functools.wraps(case)
    def asked(self: Any, settings: Settings) -> CaseT:
        return kept(self, tuple(settings.items()), calibrated())

    return asked


def query_law(
    reads: Reads, device: Device, window: Window, costs: Costs, told: Estimate, decode_s: float, **head: float
) -> Applied:
    """Return the law of a query's time with these numbers; `head` are those of its moves, if the device has one."""
    in_flight = min(window.slots, window.depth, device.channels)
    shared = device.bandwidth_bytes_per_s / in_flight
    return Applied(
        query_s,
        open_s=told.terms_s["open"],
        reads=len(reads.spans),
        in_flight=in_flight,
        latency_s=device.latency_s,
        size_bytes=reads.data_bytes,
        bandwidth_bytes_per_s=min(device.channel_bandwidth_bytes_per_s, shared),
        dispatch_s=costs.dispatch_s,
        cpu_s=decode_s / window.threads,
        **head,
    )


def times_law(study: Study, one: Settings, other: Settings) -> Applied:
    """Return the law of how many times as long a query takes with some knobs changed as with others."""
    law: Callable[[Settings], Applied] = study.experiment.law  # type: ignore[attr-defined]
    one_s, other_s = (law(study.settings(**changes)) for changes in (one, other))
    return Applied(times_as_long, one_s=one_s, other_s=other_s)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableExperiment(Experiment):
    """An experiment whose query scans a table or looks rows up in it."""

    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What a setting is when the topic has no knob for it."""

    # -- from settings to a case ---------------------------------------------------------------------
    def value(self, settings: Settings, name: str) -> Any:
        """Return a setting; without a knob for it, what it is fixed at here, or else the usual default."""
        return settings[name] if name in settings else self.fixed.get(name, USUAL.get(name))

    def device(self, settings: Settings) -> Device:
        """Return the device of the menu with the numbers that the sliders say.

        A slider of seek only counts on a device that has a head. This machine's own, before it was calibrated,
        stands in as an NVMe drive. Measured on this disk, it is this disk whatever the menu says; warm, it is memory.
        """
        where = self.value(settings, "where")
        if where == DISK_WARM:
            return MEMORY
        if where == DISK_COLD:
            return device_or_stand_in(THIS_MACHINE)
        chosen = device_or_stand_in(self.value(settings, "device"))
        changes = {name: settings[name] for name in DEVICE_KNOBS if name in settings}
        if not chosen.seek_s:
            changes.pop("seek_s", None)
        if "bandwidth_bytes_per_s" in changes:
            one = min(chosen.channel_bandwidth_bytes_per_s, changes["bandwidth_bytes_per_s"])
            changes["channel_bandwidth_bytes_per_s"] = one
        return chosen.but(**changes)

    @once
    def case(self, settings: Settings) -> Case:
        """Return the case that these settings describe."""
        lookup, where = self.value(settings, "query") == "lookup", self.value(settings, "where")
        form = self.value(settings, "format")
        return Case(
            recipe=Recipe(
                table=self.value(settings, "dataset"),
                size=self.value(settings, "size"),
                row_group_rows=self.value(settings, "row_group_rows"),
                format=form,
                compression=self.value(settings, "compression") if form == "parquet" else "snappy",
            ),
            device=self.device(settings),
            engine=EngineSettings(
                threads=self.value(settings, "threads"), queue_depth=self.value(settings, "queue_depth")
            ),
            fragment_bytes=self.value(settings, "fragment_bytes") if where == EMULATED else 0,
            keys=self.value(settings, "rows_per_lookup") if lookup else 0,
            time_scale=float(self.value(settings, "time_scale")),
        )

    def engine(self, settings: Settings) -> Calibration[Costs]:
        """Return the calibration of the engine on the table, where it is measured."""
        return engine(self.value(settings, "dataset"), self.value(settings, "where"))

    def own_costs(self, settings: Settings) -> Calibration[Costs] | None:
        """Return the calibration of the query, if it has costs of its own."""
        return None

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibrations of waking and keys, of the engine on the table and of the query."""
        needed = filter(None, (engine(KEYED), self.engine(settings), self.own_costs(settings)))
        return list({one.name: one for one in needed}.values())

    def costs(self, settings: Settings) -> Costs:
        """Return what the engine takes for the query, as calibrated or as is usual."""
        return (self.own_costs(settings) or self.engine(settings)).costs()

    # -- the three sources ---------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the file's reads as named terms: exact once it is built, expected before."""
        return self.case(settings).predict(self.costs(settings)).estimate

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return the reads, bytes and row groups, and how far the engine's clock may move them."""
        plan = self.case(settings).plan()
        return {
            "reads": plan.count,
            "bytes_read": plan.bytes_read,
            "more_reads": plan.more_reads,
            "moved_bytes": plan.moved_bytes,
        }

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the query in DuckDB, on the emulated device or on this machine's disk."""
        case, where = self.case(settings), self.value(settings, "where")
        self.ensure_calibrated(settings)
        if where == EMULATED:
            return case.measure(repeats=repeats)
        return case.measure_here(cold=where == DISK_COLD, repeats=repeats)

    def law(self, settings: Settings) -> Applied:
        """Return the law of a query's time with the numbers of its reads, its device and its engine."""
        case, costs = self.case(settings), self.costs(settings)
        told, plan, device = case.predict(costs), case.plan(), case.device
        head = {"seeks": round(plan.data_bytes / (case.fragment_bytes or math.inf)), "seek_s": device.seek_s}
        return query_law(
            plan, device, case.window, costs, told.estimate, told.decode_s, **(head if device.seek_s else {})
        )

    # -- throughput ----------------------------------------------------------------------------------
    def work(self, settings: Settings) -> float:
        """Return the table's bytes for a scan, the rows fetched for a lookup."""
        case = self.case(settings)
        return float(case.keys) if case.keys else case.recipe.rows * case.recipe.source.bytes_per_row

    def unit(self, settings: Settings) -> str:
        """Return bytes_per_s for a scan, rows_per_s for a lookup."""
        return "rows_per_s" if self.value(settings, "query") == "lookup" else "bytes_per_s"

    # -- knobs that move knobs -----------------------------------------------------------------------
    def follow(self, settings: Settings, changed: str) -> dict[str, Any]:
        """Set the device's numbers from the menu; turn to lookups when their knob is touched, and back."""
        moved = dict(settings)
        if changed == "device":
            numbers = device_or_stand_in(settings["device"])
            chosen = self.device({**settings, **{knob: getattr(numbers, knob) for knob in DEVICE_KNOBS}})
            for name in DEVICE_KNOBS:
                if name in moved and (name != "seek_s" or chosen.seek_s):
                    moved[name] = self.knob(name).nearest(getattr(chosen, name))
        if changed == "rows_per_lookup" and "query" in moved:
            moved["query"] = "lookup"
        return moved

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        reasons = Experiment.disabled(self, settings)
        if self.value(settings, "where") != EMULATED:
            own = "It is this machine's own disk: its latency is what it is. Measure on the emulated device to set it."
            reasons |= dict.fromkeys(("device", *DEVICE_KNOBS, "fragment_bytes", "time_scale"), own)
        elif not self.device(settings).seek_s:
            reasons["seek_s"] = "This device has no head to move."
        if self.value(settings, "query") != "lookup":
            reasons["rows_per_lookup"] = "A scan reads every row. Turn this knob to look rows up instead."
        return {name: why for name, why in reasons.items() if any(knob.name == name for knob in self.knobs)}
