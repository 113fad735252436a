"""Start here: one query on one file, with fragment size, row-group size, rows per lookup and device latency to turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from readahead import published
from readahead.chapters.start_here import laws
from readahead.devices import Device
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.round import Applied, Round, Study
from readahead.experiments.steps import scan_frames
from readahead.experiments.table_experiment import TableExperiment
from readahead.questions.question import Computed
from readahead.units import KiB


class StartHere(TableExperiment):
    """The scan or lookup of a Parquet file, with the published points of the devices on which they were measured."""

    def published(self, settings: Settings, name: str) -> Sequence[tuple[float, float, published.Figure]]:
        """Return mark's 33 % on the disk of his comment, and Chang's rows a second on his array."""
        here = (settings["device"], settings["query"], name)
        if here == ("textbook-disk", "scan", "fragment_bytes"):
            size, share = (published.figure("fragments", n) for n in ("fragment_bytes", "yield_share"))
            return [(size.value, share.value * settings["bandwidth_bytes_per_s"], share)]
        if here == ("sas-15k-x8", "lookup", "rows_per_lookup"):
            return published.series("lookups", "disk_8k_rows_per_s")
        return ()


EXPERIMENT = experiment(StartHere, __file__, "Where does the time go?")


# -- the rounds ------------------------------------------------------------------------------------------
STORE = {"device": "object-store", "query": "scan", "row_group_rows": 16_384}
DRIVE = {**STORE, "device": "nvme"}
SMALL_GROUPS = {**STORE, "row_group_rows": 2_048}
IN_PIECES = {**STORE, "device": "usb-disk", "fragment_bytes": 256 * KiB, "row_group_rows": 122_880}
TEN_ROWS = {**STORE, "query": "lookup", "rows_per_lookup": 10}


def timed(**changes: Any) -> Round:
    """Return the round that asks how long a query takes with some knobs changed."""
    return Round(
        ask=lambda see: see.seconds(**changes), law=lambda study: EXPERIMENT.law(study.settings(**changes))
    )


def lookup_law(study: Study) -> Applied:
    """Return the law of a lookup's bytes with the row groups of this file."""
    reads = EXPERIMENT.case(study.settings(**STORE)).plan()
    rows = TEN_ROWS["rows_per_lookup"]
    return Applied(laws.lookup_bytes, size_bytes=reads.bytes_read, row_groups=len(reads.rows), rows=rows)


ROUNDS = {
    "drive": timed(**DRIVE),
    "small_groups": timed(**SMALL_GROUPS),
    "pieces": timed(**IN_PIECES),
    "ten_rows": Round(
        model=lambda study: EXPERIMENT.counts(study.settings(**TEN_ROWS))["bytes_read"],
        measured=lambda study: float(study.sample(**TEN_ROWS).bytes_read),
        law=lookup_law,
        model_also="has the very keys of this run and the length of each row group",
    ),
}
THOUSAND: dict[str, Any] = {
    "open_s": 0.01, "reads": 1_000, "in_flight": 10, "size_bytes": 1_000 * 64 * KiB, "latency_s": 0.005,
    "bandwidth_bytes_per_s": 100e6,
}  # fmt: skip


def _by_hand(given: Mapping[str, float]) -> dict[str, Any]:
    """Return the arguments of the law with other numbers of reads, or another time to open the file."""
    return {**THOUSAND, **given, "size_bytes": given["reads"] * 64 * KiB}


ANSWERS = {
    "by_hand": Computed(
        law=lambda given: Applied(laws.query_s, **_by_hand(given)),
        wrong={
            "one_after_the_other": lambda given: laws.query_s(**{**_by_hand(given), "in_flight": 1}),
            "parallel_is_free": lambda given: laws.query_s(**{**_by_hand(given), "latency_s": 0.0}),
            "bytes_in_a_row": lambda given: given["open_s"] + given["reads"] * (0.0005 + 64 * KiB / 100e6),
        },
    )
}


GIVEN = Device(
    name="given",
    latency_s=0.004,
    bandwidth_bytes_per_s=800e6,
    channel_bandwidth_bytes_per_s=100e6,
    channels=8,
)
"""The store of the bar that the notebook works out by hand."""
STEPS = {
    "waves": lambda _: scan_frames(GIVEN, reads=16, read_bytes=1_000_000, slots=8, depth=16, open_s=0.005)
}
