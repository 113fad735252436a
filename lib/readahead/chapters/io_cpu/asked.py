"""What is asked about the processor's share of a read: what is paid by the page, what by the row, and when it is the
processor that one waits for."""

from __future__ import annotations

from readahead.chapters.io_cpu import laws
from readahead.chapters.io_cpu.chapter import cores, on_bandwidth
from readahead.chapters.io_cpu.printed import printed, sigma
from readahead.chapters.io_cpu.workload import EVERY, ONE, REPORT
from readahead.experiments.claim import Claim, Reason
from readahead.experiments.knobs import DISK_WARM
from readahead.measure.cpu_cost import cpu_value
from readahead.questions.answers import Amount, Choice, Several
from readahead.questions.exercise import Exercise, Misconception
from readahead.questions.prediction import Prediction
from readahead.units import MB

PREDICTIONS = (
    Prediction(
        id="load", kind="s", low=1e-8, high=1e-3, word="µs",
        question="The same rows from memory and from disk. From the two columns: what does it cost the processor to"
        " fetch one page of 8 KB?",
        because="Subtract line by line: 4.3, 4.2, 4.3, 4.3 … 4.4. The rows drop out. To fetch a page costs what it"
        " costs, whatever lies on it.",
    ),
    Prediction(
        id="rows158", kind="s", low=1e-6, high=1e-4, word="µs",
        question="From the pages of up to 40 rows alone: what does a page of 158 rows cost in memory?",
        because="A price for the page and one for each row, and for the first rows a little more: each brings cache"
        " lines that the later ones find there. From the bend on it is a line.",
    ),
    Prediction(
        id="rows323", kind="s", low=5e-6, high=1e-3, word="µs",
        question="The aggregate follows such a line too, up to 158 rows. What does it cost at 323 rows a page?",
        because="The line says what the model shows. He measured much more, and nothing in his article says why: an"
        " open question. Rows of 25 bytes are another table; perhaps another type of sum, perhaps another level of"
        " cache.",
    ),
    Prediction(
        id="load_here", kind="s", low=1e-8, high=1e-4, word="µs",
        question="Your machine, by his method: how much more does DuckDB's scan cost the processor when 8 KB come"
        " from the disk and not from memory?",
        because="The operating system fetches long pieces and DuckDB asks for long ones, so that one call serves"
        " many pages; and a core is several times as fast as in 2008. What a page costs has fallen. It is not"
        " nothing.",
    ),
    Prediction(
        id="evict_here", kind="s", low=1e-8, high=1e-4, word="µs",
        question="Now DuckDB may keep less than the table in memory, and each block must push another out. What"
        " does that cost the processor for 8 KB?",
        because="Memory is handed back to the operating system and asked for anew, and comes cleared to zeros: work"
        " for the processor, though no disk is near.",
    ),
    Prediction(
        id="query1", kind="times", low=0.5, high=200,
        question="All data in memory. How many times the processor time of one sum does TPC-H's Query 1 take,"
        " without its filter on dates?",
        because="It decodes six columns where the sum decodes one, adds up eight aggregates, and finds each row its"
        " group. A cost model that prices only what is read takes all sums for equal.",
    ),
    Prediction(
        id="cores", kind="times", low=0.5, high=64,
        question="Query 1 from memory, with a worker on each core of this machine against one worker. How many"
        " times faster?",
        because="Something is always done by one alone: to plan, to open, to bring the sums together. Chang calls 6"
        " to 7 times on eight cores very good; the model takes his middle and this machine's cores.",
    ),
    Prediction(
        id="knee", kind="bytes_per_s", low=1e6, high=1e11, word="MB/s",
        question="One worker reads every column. From which device bandwidth on does it wait for the processor alone?",
        because="Bytes over processor seconds: what one core gets through. A device that delivers more than that is"
        " not seen to be faster.",
    ),
    Prediction(
        id="tenfold", kind="times", low=0.2, high=20,
        question="Query 1 on a device of 500 MB/s, and on one of 5 GB/s. How many times faster?",
        because="The first was fast enough already. The time stands under the other roof.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="sums_differ",
        says="Query 1 costs the processor several times what one sum over the same rows costs.",
        left=lambda bench: cpu_value(bench.sample(report=REPORT, where=DISK_WARM)),
        right=lambda bench: cpu_value(bench.sample(report=ONE, where=DISK_WARM)),
        left_name="Query 1", right_name="one sum", relation="at least", factor=3.0,
        reasons=(Reason(says="opening the file takes this machine longer than both queries; give a larger table"),),
    ),
    Claim(
        id="more_workers",
        says="A worker on each core is faster than one worker.",
        left=lambda bench: bench.measured.seconds(report=REPORT, where=DISK_WARM, threads=cores()),
        right=lambda bench: bench.measured.seconds(report=REPORT, where=DISK_WARM, threads=1),
        left_name="all cores", right_name="one", relation="faster than", factor=1.1,
        reasons=(
            Reason(says="this machine has one core to give", when=lambda left, right, bench: cores() == 1),
            Reason(says="two cores of a virtual machine may be one core of a real one, or other programs have them"),
        ),
    ),
    Claim(
        id="slope",
        says="Under the device's roof, four times the bandwidth shows.",
        left=lambda bench: bench.measured.seconds(**on_bandwidth(200 * MB, EVERY)),
        right=lambda bench: bench.measured.seconds(**on_bandwidth(50 * MB, EVERY)),
        left_name="200 MB/s", right_name="50 MB/s", relation="faster than", factor=1.8,
        reasons=(Reason(says="the processor is so slow here that even 50 MB/s are enough for it"),),
    ),
    Claim(
        id="model_holds",
        says="The model foretells Query 1 on a device of 200 MB/s.",
        left=lambda bench: bench.measured.seconds(**on_bandwidth(200 * MB)),
        right=lambda bench: bench.model.seconds(**on_bandwidth(200 * MB)),
        left_name="measured", right_name="modeled", relation="within", tolerance=0.2,
        reasons=(Reason(says="the engine was weighed while this machine was busy: python -m readahead calibrate"),),
    ),
)  # fmt: skip

_DEPENDS = ("on the page, not on its rows", "on the rows", "on both alike")
_LIMITED = (
    "a needle among pages of 1 row",
    "a needle among pages of 323 rows",
    "a sum over pages of 323 rows",
    "Query 1",
)
_CORE = 360e6


def _wanted() -> float:
    return laws.cores_for(4e9, _CORE, sigma())


EXERCISES = (
    Exercise(
        id="depends",
        question="A page of 10 rows costs 1.72 µs in memory and 5.98 µs from disk; a page of 80 rows 5.08 µs and"
        " 9.68 µs. On what does the price of fetching depend?",
        shape=Choice(options=_DEPENDS), answer=_DEPENDS[0], equivalents=("a", _DEPENDS[0].upper()),
        misconceptions=(
            Misconception(
                name="more rows, more I/O", example="b",
                hint="Subtract memory from disk for both pages, and compare the differences rather than the sums.",
            ),
            Misconception(
                name="everything grows together", example="c",
                hint="The rows have grown eightfold. Has the difference?",
            ),
        ),
        hints=("What does the disk add to each page?", "5.98 − 1.72 and 9.68 − 5.08.", "4.3 and 4.6: nearly the same."),
        solution="4.3 and 4.6 µs: eight times the rows, and the same price. A call, a place in the buffer pool, a"
        " latch: all by the page. The rows are paid for when they are looked at.",
    ),
    Exercise(
        id="evict",
        question="With memory for everything, a page from disk costs 5.28 µs at low row density; with memory for a"
        " tenth of the table about 8 µs. Suppose that no page was found in memory. What does it cost to evict one?",
        shape=Amount(kind="s", tolerance=0.12, word="µs"),
        answer=lambda _: printed("load_and_evict_cpu_per_page_s") - printed("cpu_per_page_s.disk.r1"),
        equivalents=("2.7 µs", "2.72e-6 s", "3 µs"),
        misconceptions=(
            Misconception(
                name="the whole is the eviction", example="8 µs",
                hint="Those 8 µs also hold the reading and the looking at it.", matches=lambda given: given > 6e-6,
            ),
            Misconception(
                name="fetching is evicting", example="4.3 µs",
                hint="That is the price of fetching, and it is in both runs.",
                matches=lambda given: 4e-6 < given < 5e-6,
            ),
        ),
        hints=("What do the two runs have in common?", "Subtract.", "8 − 5.28."),
        solution="2.7 µs, more than half of what fetching costs, and it comes back with every page as soon as memory is"
        " short. Chang takes it that a tenth was found: (8 − 0.94) / 0.9 − 4.4 is 3.4, his \"just over 3\". Whether a"
        " scan finds that tenth is a question of chapter 8.",
    ),
    Exercise(
        id="limited",
        question="Eight such cores (6.5 times one) and a device of 2 GB/s. A core takes 5.3 µs for a page of 1 row"
        " and 21 µs for one of 323 rows, fetching included; the sum 78 µs; Query 1 manages 200 MB in a CPU second."
        " Which of these wait for the processors?",
        shape=Several(options=_LIMITED), answer=_LIMITED[2:], equivalents=("c, d", ["d", "c"]),
        misconceptions=(
            Misconception(
                name="I/O is always the bottleneck", example="a, b",
                hint="Turn µs a page into bytes a second, times 6.5, and hold that against 2 GB/s.",
            ),
            Misconception(
                name="many rows are always too many", example="b, c, d",
                hint="21 µs for 8 KB are 390 MB/s a core. Times 6.5?",
            ),
        ),
        hints=("8,192 bytes / CPU time a page = bytes a second of a core.", "Times 6.5 for the eight of them.",
               "10, 2.5, 0.7 and 1.3 GB/s."),
        solution="10 and 2.5 GB/s are above the device, 0.7 and 1.3 GB/s below it. His target of 2 GB/s for eight"
        " cores is a needle's target; for reports a slower device would do.",
    ),
    Exercise(
        id="upgrade",
        question="New storage will deliver 4 GB/s. One core gets through 360 MB/s, eight cores are 6.5 times one."
        " How many cores does it take before the storage is the bottleneck?",
        shape=Amount(kind="count", tolerance=0.06),
        answer=lambda _: _wanted(), equivalents=("17", "16.9", "16.94"),
        misconceptions=(
            Misconception(
                name="cores add up", example="11.1",
                hint="That is 4 GB/s over 360 MB/s. Would the eleventh core do as much as the first?",
            ),
            Misconception(
                name="the loss of eight holds for all", example="13.7",
                hint="Eight cores lose a fifth. More of them get in each other's way more.",
            ),
        ),
        hints=("How many times one core is 4 GB/s?", "Amdahl: N / (1 + s (N − 1)), with s from 6.5 of 8.",
               "s = 0.033; solve 11.1 = N / (1 + 0.033 (N − 1))."),
        solution="11.1 times one core needs about 17 cores, for what is done by one alone grows with each. Buy"
        " storage and cores together, or look for a query that costs less.",
    ),
    Exercise(
        id="faster_disk",
        question="A report runs for 60 s: the device is busy for 20 s of them, the processors for 58 s, side by"
        " side. The device is replaced by one three times as fast. What will the report take?",
        shape=Choice(options=("about 20 s", "about 47 s", "about 60 s", "a little more than 60 s")),
        answer="about 60 s", equivalents=("c", "ABOUT 60 S"),
        misconceptions=(
            Misconception(
                name="a faster disk always helps", example="about 20 s",
                hint="That would be so if it waited for the device all the time.",
            ),
            Misconception(
                name="times add up", example="about 47 s",
                hint="Side by side: the 13 s that the device saves were hidden behind the processors.",
            ),
        ),
        hints=("Which of the two did it wait for?", "What is hidden saves nothing when it shrinks.", "max(20, 58)."),
        solution="It waits for the processors before and after. The device idles longer, and that is all.",
    ),
)  # fmt: skip
