"""What is asked about caches: how many hits a byte of memory buys, and what a hit is worth."""

from __future__ import annotations

from readahead.exercises.answers import Amount, Choice, Several
from readahead.exercises.claim import Claim, Reason
from readahead.exercises.exercise import Exercise, Misconception
from readahead.exercises.prediction import Prediction
from readahead.experiments.cache_tiers import (
    FAST_S,
    SLOW_S,
    all_memory_bytes,
    far,
    printed,
    quick,
    replayed,
    scanned,
    seen,
)
from readahead.experiments.remembering import DROP, SPILL, UNIFORM, ZIPF
from readahead.models import cache_tiers
from readahead.units import GiB, KiB

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
        because="What a scan needs next is what it used longest ago, and that has just been dropped to make room for what"
        " came before it.",
    ),
    Prediction(
        id="scan_gain",
        question="The scan that comes back, with room for half of the table, and then with room for all of it. How many"
        " times faster does the second one make it?",
        kind="times", low=0.5, high=60,
        because="Half of the table in memory is as good as none of it, so all the waiting goes at once. How much that is"
        " depends on what the engine has to do besides waiting.",
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
        question="The same bytes in row groups half as long, and again half of what is asked for fits. How much does the"
        " disk between gain now?",
        kind="times", choices=(_SAME, _LESS, _NO_GAIN), choice_of=_gain,
        because="DuckDB spills no block that is shorter than its own of 256 KiB. Shorter ones are dropped, and the tier"
        " between stays empty without a word.",
    ),
    Prediction(
        id="second",
        question="Favourites that fit into memory, asked for in an empty cache, and then the same queries once more. How"
        " many times faster is the second run?",
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
        question="A first scan, into a cache whose blocks are 16 KiB at most, as DuckDB has it for local files, instead of"
        " 1 MiB. How many times as long does it take?",
        kind="times", low=0.3, high=200,
        because="The same bytes are asked for in twenty times as many reads, and each of them waits.",
    ),
    Prediction(
        id="break_even",
        question="With the prices given above: how many seconds may pass between two reads of a page of 4 KiB until it is"
        " cheaper not to keep it in memory?",
        kind="s", low=0.01, high=100_000, word="s",
        because="Price of the drive's time for one read, over the price of the memory that the page would hold.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="least_recently",
        says="DuckDB finds in its cache what one would find that drops the least recently used.",
        left=lambda bench: seen(bench, **quick(access=ZIPF, skew=1.0)).hit_ratio,
        right=lambda bench: replayed(bench, **quick(access=ZIPF, skew=1.0)),
        left_name="DuckDB's hits", right_name="LRU's hits",
        relation="within", tolerance=0.04, kind="1",
        reasons=(
            Reason(says="this version of DuckDB keeps another share of the memory limit for itself: compare the bytes"
                   " that duckdb_memory() counts for EXTERNAL_FILE_CACHE"),
        ),
    ),
    Claim(
        id="no_use",
        says="Memory for nine tenths of the table gains a scan that comes back next to nothing.",
        left=lambda bench: bench.measured.seconds(**scanned(0.9)),
        right=lambda bench: bench.measured.seconds(**scanned(0.9, run=1)),
        left_name="second scan", right_name="first scan",
        relation="within", tolerance=0.4,
        reasons=(Reason(says="making room takes time of its own, and the first scan found the memory empty"),),
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

_NEXT = "what it needs next was used longest ago, so it has just been dropped"
_RATHER = "a part of it was kept, but never the part that is asked for first"
_BYPASS = "scans go past the cache"
_WAIT = "the device, which answers one in five"
_FAST = "the memory, which answers four in five"
_COUNTS = "it counts what is used often, and moves some of it at a time"
_RECENT = "it keeps what was used last"
_THIRTY = {"drive_price": 300.0, "reads_per_s": 1e5, "bytes_per_s": 1e15, "memory_price_per_byte": 3.0 / GiB}
_PAGE = 16 * KiB


def _all_gb() -> float:
    return printed("block_cache_share.dedicated") * 2 * all_memory_bytes() / GiB


EXERCISES = (
    Exercise(
        id="misprint",
        question="Each of two servers has 1280 GB of slow and 192 GB of fast memory. A dedicated server gives 80 % of it to"
        " the block cache, and 2335 GB are printed for both. How many GB should it be?",
        shape=Amount(kind="count", tolerance=0.003),
        answer=lambda bench: _all_gb(),
        equivalents=("2355", "2,355", "2355.2"),
        misconceptions=(
            Misconception(name="what is printed has been checked", example="2335", hint="Multiply it out to the last digit."),
            Misconception(
                name="one server", example="1177.6", hint="Both servers are performance modules now; add the other one.",
                matches=lambda given: given < 1_300,
            ),
            Misconception(
                name="only the slow memory", example="2048", hint="The block cache is a share of all memory, fast and slow.",
                matches=lambda given: 1_900 < given < 2_200,
            ),
        ),
        hints=("What is 1280 + 192?", "Twice that, for two servers.", "0.8 × 2 × 1472."),
        solution="0.8 × 2944 = 2355.2: one digit is wrong. The other two totals, 736 and 1472, are half of one and of two"
        " servers, as they should be. A sum that can be done in the head is worth doing.",
    ),
    Exercise(
        id="per_cent",
        question="Two nodes instead of one took 813.82 s instead of 1343.16 s, printed as an improvement of 165 %. For one"
        " query more memory brought a gain of 620 %. How many times faster is that, in the same way of counting?",
        shape=Amount(kind="times", tolerance=0.02),
        answer=6.2,
        equivalents=("6.2", "6.2×", "6.20"),
        misconceptions=(
            Misconception(
                name="a gain comes on top", example="7.2",
                hint="Would 165 % then be 2.65 times? Divide the two times that are printed with it.",
            ),
            Misconception(
                name="per cent is a factor", example="620", hint="100 % is once.", matches=lambda given: given > 50,
            ),
        ),
        hints=("Which ratio is 165 %?", "1343.16 / 813.82 = 1.65.", "So 100 % means as fast as before."),
        solution="1.65 times as fast is printed as 165 %, so 620 % is 6.2 times. An improvement of 165 % would usually be"
        " read as 2.65 times; only the times beside it tell which is meant.",
    ),
    Exercise(
        id="why_nothing",
        question="A cache drops the least recently used, and holds nine tenths of a table. A scan that comes back finds"
        " nothing. Why?",
        shape=Choice(options=(_RATHER, _BYPASS, _NEXT, "nine tenths are not enough to be worth keeping")),
        answer=_NEXT,
        equivalents=("c", _NEXT.upper()),
        misconceptions=(
            Misconception(
                name="the cache refuses scans", example=_BYPASS,
                hint="Some caches do. This one filled up with the table, as duckdb_memory() shows.",
            ),
            Misconception(
                name="only the start is lost", example=_RATHER,
                hint="Follow it: the first tenth is missing and is fetched. What is dropped to make room for it?",
            ),
        ),
        hints=(
            "What lies in memory when the first scan ends?", "What is fetched first by the second scan?",
            "What is dropped for it, and when will that be wanted?",
        ),
        solution="At the end the last nine tenths are there. The first tenth is fetched, and the second tenth, the least"
        " recently used, is dropped for it, just before it is wanted. And so on, all the way round.",
    ),
    Exercise(
        id="which_term",
        question="A hit takes 1 ms and a miss 50 ms. Four accesses in five are hits. Where does most of the time go?",
        shape=Choice(options=(_FAST, _WAIT, "to both alike")),
        answer=_WAIT,
        equivalents=("b", _WAIT.title()),
        misconceptions=(
            Misconception(name="80 % cached is 80 % of the time", example=_FAST, hint="Add up five accesses: four hits, one miss."),
            Misconception(name="an average is in the middle", example="to both alike", hint="4 × 1 ms against 1 × 50 ms."),
        ),
        hints=("Add up five accesses.", "Four times 1 ms, once 50 ms.", "54 ms, of which 50 are the miss."),
        solution="Of 54 ms, 50 are one miss. The average of tiers is weighted by how long each takes; while the lower one"
        " is far slower, only the misses count.",
    ),
    Exercise(
        id="ten_points",
        question="The same two tiers. How many times faster are 90 % of hits than 80 %?",
        shape=Amount(kind="times", tolerance=0.03),
        answer=lambda bench: float(
            cache_tiers.speed_up(0.9, FAST_S, SLOW_S) / cache_tiers.speed_up(0.8, FAST_S, SLOW_S)
        ),
        equivalents=("1.83", "1.83×", "1.831"),
        misconceptions=(
            Misconception(
                name="ten points are a tenth", example="1.1",
                hint="Ten points of hits are half of the misses.", matches=lambda given: 1.05 <= given <= 1.3,
            ),
            Misconception(
                name="hits cost nothing", example="2", hint="Nearly: half the misses. But the hits take 1 ms each."
            ),
        ),
        hints=("What is the average with 80 %?", "0.8 × 1 + 0.2 × 50 = 10.8 ms.", "And 0.9 × 1 + 0.1 × 50?"),
        solution="10.8 ms against 5.9 ms. The price of a point of hits grows the closer you are to all: from 98 to 99 %"
        " half of the misses go again.",
    ),
    Exercise(
        id="not_lru",
        question="A scan of a table that lies in slow memory got faster run after run, from about 180 s to 100 s, while a"
        " driver moved data into fast memory. An LRU cache would have had it all by the second run. What does the driver do?",
        shape=Choice(options=(_RECENT, _COUNTS, "it drops everything after each run")),
        answer=_COUNTS,
        equivalents=("b", _COUNTS.title()),
        misconceptions=(
            Misconception(
                name="every cache is LRU", example=_RECENT,
                hint="That cache learns everything in one run: the fourth would be like the second.",
            ),
            Misconception(
                name="each run starts anew", example="it drops everything after each run",
                hint="Then every run would be like the first.",
            ),
        ),
        hints=("When does an LRU cache stop getting faster?", "What must be remembered for a third run to be faster than"
               " the second?", "How often something was used, not only when."),
        solution="The author calls it moving frequently accessed data. Counting takes time to learn, and is not fooled by a"
        " scan that passes once: which is why many caches do both.",
    ),
    Exercise(
        id="between",
        question="Where does a disk between memory and a far device pay?",
        shape=Several(
            options=(
                "what is asked for is larger than memory, and comes back", "everything fits into memory",
                "every row group is read once", "a scan that comes back, with memory for nine tenths of it",
            )
        ),
        answer=(
            "what is asked for is larger than memory, and comes back",
            "a scan that comes back, with memory for nine tenths of it",
        ),
        equivalents=("a, d", ["d", "a"], "a and d"),
        misconceptions=(
            Misconception(
                name="a tier more is always better", example="a, b, c, d",
                hint="Who would ever ask the disk, if everything fits? And what is written for whom, if nothing comes back?",
            ),
            Misconception(
                name="the scan is lost anyway", example="a",
                hint="What memory has just dropped lies on the disk. What does the scan find there?",
            ),
        ),
        hints=("Is anything dropped?", "Is it wanted again?", "Both must be so."),
        solution="A tier between catches what memory drops and is wanted again. For a scan that misses memory entirely it is"
        " the tier that counts: it need only hold the whole table.",
    ),
    Exercise(
        id="five_minutes",
        question="A drive of $300 does 100,000 reads a second; memory is $3 a GiB. For pages of 16 KiB, how many seconds"
        " between two uses make memory and drive cost the same? (Leave bandwidth aside.)",
        shape=Amount(kind="s", tolerance=0.05, word="s"),
        answer=lambda bench: float(cache_tiers.break_even_s(_PAGE, **_THIRTY)),
        equivalents=("65.5 s", "65.5", "1.092 min"),
        misconceptions=(
            Misconception(
                name="the price of the whole drive", example="6553600 s",
                hint="The page takes one read now and then, not the whole drive. What does one read a second cost?",
                matches=lambda given: given > 1e5,
            ),
            Misconception(
                name="upside down", example="0.0153 s",
                hint="The dearer the read, the longer memory pays: the drive's price belongs on top.",
                matches=lambda given: given < 1,
            ),
        ),
        hints=(
            "What does one read a second cost, of a drive that does 100,000?", "What does memory for 16 KiB cost?",
            "$0.003 over $0.0000458.",
        ),
        solution="$300 / 100,000 = $0.003 for one read a second; 16 KiB of memory are $3 / 65,536. A page that is used more"
        " often than about once a minute belongs into memory. With the prices of 1987 the answer was about five minutes.",
    ),
)  # fmt: skip
