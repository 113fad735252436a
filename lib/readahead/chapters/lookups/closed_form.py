"""How long the clerk is away, on the back of an envelope: the closed form of a lookup, in which every number may be an
array, so that a whole curve costs a millisecond or two.

What comes one by one is added up; what goes at once waits for its fullest disk (`laws.fullest`), or for the reads
that may be under way. The exact schedule of a built file is `schedule.simulate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from readahead.chapters.lookups import laws
from readahead.chapters.lookups.laws import Array
from readahead.models.schedule import Costs
from readahead.units import KiB

INDEX_BYTES_A_ROW = 8.2
"""Of DuckDB's index on a whole number: a pointer, and a little of the nodes above."""
LEAF_KEYS = 256
"""Keys in a leaf of it."""
FOOTER_BYTES = 64 * KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What rows are looked up in."""

    rows: float
    width_bytes: float
    row_blocks: float
    """Blocks of a native file in which a row lies, a column or two in each."""
    pieces: Array
    """Reads of a row group; in a Parquet file 1."""
    group_rows: Array
    block_bytes: Array
    """Of a native file with an index; 0 for Parquet."""
    footers: int
    """Reads of a Parquet file before any row is read."""
    clustered: bool
    """Whether rows lie in the order of their keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disks:
    """What it lies on."""

    latency_s: Array
    rate_bytes_per_s: Array
    link_bytes_per_s: Array
    count: Array
    stripe_bytes: int
    """How much lies on one disk before the next begins; 0 if any disk serves any read."""


def lookup_s(
    table: Table, disks: Disks, *, keys: Array, step_rows: Array, neighbours: bool, slots: Array, costs: Costs
) -> Array:
    """Return the seconds of looking `keys` rows up, or of reading the whole table where `keys` is 0.

    Up to `step_rows` the blocks of a native file come one by one; past it the index is walked for one row too many, and
    the row groups that were hit are read at once. `step_rows` is 0 where no index is looked into.
    """
    groups = np.ceil(table.rows / table.group_rows)
    size, total = table.group_rows * table.width_bytes, table.rows * table.width_bytes
    wanted = keys > 0
    hit = np.ceil(keys / table.group_rows) if neighbours else laws.distinct(groups, keys)
    touched = np.where(wanted & (table.clustered or neighbours), hit, groups)
    native = bool(np.any(table.block_bytes > 0))
    block = np.where(table.block_bytes > 0, table.block_bytes, FOOTER_BYTES)
    if native:
        index = np.maximum(1.0, table.rows * INDEX_BYTES_A_ROW / block)
        walked = np.minimum(keys, step_rows + 1) * (step_rows > 0)
        serial = laws.distinct(index, np.minimum(walked, table.rows / LEAF_KEYS) + 3) * (walked > 0)
        alone = wanted & (keys <= step_rows)
        fetched = laws.distinct(np.maximum(1.0, total / block), keys * table.row_blocks)
        serial = serial + np.where(alone, fetched, 0.0)
        batch, piece = np.where(alone, 0.0, touched * table.pieces), np.maximum(block, size / table.pieces)
    else:
        serial, batch, piece = np.full_like(size, table.footers), touched, size
    one_s = disks.latency_s + costs.read_s + block / disks.rate_bytes_per_s
    if disks.stripe_bytes:  # a long read is served by several disks at once
        parts = np.minimum(np.maximum(1.0, piece / disks.stripe_bytes), disks.count)
        batch, piece, slots = batch * parts, piece / parts, slots * parts
    piece_s = disks.latency_s + costs.read_s + piece / disks.rate_bytes_per_s
    window = (
        slots if native else 1 + (slots - 1) * touched / groups
    )  # of Parquet, groups passed over count too
    window = np.minimum(np.maximum(window, 1.0), np.maximum(batch, 1.0))
    if (
        disks.stripe_bytes
    ):  # a window over disks that own their blocks leaves some idle: W + D - 1 over W D (balanced queues)
        rounds = np.maximum(
            _fullest(batch, disks.count), batch * (window + disks.count - 1) / (window * disks.count)
        )
    else:
        rounds = batch / np.minimum(window, disks.count)
    io_s = np.maximum(rounds * piece_s, batch * np.minimum(piece, total) / disks.link_bytes_per_s)
    opened_s = (
        costs.plan_s
        + keys * (costs.plan_key_s + costs.open_key_s)
        + costs.open_s
        + groups * costs.open_group_s
    )
    decode_s = np.where(batch > 0, touched * (costs.group_s + table.group_rows * costs.row_s), 0.0)
    return np.asarray(opened_s + serial * one_s + np.maximum(io_s, decode_s) + costs.close_s)


def _fullest(batch: Array, disks: Array) -> Array:
    """Return the reads of the fullest disk, worked out at a few places of the curve and joined by straight lines."""
    if np.ptp(disks) > 0:
        few = np.unique(np.round(np.geomspace(disks.min(), disks.max(), 12)))
        return np.interp(disks, few, [laws.fullest(float(batch[0]), int(count)) for count in few])
    few = np.geomspace(max(batch.min(), 0.5), max(batch.max(), 1.0), 12)
    return np.interp(batch, few, [laws.fullest(float(reads), int(disks[0])) for reads in few])
