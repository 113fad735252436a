"""A kitchen with a few runners and a few cooks. The order lists the row groups of a scan; runners (slots) fetch
what a group needs from the device, a cook (worker thread) decodes a group when all of it is there, and only so
many groups may be on the way or on the table at once.

This is Graham's list scheduling (1966) with a window, and how DuckDB 2.0 scans: `read_ahead_depth` groups are
under way, counted in file order with those that a filter rules out; a group leaves when it is decoded.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from readahead.devices import Device
from readahead.models.parquet_reads import Span
from readahead.models.queue import DeviceQueue

SCRAMBLED = 5
"""When a scan begins, all slots ask at once and in no order; all but every fifth of those reads jump."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What the engine itself takes, in seconds; fitted on this machine by `measure.calibrate`."""

    plan_s: float = 0.5e-3
    """Parsing and planning, before the first read."""
    plan_key_s: float = 4e-6
    """The same, for each key of a lookup."""
    open_s: float = 1e-3
    """From the footer's arrival to the first data read."""
    open_group_s: float = 8e-6
    """The same, for each row group the footer describes."""
    open_key_s: float = 4e-6
    """The same, for each key of a lookup."""
    read_s: float = 60e-6
    """From a free slot to the next read in it: threads are woken and a task is handed over."""
    dispatch_s: float = 25e-6
    """Between two reads, whatever their slots: the hand that passes them out has to be free."""
    skip_group_s: float = 5e-6
    """Passing over a row group that a filter rules out."""
    prune_key_s: float = 12e-9
    """Holding one key of a lookup against one row group's smallest and largest."""
    group_s: float = 50e-6
    """Decoding a row group, whatever its size."""
    row_s: float = 5e-9
    """Decoding a row of the wanted columns."""
    close_s: float = 0.2e-3
    """From the last decoded group to the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How many things may happen at once."""

    slots: int
    """Reads in flight."""
    depth: int
    """Row groups under way, from the first read to the last decoded row."""
    threads: int
    """Workers that decode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """When the phases of a scan end, in seconds from its start."""

    opened_s: float
    """The footer is read and parsed."""
    arrived_s: float
    """The last byte is there."""
    finished_s: float
    """The last row is decoded."""
    reads: int
    bytes_read: int
    seeks: int
    decode_s: float
    """Processor time of all decoding, over all threads."""


def simulate(
    device: Device,
    footer: Sequence[Span],
    groups: Sequence[Sequence[Span]],
    rows: Sequence[int],
    *,
    window: Window,
    costs: Costs,
    fragment_bytes: int = 0,
    keys: int = 0,
) -> Timeline:
    """Return when a scan of `groups` (each a list of reads; empty if ruled out) of `rows` rows each is over."""
    queue = DeviceQueue(device, fragment_bytes)
    now_s = costs.plan_s + keys * costs.plan_key_s
    seeks = total = 0
    for offset, size in footer:
        now_s, moved = queue.book(now_s, offset, size)
        seeks, total, now_s = seeks + moved, total + size, now_s + costs.read_s
    opened_s = now_s + costs.open_s + len(groups) * costs.open_group_s + keys * costs.open_key_s
    slots = [opened_s] * window.slots
    workers = [opened_s] * window.threads
    under_way: list[float] = []
    issue_s = gate_s = arrived_s = opened_s
    decode_s, count = 0.0, len(footer)
    pop, push, book = heapq.heappop, heapq.heappush, queue.book
    for spans, group_rows in zip(groups, rows, strict=True):
        if len(under_way) >= window.depth:
            issue_s = max(issue_s, pop(under_way))
        ready_s = issue_s
        for offset, size in spans:
            start_s = max(max(issue_s, pop(slots)) + costs.read_s, gate_s + costs.dispatch_s)
            gate_s = start_s
            burst = count - len(footer)
            jumps = 0 < burst < window.slots and burst % SCRAMBLED > 0
            due_s, moved = book(start_s, offset, size, out_of_turn=jumps)
            arrived_s = max(arrived_s, due_s)
            push(slots, due_s)
            ready_s = max(ready_s, due_s)
            seeks, total, count = seeks + moved, total + size, count + 1
        work_s = costs.group_s + group_rows * costs.row_s if spans else costs.skip_group_s
        work_s += keys * costs.prune_key_s
        end_s = max(ready_s, pop(workers)) + work_s
        decode_s += work_s
        push(workers, end_s)
        push(under_way, end_s)
    return Timeline(
        opened_s=opened_s,
        arrived_s=arrived_s,
        finished_s=max(*workers, opened_s) + costs.close_s,
        reads=count,
        bytes_read=total,
        seeks=seeks,
        decode_s=decode_s,
    )
