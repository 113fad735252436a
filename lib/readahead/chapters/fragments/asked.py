"""What is asked about fragments: how long must a piece be before a disk reads more than it moves."""

from __future__ import annotations

from readahead.chapters.fragments import laws
from readahead.chapters.fragments.chapter import ONE_PIECE, on, plain
from readahead.experiments.claim import Claim, Reason
from readahead.questions.answers import Amount, Choice, Order
from readahead.questions.exercise import Exercise, Misconception
from readahead.questions.prediction import Prediction
from readahead.units import KiB

PREDICTIONS = (
    Prediction(
        id="yield",
        question="The file lies in pieces of 512 KB, and a seek takes 10 ms. How much of its sequential speed does the"
        " disk keep?",
        kind="1", low=0.01, high=1.5, word="%",
        because="Reading a piece takes half as long as moving to it, so two thirds of the time the disk moves."
        " A scan also opens its file and decodes it, which short pieces do not lengthen: the smaller the table, the"
        " more that hides.",
    ),
    Prediction(
        id="half_speed",
        question="How long must a piece be for this disk to keep half its speed?",
        kind="bytes", low=4e3, high=1e8, word="MiB",
        because="Half speed means as long moving as reading: bandwidth times seek. Disks that read faster and still"
        " move as slowly need longer pieces, not shorter ones.",
    ),
    Prediction(
        id="rebuild",
        question="A rebuild lengthens the pieces from 225 pages to 1,767 (of 8 KB). How many times faster is the scan?",
        kind="times", low=0.5, high=30,
        because="Both lie above the half-speed size, where longer pieces buy less and less. And Neugebauer's scan was"
        " slower than either, and hardly changed: the length of the runs was not what held it up.",
    ),
    Prediction(
        id="one_head",
        question="Eight readers share one disk instead of one reading it all. How many times as long does the same"
        " amount of reading take?",
        kind="times", low=0.05, high=60,
        because="Each reader reads in a row, but the head serves them in turns: to it, every request is elsewhere.",
    ),
    Prediction(
        id="eight_heads",
        question="Now each of the eight has a disk of its own. How many times faster than one reader on one disk?",
        kind="times", low=0.5, high=60,
        because="Nobody takes the arm from anybody: the sequences stay whole, and eight transfer at once.",
    ),
    Prediction(
        id="flash",
        question="On flash: pieces of 64 KB instead of one whole piece. How many times slower is the scan?",
        kind="times", low=0.3, high=30,
        because="Nothing moves. What flash minds is the size of a request, not where the next one lies.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="half_is_half",
        says="At the half-speed size, a scan takes about twice as long as in one piece.",
        left=lambda bench: bench.measured.seconds(fragment_bytes=_half(bench)),
        right=lambda bench: bench.measured.seconds(fragment_bytes=ONE_PIECE),
        left_name="pieces of half-speed size", right_name="one piece",
        relation="within", factor=2.0, tolerance=0.2,
        reasons=(
            Reason(
                says="opening the file and decoding are in both times, and they do not double",
                when=lambda left, right, bench: left.median < 2 * right.median,
            ),
            Reason(says="this machine is late in waking readers; close other programs"),
        ),
    ),
    Claim(
        id="model_holds",
        says="The model foretells the scan in short pieces.",
        left=lambda bench: bench.measured.seconds(fragment_bytes=512 * KiB),
        right=lambda bench: bench.model.seconds(fragment_bytes=512 * KiB),
        left_name="measured", right_name="modeled",
        relation="within", tolerance=0.12,
        reasons=(
            Reason(
                says="reads that came out of order made the head jump more often than the model expects",
                when=lambda left, right, bench: left.median > right.median,
            ),
            Reason(says="the engine was weighed while this machine was busy: python -m readahead calibrate"),
        ),
    ),
    Claim(
        id="eight_heads_help",
        says="With a head each, eight readers are several times as fast as one alone.",
        left=lambda bench: bench.measured.seconds(**plain(readers=8, channels=8)),
        right=lambda bench: bench.measured.seconds(**plain(readers=1, channels=1)),
        left_name="eight readers, eight heads", right_name="one reader, one head",
        relation="faster than", factor=3.0,
        reasons=(
            Reason(says="eight threads that wake at the same moment share this machine's few cores, and wait for them"),
        ),
    ),
    Claim(
        id="flash_does_not_mind",
        says="On flash, short pieces cost next to nothing.",
        left=lambda bench: bench.measured.seconds(**on("sata-ssd", fragment_bytes=64 * KiB)),
        right=lambda bench: bench.measured.seconds(**on("sata-ssd", fragment_bytes=ONE_PIECE)),
        left_name="short pieces", right_name="one piece",
        relation="within", tolerance=0.15,
        reasons=(Reason(says="both are so short that this machine's own noise shows; repeat on a quiet machine"),),
    ),
)  # fmt: skip


def _half(bench: object) -> int:
    base = bench.base  # type: ignore[attr-defined]
    size = laws.half_speed_bytes(seek_s=base["seek_s"], bandwidth_bytes_per_s=base["bandwidth_bytes_per_s"])
    return int(min(max(size, 64 * KiB), ONE_PIECE))


EXERCISES = (
    Exercise(
        id="hole",
        question="Two pieces you want lie 200 KB apart on a disk of 100 MB/s. Above which latency of a read is it"
        " faster to read through the hole than to jump it?",
        shape=Amount(kind="s", tolerance=0.06, word="ms"),
        answer=200e3 / 100e6,
        equivalents=("2 ms", "0.002 s", "2,000 µs"),
        misconceptions=(
            Misconception(
                name="a hole is never worth reading", example="1 s",
                hint="Reading bytes for nothing takes time, but so does asking once more. Which takes longer here?",
                matches=lambda given: given >= 0.05,
            ),
            Misconception(
                name="the seek of the textbook", example="10 ms",
                hint="That is one disk's seek. The question is where the two ways take the same time.",
                matches=lambda given: 0.005 <= given <= 0.015,
            ),
        ),
        hints=(
            "How long does reading the hole take?",
            "Hole / bandwidth.",
            "It flips where the latency equals that time.",
        ),
        solution="Reading 200 KB at 100 MB/s takes 2 ms. A device that takes longer than that to answer should be asked"
        " once, hole and all. Latency times bandwidth is the longest hole worth reading.",
    ),
    Exercise(
        id="which_number",
        question="An index report shows three numbers. Which one tells whether a disk with a head can read the index at"
        " full speed?",
        shape=Choice(options=("fragmentation in percent", "average fragment size in pages", "number of pages")),
        answer="average fragment size in pages",
        equivalents=("b", "Average Fragment Size in Pages"),
        misconceptions=(
            Misconception(
                name="fragmentation % is what matters", example="fragmentation in percent",
                hint="Four percent of the pages out of order: is that a few long runs, or many short ones? The"
                " percentage does not say.",
            ),
            Misconception(
                name="large is slow", example="number of pages",
                hint="That tells how long the reading takes, not how much of it is moving.",
            ),
        ),
        hints=("What does a seek cost, in bytes not read?", "Compare that with something in the report.",
               "The length of the run."),
        solution="A seek costs bandwidth x seek, about a megabyte. Only the length of a run, set beside that, tells"
        " what is lost.",
    ),
    Exercise(
        id="why_no_gain",
        question="Neugebauer's disk reads 90 MB/s in a row; his scan got 21 MB/s. A rebuild made the runs eight times"
        " as long, and \"the graph does not change much\". Why not?",
        shape=Choice(
            options=(
                "the runs were too short even afterwards",
                "a read takes at most 64 pages, however long the run is",
                "the disk was full",
            )
        ),
        answer="a read takes at most 64 pages, however long the run is",
        equivalents=("b",),
        misconceptions=(
            Misconception(
                name="still too short", example="a",
                hint="1,767 pages of 8 KB are over ten times the half-speed size of such a disk.",
            ),
            Misconception(
                name="full disks are slow", example="c", hint="Nothing in the article says so. What else takes time?",
            ),
        ),
        hints=("How many pages does one read of his take at most?",
               "225 pages: how many full reads lie in one run? And in 1,767 pages?",
               "64 pages a read, before and after: the number of reads stays."),
        solution="A read takes 64 pages, 512 KB, at most, and the shorter run already holds three of them. So the"
        " number of reads, some 1,360, stays, and so do the 19 s that the processor works. How much of the rest is"
        " arm, queue or USB nobody printed: chapter 3 fits 14 ms a read if disk and processor partly overlap; with no"
        " overlap at all 3.5 ms are left.",
    ),
    Exercise(
        id="small_reads",
        question="A SATA SSD answers in 100 µs and reads 500 MB/s. One read of 4 KB at a time: what share of its"
        " bandwidth does it deliver?",
        shape=Amount(kind="1", tolerance=0.08, word="%"),
        answer=4096 / 500e6 / (100e-6 + 4096 / 500e6),
        equivalents=("7.6 %", "0.0757", "7.57%"),
        misconceptions=(
            Misconception(
                name="SSDs have no small-read penalty", example="100 %",
                hint="No arm moves, but each read still waits for its answer. How long, and how long for its bytes?",
                matches=lambda given: given > 0.5,
            ),
            Misconception(
                name="the size of the read is all that counts", example="0.8 %",
                hint="That compares bytes with bytes. Compare times: how long does the answer take, and how long do"
                " the 4 KB take to pass?",
                matches=lambda given: given < 0.02,
            ),
        ),
        hints=(
            "In how long do 4 KB pass at 500 MB/s?",
            "What part of (answer + passing) is passing?",
            "8 µs of 108 µs.",
        ),
        solution="8 µs of every 108 µs are transfer, 7.6 %. Flash removed the seek and kept the latency: its half-speed"
        " size is 100 µs × 500 MB/s, 50 KB. Small reads want many in flight.",
    ),
    Exercise(
        id="rank",
        question="A scan of one file in pieces of 64 KB. Order these devices by how much of their own sequential"
        " speed they keep.",
        shape=Order(
            options=("one disk with a head", "a disk that reads twice as fast and moves as slowly", "a SATA SSD"),
            first="the one that keeps most",
        ),
        answer=("a SATA SSD", "one disk with a head", "a disk that reads twice as fast and moves as slowly"),
        equivalents=("c, a, b", "c > a > b"),
        misconceptions=(
            Misconception(
                name="a faster disk minds pieces less", example="c, b, a",
                hint="Its pieces are read in half the time. And its moves?",
            ),
            Misconception(
                name="the fastest disk keeps most", example="b, a, c", hint="What moves in an SSD?",
            ),
        ),
        hints=("What does each lose between two pieces?", "Flash loses no time to where a piece lies.",
               "Half-speed size is bandwidth × seek: whose is larger?"),
        solution="Flash moves nothing. A disk that reads twice as fast loses twice the bytes to every move, so it keeps"
        " the smallest share.",
    ),
)  # fmt: skip
