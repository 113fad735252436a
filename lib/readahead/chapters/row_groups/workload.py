"""The same rows in row groups of one size or another, as Parquet or in DuckDB's own format, compressed or not.

Of a native file the model knows only what it knows of Parquet: that is what the comparison is for.
"""

from __future__ import annotations

from collections.abc import Sequence

from readahead.chapters.row_groups import columnstore
from readahead.devices import device
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import knob
from readahead.experiments.table_experiment import TableExperiment
from readahead.measure.engine import spare_threads
from readahead.published import Figure, figure

NEAR, FAR = "nvme", "object-store"


class RowGroups(TableExperiment):
    """A scan, with the published points of Neugebauer's drive."""

    def published(self, settings: Settings, name: str) -> Sequence[tuple[float, float, Figure]]:
        """Return Neugebauer's two columnstores on his USB disk, by their rows in a group."""
        if name != "row_group_rows" or self.value(settings, "device") != "usb-disk":
            return ()
        wide = self.value(settings, "dataset") == "comments"
        elapsed = figure("row_groups", f"{'wide' if wide else 'narrow'}_columnstore_elapsed_s")
        size_bytes = columnstore.printed("wide_columnstore_bytes") if wide else columnstore.narrow_bytes()
        groups = columnstore.wide_groups() if wide else columnstore.full_groups()
        return ((columnstore.printed("table_rows") / groups, size_bytes / elapsed.value, elapsed),)


def _unused_compression(settings: Settings) -> str:
    native = settings.get("format") == "native"
    return "DuckDB's own format chooses how to pack each column by itself." if native else ""


_START = device(NEAR)

EXPERIMENT = RowGroups(
    topic="row_groups",
    title="Row groups: how many rows belong together?",
    knobs=(
        knob("device", default=NEAR),
        knob("row_group_rows", default=32_768),
        knob("latency_s", default=_START.latency_s),
        knob("queue_depth", folded=False),
        knob("dataset", default="comments_narrow", choices=("comments", "comments_narrow")),
        knob("format"),
        knob("compression", idle=_unused_compression),
        knob("bandwidth_bytes_per_s", default=_START.bandwidth_bytes_per_s),
        knob("channels", default=_START.channels),
        knob("seek_s"),
        knob("threads", default=spare_threads()),
        knob("size", default="tiny"),
        knob("where"),
    ),
)  # fmt: skip
