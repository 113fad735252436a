"""What is asked about lookups: what waits for what, where balls fall, and when nobody should look anything up."""

from __future__ import annotations

from readahead.chapters.lookups.asked_array import EXERCISES
from readahead.chapters.lookups.experiment import AFTER, BEFORE, MANY, break_even, index_s, scan_s
from readahead.chapters.lookups.key_reads import UNSORTED
from readahead.chapters.lookups.workload import SHUFFLED
from readahead.experiments.claim import Claim, Reason
from readahead.questions.prediction import Prediction

PREDICTIONS = (
    Prediction(
        id="one_by_one",
        question="From the latency alone, and the reads a row: how many rows a second does the query of 25 rows fetch"
        " from eight disks?",
        kind="rows_per_s", low=2, high=100_000,
        because="The next read is sent when the last one has come back, so the rate is one over the latency. Seven of"
        " the eight disks stand idle at any moment.",
    ),
    Prediction(
        id="disks",
        question="DuckDB fetches 25 rows through its index, from one disk and then from 64. How many times faster?",
        kind="times", low=0.3, high=300,
        because="Whoever has one read under way keeps one disk busy, however many there are.",
    ),
    Prediction(
        id="balls",
        question="Each of his reads takes 4.1 ms. Now 26 are sent at once, and each falls on any of eight disks"
        " alike. How long until the last is there?",
        kind="s", low=0.0005, high=2, word="ms",
        because="Evenly spread it would be a little over three reads a disk. Chance never spreads evenly: on average"
        " the fullest of eight disks gets six of 26, and everybody waits for it.",
    ),
    Prediction(
        id="eight",
        question="DuckDB looks 26 rows up in Parquet, asked for all at once: one disk, then eight. How many times"
        " faster?",
        kind="times", low=0.5, high=60,
        because="The reads of rows fall on eight disks as balls into bins, and the fullest decides. What comes before"
        " them, planning and the footer, goes one step at a time on any number of disks.",
    ),
    Prediction(
        id="little",
        question="At 26 rows he counted 1,026.8 reads a second of 8.6 ms each. How many were under way on average?",
        kind="count", low=0.1, high=1_000,
        because="Little's law: what is under way is rate times wait. It holds for every queue, whatever its order.",
    ),
    Prediction(
        id="wait",
        question="DuckDB again, 26 rows from Parquet on eight disks: all at once against one at a time. How many"
        " times as long does a single read take on average?",
        kind="times", low=0.1, high=60,
        because="Some find their disk busy and wait their turn. Each read got slower, and the query got faster.",
    ),
    Prediction(
        id="step",
        question="DuckDB, its own file with an index: how many times as long do 25 rows take as 26?",
        kind="times", low=0.1, high=100,
        because="Up to its setting DuckDB fetches through the index, a block at a time. One row more, and it takes"
        " the list of keys to the row groups instead, with many reads under way. The walk down the index it has made"
        " for nothing.",
    ),
    Prediction(
        id="distinct",
        question="A Parquet table in row groups of 2,048 rows; 100 random keys. How many of its row groups are read?"
        " (At size tiny there are 128.)",
        kind="count", low=1, high=20_000,
        because="Each new key may fall into a group that is read anyway. Cardenas' formula counts the groups that"
        " nobody hits.",
    ),
    Prediction(
        id="break_even",
        question="From how many rows on does DuckDB read the whole table sooner than it fetches them through the"
        " index? (At size tiny the table has 262,144.)",
        kind="rows", low=1, high=1_000_000,
        because="Each row through the index costs several waits in a row; the whole table comes in long reads, many"
        " at a time. A handful of rows is all it takes.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="flat",
        says="Through the index, the number of disks makes no difference.",
        left=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE, channels=64),
        right=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE, channels=1),
        left_name="64 disks", right_name="one disk",
        relation="within", tolerance=0.12,
        reasons=(Reason(says="other programs had this machine's processor meanwhile; close them and run again"),),
    ),
    Claim(
        id="moved",
        says="With the setting moved to 100 there is no step at 26: one row more costs one row more.",
        left=lambda bench: bench.measured.seconds(rows_per_lookup=AFTER, step_rows=100),
        right=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE),
        left_name="26 rows", right_name="25 rows",
        relation="within", tolerance=0.2,
        reasons=(Reason(says="other programs had this machine's processor meanwhile; close them and run again"),),
    ),
    Claim(
        id="order_of_keys",
        says="In which order the keys stand in the query makes no difference: DuckDB puts them in order itself.",
        left=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE, asked=UNSORTED),
        right=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE),
        left_name="in no order", right_name="in order",
        relation="within", tolerance=0.12,
        reasons=(Reason(says="other programs had this machine's processor meanwhile; close them and run again"),),
    ),
    Claim(
        id="order_of_rows",
        says="In which order the rows lie in the table does: shuffled, no row group can be ruled out.",
        left=lambda bench: bench.measured.seconds(**MANY),
        right=lambda bench: bench.measured.seconds(**MANY, table_order=SHUFFLED),
        left_name="in order of the key", right_name="shuffled",
        relation="faster than", factor=1.3,
        reasons=(
            Reason(
                says="so many disks answer at once that even all row groups are soon read",
                when=lambda left, right, bench: bench.base["channels"] > 16,
            ),
            Reason(says="the table is so small that the twenty-six rows hit most of its row groups"),
        ),
    ),
    Claim(
        id="model_holds",
        says="The model foretells both sides of the step.",
        left=lambda bench: (
            bench.measured.seconds(rows_per_lookup=BEFORE) / bench.measured.seconds(rows_per_lookup=AFTER)
        ),
        right=lambda bench: (
            bench.model.seconds(rows_per_lookup=BEFORE) / bench.model.seconds(rows_per_lookup=AFTER)
        ),
        left_name="measured", right_name="modeled",
        relation="within", tolerance=0.15, kind="times",
        reasons=(Reason(says="the engine was weighed while this machine was busy: python -m readahead calibrate"),),
    ),
    Claim(
        id="both_sides",
        says="With half as many rows as the break-even, the index wins here.",
        left=lambda bench: index_s(bench.measured, max(1, break_even(bench) // 2)),
        right=lambda bench: scan_s(bench.measured),
        left_name="half the break-even, by index", right_name="the whole table",
        relation="at most", factor=1.0,
        reasons=(
            Reason(
                says="on this device even a single row through the index takes longer than the whole small table",
                when=lambda left, right, bench: break_even(bench) < 3,
            ),
            Reason(says="the engine was weighed while this machine was busy: python -m readahead calibrate"),
        ),
    ),
)  # fmt: skip

__all__ = ["CLAIMS", "EXERCISES", "PREDICTIONS"]
