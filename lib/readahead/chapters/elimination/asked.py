"""What is asked about reads that never happen: what a label knows, what an order is worth, and who carries the filter
to the file."""

from __future__ import annotations

import math

from readahead.chapters.elimination.chapter import FEW, MANY
from readahead.chapters.elimination.star_queries import BY_DATE, BY_YEAR, FLIGHTS, GENERATED
from readahead.experiments.claim import Claim, Reason
from readahead.measure.value import exactly
from readahead.questions.answers import Amount, Choice, Order, Several
from readahead.questions.exercise import Exercise, Misconception
from readahead.questions.prediction import Prediction

PREDICTIONS = (
    Prediction(
        id="unsorted", kind="1", low=0.001, high=1.0, word="%",
        question="Q1.2 asks for one month of nearly seven years: about one row in eighty. The rows lie in the"
        " generator's order. What share of the row groups does DuckDB read?",
        because="Each row group holds thousands of rows, and a row of that month among them. What nobody can rule"
        " out has to be read.",
    ),
    Prediction(
        id="sorted", kind="1", low=0.001, high=1.0, word="%",
        question="The same rows, sorted by date. What share of the row groups now?",
        because="The share of the rows, and one group more, for a month hardly ever begins where a group begins.",
    ),
    Prediction(
        id="disorder", kind="1", low=0.005, high=1.0, word="%",
        question="Now rows may come late, by up to a tenth of the table. What share of the row groups?",
        because="The month is spread over a tenth of the table, and each group on the way holds some of it. The"
        " disorder is far wider than the month, and decides alone.",
    ),
    Prediction(
        id="gain", kind="count", low=1, high=100,
        question="Loaded year by year: for how many of the thirteen queries does DuckDB read fewer row groups?",
        because="Nine ask for certain years. But DuckDB learns the dates from a join, and a join tells the scan"
        " only what it has built a table of. Where it expects fewer order lines than dates, it builds on the lines,"
        " and nobody tells the scan.",
    ),
    Prediction(
        id="year", kind="s", low=20, high=2_000, word="s",
        question="Warm and unsorted, the thirteen took 530.02 s. Loaded by year, how long?",
        because="The model takes all queries for equally long and weighs each by the share of rows in its years."
        " One that gains most, Q1.1, was longer than the mean. And DuckDB reads fewer rows only where its plan"
        " carries the dates.",
    ),
    Prediction(
        id="day", kind="1", low=0.05, high=1.0, word="%",
        question="Sorted by day, how long do all thirteen take, as a share of their time when loaded by year?",
        because="A week instead of a year is a great gain for one query. But what is long now are those that ask"
        " for all years, and no order of dates helps them.",
    ),
    Prediction(
        id="quantity", kind="1", low=0.005, high=1.0, word="%",
        question="Q1.2 also wants quantities from 26 to 35, out of 1 to 50. Rows sorted by quantity, not by date:"
        " what share of the row groups?",
        because="A fifth, for the quantity. Within each quantity the dates lie as they like, and the month rules"
        " out nothing any more.",
    ),
    Prediction(
        id="small_groups", kind="times", low=0.05, high=20,
        question="Sorted by date, one month. Row groups of 2,048 rows against 16,384: how many times the bytes?",
        because="The labels have to be read before they can rule anything out, all of them, and small groups have"
        " eight times as many. The data shrank; the footer grew.",
    ),
    Prediction(
        id="bloom", kind="times", low=0.1, high=20,
        question="Q3.1 asks for the suppliers of a region, Q3.2 for those of one nation, a fifth of them. Both read"
        " the same columns of the same row groups, in no order, in the tiny table. How many times as long does Q3.2"
        " take?",
        because="Up to fifty keys DuckDB hands to the scan one by one, and for those it asks each row group's Bloom"
        " filter, which may say that none of them is there. The filter lies elsewhere in the file, and the hand"
        " that passes the reads out waits for it: one latency for each row group, one after the other, and all of"
        " them say perhaps.",
    ),
    Prediction(
        id="folders", kind="times", low=0.2, high=20,
        question="One folder a year. Q1.1 finds its year by a join, as the benchmark writes it. Were the folder's"
        " year named in the query as well, there would be fewer reads. How many times the reads does the join take?",
        because="Named, six files are never opened. By the join, DuckDB opens all seven and reads seven footers, to"
        " find that six have nothing.",
    ),
    Prediction(
        id="price", kind="times", low=0.5, high=30,
        question="Loading: how many times as long does it take to write the rows sorted by date as to write them as"
        " they lie?",
        because="To sort, all rows must be there before the first is written. At this size they fit in memory.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="fewer",
        says="Sorted by date, a month is faster than in the generator's order.",
        left=lambda bench: bench.measured.seconds(flight="Q1.2", load=BY_DATE),
        right=lambda bench: bench.measured.seconds(flight="Q1.2", load=GENERATED),
        left_name="by date", right_name="generator's order", relation="faster than", factor=1.5,
        reasons=(Reason(says="row groups are so large here, or the device so fast, that opening the file is"
        " most of it"),),
    ),
    Claim(
        id="model_holds",
        says="The model foretells a year of rows, loaded by year.",
        left=lambda bench: bench.measured.seconds(flight="Q1.1", load=BY_YEAR),
        right=lambda bench: bench.model.seconds(flight="Q1.1", load=BY_YEAR),
        left_name="measured", right_name="modeled", relation="within", tolerance=0.3,
        reasons=(Reason(says="the engine was weighed while this machine was busy: python -m readahead calibrate"),),
    ),
    Claim(
        id="asked_in_vain",
        says="Where few suppliers are wanted, one read more is made for each row group, and not one row group less.",
        left=lambda bench: exactly(float(len(bench.sample(**FEW).reads) - len(bench.sample(**MANY).reads))),
        right=lambda bench: exactly(float(bench.sample(**FEW).row_groups_scanned)),
        kind="count",
        left_name="more reads", right_name="row groups", relation="within", tolerance=0.05,
        reasons=(Reason(says="the row groups are so small that some have none of these suppliers: the filter then"
        " earns its read"),),
    ),
    Claim(
        id="same_answer",
        says="Whatever the order, the same rows are added up: no order reads fewer than those it needs.",
        left=lambda bench: exactly(float(str(bench.sample(flight="Q1.2", load=BY_DATE).answer[0]))),
        right=lambda bench: exactly(float(str(bench.sample(flight="Q1.2", load=GENERATED).answer[0]))),
        kind="",
        left_name="sum, by date", right_name="sum, generator's order", relation="within", tolerance=1e-9,
        reasons=(Reason(says="the two files do not hold the same rows: delete them, and they are built again"),),
    ),
)  # fmt: skip

_WHY = (
    "it has no index on the date",
    "each row group holds some row of the week",
    "its row groups hold 8,192 rows and not 4,096",
    "the filter is too narrow to be used",
)
_GAIN = ("Q1.1: a year", "Q2.1: all years", "Q3.4: a month", "Q4.2: two years")
_CURE = (
    "add an index on the date",
    "name the range of dates on the fact table itself",
    "make the row groups smaller",
    "read ahead further",
)
_ORDERS = ("by date", "by year", "by quantity", "in random order")

EXERCISES = (
    Exercise(
        id="why",
        question="A query asks for one week of seven years and reads the whole file, whose row groups of 8,192 rows"
        " lie in random order. Why?",
        shape=Choice(options=_WHY), answer=_WHY[1], equivalents=("b", _WHY[1].upper()),
        misconceptions=(
            Misconception(
                name="an index is needed", example="a",
                hint="The same file without an index, sorted, reads one or two row groups. What is missing is order.",
            ),
            Misconception(
                name="smaller always skips better", example="c",
                hint="The chance that none of n rows is of the week is (1 − s)^n. How small would n have to be?",
            ),
            Misconception(
                name="selective filters are not used", example="d",
                hint="It is used on every row. But before that the row has to be there.",
            ),
        ),
        hints=("How many rows of that week does a row group expect?", "8,192 × 7 / 2,406.", "About 24 in each."),
        solution="About 24 rows of the week are in each group. A label that says 1992 to 1998 rules out no week,"
        " and the group does hold what is asked for.",
    ),
    Exercise(
        id="half",
        question="Rows in random order, a week wanted: 7 of 2,406 days. With how many rows in a row group has every"
        " second one no row of that week?",
        shape=Amount(kind="rows", tolerance=0.1, word="rows"),
        answer=lambda _: math.log(0.5) / math.log(1 - FLIGHTS["Q1.3"].share(BY_DATE)),
        equivalents=("238", "238 rows"),
        misconceptions=(
            Misconception(
                name="one row of the week each", example="344",
                hint="That is a group with one such row on average. Half of the groups should have none.",
            ),
            Misconception(
                name="half of that", example="172",
                hint="Chances multiply from row to row; they do not add up.",
            ),
        ),
        hints=("The chance that n rows all miss is (1 − s)^n.", "Set it to one half.", "n = ln 0.5 / ln(1 − 7/2406)."),
        solution="238 rows, a tenth of the smallest row group DuckDB writes. And even then the label, which knows"
        " only the smallest and largest date, would say nothing.",
    ),
    Exercise(
        id="groups",
        question="A table of 1,000 row groups was loaded in order of date, but rows came late by up to 2 % of the"
        " table. A query wants 3 % of the days. About how many row groups are read?",
        shape=Amount(kind="count", tolerance=0.03),
        answer=51.0, equivalents=("51", "51.0"),
        misconceptions=(
            Misconception(
                name="only what is asked for", example="30",
                hint="Rows that came late lie outside of those groups, and their groups must be read too.",
            ),
            Misconception(
                name="disorder spoils everything", example="1000",
                hint="A row is at most 2 % of the table away from its place. So is its row group.",
            ),
        ),
        hints=("How wide is the stretch in which a wanted row can lie?", "3 % + 2 %.", "m(s + w) + 1."),
        solution="1,000 × (0.03 + 0.02) + 1 = 51.",
    ),
    Exercise(
        id="gain",
        question="A fact table is loaded year by year, each year in no order. Which of these queries read less than"
        " before?",
        shape=Several(options=_GAIN), answer=(_GAIN[0], _GAIN[2], _GAIN[3]), equivalents=("a, c, d", ["d", "c", "a"]),
        misconceptions=(
            Misconception(
                name="all queries gain", example="a, b, c, d",
                hint="What does the order of the dates tell a query that takes all dates?",
            ),
            Misconception(
                name="a month needs sorting by month", example="a, d",
                hint="The month lies within a year. What about the six others?",
            ),
        ),
        hints=("Which of them can name a year that it does not need?", "A month names six.", "Only one names none."),
        solution="All but Q2.1. The month reads its whole year: not the best, and still six years less.",
    ),
    Exercise(
        id="carried",
        question="A query joins order lines with a table of dates and filters that table by year. The plan builds"
        " its hash table from the order lines, and all row groups are read. What helps?",
        shape=Choice(options=_CURE), answer=_CURE[1], equivalents=("b",),
        misconceptions=(
            Misconception(
                name="an index is needed", example="a",
                hint="The labels could rule out most row groups already. Nobody has told the scan which dates count.",
            ),
            Misconception(
                name="smaller always skips better", example="c",
                hint="None is skipped now, whatever its size.",
            ),
        ),
        hints=("Which side of a join is known first?", "The built side is told to the scan of the other.",
               "Here the dates are scanned and the lines are built. Say the dates where the lines are read."),
        solution="WHERE lo_orderdate BETWEEN 19970101 AND 19981231 says the same twice, once for the reader and"
        " once for the scan. It costs nothing.",
    ),
    Exercise(
        id="filter",
        question="A scan of 500 row groups keeps 50 reads in flight, each of 10 ms. A Bloom filter is put before"
        " each row group, read by the one hand that passes out the reads. It rules out no row group. About how long"
        " does the device work now?",
        shape=Amount(kind="s", tolerance=0.1, word="s"), answer=5.0, equivalents=("5 s", "5000 ms", "5.01 s"),
        misconceptions=(
            Misconception(
                name="twice the reads, twice the time", example="0.2 s",
                hint="So it would be if 50 filters were in flight at once. How many are?",
            ),
            Misconception(
                name="a small read is free", example="0.1 s",
                hint="That is the scan alone: 500 / 50 × 10 ms. A filter is small, but it waits like any read.",
            ),
        ),
        hints=("How many filters are under way at a time?", "One, and the reads go out behind them.",
               "500 × 10 ms."),
        solution="500 filters, one after the other, 10 ms each: 5 s, where the scan alone took 0.1 s. The reads"
        " hide behind the filters now. What is asked one by one is a chain, as in an index that is walked link by"
        " link.",
    ),
    Exercise(
        id="order",
        question="Your queries: nine in ten ask for one day, one in ten for one quantity out of fifty. Put the"
        " orders of loading in line, from the fewest row groups read to the most.",
        shape=Order(options=_ORDERS), answer=_ORDERS, equivalents=("a, b, c, d",),
        misconceptions=(
            Misconception(
                name="the most selective column first", example="c, a, b, d",
                hint="One query in ten gains by it. The nine others read everything.",
            ),
            Misconception(
                name="coarse order is no order", example="a, c, b, d",
                hint="By year nine in ten queries read a seventh. By quantity nine in ten read all.",
            ),
        ),
        hints=("Weigh what each order leaves by how often it is asked.", "By year: 0.9 × 1/7 + 0.1 × 1.",
               "By quantity: 0.9 × 1 + 0.1 × 1/50."),
        solution="About 0.1, 0.23, 0.9 and 1. There is one order to give away: give it to the filter that pays most.",
    ),
)  # fmt: skip
