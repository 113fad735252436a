"""Sums on the back of Chang's tables, and one on the learner's own device."""

from __future__ import annotations

from readahead.chapters.lookups import array_of_disks, laws
from readahead.chapters.lookups.array_of_disks import printed
from readahead.chapters.lookups.experiment import EXPERIMENT, break_even
from readahead.questions.answers import Amount, Choice
from readahead.questions.exercise import Exercise, Misconception

_HALVE = (
    "twice as many disks",
    "disks that answer in half the time",
    "disks of twice the bandwidth",
    "a deeper queue",
)
_TELLS = (
    "the size of the reads",
    "how far apart on the disk one read lies from the next",
    "rows a second with all in memory",
    "the number of reads a row",
)
_UNDER_WAY, _DEEP = 64, "disk_8k_reads_per_s.n10000"
_GROUPS = 1_000

EXERCISES = (
    Exercise(
        id="halve",
        question="A query of 25 rows takes 110 ms, one read of 8 KB at a time. What would halve it?",
        shape=Choice(options=_HALVE),
        answer=_HALVE[1],
        equivalents=("b", "Disks that answer in half the time"),
        misconceptions=(
            Misconception(
                name="more disks make every query faster", example=_HALVE[0],
                hint="How many of the eight he has are busy while one read is under way?",
            ),
            Misconception(
                name="bandwidth is speed", example=_HALVE[2],
                hint="8 KB at 88 MB/s pass in a tenth of a millisecond. Which part of the 4.1 ms is that?",
            ),
            Misconception(
                name="a queue that may be deep is deep", example=_HALVE[3],
                hint="The queue may hold many reads. How many does this query send before it waits?",
            ),
        ),
        hints=(
            "Of which term are the 110 ms made?", "Every read waits for the one before it.",
            "Reads × latency: one of the two must be halved.",
        ),
        solution="110 ms are some 26 waits of 4.1 ms, in a row. Disks, bandwidth and depth serve several reads at a"
        " time, and there is only one. Half the latency is half the time; so is half the reads.",
    ),
    Exercise(
        id="reads",
        question="110 ms for 25 rows, 4.1 ms for a read, one at a time: how many reads did the query make?",
        shape=Amount(kind="count", tolerance=0.04),
        answer=lambda bench: printed("duration_s.n25") / printed("read_latency_s.n25"),
        equivalents=("26.8", "27", "26.83"),
        misconceptions=(
            Misconception(
                name="a row is a read", example="25",
                hint="25 × 4.1 ms is not 110 ms. How does the query know where the rows lie?",
            ),
            Misconception(
                name="times, not divided by", example="451",
                hint="How often does one wait fit into the whole?", matches=lambda given: given > 100,
            ),
        ),
        hints=("All of the time is waiting.", "Time = reads × latency.", "110 / 4.1."),
        solution="Nearly 27: one for each row, and one or two for pages of the index that were not in memory. His own"
        " counter says 1.04 reads a row.",
    ),
    Exercise(
        id="latency_at_depth",
        question="At 10,000 rows a query he counted 4,305 reads a second. Suppose 64 were under way all the time. How"
        " long did each take?",
        shape=Amount(kind="s", tolerance=0.05, word="ms"),
        answer=lambda bench: _UNDER_WAY / printed(_DEEP),
        equivalents=("14.9 ms", "0.01487 s", "14,870 µs"),
        misconceptions=(
            Misconception(
                name="latency belongs to the disk", example="4.1 ms",
                hint="That is a read that finds its disk idle. These find seven others there.",
            ),
            Misconception(
                name="latency is one over throughput", example="0.232 ms",
                hint="So it would be with one read under way. Here it is 64.",
            ),
        ),
        hints=("Three numbers hang together: rate, wait, and how many.", "How many = rate × wait.", "64 / 4,305."),
        solution="Nearly 15 ms, more than three times the latency of a lone read, at eighteen times its throughput."
        " Waiting longer and getting more is no contradiction once many wait together.",
    ),
    Exercise(
        id="fullest",
        question="Eight reads are sent at once, and each falls on any of eight disks alike. How many does the fullest"
        " disk get, on average?",
        shape=Amount(kind="count", tolerance=0.06),
        answer=lambda bench: laws.fullest(8, 8),
        equivalents=lambda bench: (f"{laws.fullest(8, 8):.2f}", f"{laws.fullest(8, 8):.3f}"),
        misconceptions=(
            Misconception(
                name="chance spreads evenly", example="1",
                hint="For that, the second must miss the first, the third both … How likely is it that all eight do?",
            ),
            Misconception(
                name="the worst that can happen", example="8",
                hint="It can happen, once in two million times. What happens on average?",
            ),
        ),
        hints=(
            "Throw eight dice of eight faces: how often does the commonest face come up?",
            "Eight reads all on different disks: 8! / 8⁸, about one in four hundred.",
            "Nearly always some disk has two, and about every other time one has three.",
        ),
        solution="About 2.6. So eight disks serve eight reads a little over three times as fast as one"
        " disk, not eight times. With many more reads than disks the share of bad luck shrinks.",
    ),
    Exercise(
        id="large_read",
        question="A lone read of 8 KB cost him 26.5 µs of processor, one of 64 KB 46.1 µs. How many times cheaper is"
        " a byte of the large read?",
        shape=Amount(kind="times", tolerance=0.04),
        answer=lambda bench: 8 * array_of_disks.CPU_ALONE_S / array_of_disks.CPU_COLD_S,
        equivalents=("4.6", "4.6×", "4.599"),
        misconceptions=(
            Misconception(
                name="larger reads cost more", example="0.575",
                hint="A read does. What about each of its bytes?", matches=lambda given: given < 1,
            ),
            Misconception(
                name="eight times the bytes for one read's price", example="8",
                hint="The read of 64 KB is dearer than one of 8 KB, if by less than eight times.",
            ),
        ),
        hints=("Divide each price by its bytes.", "26.5 / 8 and 46.1 / 64.", "3.31 against 0.72 µs for a KB."),
        solution="4.6 times. Most of the price is for asking, not for the bytes: calls, a place in the cache, a"
        " wake-up. That is why a cold cache takes neighbours along, and why it only pays if somebody wants them.",
    ),
    Exercise(
        id="groups_hit",
        question="A table in 1,000 row groups, 1,000 random rows. How many row groups are read?",
        shape=Amount(kind="count", tolerance=0.03),
        answer=lambda bench: float(laws.distinct(_GROUPS, _GROUPS)),
        equivalents=("632", "632.3", "630"),
        misconceptions=(
            Misconception(
                name="one for each row", example="1,000", hint="What if two rows lie in the same group?",
            ),
            Misconception(
                name="half of them, by symmetry", example="500",
                hint="A given group is missed by one row with 999 chances in 1,000. By all of them?",
            ),
        ),
        hints=(
            "Count the groups that nobody hits.", "One row misses a group with 1 - 1/1,000.",
            "1,000 × (1 - 0.999¹⁰⁰⁰).",
        ),
        solution="632: 0.999¹⁰⁰⁰ is nearly 1/e, so 37 % of the groups are missed. As many rows"
        " as row groups, one in 122,880 with DuckDB's usual groups, already read nearly two thirds of the table.",
    ),
    Exercise(
        id="my_break_even",
        question="On the emulated device, as this notebook's parameters have it: from how many rows on should DuckDB"
        " read the whole table instead of going through the index? Find it with the knobs of the playground.",
        shape=Amount(kind="rows", tolerance=0.3),
        answer=lambda bench: float(break_even(bench)),
        equivalents=lambda bench: (f"{break_even(bench)} rows", f"{break_even(bench)}"),
        misconceptions=(
            Misconception(
                name="an index is always better for few rows",
                example=lambda bench: f"{EXPERIMENT.case(bench.base).recipe.rows // 100}",
                hint="A hundredth of the rows, each a handful of waits in a row. Compare with one scan.",
                matches=lambda given: given > 1_000,
            ),
            Misconception(
                name="lookups by index are never worth it",
                example=lambda bench: "1" if break_even(bench) > 2 else "900",
                hint="Look one row up, then turn the query to scan: which is sooner?",
            ),
        ),
        hints=(
            "Turn the query to scan and read its time.",
            "Turn it back, and 'One by one up to' to its end: then every lookup goes through the index.",
            "Raise the rows until both times are the same.",
        ),
        solution="Time of the scan over time of a row. It moves with latency (both ways about alike), with disks and"
        " depth (only the scan gains), and with the size of the table. At work: divide your scan's seconds by your"
        " lookup's.",
    ),
    Exercise(
        id="leap",
        question="From 1,000 to 3,000 rows a query, his reads a second leap by half, and nobody has said why. Perhaps"
        " the keys were put in order first. Which measurement would tell?",
        shape=Choice(options=_TELLS),
        answer=_TELLS[1],
        equivalents=("b", "How far apart on the disk one read lies from the next"),
        misconceptions=(
            Misconception(
                name="bigger reads explain every gain", example=_TELLS[0],
                hint="All of that column are reads of 8 KB, before the leap and behind it.",
            ),
            Misconception(
                name="memory explains it", example=_TELLS[2],
                hint="In memory 3,000 rows are slower than 1,000, not faster. A clue, but what does it cost the"
                " disk?",
            ),
            Misconception(
                name="fewer reads, so faster", example=_TELLS[3],
                hint="Reads a second leap, and reads a row hardly move between the two.",
            ),
        ),
        hints=(
            "What would a disk notice of keys in order?", "Its head would always move the same way, and not far.",
            "Which of the four sees the head move?",
        ),
        solution="The distance between reads in a trace. A sort would also cost processor time, and his row in memory"
        " is dearer at just 3,000 rows; but it is no dearer at 10,000. An open question: we have a law that leaps"
        " because it was fitted, and no reason.",
    ),
)  # fmt: skip
