"""What is asked about reading an index: which reads have to wait for one another, and what that costs."""

from __future__ import annotations

from readahead.exercises.answers import Amount, Choice, Several
from readahead.exercises.claim import Claim, Reason
from readahead.exercises.exercise import Exercise, Misconception
from readahead.exercises.prediction import Prediction
from readahead.experiments.index_pages import give_or_take
from readahead.experiments.inspected import printed
from readahead.experiments.inspecting import links, table
from readahead.experiments.sampling import IN_ORDER, NATIVE, SHUFFLED, TABLE, TABLESAMPLE
from readahead.measure.value import exactly
from readahead.models.index_pages import DETAILED, MAP
from readahead.units import KiB

PREDICTIONS = (
    Prediction(
        id="upper",
        question="A million leaf pages, entries of 13 bytes, 8,096 bytes of room on a page. How many pages has the level"
        " above the leaves?",
        kind="count", low=10, high=1e6,
        because="622 entries fit on a page, so there are 622 times fewer pages. Above them there are three, and one.",
    ),
    Prediction(
        id="thirteen",
        question="One way reads the pages above the leaves and nothing else; the other reads those and all leaves. How"
        " many times longer does the second take?",
        kind="times", low=1, high=1000,
        because="It reads some two hundred times as many pages, but pays less for each: it need not wait for one page to"
        " learn where the next one is, and it uses every page that a read brings.",
    ),
    Prediction(
        id="behind",
        question="63,012 pages in 282 s, and the disk delivered 14.5 MB/s all the while. How many KB did it deliver for"
        " each page?",
        kind="bytes", low=1 * KiB, high=1024 * KiB, word="KB",
        because="Eight pages for each one that was wanted. The other half of the clue stands in another author's article:"
        " with an empty cache the same database answers the wish for one page of 8 KB with a read of 64 KB (Joe Chang, IO"
        " Cost Structure). Neither of the two says why the counters here look as they do; together they do.",
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
        because="The waits happen at the same time. What is left is the time in which the bytes pass, one after the other"
        " over one link.",
    ),
    Prediction(
        id="sampled",
        question="SAMPLED follows the links and then reads one leaf page in a hundred. The links took 282 s, everything"
        " took 3,700 s. How many seconds did SAMPLED take?",
        kind="s", low=20, high=20000, word="s",
        because="One per cent of the leaves took 132 s on top of the links: about four per cent of the time of all leaves."
        " A page picked here and there costs as much as a whole read, though not as much as a linked one: the addresses"
        " of a sample are known beforehand.",
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
        question="The same 10 % from DuckDB's own format, where blocks that hold no sampled row are never read. How many"
        " times as long as all rows?",
        kind="times", low=0.02, high=50,
        because="Fewer bytes, and more time. The scan asks ahead for all blocks; the sample goes from one drawn vector"
        " to the next and reads a block only when it stands before it. It has made a chain of a list.",
    ),
    Prediction(
        id="wrong",
        question="One row group in ten of a table in order of time. By how many percentage points, give or take, does the"
        " sample know the share of comments from the first half of the time (really 50 %)?",
        kind="1", low=0.0005, high=1, word="%",
        because="A row group is all early or all late. Thousands of rows were read, but only as many facts as row groups.",
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
        relation="within", tolerance=0.1,
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
            Reason(
                says="with one or two reads under way the scan is a chain as well",
                when=lambda left, right, bench: bench.base["queue_depth"] < 4,
            ),
            Reason(says="this version of DuckDB has learned to read ahead for a sample"),
        ),
    ),
    Claim(
        id="model_holds",
        says="The model foretells links and leaves together.",
        left=lambda bench: bench.measured.seconds(way=DETAILED),
        right=lambda bench: bench.model.seconds(way=DETAILED),
        left_name="measured", right_name="modeled",
        relation="within", tolerance=0.05,
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

_LEAVES, _UPPER = printed("leaf_pages"), printed("upper_pages")
_ENTRIES = ("the entry of 812 bytes", "the entry of 13 bytes", "9 entries on a page", "622 entries on a page")
_FACTORS = (
    "a read's eight pages all used, eight times",
    "hundreds of reads under way, hundreds of times",
    "DETAILED's faster code",
    "smaller pages",
)
_CHAINS = (
    "for each of 500 orders, a query for its customer",
    "the pages of a listing, each with a token for the next",
    "1,000 objects whose names are in a manifest",
    "the blocks of a linked list on disk",
    "the row groups of a Parquet file whose footer was read",
)


def _waits_s() -> float:
    """Return Little's wait of a read in a queue 500 deep at the pace of the leaf scan in reads of 64 KB."""
    seconds = printed("elapsed_s.detailed") - printed("elapsed_s.limited")
    return 500 / (_LEAVES / 8 / seconds)


EXERCISES = (
    Exercise(
        id="entries",
        question="A key of 800 bytes makes an entry of 812 bytes, Randal writes, of which 9 fit on a page; a bigint, which"
        " has 8 bytes, one of 13, of which 622 fit. Which of the four does not go with the others?",
        shape=Choice(options=_ENTRIES),
        answer=_ENTRIES[1],
        equivalents=("b", "THE ENTRY OF 13 BYTES"),
        misconceptions=(
            Misconception(
                name="few entries must be the error", example=_ENTRIES[2],
                hint="8,096 / 812, rounded down. Divide again.",
            ),
            Misconception(
                name="many entries must be the error", example=_ENTRIES[3],
                hint="8,096 / 13 is 622. The division is right; look at what was divided by.",
            ),
        ),
        hints=(
            "What stands in an entry beside the key?", "Subtract the key from each entry.", "12 bytes, and 5 bytes.",
        ),
        solution="Beside the key an entry holds a page number of 6 bytes, one of its own and two for its slot, and 3 more"
        " where the key may be null (Microsoft, Estimate the Size of a Clustered Index). 812 = 800 + 12. A bigint would"
        " take 17, of which 476 fit; 13 is the entry of an int. His lesson stands: a narrow key makes a low tree.",
    ),
    Exercise(
        id="full",
        question="At most 540 leaf pages fit on a page above them; 63,012 such pages list 13,421,760 leaves. How full are"
        " they?",
        shape=Amount(kind="1", tolerance=0.03, word="%"),
        answer=_LEAVES / _UPPER / printed("fanout.most"),
        equivalents=("39.4 %", "39", "39.5 %"),
        misconceptions=(
            Misconception(
                name="pages are full", example="100 %",
                hint="Full pages would need 24,855 of them. How many are there?", matches=lambda given: given > 0.9,
            ),
            Misconception(
                name="the empty part", example="60.6 %", hint="That much is empty.",
                matches=lambda given: abs(given - 0.606) < 0.02,
            ),
        ),
        hints=("How many leaves are listed on a page, on the average?", "213.", "213 of 540."),
        solution="213 of 540, about 39 %: sixteen threads filled the index at once, and their page splits left the pages"
        " above the leaves less than half full. Rebuilt, LIMITED would read 2.5 times less.",
    ),
    Exercise(
        id="which_factor",
        question="LIMITED paid 4.5 ms for each page it used, DETAILED a quarter of a millisecond for each of its leaves:"
        " nearly 18 times less. What is the largest part of that?",
        shape=Choice(options=_FACTORS),
        answer=_FACTORS[0],
        equivalents=("a", "a read's eight pages all used"),
        misconceptions=(
            Misconception(
                name="depth multiplies speed", example=_FACTORS[1],
                hint="In 3,418 s it made some 1.68 million reads of 64 KB: how long for each? Against 4.5 ms?",
            ),
            Misconception(
                name="it is the program", example=_FACTORS[2],
                hint="Both spend their time waiting for the disk: 3,700 s for 100 GB is no work for a processor.",
            ),
        ),
        hints=(
            "Count reads, not pages.", "How many pages of each read does either of them use?",
            "8 times from that; 18 / 8 is left for the depth.",
        ),
        solution="A read of 64 KB brings eight pages. LIMITED uses one, DETAILED all eight: a factor of 8. The queue, hundreds"
        " deep, made reads only 2.2 times cheaper: 4.5 ms alone, 2 ms in company, for each of them had to move 64 KB. Randal"
        " credits read-ahead for all of it; most is that nothing it fetched was thrown away.",
    ),
    Exercise(
        id="seconds",
        question="DETAILED kept about 500 reads of 64 KB in the queue and read 13,421,760 pages of 8 KB in 3,418 s. How long"
        " did a read wait?",
        shape=Amount(kind="s", tolerance=0.1, word="s"),
        answer=lambda bench: _waits_s(),
        equivalents=lambda bench: ("1 s", "1020 ms", f"{_waits_s():.3g} s"),
        misconceptions=(
            Misconception(
                name="latency is the device's", example="4 ms",
                hint="4 ms is what a read takes alone. Here 500 stand in line.",
                matches=lambda given: given < 0.01,
            ),
            Misconception(
                name="a read for each page", example="130 ms",
                hint="How many pages does a read of 64 KB bring?", matches=lambda given: 0.1 < given < 0.16,
            ),
        ),
        hints=(
            "Little's law: how many are there, and how many leave in a second?",
            "13,421,760 / 8 reads in 3,418 s are 491 a second.", "500 / 491.",
        ),
        solution="One second. Randal saw reads that took whole seconds and a queue of multiple hundreds, and was not"
        " surprised; Little's law says the same, and only if each read brought 64 KB.",
    ),
    Exercise(
        id="small",
        question="An index of 8,000 leaf pages. Which way does SAMPLED read it?",
        shape=Choice(options=("80 of its leaves", "all of its leaves", "none of its leaves")),
        answer="all of its leaves",
        equivalents=("b", "all"),
        misconceptions=(
            Misconception(
                name="a sample of 1 % is always 1 %", example="80 of its leaves",
                hint="80 pages say little of the other 7,920. Below which size does it not sample?",
            ),
            Misconception(
                name="SAMPLED is LIMITED", example="none of its leaves",
                hint="The links alone say how the leaves lie, and nothing of how full they are.",
            ),
        ),
        hints=(
            "Read again what Randal says of SAMPLED.", "There is a threshold.", "10,000 pages.",
        ),
        solution="Below 10,000 leaf pages SAMPLED reads all of them. What a sample knows depends on how many were drawn, not"
        " on their share; and so few pages are soon read anyway.",
    ),
    Exercise(
        id="dependent",
        question="Which of these are chains, where each answer is needed to ask the next question?",
        shape=Several(options=_CHAINS),
        answer=(_CHAINS[1], _CHAINS[3]),
        equivalents=("b, d", ["d", "b"], "b and d"),
        misconceptions=(
            Misconception(
                name="slow is dependent", example="a, b, d",
                hint="The orders name their customers: all 500 are known before the first query. It is slow because it is"
                " written as a chain; nothing makes it one.",
            ),
            Misconception(
                name="many is dependent", example="b, c, d, e",
                hint="A manifest and a footer are maps: after the one read every address is known.",
            ),
        ),
        hints=(
            "Where does the next address come from?", "If from what you already have, it is a list.",
            "A token and a link come with the answer before.",
        ),
        solution="The listing and the linked blocks cannot be asked ahead; for them only a shorter wait or another structure"
        " helps. The queries for customers are a list that somebody wrote as a chain: one join, or all at once, and the"
        " waits happen together. Ask of every slow operation where its next address comes from.",
    ),
)  # fmt: skip
