"""What is asked about caches: how many hits a byte of memory buys, and what a hit is worth."""

from __future__ import annotations

from readahead.chapters.cache_tiers.access_trace import ZIPF
from readahead.chapters.cache_tiers.asked_exercises import EXERCISES
from readahead.chapters.cache_tiers.experiment import far, quick, replayed, scanned, seen
from readahead.chapters.cache_tiers.tier_times import DROP, SPILL
from readahead.experiments.claim import Claim, Reason
from readahead.questions.prediction import Prediction

_NOTHING, _HALF, _MOST, _ALL = "nothing", "about half", "about nine tenths", "everything"


def _share(hits: float) -> str:
    return _NOTHING if hits < 0.15 else _HALF if hits < 0.7 else _MOST if hits < 0.97 else _ALL


_SAME, _LESS, _NO_GAIN = "as much as before", "about half as much", "nothing"


def _gain(times: float) -> str:
    return _NO_GAIN if times < 1.25 else _LESS if times < 2 else _SAME


PREDICTIONS = (
    Prediction(
        id="uniform",
        question="Memory for half of the row groups, each asked for as often as any other. What share of the bytes is"
        " found in memory?",
        kind="1", low=0.02, high=2.0, word="%",
        because="Whatever lies in memory, half of the questions are about the other half. When all are asked for alike,"
        " hits follow memory in a straight line.",
    ),
    Prediction(
        id="favourites",
        question="The same memory, but with favourites: the k-th most wanted is asked for 1/k times as often as the"
        " first. What share is found in memory now?",
        kind="1", low=0.02, high=2.0, word="%",
        because="What was used last is kept, and favourites are used all the time. They are few, so little memory holds"
        " them.",
    ),
    Prediction(
        id="too_small",
        question="Room for nine tenths of the table, and one query that scans it again and again. What does it find in"
        " memory?",
        kind="1", choices=(_NOTHING, _HALF, _MOST, _ALL), choice_of=_share,
        because="What a scan needs next is what it used longest ago, and that has just been dropped to make room for"
        " what came before it.",
    ),
    Prediction(
        id="scan_gain",
        question="The scan that comes back, with room for half of the table, and then with room for all of it. How many"
        " times faster does the second one make it?",
        kind="times", low=0.5, high=60,
        because="Half of the table in memory is as good as none of it, so all the waiting goes at once. How much"
        " that is depends on what the engine has to do besides waiting.",
    ),
    Prediction(
        id="eighty",
        question="With the two tiers given above, how many times faster are four hits in five than none?",
        kind="times", low=0.5, high=80,
        because="The average is made of the misses: one question in five still takes the long way, and that is nearly"
        " all the time there is.",
    ),
    Prediction(
        id="spill",
        question="A far device, and memory for half of what is asked for. Now DuckDB may put what it drops on a local"
        " disk. How many times faster do the same queries get?",
        kind="times", low=0.3, high=60,
        because="After one run everything lies in memory or on the disk, and nobody goes to the device any more.",
    ),
    Prediction(
        id="short_blocks",
        question="The same bytes in row groups half as long, and again half of what is asked for fits. How much does"
        " the disk between gain now?",
        kind="times", choices=(_SAME, _LESS, _NO_GAIN), choice_of=_gain,
        because="DuckDB spills no block that is shorter than its own of 256 KiB. Shorter ones are dropped, and the tier"
        " between stays empty without a word.",
    ),
    Prediction(
        id="second",
        question="Favourites that fit into memory, asked for in an empty cache, and then the same queries once more."
        " How many times faster is the second run?",
        kind="times", low=0.3, high=60,
        because="The first run fetches each row group once, the second none. What is left is the engine's own work.",
    ),
    Prediction(
        id="fourth",
        question="How many times faster than the second run is the fourth?",
        kind="times", low=0.1, high=20,
        because="After one run the cache holds what it will ever hold of these queries. It does not count, it only"
        " remembers the order of last use.",
    ),
    Prediction(
        id="tiny_blocks",
        question="A first scan, into a cache whose blocks are 16 KiB at most, as DuckDB has it for local files,"
        " instead of 1 MiB. How many times as long does it take?",
        kind="times", low=0.3, high=200,
        because="The same bytes are asked for in twenty times as many reads, and each of them waits.",
    ),
    Prediction(
        id="break_even",
        question="With the prices given above: how many seconds may pass between two reads of a page of 4 KiB until"
        " it is cheaper not to keep it in memory?",
        kind="s", low=0.01, high=100_000, word="s",
        because="Price of the drive's time for one read, over the price of the memory that the page would hold.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="least_recently",
        says="DuckDB's cache finds as much as one that drops the least recently used (LRU).",
        left=lambda bench: seen(bench, **quick(access=ZIPF, skew=1.0)).hit_ratio,
        right=lambda bench: replayed(bench, **quick(access=ZIPF, skew=1.0)),
        left_name="DuckDB's hits", right_name="LRU's hits",
        relation="within", tolerance=0.04, kind="1",
        reasons=(
            Reason(
                says="this version of DuckDB keeps another share of the memory limit for itself: compare the bytes that"
                " duckdb_memory() counts for EXTERNAL_FILE_CACHE"
            ),
        ),
    ),
    Claim(
        id="no_use",
        says="Memory for nine tenths of the table gains nothing for a scan that comes back.",
        left=lambda bench: bench.measured.seconds(**scanned(0.9)),
        right=lambda bench: bench.measured.seconds(**scanned(0.9, run=1)),
        left_name="second scan", right_name="first scan",
        relation="at least", tolerance=0.15,
        reasons=(Reason(says="the first scan was held up by something else on this machine"),),
    ),
    Claim(
        id="read_ahead_takes",
        says="With the same memory, a scan that reads further ahead finds less of itself in the cache.",
        left=lambda bench: seen(bench, **scanned(1.1, queue_depth=8)).hit_ratio,
        right=lambda bench: seen(bench, **scanned(1.1, queue_depth=2)).hit_ratio,
        left_name="eight row groups ahead", right_name="two row groups ahead",
        relation="at most", factor=0.95, kind="1",
        reasons=(Reason(says="row groups so short that what is held ready hardly counts",
                        when=lambda left, right, bench: bench.base["row_group_rows"] < 4_096),),
    ),
    Claim(
        id="spill_pays",
        says="On a far device the disk between makes the queries faster.",
        left=lambda bench: bench.measured.seconds(**far(SPILL)),
        right=lambda bench: bench.measured.seconds(**far(DROP)),
        left_name="with a disk between", right_name="without",
        relation="faster than", factor=1.3,
        reasons=(Reason(says="this machine's own disk is slow or busy: what is spilled must be written first"),),
    ),
)  # fmt: skip

__all__ = ["CLAIMS", "EXERCISES", "PREDICTIONS"]
