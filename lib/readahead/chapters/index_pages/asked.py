"""What is asked about reading an index: which reads have to wait for one another, and what that costs."""

from __future__ import annotations

from readahead.chapters.index_pages.asked_chains import EXERCISES
from readahead.chapters.index_pages.chapter import give_or_take
from readahead.chapters.index_pages.laws import DETAILED, MAP
from readahead.chapters.index_pages.sampling import IN_ORDER, NATIVE, SHUFFLED, TABLE, TABLESAMPLE
from readahead.chapters.index_pages.workload import links, table
from readahead.experiments.claim import Claim, Reason
from readahead.measure.value import exactly
from readahead.questions.prediction import Prediction
from readahead.units import KiB

__all__ = ["CLAIMS", "EXERCISES", "PREDICTIONS"]

PREDICTIONS = (
    Prediction(
        id="upper",
        question="A million leaf pages, entries of 13 bytes, 8,096 bytes of room on a page. How many pages has the"
        " level above the leaves?",
        kind="count", low=10, high=1e6,
        because="622 entries fit on a page, so there are 622 times fewer pages. Above them there are three, and one.",
    ),
    Prediction(
        id="all_leaves",
        question="One way reads the pages above the leaves and nothing else; the other reads those and all leaves. How"
        " many times longer does the second take?",
        kind="times", low=1, high=1000,
        because="It reads some two hundred times as many pages, but pays less for each: it need not wait for one"
        " page to learn where the next one is, and it uses every page that a read brings.",
    ),
    Prediction(
        id="behind",
        question="63,012 pages in 282 s, and the disk delivered 14.5 MB/s all the while. How many KiB did it deliver"
        " for each page?",
        kind="bytes", low=1 * KiB, high=1024 * KiB, word="KiB",
        because="Eight pages for each one that was wanted. The other half of the clue stands in another author's"
        " article: with an empty cache the same database answers the wish for one page of 8 KB with a read of 64 KB"
        " (Joe Chang, IO Cost Structure). Neither of the two says why the counters here look as they do; together"
        " they do.",
    ),
    Prediction(
        id="eighth",
        question="The same chain on the same device, but with 8 KB read for each page instead of 64 KB. How many times"
        " faster?",
        kind="times", low=0.5, high=20,
        because="Seven eighths of the bytes are gone, but not of the time: of each read only the transfer gets shorter,"
        " and the wait for the first byte is the larger part of what is left.",
    ),
    Prediction(
        id="deep",
        question="The chain again, with a queue depth of 128 instead of 1. How many times faster?",
        kind="times", low=0.2, high=200,
        because="Not at all. Whoever may have 128 reads under way still knows only one address.",
    ),
    Prediction(
        id="map",
        question="Now the very same pages, by the map in front of the file, which lists them all. How many times faster"
        " than by their links?",
        kind="times", low=0.5, high=200,
        because="The waits happen at the same time. What is left is the time in which the bytes pass, one after the"
        " other over one link.",
    ),
    Prediction(
        id="sampled",
        question="SAMPLED follows the links and then reads one leaf page in a hundred. The links took 282 s, everything"
        " took 3,700 s. How many seconds did SAMPLED take?",
        kind="s", low=20, high=20000, word="s",
        because="One per cent of the leaves took 132 s on top of the links: about four per cent of the time of all"
        " leaves. A page picked here and there costs four times its share of a full scan, though less than a quarter of"
        " a linked one: the addresses of a sample are known beforehand.",
    ),
    Prediction(
        id="sample_parquet",
        question="DuckDB takes a TABLESAMPLE SYSTEM of 10 % from a Parquet file. What share of the whole table's time?",
        kind="1", low=0.005, high=10, word="%",
        because="All of it. DuckDB draws the sample from what it has read: every row group is fetched, and nine tenths"
        " of the vectors are dropped afterwards.",
    ),
    Prediction(
        id="sample_native",
        question="The same 10 % from DuckDB's own format, where blocks that hold no sampled row are never read. How"
        " many times as long as all rows?",
        kind="times", low=0.02, high=50,
        because="Fewer bytes, and more time. The scan asks ahead for all blocks; the sample goes from one drawn vector"
        " to the next and reads a block only when it stands before it. It has made a chain of a list.",
    ),
    Prediction(
        id="wrong",
        question="A sample takes one row group in ten of a table that lies in order of time. From it the share of"
        " comments from the first half of the time is estimated (really 50 %). How many percentage points, give or"
        " take, is the estimate good for?",
        kind="1", low=0.0005, high=1, word="%",
        because="A row group is all early or all late. Thousands of rows were read, but only as many facts as row"
            " groups.",
    ),
    Prediction(
        id="wrong_shuffled",
        question="The same number of row groups from the same table, shuffled. Give or take how many percentage points"
        " now?",
        kind="1", low=0.0002, high=1, word="%",
        because="Now each row group is a fair draw of the whole table, and every row counts.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="deaf",
        says="A chain does not notice the queue depth.",
        left=lambda bench: bench.measured.seconds(**links(8 * KiB, queue_depth=128)),
        right=lambda bench: bench.measured.seconds(**links(8 * KiB, queue_depth=1)),
        left_name="depth 128", right_name="depth 1",
        relation="within", tolerance=0.25,
        reasons=(Reason(says="something else ran on this machine during one of the two; measure again"),),
    ),
    Claim(
        id="map_pays",
        says="By the map the same pages are there several times sooner.",
        left=lambda bench: bench.measured.seconds(**links(8 * KiB, way=MAP)),
        right=lambda bench: bench.measured.seconds(**links(8 * KiB)),
        left_name="by the map", right_name="by the links",
        relation="faster than", factor=4.0,
        reasons=(
            Reason(
                says="with so few reads under way there is little to overlap",
                when=lambda left, right, bench: bench.base["queue_depth"] < 6,
            ),
            Reason(says="the device's link was set so narrow that the bytes themselves are most of the time"),
        ),
    ),
    Claim(
        id="same_reads",
        says="On Parquet, TABLESAMPLE reads every byte that all rows need.",
        left=lambda bench: exactly(bench.sample(**table(TABLESAMPLE)).bytes_read),
        right=lambda bench: exactly(bench.sample(**table(TABLE)).bytes_read),
        left_name="sample", right_name="all rows",
        relation="within", tolerance=0.001, kind="bytes",
        reasons=(Reason(says="this version of DuckDB has learned to sample before it reads"),),
    ),
    Claim(
        id="longer",
        says="On DuckDB's own format a sample reads fewer bytes than all rows and still takes longer.",
        left=lambda bench: bench.measured.seconds(**table(TABLESAMPLE, stored=NATIVE)),
        right=lambda bench: bench.measured.seconds(**table(TABLE, stored=NATIVE)),
        left_name="sample", right_name="all rows",
        relation="at least", factor=1.5,
        reasons=(
            Reason(says="this version of DuckDB has learned to read ahead for a sample"),
        ),
    ),
    Claim(
        id="model_holds",
        says="The model foretells links and leaves together.",
        left=lambda bench: bench.measured.seconds(way=DETAILED),
        right=lambda bench: bench.model.seconds(way=DETAILED),
        left_name="measured", right_name="modeled",
        relation="within", tolerance=0.1,
        reasons=(Reason(says="this machine is slow to wake readers, or busy; close other programs"),),
    ),
    Claim(
        id="stirred",
        says="The sample of the table in order is far less sure than that of the shuffled one.",
        left=lambda bench: exactly(give_or_take(bench.measured, IN_ORDER)),
        right=lambda bench: exactly(give_or_take(bench.measured, SHUFFLED)),
        left_name="in order", right_name="shuffled",
        relation="at least", factor=5.0, kind="1",
        reasons=(Reason(says="the sample was set so large that hardly anything is left to guess"),),
    ),
)  # fmt: skip
