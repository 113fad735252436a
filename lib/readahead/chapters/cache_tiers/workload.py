"""Queries that come back to the same table, through DuckDB's cache of external files with a memory limit and a folder
for what does not fit.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from readahead.chapters.cache_tiers.access_trace import AccessTrace
from readahead.chapters.cache_tiers.cached_case import CachedCase
from readahead.chapters.cache_tiers.calibrate_cache import CACHE
from readahead.datasets import expected
from readahead.experiments.experiment import Settings
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.units import KiB, MiB

UNIFORM, ZIPF, SCAN = "uniform", "zipf", "scan"
"""Each query asks for a row group, all of them alike or some more often; or one query asks for all of them in turn."""
DISK, DROP = "disk", "none"
"""What becomes of a block that memory has no room for: it goes to the local disk, or nowhere."""
ROUNDED_BYTES = 4 * KiB
"""What a read of a remote file is longer by, on average: DuckDB rounds it out to whole blocks of 4 KiB."""
MOST_GROUPS = 128
"""Row groups that are asked for, at most: the rest of a larger table is never touched."""


class CachedQueries(TableExperiment):
    """Scans and queries of single row groups, run after run, with a cache between the engine and the device."""

    @once
    def case(self, settings: Settings) -> CachedCase:
        """Return the case; a row group's reads are merged into one, so that it is one thing to keep."""
        plain, remote = super().case(settings), settings["spill"] == DISK
        skews = {UNIFORM: 0.0, ZIPF: settings["skew"], SCAN: None}
        groups = expected.shape(plain.recipe).row_groups[:MOST_GROUPS]
        return CachedCase(
            recipe=plain.recipe,
            device=plain.device,
            engine=replace(plain.engine, column_gap_bytes=1 * MiB),
            trace=AccessTrace(
                rows=tuple(group.rows for group in groups),
                sizes=tuple(group.size_bytes + ROUNDED_BYTES * remote for group in groups),
                queries=settings["queries"],
                skew=skews[settings["access"]],
                memory_share=settings["memory_share"],
                ahead=settings["queue_depth"],
            ),
            block_bytes=settings["block_bytes"],
            remote=remote,
            run=settings["run"],
            cache_costs=CACHE.costs(),
        )

    def model(self, settings: Settings) -> Estimate:
        """Return the predicted time of one run."""
        return self.case(settings).estimate(self.costs(settings))

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return nothing: bytes are expected here, not counted, and `remark` tells how they compare."""
        return {}

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the queries in DuckDB, on one connection, after the runs before this one."""
        self.case(settings).build()  # from here on the case is that of the file that is there
        CACHE.ensure()
        return super().measure(settings, repeats)

    def work(self, settings: Settings) -> float:
        """Return the bytes that one run of the queries asks for."""
        return float(self.case(settings).trace.wanted.sum())

    def calibrate(self) -> None:
        """Calibrate the engine on comments, and its cache."""
        super().calibrate()
        CACHE.run()

    # -- an examination ------------------------------------------------------------------------------
    def remark(self, settings: Settings, sample: Sample) -> str:
        """Say how the hit ratios compare: replayed, and in the long run, beside the one seen."""
        seen, case = 1 - sample.bytes_read / self.work(settings), self.case(settings)
        return f"hits {seen:.1%} (LRU {sum(case.found()):.1%}, long run {case.trace.law().result:.1%})"

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Return settings at size tiny, with everything that decides what is found where turned at random."""
        drawn = {knob.name: knob.draw(rng) for knob in self.knobs if self.in_sight(knob)}
        enough = 2 * 262_144 // drawn["row_group_rows"]  # so many that most row groups are asked for
        return self.settings(size="tiny", queries=enough, **drawn)
