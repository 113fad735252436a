"""The common bench, at the packing table: the same rows as Parquet or in DuckDB's own format, compressed this way or
that. Of a native file the model knows only what it knows of Parquet: that is what the comparison is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from readahead.chapters.row_groups import columnstore
from readahead.datasets.recipe import COMPRESSIONS, FORMATS
from readahead.experiments.experiment import Knob, Settings
from readahead.experiments.scanning import Scanning
from readahead.measure.case import Case
from readahead.published import Figure, figure

FORMAT = Knob(name="format", label="Format", kind="choice", default="parquet", choices=FORMATS, folded=True)
COMPRESSION = Knob(
    name="compression", label="Compression", kind="choice", default="snappy", choices=COMPRESSIONS, folded=True,
    help="How the column chunks of a Parquet file are packed.",
)  # fmt: skip


class Packing(Scanning):
    """The common bench with knobs for format and compression; a native file is modeled as if read as Parquet is."""

    def case(self, settings: Settings) -> Case:
        """Return the case that these settings describe."""
        plain = Scanning.case(self, settings)
        form = settings.get("format", "parquet")
        compression = settings.get("compression", "snappy") if form == "parquet" else "snappy"
        return Case(
            recipe=replace(plain.recipe, format=form, compression=compression),
            device=plain.device,
            engine=plain.engine,
            time_scale=plain.time_scale,
        )

    def published(self, settings: Settings, name: str) -> Sequence[tuple[float, float, Figure]]:
        """Return Neugebauer's two columnstores on his USB disk, by their rows in a group."""
        if name != "row_group_rows" or self.value(settings, "device") != "usb-disk":
            return ()
        wide = self.value(settings, "dataset") == "comments"
        elapsed = figure("row_groups", f"{'wide' if wide else 'narrow'}_columnstore_elapsed_s")
        size_bytes = (
            figure("row_groups", "wide_columnstore_bytes").best if wide else columnstore.narrow_bytes()
        )
        groups = columnstore.wide_groups() if wide else columnstore.full_groups()
        rows = figure("row_groups", "table_rows").best
        return ((rows / groups, size_bytes / elapsed.value, elapsed),)

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        off = Scanning.disabled(self, settings)
        if settings.get("format") == "native":
            off["compression"] = "DuckDB's own format chooses how to pack each column by itself."
        return off
