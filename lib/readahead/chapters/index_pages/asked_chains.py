"""The questions of the chapter on reading an index. They all ask: where does the next address come from."""

from __future__ import annotations

from readahead.chapters.index_pages.printed import printed
from readahead.questions.answers import Amount, Choice, Several
from readahead.questions.exercise import Exercise, Misconception

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
        question="A key of 800 bytes makes an entry of 812 bytes, Randal writes, of which 9 fit on a page; a bigint,"
        " which has 8 bytes, one of 13, of which 622 fit. Which of the four does not go with the others?",
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
        solution="Beside the key an entry holds a page number of 6 bytes, one of its own and two for its slot, and 3"
        " more where the key may be null (Microsoft, Estimate the Size of a Clustered Index). 812 = 800 + 12. A"
        " bigint would take 17, of which 476 fit; 13 is the entry of an int. His lesson stands: a narrow key makes a"
        " low tree.",
    ),
    Exercise(
        id="full",
        question="At most 540 leaf pages fit on a page above them; 63,012 such pages list 13,421,760 leaves. How"
        " full are they?",
        shape=Amount(kind="1", tolerance=0.03, word="%"),
        answer=_LEAVES / _UPPER / printed("fanout.most"),
        equivalents=("39.4 %", "39", "39.5 %"),
        misconceptions=(
            Misconception(
                name="pages are full", example="100 %",
                hint="Full pages would need 24,856 of them. How many are there?", matches=lambda given: given > 0.9,
            ),
            Misconception(
                name="the empty part", example="60.6 %", hint="That much is empty.",
                matches=lambda given: abs(given - 0.606) < 0.02,
            ),
        ),
        hints=("How many leaves are listed on a page, on the average?", "213.", "213 of 540."),
        solution="213 of 540, about 39 %: sixteen threads filled the index at once, and their page splits left the"
        " pages above the leaves less than half full. Rebuilt, LIMITED would read 2.5 times less.",
    ),
    Exercise(
        id="which_factor",
        question="LIMITED paid 4.5 ms for each page it used, DETAILED a quarter of a millisecond for each of its"
        " leaves: nearly 18 times less. Suppose that both read 64 KB at a time, as Chang saw SQL Server do. What is"
        " the largest part of that?",
        shape=Choice(options=_FACTORS),
        answer=_FACTORS[0],
        equivalents=("a", "a read's eight pages all used"),
        misconceptions=(
            Misconception(
                name="depth multiplies speed", example=_FACTORS[1],
                hint="With reads of 64 KB it made some 1.68 million of them in 3,418 s: how long for each? Against 4.5"
                " ms?",
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
        solution="Randal prints no size of a read. A read of 64 KB brings eight pages. LIMITED uses one, DETAILED all"
        " eight: a factor of 8. The queue, hundreds deep, made reads only 2.2 times cheaper: 4.5 ms alone, 2 ms in"
        " company, for each of them had to move 64 KB. Randal credits read-ahead for all of it; most is that nothing"
        " it fetched was thrown away.",
    ),
    Exercise(
        id="seconds",
        question="Suppose that DETAILED kept 500 reads of 64 KB in the queue (Randal prints \"multiple hundreds\" and"
        " no size). It read 13,421,760 pages of 8 KB in 3,418 s. How long did a read wait?",
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
        solution="One second; with reads of 512 KB it would be eight. Both are the whole seconds that Randal saw, and"
        " he was not surprised. Single pages would not be: 0.13 s.",
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
        solution="Below 10,000 leaf pages SAMPLED reads all of them. What a sample knows depends on how many were"
        " drawn, not on their share; and so few pages are soon read anyway.",
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
                hint="The orders name their customers: all 500 are known before the first query. It is slow because"
                " it is written as a chain; nothing makes it one.",
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
        solution="The listing and the linked blocks cannot be asked ahead; for them only a shorter wait or another"
        " structure helps. The queries for customers are a list that somebody wrote as a chain: one join, or all at"
        " once, and the waits happen together. Ask of every slow operation where its next address comes from.",
    ),
)  # fmt: skip
