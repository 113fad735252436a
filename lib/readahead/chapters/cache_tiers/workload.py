"""Queries that come again, through DuckDB's cache of external files with a memory limit and a folder for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from readahead.chapters.cache_tiers.cached_case import FILE_BLOCK, AccessTrace, CachedCase
from readahead.chapters.cache_tiers.calibration import MOST_GROUPS, QUERIES, READING, SCANS
from readahead.datasets import expected
from readahead.experiments.experiment import Settings
from readahead.experiments.table_experiment import TableExperiment
from readahead.measure.calibrate import Calibration
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.schedule import Costs
from readahead.units import MiB

UNIFORM, ZIPF, SCAN = "uniform", "zipf", "scan"
"""Each query asks for a row group, all of them alike or some more often; or one query asks for all of them in turn."""
DISK, DROP = "disk", "none"
"""What becomes of a block that memory has no room for: it goes to the local disk, or nowhere."""


class CachedQueries(TableExperiment):
    """Scans and queries of single row groups, run after run, with a cache between the engine and the device."""

    def case(self, settings: Settings) -> CachedCase:
        """Return the case, of the file and with the costs that are there now.

        A row group's reads are merged into one, so that it is one thing to keep.
        """
        plain, remote = super().case(settings), settings["spill"] == DISK
        skews = {UNIFORM: 0.0, ZIPF: settings["skew"], SCAN: None}
        groups = expected.shape(plain.recipe).row_groups[:MOST_GROUPS]
        return CachedCase(
            recipe=plain.recipe,
            device=plain.device,
            engine=replace(plain.engine, column_gap_bytes=1 * MiB),
            trace=AccessTrace(
                rows=tuple(group.rows for group in groups),
                sizes=tuple(group.size_bytes + FILE_BLOCK * remote for group in groups),
                queries=settings["queries"],
                skew=skews[settings["access"]],
                memory_share=settings["memory_share"],
            ),
            block_bytes=settings["block_bytes"],
            remote=remote,
            run=settings["run"],
            query_costs=QUERIES.costs(),
            scan_costs=SCANS.costs(),
        )

    def engine(self, settings: Settings) -> Calibration[Costs]:
        """Return the calibration that tells what a read takes."""
        return READING

    def model(self, settings: Settings) -> Estimate:
        """Return the predicted time of one run."""
        return self.case(settings).estimate(self.costs(settings))

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return nothing: bytes are expected here, not counted, and `remark` tells how they compare."""
        return {}

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the queries in DuckDB, on one connection, after the runs before this one."""
        self.case(settings).build()  # from here on the case is that of the file that is there
        return super().measure(settings, repeats)

    def work(self, settings: Settings) -> float:
        """Return the bytes that one run of the queries asks for."""
        return float(self.case(settings).trace.wanted.sum())

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibrations of a read, and of scans or queries with the engine's cache."""
        return (*super().calibrations(settings), SCANS if settings["access"] == SCAN else QUERIES)
