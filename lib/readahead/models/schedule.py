"""A kitchen with a few runners and a few cooks. The order lists the row groups of a scan; runners (slots) fetch
what a group needs from the device, a cook (worker thread) decodes a group when all of it is there, and only so
many groups may be on the way or on the table at once.

This is Graham's list scheduling (1966) with a window, and how DuckDB 2.0 scans: `read_ahead_depth` groups are
under way, counted in file order with those that a filter rules out; a group leaves when it is decoded. A group
whose Bloom filter has to be asked first is held up at the door: the hand that passes the reads out fetches the filter
itself, and waits for it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from readahead.devices import Device
from readahead.models.estimate import Estimate
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
    data_seeks: int
    """Those of them that come after the footer."""
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
    probes: Sequence[Span | None] = (),
) -> Timeline:
    """Return when a scan of `groups` (each a list of reads; empty if ruled out) of `rows` rows each is over.

    `probes` has for each group the Bloom filter that is asked before its reads, or None; empty if none is.
    """
    queue = DeviceQueue(device, fragment_bytes)
    now_s = costs.plan_s + keys * costs.plan_key_s
    seeks = total = 0
    for offset, size in footer:
        now_s, moved = queue.book(now_s, offset, size)
        seeks, total, now_s = seeks + moved, total + size, now_s + costs.read_s
    opened_s = now_s + costs.open_s + len(groups) * costs.open_group_s + keys * costs.open_key_s
    opened = _Opened(at_s=opened_s, queue=queue, window=window, costs=costs, prune_s=keys * costs.prune_key_s)
    plain = window.threads == 1 and window.depth <= window.slots and queue.plain
    if plain and not probes and max(map(len, groups), default=0) <= 1:
        arrived_s, finished_s, moved = _in_turn(opened, groups, rows)
    else:
        arrived_s, finished_s, moved = _at_large(opened, groups, rows, probes)
    asked = [probe for probe in probes if probe is not None]
    read = [group_rows for spans, group_rows in zip(groups, rows, strict=True) if spans]
    skipped = len(groups) - len(read)
    work_s = len(read) * costs.group_s + sum(read) * costs.row_s + skipped * costs.skip_group_s
    return Timeline(
        opened_s=opened_s,
        arrived_s=arrived_s,
        finished_s=finished_s + costs.close_s,
        reads=len(footer) + sum(map(len, groups)) + len(asked),
        bytes_read=total
        + sum([size for spans in groups for _, size in spans])
        + sum(size for _, size in asked),
        seeks=seeks + moved,
        data_seeks=moved,
        decode_s=work_s + len(groups) * opened.prune_s,
    )


def explain(
    device: Device,
    footer: Sequence[Span],
    groups: Sequence[Sequence[Span]],
    rows: Sequence[int],
    *,
    window: Window,
    costs: Costs,
    **more: Any,
) -> Estimate:
    """Return the same schedule as named terms that add up to its end; `more` is what `simulate` takes.

    The processor's term is what decoding adds: the end, less when the last byte would be there if decoding took no
    time. What remains is the reads', shared out by what one of them is made of; where the link is never idle it is
    all transfer, but for one read's latency. What is hidden behind these terms is told as overlapped.
    """
    told = simulate(device, footer, groups, rows, window=window, costs=costs, **more)
    free = replace(costs, group_s=0.0, row_s=0.0, skip_group_s=0.0, prune_key_s=0.0)
    bare = simulate(device, footer, groups, rows, window=window, costs=free, **more)
    data = [size for spans in groups for _, size in spans]
    probes = [probe[1] for probe in more.get("probes", ()) if probe is not None]
    reads, size = len(data) + len(probes), sum(data) + sum(probes)
    io_s = max(0.0, bare.arrived_s - told.opened_s) if reads else 0.0
    queue = DeviceQueue(device)
    parts = {
        "seek": bare.data_seeks * device.seek_s,
        "latency": reads * device.latency_s,
        "transfer": size * queue.byte_s,
        "engine": reads * costs.read_s,
    }
    if (
        reads
        and io_s <= size * queue.link_byte_s + device.latency_s + costs.read_s + size / reads * queue.byte_s
    ):
        parts = {"seek": 0.0, "latency": device.latency_s, "transfer": 0.0, "engine": costs.read_s}
        parts["transfer"] = max(0.0, io_s - parts["latency"] - parts["engine"])
    scale = io_s / (sum(parts.values()) or 1.0)
    cpu_s = told.finished_s - costs.close_s - told.opened_s - io_s
    terms = {name: part * scale for name, part in parts.items()}
    return Estimate(
        terms_s={"open": told.opened_s + costs.close_s, **terms, "cpu": cpu_s},
        overlapped_s={"cpu": max(0.0, told.decode_s / window.threads - cpu_s)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """Where a scan stands when its file is open."""

    at_s: float
    queue: DeviceQueue
    window: Window
    costs: Costs
    prune_s: float


Groups = Sequence[Sequence[Span]]


def _at_large(
    opened: _Opened, groups: Groups, rows: Sequence[int], probes: Sequence[Span | None] = ()
) -> tuple[float, float, int]:
    """Return (last arrival, last decoded row, seeks) of any scan."""
    window, costs = opened.window, opened.costs
    slots = [opened.at_s] * window.slots
    workers = [opened.at_s] * window.threads
    under_way: list[float] = []
    issue_s = arrived_s = opened.at_s
    gate_s = opened.at_s - costs.dispatch_s
    seeks = count = 0
    pop, push, book = heapq.heappop, heapq.heappush, opened.queue.book
    for spans, group_rows, probe in zip(groups, rows, probes or [None] * len(groups), strict=True):
        if len(under_way) >= window.depth:
            issue_s = max(issue_s, pop(under_way))
        if probe is not None:
            issue_s, moved = book(issue_s, *probe)
            seeks += moved
        # While a read is handed over, the hand already asks for the next filter: that much is hidden.
        hand_over_s = costs.read_s if probe is None else 0.0
        ready_s = issue_s
        for offset, size in spans:
            start_s = max(max(issue_s, pop(slots)) + hand_over_s, gate_s + costs.dispatch_s)
            gate_s = start_s
            jumps = 0 < count < window.slots and count % SCRAMBLED > 0
            due_s, moved = book(start_s, offset, size, out_of_turn=jumps)
            push(slots, due_s)
            ready_s = max(ready_s, due_s)
            seeks, count = seeks + moved, count + 1
        if spans:
            arrived_s = max(arrived_s, ready_s)
        work_s = costs.group_s + group_rows * costs.row_s if spans else costs.skip_group_s
        end_s = max(ready_s, pop(workers)) + work_s + opened.prune_s
        push(workers, end_s)
        push(under_way, end_s)
    return arrived_s, max(*workers, opened.at_s), seeks


def _in_turn(opened: _Opened, groups: Groups, rows: Sequence[int]) -> tuple[float, float, int]:
    """Return the same for the common case, several times as fast: one worker, one read a group, no head to move.

    Groups then leave in the order in which they came, and a slot is free whenever the window lets a group in.
    """
    window, costs, device = opened.window, opened.costs, opened.queue.device
    latency_s, byte_s, link_byte_s = device.latency_s, opened.queue.byte_s, opened.queue.link_byte_s
    read_s, dispatch_s, prune_s = costs.read_s, costs.dispatch_s, opened.prune_s
    group_s, row_s, skip_s = costs.group_s + prune_s, costs.row_s, costs.skip_group_s + prune_s
    channels = [0.0] * device.channels
    ends = [opened.at_s] * window.depth
    at, link_s = 0, 0.0
    end_s = arrived_s = opened.at_s
    gate_s = opened.at_s - dispatch_s
    replace = heapq.heapreplace
    for spans, group_rows in zip(groups, rows, strict=True):
        if spans:
            start_s = ends[at] + read_s
            gate_s += dispatch_s
            gate_s = max(gate_s, start_s)
            free_s = channels[0]
            ready_s = (max(free_s, gate_s)) + latency_s
            size = spans[0][1]
            link_s = (max(link_s, ready_s)) + size * link_byte_s
            due_s = ready_s + size * byte_s
            due_s = max(due_s, link_s)
            replace(channels, due_s)
            arrived_s = max(arrived_s, due_s)
            end_s = (max(end_s, due_s)) + group_s + group_rows * row_s
        else:
            end_s = max(end_s, ends[at])
            end_s += skip_s
        ends[at] = end_s
        at += 1
        if at == window.depth:
            at = 0
    return arrived_s, end_s, 0
