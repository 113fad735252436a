"""When a scan is over: a simulation of its reads, in flight together, and of the workers that decode what has come.

Graham's list scheduling (1966) with a window, as DuckDB 2.0 scans: a few slots read, a row group is decoded by one
worker when all of it is there, and only `read_ahead_depth` groups are under way, counted in file order with those that
a filter rules out; a group leaves when it is decoded. A group whose Bloom filter has to be asked first is held up: a
worker fetches the filter itself, waits for it, passes the group's reads out, and goes on to the next filter; it decodes
when the window has no place left. Which are asked for first, the next filter or the reads that were passed out, is a
race. And where filters are read first, the worker that decodes fetches the other columns itself, if a row has passed,
and waits for them.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from readahead.devices import Device
from readahead.errors import require_range
from readahead.models.estimate import Estimate
from readahead.models.queue import (
    TERMS,
    DeviceState,
    Floats,
    Ints,
    Moment,
    book,
    book_at,
    compiled,
    front,
    inlined,
    later,
    load,
    occupy,
    put,
    queue_of,
    requeue,
    spend,
    state_of,
)
from readahead.models.reads import Reads

IN_ORDER, SWAPPED = 3, 6
"""When a scan begins, all slots ask at once and not quite in order: beyond the first three all but every sixth of those
reads jump, unless there are `IN_TURN` at most. Traces of 6, 8, 12, 16, 32 and 64 reads on one channel have 3.1, 4, 8,
11, 26 and 51 jumps in the mean, where single runs of few reads go from none to all of them; here 3, 4, 8, 11, 24 and
51. They come in the order of `answer_order`, and with several channels it decides how long and short reads lie beside
each other."""
IN_TURN = 4
"""So few threads are woken in turn, and their reads are answered in file order. Of 48 traces of four reads on one
channel 28 have no jump, the others two to four."""
STRIDE, CROWD = 0.618034, 32
"""By how much more of the most the next one is late, the whole left out: the golden section spreads them evenly. And in
how large a crowd one may be late by as much again as half of all that are asked for."""


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
    """The same, for each row group the footer describes; and what planning takes for it."""
    open_key_s: float = 4e-6
    """The same, for each key of a lookup."""
    open_lookup_s: float = 0.0
    """The same, for a lookup of `JOINED_KEYS` or more."""
    read_s: float = 60e-6
    """From a free slot to the next read in it: threads are woken and a task is handed over."""
    dispatch_s: float = 25e-6
    """Between two reads, whatever their slots: the hand that passes them out has to be free."""
    returned_share: float = 0.0
    """The share of that which goes to a read that comes back, from 0 to 1: Python's interpreter takes it in before the
    next one is passed out. As long as slots were never used and none comes back, it is so much quicker."""
    refill_share: float = 0.0
    """The share of that which goes to a slot that was used before: as long as slots were never used it is so much
    quicker."""
    skip_group_s: float = 5e-6
    """Passing over a row group that a filter rules out."""
    prune_key_s: float = 12e-9
    """Holding one key of a lookup against one row group's smallest and largest."""
    match_s: float = 0.5e-6
    """What a row takes a lookup of `JOINED_KEYS` or more, when its row group is decoded, that has one of its keys."""
    group_s: float = 50e-6
    """Decoding a row group, whatever its size."""
    clear_s: float = 0.0
    """What of that clearing a row group's place in the window takes: when the next one takes it, or at the end."""
    row_s: float = 5e-9
    """Decoding a row of the wanted columns."""
    first_row_s: float = 0.0
    """The same, more, for each of the first `FIRST_ROWS` of a row group, where more values are new."""
    passed_share: float = 0.27
    """The share of decoding that is saved of rows in vectors that a filter leaves no row of. In lookups of one key in a
    single row group it is 0.3 to 0.4 of a few numbers a row, 0.27 of 16 columns and 0.14 of long text. It is not
    calibrated: to show it takes decoding a whole file."""
    fresh_byte_s: float = 0.0
    """What a byte takes more to decode from memory that was not used for long; see `fresh_bytes`."""
    large_byte_s: float = 0.0
    """What a byte takes more to decode of a row group that the processor's caches do not hold; see `large_bytes`."""
    cached_bytes: float = 5e6
    """Up to so many bytes of a row group are in the processor's caches while it is decoded, as `large_bytes` tells."""
    fetch_byte_s: float = 0.0
    """What a byte takes the threads that read while slots were never used, before they wait for the device: one read is
    asked for after the other no sooner."""
    copy_byte_s: float = 0.0
    """What a byte takes the thread that read it, until it is where it is decoded."""
    wake_s: float = 0.0
    """What going on takes longer after a wait of `asleep_s` than after a short one: a core that slept has to wake."""
    asleep_s: float = 10e-3
    """The wait from which on going on takes all of `wake_s` longer: no core sleeps deeper after a longer one."""
    stale_page_s: float = 0.0
    """What using a page of memory takes longer that nobody has used for `STALE_S`: the processor's caches have lost it
    or, in a virtual machine, its host has. See `stale`."""
    stale_early_share: float = 0.33
    """How much of that, from 0 to 1, a page that decoding uses takes longer after `EARLY_S`. See `stale_early`."""
    other_core_s: float = 0.0
    """What going on takes longer after a wait of `SLEPT_S` where several reads are in flight: then the thread that goes
    on may wake on another core, which has slept. See `other_core_share`."""
    close_s: float = 0.2e-3
    """From the last decoded group to the answer."""
    close_group_s: float = 0.0
    """The same, for each row group the footer describes."""
    close_lookup_s: float = 0.0
    """The same, for a lookup of `JOINED_KEYS` or more."""
    cached_share: float = 1.0
    """The share of planning, opening and closing that they take a lookup of few rows. See `cached_costs`."""
    filter_s: float = 0.06e-3
    """From a Bloom filter's arrival to what is asked for next, a read that it lets through or the next filter; see
    `RULED_OUT` for one that lets none through."""
    filter_shared_s: float = 0.035e-3
    """The same, more, where a read came together with the filter, `TOGETHER_S` before it at most: both threads want
    Python's interpreter."""
    read_first_share: float = 0.3
    """How often a row group's only read is asked for before the next filter, from 0 to 1, where nothing is decoded in
    between and another read came together with the filter before it: a thread is awake then."""
    read_first_alone_share: float = 0.07
    """The same where the filter came alone: a thread has to be woken for the read."""
    read_first_scatter: float = 0.15
    """The standard deviation from run to run of how often the read is asked for first."""
    shared_read_s: float = 0.13e-3
    """What a read takes, besides copying, of the worker that decodes it where every core has a worker and none is idle:
    whoever reads then has no core of his own."""
    lost_read_s: float = 0.03e-3
    """What a worker that decodes without a pause loses to each read that is made beside it, where a core is spare."""

    @property
    def asking_s(self) -> float:
        """Return what passing out a read takes as long as none is back."""
        return self.dispatch_s * (1 - self.refill_share - self.returned_share)

    def decode_s(self, rows: float) -> float:
        """Return the seconds in which a row group of so many rows is decoded."""
        return float(decode_s(rows, self.group_s, self.row_s, self.first_row_s))


FIRST_ROWS = 8_192
"""As far as a row group's rows take `Costs.first_row_s` more."""
JOINED_KEYS = 5
"""From so many keys on DuckDB joins them with the table, as its plan says; it compares with fewer, row by row."""
KEPT_BYTES = 3_000_000
"""So much of the memory that a window takes beside its first row group is in use still from the scan before."""
GOES_ON = 0.3
"""The share of handing a read over that one takes which has waited for a slot: the thread that comes back goes on with
it. In three queries of 4,096 and 32,768 rows a row group, one read at a time, the next of a row group follows 30 to 44
us after the one before has come back, with two at a time 40 to 70; the next row group's read, handed over, takes 83 to
114 besides decoding."""
OWN_WAKE = 0.5
"""The share of `Costs.wake_s` that each thread takes that has to wake. Whoever waits for a thread is woken after it."""
STALE_S, GROWING = 36e-3, 0.8
"""The time without use for which `Costs.stale_page_s` holds; beyond it grows with this power of the time."""
SLEPT_S, SLEEPING = 10e-3, 0.6
"""The wait for which `Costs.other_core_s` holds; it grows with this power of the wait."""
HELD_BYTES, LOST_BYTES = 1.5e6, 9e6
"""Lookups in two tables that read up to the first plan in 0.5 and 0.8 ms, of the latter in 1.1 as a scan does, and of
3 and 6 MB in between."""
ONCE = "plan_s", "open_s", "open_group_s", "close_s", "close_group_s"
"""Costs of what a query uses once."""
FRESH_S, EARLY_S = 2e-3, 12e-3
"""Up to the first no page is stale that decoding uses; for the second `Costs.stale_early_share` holds."""
HANDING_PAGES, RETURNING_PAGES, OPENING_PAGES, CLOSING_PAGES = 575, 150, 1_900, 350
"""Pages of 4 KiB that DuckDB uses to hand over a read, for each of its two threads; that the thread who has read uses
as long as it holds Python's interpreter, which is one at a time; to open a file, besides parsing; and to close a query.
On one machine, where a page took 1.3 us longer after 36 ms, pauses of row groups of 16,384 and 65,536 rows took 0.8 and
1.2 ms longer after 10 ms than after 0.5, 2.6 and 3.9 after 36 and 4.3 and 6 after 72, opening 1.1, 3.7 and 7.7, and
closing after 0.05, 0.1, 0.2, 0.4, 0.7 and 1.3 s 0.4, 0.7, 1.9, 3.6, 7 and 11. All of these grow and shrink together
with `Costs.stale_page_s` in the next minutes."""
PASSING_PAGES = RETURNING_PAGES + 2 * HANDING_PAGES
"""All of them from a read's arrival to the next request, or to decoding."""
DECODING_PAGES, MOST_STALE_S = 1.2e6, 4e-3
"""The pages that a second of decoding uses, or of parsing a footer; and what they take longer at most: then it has used
all that it needs. In one hour, where a page took 0.48 us longer, row groups of three tables that take 0.3, 1.1, 1.4,
2.1, 2.7, 3.7, 5.5 and 13 ms to decode took 0.1, 0.4, 0.5, 1.8, 1.8, 1.8, 3.2 and 3.8 ms longer after 36 ms. In another,
where it took 1.3, those of 0.3 and 1.4 took 0.9 and 2.2 longer, and those of 3 to 60 no more than 4."""
RULED_OUT = 0.72
"""The share of `Costs.filter_s` that a Bloom filter takes which lets no read through. In traces of one query, which has
next to nothing to decode, in two orders and with two sizes of row groups, the next one was asked for after 43 to 61 us,
mostly after 45; after one that did, 62 us were calibrated."""
TOGETHER_S = 60e-6
"""What arrives within so long of each other wakes its threads together, as a Bloom filter that waited on the link for a
read to be transferred."""
TIME_SLICE_S = 1.5e-3
"""A worker that decodes for so long lets the thread that it has woken have the core, at the latest: a thread is woken
on the core of whoever wakes it, and asks for its read when that one waits. Of races of an only read with the next Bloom
filter it won 5 to 20 in a hundred where nothing was decoded and no thread was awake, 1 to 6, 10 to 16 and 20 to 45
where a row group of 4,096, 8,192 and 16,384 rows was, and 40 to 60 where the worker waited for late reads besides."""
NONE_FIRST = 0.16, 0.56
"""The share of races that none of several reads wins against the next Bloom filter, and that at most one does. Of 615
races of three reads, of two queries and on four devices, 0 to 3 won in 16, 40, 18 and 26 %."""
AWAKE = 0.15
"""A core sleeps the deeper the longer a wait is: not at all up to this share of `Costs.asleep_s`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How many things may happen at once."""

    slots: int
    """Reads in flight."""
    depth: int
    """Row groups under way, from the first read to the last decoded row."""
    threads: int
    """Workers that decode."""
    cores: float = math.inf
    """What they work on, and whoever reads."""
    own_reads: bool = False
    """Whether each worker reads for itself, so that nobody else has to be woken."""

    @property
    def sharing(self) -> float:
        """Return how many workers share a core; 0 if there is a core without any."""
        return self.threads / self.cores if self.threads >= self.cores else 0.0

    @classmethod
    def of(cls, queue_depth: int, threads: int, cores: float = math.inf) -> Window:
        """Return DuckDB's window: as much under way as the queue depth says, and no more workers than row groups."""
        return cls(slots=queue_depth, depth=queue_depth, threads=min(threads, queue_depth), cores=cores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """When the phases of a scan end, in seconds from its start."""

    opened_s: float
    """The footer is read and parsed."""
    arrived_s: float
    """The last byte is there."""
    finished_s: float
    """The last row is decoded, and the answer given."""
    reads: int
    bytes_read: int
    decode_s: float
    """Processor time of all decoding, over all threads."""
    path_s: Mapping[str, float]
    """What the time between opening and closing was spent on, along the critical path."""
    busy_s: Mapping[str, float]
    """The same of all reads and all decoding, over what serves them at the same time."""
    reads_s: Floats = field(compare=False, repr=False)
    """When each read of `Reads.spans` was submitted, and when its bytes were there: a row each."""
    groups_s: Floats = field(compare=False, repr=False)
    """When the decoding of each row group began, and when it ended."""

    @property
    def estimate(self) -> Estimate:
        """Return the time as named terms. What hides behind them is what was busy beside the critical path."""
        beside_s = {name: busy_s - self.path_s[name] for name, busy_s in self.busy_s.items()}
        hidden = {
            name: spent_s if spent_s > 1e-12 else 0.0 for name, spent_s in beside_s.items()
        }  # or rounding
        own_s = self.finished_s - sum(self.path_s.values())
        return Estimate(terms_s={"open": own_s, **self.path_s}, overlapped_s=hidden)


_Costs = NamedTuple("_Costs", [(name, float) for name in Costs.__slots__])  # type: ignore[misc]
"""The costs as compiled code can read them."""
_numbers = attrgetter(*Costs.__slots__)


def simulate(
    device: Device, reads: Reads, *, window: Window, costs: Costs, fragment_bytes: int = 0
) -> Timeline:
    """Return when a query has read and decoded everything."""
    require_range("fragment_bytes", fragment_bytes, low=0, advice="Give 0 for a file in one piece.")
    costs = cached_costs(costs, reads)
    state = state_of(device, fragment_bytes, len(reads.footer) + len(reads.spans) + len(reads.probes))
    reads_s, groups_s = np.empty((len(reads.spans), 2)), np.empty((len(reads.rows), 2))
    opened_s, path, seeks, decoding_s = _scan(
        state,
        (
            reads.footer,
            reads.spans,
            reads.ends,
            reads.counts,
            reads.sizes,
            (reads.rows, _decoded_shares(reads, costs.passed_share)),
            reads.probes,
            reads.late,
            reads_s,
            groups_s,
        ),
        (window.slots, window.depth, window.threads, window.sharing, window.own_reads),
        _Costs(*map(float, _numbers(costs))),
        reads.keys,
    )
    data, size = reads.count - len(reads.footer), reads.data_bytes
    beside = len(state.free) if state.stripe_bytes else max(1, min(len(state.free), window.slots))
    (end_s, *path_s), work_s = map(float, path), float(decoding_s.sum())
    close_s = (
        costs.close_s
        + len(reads.rows) * costs.close_group_s
        + (reads.keys >= JOINED_KEYS) * costs.close_lookup_s
    )
    return Timeline(
        opened_s=float(opened_s),
        arrived_s=max(float(opened_s), float(reads_s[:, 1].max(initial=0.0))),
        finished_s=end_s + close_s,
        reads=reads.count,
        bytes_read=reads.bytes_read,
        decode_s=work_s,
        path_s=dict(zip(TERMS, path_s, strict=True)),
        busy_s={
            "seek": seeks * device.seek_s / beside,
            "latency": data * device.latency_s / beside,
            "transfer": size * max(state.link_byte_s, state.byte_s / beside),
            "cpu": work_s / window.threads,
        },
        reads_s=reads_s,
        groups_s=groups_s,
    )


def _decoded_shares(reads: Reads, passed_share: float) -> Floats:
    """Return the share of each row group's decoding that its filters leave: all of it where none are told of."""
    if not len(reads.passed_rows):
        return np.ones(len(reads.rows))
    return np.asarray(1 - passed_share * reads.passed_rows / np.maximum(1, reads.rows))


def cached_costs(costs: Costs, reads: Reads) -> Costs:
    """Return the costs of a lookup that reads no more than the processor's caches hold: what planning, opening and
    closing use is in them still from the query before. Of more bytes they hold the less, and none of `LOST_BYTES`.
    """
    if not reads.keys or costs.cached_share >= 1:
        return costs
    share = 1 - (1 - costs.cached_share) * (1 - _between(reads.data_bytes, HELD_BYTES, LOST_BYTES))
    return replace(costs, **{name: share * getattr(costs, name) for name in ONCE})


@functools.cache
def warm() -> None:
    """Compile what a model and an emulated device call, or fetch it from the disk, before anybody waits for it."""
    device = Device(name="none", latency_s=0.0, bandwidth_bytes_per_s=1.0)
    book_at(state_of(device), 0.0, 0, 1)
    simulate(
        device, Reads.of([(0, 1)], [[(0, 1)]], [1]), window=Window(slots=1, depth=1, threads=1), costs=Costs()
    )


def warm_meanwhile() -> None:
    """Warm in a thread of its own: the first chart, or the first measurement, then waits the less for it."""
    if not warm.cache_info().currsize:
        threading.Thread(target=warm, name="compiling", daemon=True).start()


@compiled
def _between(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and in between what lies on the line."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


@compiled
def waking(waited_s: float, asleep_s: float) -> float:
    """Return how much of `Costs.wake_s` going on takes longer after a wait.

    On a quiet machine pauses of scans after 0.25 to 40 ms, of three tables and of 4,096 to 65,536 rows, and of lookups
    through an index, lie on a straight line up to 4 or 10 ms.
    """
    return _between(waited_s, AWAKE * asleep_s, max(1e-12, asleep_s))


@compiled
def stale(unused_s: float) -> float:
    """Return how much of `Costs.stale_page_s` a page takes longer that nobody has used for so long.

    On a virtual machine one of 4,096 pages takes 0.02 us as long as it is in use; after 5, 20, 36, 100, 200, 400 and
    800 ms it takes in the mean 0.14, 0.55, 0.9, 2.8, 5.2, 10 and 17.5 us more, whether its core slept meanwhile or not:
    of some the host has to be told again where they are, which takes 125 us. What DuckDB uses grows alike up to 36 ms,
    and then less: pauses of 72 take 1.6 times as much as of 36, closing after 1.3 s takes 6 times as much as after 200.
    """
    share = max(0.0, unused_s) / STALE_S
    return float(share if share < 1.0 else share**GROWING)


@compiled
def stale_early(unused_s: float, early_share: float) -> float:
    """Return the same of a page that decoding uses, with `Costs.stale_early_share`.

    How soon the processor's caches lose what a worker uses hangs on who shares them. In one hour row groups of three
    tables, of 16,384 to 262,144 rows, took longer by 0.02, 0.17, 0.48, 0.87, 0.97, 1 and 1 of what they did after 36 ms
    after 2, 4, 8, 14, 24, 36 and 60; in another by 0.3, 1 and 1.6 after 10, 36 and 72.
    """
    if unused_s <= EARLY_S:
        return float(early_share * _between(unused_s, FRESH_S, EARLY_S))
    if unused_s <= STALE_S:
        return float(early_share + (1 - early_share) * _between(unused_s, EARLY_S, STALE_S))
    slower = (1 - early_share) * STALE_S / (STALE_S - EARLY_S)
    return float(1 + slower * (stale(unused_s) - 1))


@compiled
def _handing_s(costs: Any, waited_s: float) -> float:
    """Return what it takes a thread longer to go on that has waited."""
    asleep_s = OWN_WAKE * costs.wake_s * waking(waited_s, costs.asleep_s)
    return float(asleep_s + HANDING_PAGES * costs.stale_page_s * stale(waited_s))


@compiled
def other_core_share(waited_s: float) -> float:
    """Return how much of `Costs.other_core_s` going on takes longer after a wait.

    With 2, 3, 4 and 8 reads in flight, of row groups of 2,048 and 8,192 rows, a slot is used again alike after waits of
    0.5, 2, 6, 13 and 30 ms: 0.08, 0.1, 0.3, 0.35 and 0.55 ms later than with one in flight.
    """
    return float((max(0.0, waited_s) / SLEPT_S) ** SLEEPING)


@compiled
def stale_closing_s(page_s: float, early_share: float, unused_s: float) -> float:
    """Return what closing takes longer so long after the query began; the first two are `Costs.stale_page_s` and
    `Costs.stale_early_share`.
    """
    return float(CLOSING_PAGES * page_s * stale_early(unused_s, early_share))


@compiled
def _returning_s(costs: Any, waited_s: float) -> float:
    """Return how long a thread that has waited for a read keeps others from returning with theirs."""
    return float(RETURNING_PAGES * costs.stale_page_s * stale(waited_s))


def asleep_s(waited_s: float, share: float) -> float:
    """Return `Costs.asleep_s` where it takes this share of `Costs.wake_s` to go on after a wait."""
    return waited_s / (AWAKE + (1 - AWAKE) * min(1.0, max(0.0, share)))


@compiled
def decode_s(rows: float, group_s: float, row_s: float, first_row_s: float) -> float:
    """Return the processor's seconds for a row group of so many rows."""
    return group_s + rows * row_s + min(rows, FIRST_ROWS) * first_row_s


@compiled
def fresh_bytes(sizes: Ints, depth: int) -> Floats:
    """Return, of row groups of such sizes in bytes, how much of each is read into memory that was not used for long.

    The first one has memory that is in use, those that fill the window beside it have not, and each later one has that
    of one before. Scans of three tables, of 2,048 to 1,048,576 rows a row group and with 1 to 128 at once, take the
    longer the more bytes the window holds beyond `KEPT_BYTES`: 0.5 to 0.7, 0.3 to 0.8 and 1.3 to 1.6 ns for each.
    """
    fresh, first = np.zeros(len(sizes)), np.flatnonzero(sizes)[1:depth]
    fresh[first] = sizes[first] * max(0.0, 1.0 - KEPT_BYTES / max(1, sizes[first].sum()))
    return fresh


@compiled
def large_bytes(sizes: Ints, depth: int, cached_bytes: float) -> Floats:
    """Return, of row groups of such sizes in bytes, how much of each the processor's caches lose until it is decoded:
    nothing of one of `cached_bytes`, and all of one of twice as many.

    In scans of three tables, one row group at a time, those of up to 5 MB take as long for each row as shorter ones.
    In two of them those of 6, 8 and 10 MB take 0.1 to 0.3, 0.3 to 0.5 and 0.5 to 1 ns longer for each byte, and larger
    ones no more than that. On a machine that shares its caches with others it is so in one hour; in another they hold
    less, and those of 4.6, 5.3, 5.9 and 6.6 MB take 0.4, 0.6, 1.1 and 1.1 ns longer, and of 10 MB 1.4. So do all row
    groups of a window of 16 MB or more, for what is read beside one drives it out: two of 5 MB take as long as alone,
    and four 1.2 ns longer for each byte.
    """
    large, held, first = np.zeros(len(sizes)), sizes.copy(), np.flatnonzero(sizes)[:depth]
    held[first] = np.maximum(held[first], sizes[first].sum() // 2)
    small = max(1.0, cached_bytes)
    for group in range(len(sizes)):
        large[group] = sizes[group] * _between(held[group], small, 2 * small)
    return large


@compiled
def _rows(count: int, first: Moment) -> Floats:
    """Return so many moments alike, a row each."""
    moments = np.empty((count, len(first)))
    for row in range(count):
        put(moments, row, first)
    return moments


@compiled
def parsing_s(open_s: float, read_s: float) -> float:
    """Return what opening takes before its first read is handed over."""
    return max(0.0, open_s - read_s)


@compiled
def _open(device: DeviceState, footer: Ints, groups: int, costs: Any, keys: int) -> float:
    """Return when the file is open, its footer read one read after the other and parsed."""
    now_s, waited_s = costs.plan_s + keys * costs.plan_key_s, 0.0
    for at in range(len(footer)):
        asked_s = now_s + costs.read_s * (at > 0)
        due_s, _ = book_at(device, asked_s, footer[at, 0], footer[at, 1])
        waited_s += due_s - asked_s
        now_s = due_s + _returning_s(costs, due_s - asked_s) + 2 * _handing_s(costs, due_s - asked_s)
    groups_s = groups * costs.open_group_s
    stale_s = (groups > 0) * OPENING_PAGES * costs.stale_page_s + stale_decoding_s(
        groups_s, costs.stale_page_s
    )
    open_s = parsing_s(costs.open_s, costs.read_s) + groups_s + stale_s * stale(waited_s)
    device.free[:, 1:] = 0.0  # what was spent on opening is a term of its own
    device.link[:, 1:] = 0.0
    lookup_s = keys * costs.open_key_s + (keys >= JOINED_KEYS) * costs.open_lookup_s
    return float(now_s + open_s + lookup_s)


@compiled
def _scan(
    device: DeviceState, reads: Any, window: tuple[int, int, int, float, bool], costs: Any, keys: int
) -> tuple[float, Moment, int, Floats]:
    """Return when it was open, the end, the seeks since and the seconds of decoding; fill `reads_s` and `groups_s`."""
    footer, spans, ends, counts, sizes, (rows, shares), probes, late, reads_s, groups_s = reads
    early, (slot_count, depth, threads, sharing, own) = ends - late if len(late) else ends, window
    opened_s, last = _open(device, footer, len(rows), costs, keys), len(rows)
    issue = end = Moment(opened_s, 0.0, 0.0, 0.0, 0.0, 0.0)
    has_late, has_probes = len(late) > 0, len(probes) > 0
    turns = depth if has_late or has_probes else 0  # then places are left in file order
    work_s, pass_s, clearing_s = _work_s(counts, rows, shares, costs, (keys, depth))
    lost_s, begins = _lost_s(counts, sizes, costs, sharing, int(own or depth == 1)), ends - counts
    uncached_s, there = shares * _uncached_s(sizes, costs, depth), _rows(len(rows), issue)
    (workers, worker_order), (places, order) = _free(threads, issue), _free(depth, issue)
    seeks, group, passed, together, luck = 0, 0, 0, 0, np.full(2, 0.5)
    full, whose = _at_once(ends, min(depth, last), 0 if turns else slot_count)
    gate = _rows(3, spend(issue, engine_s=-costs.dispatch_s)), np.zeros(1, np.int64)
    which, asked = (spans, np.repeat(np.arange(last), counts), ends, early, whose), _rows(last, issue)
    hands = device, costs, which, _free(slot_count, issue), gate, asked, (has_probes, not own), there, reads_s
    for step in range(last + depth):
        # who asks for filters asks as long as the window has a place, and decodes only then
        while group < min(step, last) and step >= full and not (has_probes and step < group + depth):
            passed, seeks = _pass_out(hands, passed, ends[group], math.inf, seeks)
            worker = front(worker_order)
            begun = later(load(workers, worker), load(there, group))
            waited_s = begun.time_s - workers[worker, 0]
            done = begun if own else spend(begun, engine_s=_handing_s(costs, waited_s))
            if has_late and not has_probes and step < group + depth - (waited_s == 0.0):
                break  # its worker would ask for late reads only when others, not yet passed out, have been asked for
            done, seeks = _read_late(device, done, costs, spans, (early[group], ends[group]), reads_s, seeks)
            unused_s = done.time_s - workers[worker, 0]
            work_s[group] += _longer_s(costs, work_s[group], sizes[group], unused_s, uncached_s[group])
            done = spend(done, cpu_s=work_s[group] + max(0.0, lost_s[group] - waited_s))
            groups_s[group, 0], groups_s[group, 1] = begun.time_s, done.time_s
            occupy(worker_order, workers, done)
            put(places, _place(order, group, turns), done)
            requeue(order, places)
            end, group = later(end, done), group + 1
        if step >= last:
            continue
        # it waits for a place in the window, and may be passed over
        issue = spend(later(issue, load(places, _place(order, step, turns))), cpu_s=pass_s[step])
        if has_probes and probes[step, 1] > 0:
            free, before = load(workers, front(worker_order)), passed
            issue, decoding_s = later(issue, free), free.time_s - asked[step - 1, 0]
            first = _before_filter(early, begins, step, decoding_s, together, luck, costs)
            passed, seeks = _pass_out(hands, passed, first, issue.time_s, seeks)
            if passed > before:  # it hands them out itself
                issue = later(issue, load(gate[0], 0))
            issue, together, seeks = _ask_filter(
                device, issue, costs, early[step] - begins[step], probes[step], reads_s[:passed], seeks
            )
            occupy(worker_order, workers, issue)
        put(asked, step, issue)
        put(there, step, later(load(there, step), issue))
        if not has_probes:
            passed, seeks = _pass_out(hands, passed, ends[step], math.inf, seeks)
    end = _closed(end, costs, clearing_s)
    return opened_s, end, seeks, np.append(work_s + pass_s, clearing_s)


@compiled
def _closed(end: Moment, costs: Any, clearing_s: float) -> Moment:
    """Return the end, once places are cleared that nobody took again, and with what closing takes longer by then."""
    stale_s = stale_closing_s(costs.stale_page_s, costs.stale_early_share, end.time_s)
    return spend(end, engine_s=stale_s, cpu_s=clearing_s)


@compiled
def _free(count: int, now: Moment) -> tuple[Floats, Any]:
    """Return so many that are free from now on, and who of them is free first."""
    return _rows(count, now), queue_of(count)


@inlined
def _place(order: Any, group: int, turns: int) -> int:
    """Return the place in the window that a row group takes: one of so many in turn, or the one that is free first."""
    return group % turns if turns else front(order)


@inlined
def _pass_out(hands: Any, at: int, end: int, until_s: float, seeks: int) -> tuple[int, int]:
    """Pass out the reads from `at` to `end` whose slot is free by `until_s`; return the next one, and the seeks so far.

    They are passed out in order, each to a free slot; what filters have to show to be needed is left out. One that has
    to wait for a slot is taken by the thread that comes back, and nobody is woken for it. What a worker who asks Bloom
    filters has passed out is asked for at once, where a slot has been free.
    """
    device, costs, which, (free, order), (gate, back), asked, (filtered, pooled), there, reads_s = hands
    spans, of, ends, early, whose = which
    while at < end:
        group = of[at]
        if at >= early[group]:
            at = ends[group]
            continue
        slot = front(order)
        if free[slot, 0] > until_s:
            break
        goes_on = pooled and asked[group, 0] < free[slot, 0]
        read_s = costs.read_s * (GOES_ON if goes_on else 1.0)
        if filtered:
            handed = later(load(asked, group), spend(load(free, slot), engine_s=read_s))
        else:
            hand_s = read_s + _handing_s(costs, asked[group, 0] - free[slot, 0]) * (not goes_on)
            handed = spend(later(load(asked, group), load(free, slot)), engine_s=hand_s)
        read = whose[at] if at < len(whose) else at
        dispatch_s = _dispatch_s(costs, at, spans, free, gate, back)
        start = later(handed, spend(load(gate, 0), engine_s=dispatch_s))
        put(gate, 0, start)
        if len(free) > IN_TURN and IN_ORDER <= at < len(free) and at % SWAPPED > 0:
            device.heads[:] = -1
        elif len(device.free) == 1 and 0 < at <= len(whose):
            device.heads[:] = spans[read, 0]
        due, moves = book(device, start, spans[read, 0], spans[read, 1])
        waited_s = due.time_s - start.time_s
        in_turn = due.time_s >= gate[2, 0]
        returned = spend(
            later(due, load(gate, 1)) if in_turn else due, engine_s=_returning_s(costs, waited_s)
        )
        if in_turn:
            put(gate, 1, returned)
            put(gate, 2, due)
        woken_s = _handing_s(costs, waited_s)
        if min(len(free), len(spans)) > 1:
            woken_s += costs.other_core_s * other_core_share(waited_s)
        copied = spend(returned, engine_s=woken_s + costs.copy_byte_s * spans[read, 1])
        occupy(order, free, copied)
        put(there, of[read], later(load(there, of[read]), copied))
        reads_s[read, 0], reads_s[read, 1] = start.time_s, due.time_s
        at, seeks = at + 1, seeks + moves
    return at, seeks


@compiled
def _dispatch_s(costs: Any, at: int, spans: Ints, free: Floats, gate: Floats, back: Ints) -> float:
    """Return what passing out a read takes; `back` is how many that came back have been taken in so far.

    As long as slots were never used it takes no less than fetching the bytes of the read before. Once all have been
    used, each read takes the slot of one that has just come back.
    """
    if at >= len(free):
        return float(costs.dispatch_s)
    new = min(1, (free[:at, 0] <= gate[0, 0]).sum() - back[0])
    back[0] += new
    handing_s = costs.dispatch_s * (1 - costs.refill_share - costs.returned_share * (1 - new))
    return float(max(handing_s, costs.fetch_byte_s * spans[at - 1, 1]) if at else handing_s)


@compiled
def _before_filter(
    early: Ints, begins: Ints, step: int, decoding_s: float, together: int, luck: Floats, costs: Any
) -> int:
    """Return how many reads have been asked for when a row group's Bloom filter is.

    Those of the row groups before it are, but for the last one's: they are in a race with the filter, for threads have
    to be woken one by one. Of several reads none or the first alone wins as often as `NONE_FIRST` says, or evenly up to
    all of them, and an only read as often as was counted. Where the worker decodes in between, an only read wins as
    often as that takes of `TIME_SLICE_S`, and several more often than else. `luck` is what has added up for it so far,
    where a thread is awake and where not.
    """
    if step == 0:
        return 0
    first, end = begins[step - 1], early[step - 1]
    gives_way = _between(decoding_s, 0.0, TIME_SLICE_S)
    if end - first > 1:
        return int(first + _first_reads(gives_way + (1 - gives_way) * (STRIDE * step % 1.0), end - first))
    if end == first:
        return int(end)
    awake, share = together, costs.read_first_share if together else costs.read_first_alone_share
    if decoding_s > 0:
        awake, share = 0, gives_way
    luck[awake] += share
    wins = luck[awake] >= 1
    luck[awake] -= wins
    return int(end if wins else first)


@compiled
def _first_reads(luck: float, reads: int) -> int:
    """Return how many of a row group's several reads win; `luck` is from 0 to 1."""
    none, one = NONE_FIRST
    if luck < one:
        return int(luck >= none)
    return min(reads, 2 + int((luck - one) / (1 - one) * (reads - 1)))


@compiled
def _ask_filter(
    device: DeviceState, now: Moment, costs: Any, reads: int, span: Ints, passed_s: Floats, seeks: int
) -> tuple[Moment, int, int]:
    """Let a worker ask a Bloom filter, which lets so many reads through; `passed_s` are those that are passed out.

    Return when it goes on to what is asked for next, whether a read came together with the filter, and the seeks. If
    one did, no core has slept since the read before that: in traces of row groups with three reads the next one is
    asked for 0.4 ms after a filter that was waited for 3 or 4 ms, and with one read 0.6.
    """
    due, moves = book(device, now, span[0], span[1])
    together = int(len(passed_s) > 0 and abs(due.time_s - passed_s[-1, 1]) <= TOGETHER_S)
    before_s = passed_s[-2, 1] if together and len(passed_s) > 1 else now.time_s
    woken_s = costs.copy_byte_s * span[1] + _handing_s(costs, due.time_s - max(now.time_s, before_s))
    looked_s = costs.filter_s * (1.0 if reads else RULED_OUT) + together * costs.filter_shared_s
    return spend(due, engine_s=looked_s + woken_s), together, seeks + moves


@compiled
def _at_once(ends: Ints, groups: int, slots: int) -> tuple[int, Ints]:
    """Return how many row groups are passed out before any is decoded, and the read that each answer to them is for.

    0 and no reads where few enough are asked for at once to be answered in turn, as without slots.
    """
    count = min(slots, ends[groups - 1]) if groups else 0
    return (groups, answer_order(count)) if count > IN_TURN else (0, answer_order(0))


@compiled
def answer_order(count: int) -> Ints:
    """Return the read that each answer is for, of `count` asked for at once: all threads are woken, in no order.

    One is late by up to half of `count` places, and in a crowd by more. Decoding goes in file order and waits for who
    is late: in traces of 10, 16, 32, 64 and 128 reads, on three devices and with one worker and two, for 1.2, 3, 7, 20
    and 48 places in the mean, where single runs go from none to twice as many; here for 0.6, 2, 7, 19 and 50. In 24
    traces each of 4, 5, 7 and 8 reads the one that is latest is so by 0.5, 1, 1.5 and 2 places in the median; here by
    0, 1, 2 and 2.
    """
    reads = np.arange(count)
    return np.argsort(reads + count / 2 * (1 + count / CROWD) * (STRIDE * reads % 1.0))


@compiled
def _uncached_s(sizes: Ints, costs: Any, depth: int) -> Floats:
    """Return what decoding each row group takes longer that is in no cache: its memory is fresh, or it is large."""
    fresh, large = fresh_bytes(sizes, depth), large_bytes(sizes, depth, costs.cached_bytes)
    return np.asarray(np.maximum(costs.fresh_byte_s * fresh, costs.large_byte_s * large))


@compiled
def _longer_s(costs: Any, decode_s: float, size: int, unused_s: float, uncached_s: float) -> float:
    """Return what decoding a row group takes longer that is in no cache: `uncached_s`, or as its worker has waited.

    What no cache held before a wait takes no longer after it: a row group of 12 or 30 MB does not, after 12 or 36 ms.
    """
    stale_s = stale_decoding_s(decode_s, costs.stale_page_s) * stale_early(unused_s, costs.stale_early_share)
    return float(max(uncached_s, (size > 0) * stale_s))


@compiled
def stale_decoding_s(decode_s: float, page_s: float) -> float:
    """Return what decoding for so long takes longer where all pages are stale that it uses."""
    return float(min(MOST_STALE_S, DECODING_PAGES * decode_s * page_s))


@compiled
def _lost_s(counts: Ints, sizes: Ints, costs: Any, sharing: float, alone: int) -> Floats:
    """Return what a worker that decodes each row group without a pause loses to its reads; nothing if it is alone."""
    read_s = sharing * costs.shared_read_s if sharing or alone else costs.lost_read_s
    return np.asarray(counts * read_s + sizes * (sharing * costs.copy_byte_s))


@compiled
def _work_s(
    counts: Ints, rows: Ints, shares: Floats, costs: Any, of_query: tuple[int, int]
) -> tuple[Floats, Floats, float]:
    """Return the processor's seconds for each row group: decoding it in used memory, and passing over it.

    Where it has reads the second is 0, else the first. The first that are read take places that nobody has to clear:
    what is left to clear at the end is returned too. `of_query` are the keys and the depth.
    """
    keys, depth = of_query
    work_s, passing_s, spared_s = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
    spared_s[np.flatnonzero(counts)[:depth][:-1]] = costs.clear_s
    matched_s = costs.match_s * keys / max(1, rows.sum()) * (keys >= JOINED_KEYS)
    for group in range(len(rows)):
        if counts[group]:
            decoding_s = decode_s(rows[group], costs.group_s, costs.row_s, costs.first_row_s)
            keyed_s = keys * costs.prune_key_s + rows[group] * matched_s
            work_s[group] = max(0.0, shares[group] * decoding_s - spared_s[group]) + keyed_s
        else:
            passing_s[group] = costs.skip_group_s + keys * costs.prune_key_s
    return work_s, passing_s, float(spared_s.sum())


@compiled
def _waited(
    device: DeviceState, now: Moment, costs: Any, pause_s: float, span: Ints, seeks: int
) -> tuple[Moment, int]:
    """Let a thread read and wait; return when it goes on, `pause_s` after the arrival, and the seeks so far."""
    due, moves = book(device, now, span[0], span[1])
    woken_s = _handing_s(costs, due.time_s - now.time_s)
    return spend(due, engine_s=pause_s + costs.copy_byte_s * span[1] + woken_s), seeks + moves


@compiled
def _read_late(
    device: DeviceState,
    now: Moment,
    costs: Any,
    spans: Ints,
    part: tuple[int, int],
    reads_s: Floats,
    seeks: int,
) -> tuple[Moment, int]:
    """Let a worker read what its filters have shown to be needed, one read after the other."""
    for at in range(part[0], part[1]):
        asked_s = now.time_s
        now, seeks = _waited(device, now, costs, costs.read_s, spans[at], seeks)
        reads_s[at, 0], reads_s[at, 1] = asked_s, now.time_s
    return now, seeks
