"""A pile of exercise slips on what is kept and what it is worth: the exercises of the chapter on cache tiers."""

from __future__ import annotations

from readahead.chapters.cache_tiers import laws
from readahead.chapters.cache_tiers.experiment import FAST_S, SLOW_S
from readahead.chapters.cache_tiers.printed import all_memory_bytes, printed
from readahead.questions.answers import Amount, Choice, Several
from readahead.questions.exercise import Exercise, Misconception
from readahead.units import GiB, KiB

_NEXT = "what it needs next was used longest ago, so it has just been dropped"
_RATHER = "after the first miss the scan no longer looks into the cache"
_BYPASS = "scans go past the cache"
_WAIT = "the device, which answers one in five"
_FAST = "the memory, which answers four in five"
_COUNTS = "it counts what is used often, and moves some of it at a time"
_RECENT = "it keeps what was used last"
_THIRTY = {"drive_price": 300.0, "reads_per_s": 1e5, "bytes_per_s": 1e15, "memory_price_per_byte": 3.0 / GiB}
_PAGE = 16 * KiB


def _all_gb() -> float:
    return printed("block_cache_share.dedicated") * 2 * all_memory_bytes() / GiB


_TOTALS = ("2335 GB, as it is", "2355 GB", "1178 GB", "2048 GB")


EXERCISES = (
    Exercise(
        id="misprint",
        question="Each of two servers has 1280 GB of slow and 192 GB of fast memory. A dedicated server gives 80 %"
        " of it to the block cache, and 2335 GB are printed for both. Work it out: what should be printed?",
        shape=Choice(options=_TOTALS),
        answer=next(total for total in _TOTALS if total.split()[0] == f"{_all_gb():.0f}"),
        equivalents=("b", "2355 gb"),
        misconceptions=(
            Misconception(
                name="what is printed has been checked", example=_TOTALS[0], hint="Multiply it out to the last digit.",
            ),
            Misconception(
                name="one server", example=_TOTALS[2],
                hint="Both servers are dedicated now; add the other one.",
            ),
            Misconception(
                name="only the slow memory", example=_TOTALS[3],
                hint="The block cache is a share of all memory, fast and slow.",
            ),
        ),
        hints=("What is 1280 + 192?", "Twice that, for two servers.", "0.8 × 2 × 1472."),
        solution="0.8 × 2944 = 2355.2: one digit is wrong. The other two totals, 736 and 1472, are half of one and"
        " of two servers, as they should be. A sum that can be done in the head is worth doing.",
    ),
    Exercise(
        id="per_cent",
        question="Two nodes instead of one took 813.82 s instead of 1343.16 s, printed as an improvement of 165 %."
        " For one query more memory brought a gain of 620 %. How many times faster is that, in the same way of"
        " counting?",
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
        solution="1.65 times as fast is printed as 165 %, so 620 % is 6.2 times. An improvement of 165 % would"
        " usually be read as 2.65 times; only the times beside it tell which is meant.",
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
                name="one miss spoils the scan", example=_RATHER,
                hint="Follow it: the first tenth is missing and is fetched. What is dropped to make room for it?",
            ),
        ),
        hints=(
            "What lies in memory when the first scan ends?", "What is fetched first by the second scan?",
            "What is dropped for it, and when will that be wanted?",
        ),
        solution="At the end the last nine tenths are there. The first tenth is fetched, and the second tenth, the"
        " least recently used, is dropped for it, just before it is wanted. And so on, all the way round.",
    ),
    Exercise(
        id="which_term",
        question="A hit takes 1 ms and a miss 50 ms. Four accesses in five are hits. Where does most of the time go?",
        shape=Choice(options=(_FAST, _WAIT, "to both alike")),
        answer=_WAIT,
        equivalents=("b", _WAIT.title()),
        misconceptions=(
            Misconception(name="80 % cached is 80 % of the time", example=_FAST, hint="Add up five accesses: four"
            " hits, one miss."),
            Misconception(name="an average is in the middle", example="to both alike", hint="4 × 1 ms against 1 × 50"
            " ms."),
        ),
        hints=("Add up five accesses.", "Four times 1 ms, once 50 ms.", "54 ms, of which 50 are the miss."),
        solution="Of 54 ms, 50 are one miss. The average of tiers is weighted by how long each takes; while the"
        " lower one is far slower, only the misses count.",
    ),
    Exercise(
        id="ten_points",
        question="The same two tiers. How many times faster are 90 % of hits than 80 %?",
        shape=Amount(kind="times", tolerance=0.03),
        answer=lambda bench: float(
            laws.speed_up(0.9, FAST_S, SLOW_S) / laws.speed_up(0.8, FAST_S, SLOW_S)
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
        solution="10.8 ms against 5.9 ms. A point of hits is worth more the closer you are to all: from 98 to 99 %"
        " half of the misses go again.",
    ),
    Exercise(
        id="not_lru",
        question="A scan of a table that lies in slow memory got faster run after run, from about 180 s to 100 s,"
        " while a driver moved data into fast memory. With an LRU cache the second run would have been"
        " like every later one. What does the driver do?",
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
        hints=(
            "When does an LRU cache stop getting faster?",
            "What must be remembered, for a third run to be faster than the second?",
            "How often something was used, not only when.",
        ),
        solution="The author calls it moving frequently accessed data. Counting takes time to learn, and is not"
        " fooled by a scan that passes once: which is why many caches do both.",
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
                hint="Who would ever ask the disk, if everything fits? And what is written for whom, if nothing"
                " comes back?",
            ),
            Misconception(
                name="the scan is lost anyway", example="a",
                hint="What memory has just dropped lies on the disk. What does the scan find there?",
            ),
        ),
        hints=("Is anything dropped?", "Is it wanted again?", "Both must be so."),
        solution="A tier between catches what memory drops and is wanted again. For a scan that misses memory"
        " entirely it is the tier that counts: it need only hold the whole table.",
    ),
    Exercise(
        id="five_minutes",
        question="A drive of $300 does 100,000 reads a second; memory is $3 a GiB. For pages of 16 KiB, how many"
        " seconds between two uses make memory and drive cost the same? (Leave bandwidth aside.)",
        shape=Amount(kind="s", tolerance=0.05, word="s"),
        answer=lambda bench: float(laws.break_even_s(_PAGE, **_THIRTY)),
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
        solution="$300 / 100,000 = $0.003 for one read a second; 16 KiB of memory are $3 / 65,536. A page that is"
        " used more often than about once a minute belongs in memory. With the prices of 1987 the answer was about"
        " five minutes.",
    ),
)  # fmt: skip
