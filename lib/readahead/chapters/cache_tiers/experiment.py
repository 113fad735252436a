"""The furniture of one room: how large the desk is in each round, how far the cellar, and what may be asked of both.
The bench of the chapter on cache tiers, with the knobs of each of its rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from readahead import devices
from readahead.chapters.cache_tiers import laws
from readahead.chapters.cache_tiers.access_trace import SCAN, UNIFORM, ZIPF
from readahead.chapters.cache_tiers.cached_run import CachedSample
from readahead.chapters.cache_tiers.tier_times import DROP, SPILL
from readahead.chapters.cache_tiers.workload import Remembering
from readahead.errors import BadValue
from readahead.experiments.experiment import Knob
from readahead.experiments.knobs import knob, powers
from readahead.experiments.round import Bench
from readahead.units import GiB, KiB, MiB

_DEVICE = devices.device("nvme")

EXPERIMENT = Remembering(
    topic="cache_tiers",
    title="Cache tiers: cold, warm, and the tier between",
    fixed={"dataset": "comments", "device": _DEVICE.name, "threads": 1},
    knobs=(
        Knob(
            name="memory_share", label="Cache memory", kind="1", default=0.5, low=0.1, high=1.5,
            help="Room for cached blocks, as a share of the table. What DuckDB needs itself comes on top.",
        ),
        Knob(
            name="access", label="Asked for", kind="choice", default=ZIPF, choices=(UNIFORM, ZIPF, SCAN),
            help="One row group a query, at random; or all of them in one scan.",
        ),
        Knob(
            name="skew", label="Skew", kind="", default=1.0, low=0.1, high=1.5,
            help="How strong the favourites are: the k-th is asked for 1/k^skew times as often as the first.",
        ),
        knob("latency_s", default=0.003, low=100e-6, high=0.01),
        Knob(
            name="spill", label="Tier between", kind="choice", default=DROP, choices=(DROP, SPILL),
            help="Where DuckDB puts a block that memory has no room for: nowhere, or a folder of this disk.",
        ),
        Knob(
            name="run", label="Which run", kind="count", default=2, low=1, high=5, steps=(1, 2, 3, 4, 5),
            help="The same queries have run so many times, this one included, on one connection.",
        ),
        knob("row_group_rows", default=4_096, high=8_192, steps=powers(2_048, 8_192)),
        Knob(
            name="block_bytes", label="Cache block", kind="bytes", default=1 * MiB, low=16 * KiB, high=2 * MiB,
            steps=powers(16 * KiB, 2 * MiB), folded=True, help="A longer read is split into blocks of this size.",
        ),
        Knob(
            name="queries", label="Queries a run", kind="count", default=96, low=16, high=512,
            steps=powers(16, 512, 96, 192), folded=True, help="How many row groups one run asks for, in turn.",
        ),
        knob("queue_depth", default=8, high=8, steps=powers(1, 8)),
        knob("bandwidth_bytes_per_s", default=2e9),
        knob("channels", default=64),
        Knob(
            name="dram_dollars_per_gib", label="Memory, $ a GiB", kind="", default=4.0, low=0.1, high=10_000,
            folded=True, help="For the five-minute rule.",
        ),
        Knob(
            name="drive_dollars", label="Drive, $", kind="", default=200.0, low=1, high=100_000, folded=True,
            help="For the five-minute rule.",
        ),
        Knob(
            name="drive_reads_per_s", label="Drive, reads a second", kind="count", default=500_000, low=1,
            high=10_000_000, folded=True, help="For the five-minute rule.",
        ),
        knob("size", default="tiny"),
    ),
)  # fmt: skip

FAST_S, SLOW_S, HITS = 1e-3, 50e-3, 0.8
"""Two tiers and a hit ratio, as the third round gives them."""
PAGE_BYTES = 4 * KiB
GRAY_1987 = {
    "drive_price": 2_000.0, "reads_per_s": 1.0, "bytes_per_s": 1e12, "memory_price_per_byte": 5.0 / KiB,
}  # fmt: skip
"""Gray and Putzolu's own prices: $2,000 for each access a second, arm, channel and processor; $5 a kilobyte."""


def scanned(share: float, **more: Any) -> dict[str, Any]:
    """Return the knobs of a scan that comes back, with room for a share of the table."""
    return {"access": SCAN, "memory_share": share, "queue_depth": 2, **more}


def far(spill: str, rows: int = 4_096) -> dict[str, Any]:
    """Return the knobs of the rounds with a tier between: a far device, and half of what is asked for in memory."""
    room = {2_048: 0.1, 4_096: 0.16}[rows]
    few = {"access": UNIFORM, "queries": 24, "memory_share": room, "latency_s": 0.01}
    return {**few, "spill": spill, "row_group_rows": rows}


def again(run: int, share: float = 0.5) -> dict[str, Any]:
    """Return the knobs of the rounds on repeats."""
    return {"run": run, "queries": 32, "memory_share": share, "latency_s": 0.01}


def blocks(block_bytes: int) -> dict[str, Any]:
    """Return the knobs of a first scan into a cache of such blocks."""
    return scanned(1.25, run=1, block_bytes=block_bytes, queue_depth=8, latency_s=0.002)


def quick(**changes: Any) -> dict[str, Any]:
    """Return the knobs with which hits are counted: many queries, on a near device (its distance changes none)."""
    return {"latency_s": 100e-6, "queries": 192, **changes}


def seen(bench: Bench, **changes: Any) -> CachedSample:
    """Return one run, with what the cache held. Raises `BadValue` on a bench without a cache."""
    sample = bench.glance(**changes)
    if not isinstance(sample, CachedSample):
        raise BadValue(f"{bench.experiment.topic!r} has no cache. Ask a bench of cache_tiers.")
    return sample


def replayed(bench: Bench, **changes: Any) -> float:
    """Return the hit ratio of an LRU cache on the very accesses that DuckDB gets."""
    memory, spilled, _ = EXPERIMENT.found(bench.settings(**changes))
    return memory + spilled


def break_even(bench: Bench, page_bytes: Any = PAGE_BYTES) -> np.ndarray:
    """Return the break-even of the five-minute rule with the prices of this notebook."""
    base = bench.base
    return laws.break_even_s(
        page_bytes,
        drive_price=base["drive_dollars"],
        reads_per_s=base["drive_reads_per_s"],
        bytes_per_s=base["bandwidth_bytes_per_s"],
        memory_price_per_byte=base["dram_dollars_per_gib"] / GiB,
    )
