"""An inspector with an hour. One may follow the shelf marks from book to book, or read the catalogue and send for all
at once: the ways to learn what lies in an index of pages, beside DuckDB's ways to see a part of a table.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from readahead import devices
from readahead.chapters.index_pages import laws as arithmetic
from readahead.chapters.index_pages.laws import COUNT, INDEX_WAYS, LIMITED, MAP, SAMPLED
from readahead.chapters.index_pages.page_chain import run_index
from readahead.chapters.index_pages.page_index import PAGE_BYTES, PageIndex, layout
from readahead.chapters.index_pages.sampling import IN_ORDER, NATIVE, PARQUET, SHUFFLED, TABLE_WAYS, Sampling
from readahead.devices import Device
from readahead.experiments.experiment import Knob, Settings
from readahead.experiments.knobs import knob, powers
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.parquet_reads import Span
from readahead.units import KiB

WAYS = (*INDEX_WAYS, *TABLE_WAYS)


class Inspecting(Sampling):
    """The common bench with the ways to see a part of it."""

    def pages(self, settings: Settings) -> bool:
        """Return whether plain readers inspect an index; else DuckDB is asked."""
        return settings["way"] in INDEX_WAYS

    # -- an index of pages ---------------------------------------------------------------------------
    def index(self, settings: Settings) -> PageIndex:
        """Return the index."""
        return PageIndex(leaf_pages=settings["leaf_pages"], fanout=settings["fanout"])

    def spans(self, settings: Settings) -> tuple[list[Span], list[Span]]:
        """Return the exact reads of an index: those that depend on one another, and those known beforehand."""
        index, way, size = self.index(settings), settings["way"], settings["read_bytes"]
        upper, leaves = layout(index)
        follows = way not in (MAP, COUNT)
        chain = [index.block(0, size), *(index.block(int(page), size) for page in upper if follows)]
        sampled = np.sort(leaves)[arithmetic.leaves_to_sample(len(leaves))]
        known = {LIMITED: upper[:0], MAP: upper, SAMPLED: sampled}.get(way, leaves)
        return chain, index.blocks(known, size)

    # -- the sources ---------------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the exact reads as named terms."""
        device = self.device(settings)
        if self.pages(settings):
            chain, known = self.spans(settings)
            chain_s = arithmetic.walk_s(device, chain)
            known_s = arithmetic.spread_s(device, known, settings["queue_depth"]) if known else 0.0
            link = device.bandwidth_bytes_per_s
            alone = min(device.channel_bandwidth_bytes_per_s, link)
            terms = _parts(device, chain, chain_s, alone), _parts(device, known, known_s, link)
            return Estimate(terms_s={name: terms[0][name] + terms[1][name] for name in terms[0]})
        return super().model(settings)

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Let plain readers inspect the index, or DuckDB the table, on the emulated device."""
        if self.pages(settings):
            return run_index(
                self.index(settings),
                self.device(settings),
                way=settings["way"],
                read_bytes=settings["read_bytes"],
                queue_depth=settings["queue_depth"],
                repeats=repeats,
                facts=settings,
            )
        return super().measure(settings, repeats)

    def work(self, settings: Settings) -> float:
        """Return the bytes that somebody wants: pages of an index, or a share of the table."""
        way = settings["way"]
        if self.pages(settings):
            index = self.index(settings)
            leaves = index.leaf_pages
            sampled = len(range(leaves)[arithmetic.leaves_to_sample(leaves)])
            pages = {LIMITED: 0, MAP: 0, SAMPLED: sampled}.get(way, leaves)
            return float(PAGE_BYTES * (pages + (0 if way == COUNT else index.upper_pages)))
        return super().work(settings)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Return settings of an index inspected one of its ways, which is what the model is held to."""
        drawn = super().draw(rng)
        return self.settings(
            **{**drawn, "way": rng.choice(INDEX_WAYS), "latency_s": rng.uniform(0.001, 0.01)}
        )

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        way, reasons = settings["way"], super().disabled(settings)
        if self.pages(settings):
            whose = "This is about a DuckDB table; an index of pages is being read."
            reasons |= dict.fromkeys(("sample_share", "stored", "order", "threads", "size"), whose)
            if way == LIMITED:
                reasons["queue_depth"] = "Each page has to say where the next one lies: nobody can ask ahead."
            if way == COUNT and settings["fanout"]:
                reasons["fanout"] = "Only the leaves are read."
        else:
            whose = "This is about an index of pages; a DuckDB table is being read."
            reasons |= dict.fromkeys(("leaf_pages", "fanout", "read_bytes"), whose)
        return reasons


def _parts(device: Device, spans: list[Span], seconds: float, rate: float) -> dict[str, float]:
    """Share the seconds of some reads out: their bytes pass at `rate` in any case, the rest is waiting."""
    moving_s = min(seconds, sum(size for _, size in spans) / rate)
    waits = {"seek": device.seek_s, "latency": device.latency_s, "readers": arithmetic.READER_S}
    scale = (seconds - moving_s) / sum(waits.values())
    return {"transfer": moving_s, **{name: value * scale for name, value in waits.items()}}


# -- the bench of the chapter -----------------------------------------------------------------------------
_ARRAY, _STORE = devices.device("randal-array"), devices.device("object-store")

BENCH = Inspecting(
    topic="index_pages",
    title="Reading the index: avoiding bytes is not avoiding time",
    knobs=(
        knob("device", default=_ARRAY.name),
        Knob(name="way", label="Read", kind="choice", default=LIMITED, choices=WAYS),
        Knob(
            name="fanout", label="Fan-out", kind="count", default=213, low=9, high=622,
            steps=(9, 16, 32, 64, 128, 213, 404, 622), help="Leaf pages that one page above them points to.",
        ),
        knob("queue_depth", default=32, folded=False, help="Reads under way at once, where they are known beforehand."),
        Knob(
            name="read_bytes", label="Read size", kind="bytes", default=64 * KiB, low=8 * KiB, high=64 * KiB,
            steps=powers(8 * KiB, 64 * KiB), help="How much the device is asked for when one page of 8 KB is wanted.",
        ),
        knob("latency_s", default=_ARRAY.latency_s),
        Knob(
            name="leaf_pages", label="Leaf pages", kind="count", default=2_048, low=1_024, high=16_384,
            steps=powers(1_024, 16_384), folded=True, help="Pages of 8 KB at the lowest level of the index.",
        ),
        Knob(
            name="sample_share", label="Sample", kind="1", default=0.1, low=0.02, high=0.5,
            steps=(0.02, 0.05, 0.1, 0.2, 0.5), folded=True, help="Share of the DuckDB table that is drawn.",
        ),
        Knob(
            name="stored", label="Format", kind="choice", default=PARQUET, choices=(PARQUET, NATIVE), folded=True,
        ),
        Knob(
            name="order", label="Rows lie", kind="choice", default=IN_ORDER, choices=(IN_ORDER, SHUFFLED), folded=True,
        ),
        knob("bandwidth_bytes_per_s", default=_ARRAY.bandwidth_bytes_per_s, folded=False),
        knob("channels", default=_ARRAY.channels),
        knob("threads", default=1),
        knob("size", default="tiny"),
    ),
)  # fmt: skip


def links(read_bytes: int, **more: Any) -> dict[str, Any]:
    """Return the knobs of an upper level long enough to be a chain."""
    return {"way": LIMITED, "fanout": 48, "read_bytes": read_bytes, **more}


def table(way: str, **more: Any) -> dict[str, Any]:
    """Return the knobs of DuckDB on an object store, with a window that suits it."""
    return {
        "device": _STORE.name, "latency_s": _STORE.latency_s, "channels": _STORE.channels,
        "bandwidth_bytes_per_s": _STORE.bandwidth_bytes_per_s, "queue_depth": 32, "way": way, **more,
    }  # fmt: skip
