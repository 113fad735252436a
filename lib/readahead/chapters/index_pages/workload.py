"""How an index is inspected, or a part of a DuckDB table is seen: the knobs, and what they ask for."""

from __future__ import annotations

import random
from typing import Any

from readahead.chapters.index_pages import page_chain, sampling
from readahead.chapters.index_pages.laws import PAGE_BYTES
from readahead.chapters.index_pages.page_chain import INDEX_WAYS, Inspection, PageIndex
from readahead.chapters.index_pages.sampling import TABLE_WAYS, PartCase, part_case
from readahead.devices import device
from readahead.experiments.experiment import Knob, Settings, knob, powers
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.units import KiB

WAYS = INDEX_WAYS | TABLE_WAYS


class IndexPages(TableExperiment):
    """Plain readers inspect an index of pages, or DuckDB is asked for a part of a table."""

    def inspection(self, settings: Settings) -> Inspection | None:
        """Return how the index is inspected, or None where DuckDB is asked."""
        if settings["way"] not in INDEX_WAYS:
            return None
        return Inspection(
            index=PageIndex(leaf_pages=settings["leaf_pages"], fanout=settings["fanout"]),
            device=self.device(settings),
            way=settings["way"],
            read_bytes=settings["read_bytes"],
            queue_depth=settings["queue_depth"],
        )

    @once
    def case(self, settings: Settings) -> PartCase:
        """Return what DuckDB is asked for."""
        return part_case(super().case(settings), settings)

    # -- the sources ---------------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the exact reads as named terms."""
        inspection = self.inspection(settings)
        return inspection.estimate() if inspection else super().model(settings)

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Let plain readers inspect the index, or DuckDB the table, on the emulated device."""
        inspection = self.inspection(settings)
        if inspection:
            return inspection.measure(repeats=repeats, facts=settings)
        return super().measure(settings, repeats)

    def work(self, settings: Settings) -> float:
        """Return the bytes that somebody wants."""
        return float((self.inspection(settings) or self.case(settings)).bytes_wanted)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Return settings of an index inspected one of its ways, which is what the model is held to."""
        drawn = super().draw(rng)
        return drawn | {"way": rng.choice(tuple(INDEX_WAYS)), "latency_s": rng.uniform(0.001, 0.01)}


def _not_a_table(now: Settings) -> str:
    return (
        "This is about a DuckDB table; an index of pages is being read." if now["way"] in INDEX_WAYS else ""
    )


def _not_an_index(now: Settings) -> str:
    return (
        "" if now["way"] in INDEX_WAYS else "This is about an index of pages; a DuckDB table is being read."
    )


_ARRAY = device("randal-array")

EXPERIMENT = IndexPages(
    topic="index_pages",
    title="Reading the index: avoiding bytes is not avoiding time",
    knobs=(
        knob("device", default=_ARRAY.name),
        Knob(name="way", label="Read", kind="choice", default=page_chain.LIMITED, choices=tuple(WAYS), labels=WAYS),
        Knob(
            name="fanout", label="Fan-out", kind="count", default=213, low=9, high=622,
            steps=(9, 16, 32, 64, 128, 213, 404, 622), help="Leaf pages that one page above them points to.",
            idle=lambda now: "Only the leaves are read." if now["way"] == page_chain.COUNT else _not_an_index(now),
        ),
        knob(
            "queue_depth", default=32, folded=False, help="Reads under way at once, where they are known beforehand.",
            idle=lambda now: "Each page has to say where the next one lies: nobody can ask ahead."
            if now["way"] == page_chain.LIMITED else "",
        ),
        Knob(
            name="read_bytes", label="Read size", kind="bytes", default=64 * KiB, low=8 * KiB, high=64 * KiB,
            steps=powers(8 * KiB, 64 * KiB), help="How much the device is asked for when one page of 8 KB is wanted.",
            idle=_not_an_index,
        ),
        knob("latency_s", default=_ARRAY.latency_s),
        Knob(
            name="leaf_pages", label="Leaf pages", kind="count", default=2_048, low=1_024, high=16_384,
            steps=powers(1_024, 16_384), folded=True, help="Pages of 8 KB at the lowest level of the index.",
            idle=_not_an_index,
        ),
        Knob(
            name="sample_share", label="Sample", kind="1", default=0.1, low=0.02, high=0.5,
            steps=(0.02, 0.05, 0.1, 0.2, 0.5), folded=True, help="Share of the DuckDB table that is drawn.",
            idle=lambda now: "Nothing is sampled."
            if now["way"] in (sampling.METADATA, sampling.TABLE) else _not_a_table(now),
        ),
        Knob(
            name="stored", label="Format", kind="choice", default=sampling.PARQUET, folded=True,
            choices=tuple(sampling.STORED), labels=sampling.STORED,
            idle=lambda now: "Row groups and their footer are those of the Parquet file."
            if now["way"] in (sampling.METADATA, sampling.CHOSEN) else _not_a_table(now),
        ),
        Knob(
            name="order", label="Rows lie", kind="choice", default=sampling.IN_ORDER, folded=True,
            choices=tuple(sampling.ORDERS), labels=sampling.ORDERS, idle=_not_a_table,
        ),
        knob("bandwidth_bytes_per_s", default=_ARRAY.bandwidth_bytes_per_s, folded=False),
        knob("channels", default=_ARRAY.channels),
        knob("threads", default=1, idle=_not_a_table),
        knob("size", default="tiny", idle=_not_a_table),
    ),
)  # fmt: skip


WIDE: dict[str, Any] = {"way": page_chain.LIMITED, "fanout": 48, "read_bytes": 64 * KiB}
"""An upper level long enough to be a chain of reads, eight pages a read."""
CHAIN = WIDE | {"read_bytes": PAGE_BYTES}
SHALLOW, DEEP = CHAIN | {"queue_depth": 1}, CHAIN | {"queue_depth": 128}
LIST = CHAIN | {"way": page_chain.MAP}
EVERYTHING = {"way": page_chain.DETAILED}
