"""Start here: one query on one file, with fragment size, row-group size, rows per lookup and device latency to turn."""

from __future__ import annotations

from collections.abc import Sequence

from readahead import published
from readahead.devices import device
from readahead.experiments.experiment import Settings, knob
from readahead.experiments.table_experiment import TableExperiment
from readahead.measure.run import spare_threads

_DEFAULT = device("object-store")


class StartHere(TableExperiment):
    """The scan or lookup of a Parquet file, with the published points of the devices on which they were measured."""

    def published(self, settings: Settings, name: str) -> Sequence[tuple[float, float, published.Figure]]:
        """Return mark's 33 % on the disk of his comment, and Chang's rows a second on his array."""
        here = (settings["device"], settings["query"], name)
        if here == ("textbook-disk", "scan", "fragment_bytes"):
            size, share = (published.figure("fragments", n) for n in ("fragment_bytes", "yield_share"))
            return [(size.value, share.value * settings["bandwidth_bytes_per_s"], share)]
        if here == ("sas-15k-x8", "lookup", "rows_per_lookup"):
            rows, rates, figures = published.series("lookups", "disk_8k_rows_per_s")
            return [(float(x), y, figure) for x, y, figure in zip(rows, rates, figures, strict=True)]
        return ()


EXPERIMENT = StartHere(
    topic="start_here",
    title="Where does the time go?",
    knobs=(
        knob("device", default=_DEFAULT.name),
        knob("query"),
        knob("latency_s", default=_DEFAULT.latency_s),
        knob("row_group_rows"),
        knob("fragment_bytes"),
        knob("rows_per_lookup"),
        knob("bandwidth_bytes_per_s", default=_DEFAULT.bandwidth_bytes_per_s),
        knob("channels", default=_DEFAULT.channels),
        knob("seek_s"),
        knob("queue_depth"),
        knob("threads", default=spare_threads()),
        knob("dataset"),
        knob("size"),
        knob("where"),
        knob("time_scale"),
    ),
)
