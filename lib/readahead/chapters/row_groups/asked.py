"""Questions about crates: how many there are, what cuts them, when they are too small and when too large, and what a
counter has counted that claims more than the drive can give.
"""

from __future__ import annotations

from readahead.chapters.row_groups.asked_columnstore import IN_PRINT
from readahead.chapters.row_groups.chapter import (
    FAR,
    LARGE_ROWS,
    NEAR,
    SMALL_ROWS,
    against_one_each,
    on,
    one_each,
    packed,
)
from readahead.experiments.claim import Claim, Reason
from readahead.questions.answers import Choice, Order, Several
from readahead.questions.exercise import Exercise, Misconception
from readahead.questions.prediction import Prediction

PREDICTIONS = (
    Prediction(
        id="groups", kind="count", low=2, high=5_000,
        question="36,585,420 rows, at most 1,048,576 of them in a row group: how many row groups?",
        because="The row count over 2^20, rounded up: 34 full groups and one that is nine tenths full.",
    ),
    Prediction(
        id="text", kind="times", low=1, high=300,
        question="One text column is added. How many times as many row groups does the same table have now?",
        because=(
            "A group also closes when a dictionary is full. Each row brings about 160 bytes of text, and 16 MiB of"
            " dictionary are used up after some 105,000 rows: a tenth of a full group."
        ),
    ),
    Prediction(
        id="dictionary", kind="times", low=0.5, high=50,
        question="TPC-H's order lines, written without compression. How many times as long is the file if no column"
        " may have a dictionary?",
        because="A number of three bits stands for one of seven words. The long columns without repeats, comments and"
        " prices, stay as they are, and they are what keeps the factor small.",
    ),
    Prediction(
        id="near", kind="times", low=0.5, high=50,
        question="On the NVMe drive: how many times longer is a scan with groups of 2,048 rows than one in which every"
        " read in flight gets a single large group?",
        because="A read costs the drive next to nothing, but the engine still hands out and opens every group.",
    ),
    Prediction(
        id="far", kind="times", low=0.5, high=200,
        question="The same two files on the object store: how many times longer is the scan of the small groups?",
        because="Every group is a trip, and a handful of trips at a time is all that the queue depth allows.",
    ),
    Prediction(
        id="moves", kind="times", low=1, high=100_000,
        question="One read in flight, the full table with text, and a drive of which only the latency is moved, from"
        " NVMe to object store. By what factor does the smallest good row group grow?",
        because=(
            "A group is good when its transfer outweighs its trip: latency × bandwidth. The latency grew almost 700"
            " times. The group grows less, because near the drive the engine's own work per group already counts."
        ),
    ),
    Prediction(
        id="too_large", kind="times", low=0.2, high=50,
        question="Still the object store: how many times longer is a scan with the largest row groups than one with"
        " exactly one group for each read in flight?",
        because="One connection carries one group. With fewer groups than reads in flight the other ones idle.",
    ),
    Prediction(
        id="packed", kind="times", low=0.2, high=20,
        question="The table with text, in small groups, on the object store. Without compression the file is about"
        " three times as long as with zstd. How many times as long is its scan?",
        because="Trips decide here, and there are as many of them. Only what is in the largest term is worth saving.",
    ),
    Prediction(
        id="here", kind="times", low=0.5, high=30,
        question="And here? The same two files on your own machine's disk: how many times longer is the scan of the"
        " small groups?",
        because="The kernel reads ahead where reads follow each other, so small groups are not small reads on the"
        " device. What remains is the engine's price for a group, which no device can lower.",
    ),
    Prediction(
        id="counter", kind="bytes_per_s", low=1e6, high=3e10, word="MB/s",
        question="The narrow columnstore was read in 12.9 s, and is about as large as the row store's 86,944 pages of"
        " 8 KiB. How fast did the drive really deliver?",
        because=(
            "The table once, in the printed time. The counter saw each page nearly seven times: what it counted was"
            " not bytes from the drive."
        ),
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="far_hurts_more",
        says="Row groups that are too small cost more on the object store than on the drive at hand.",
        relation="at least", factor=1.3, kind="times",
        left=lambda bench: against_one_each(SMALL_ROWS, FAR)(bench.measured),
        right=lambda bench: against_one_each(SMALL_ROWS, NEAR)(bench.measured),
        left_name="far, small against large groups", right_name="near, small against large groups",
        reasons=(
            Reason(
                says="With so many reads in flight even small groups hide the store's latency.",
                when=lambda left, right, bench: bench.base["queue_depth"] > 16,
            ),
            Reason(says="The engine's own work per group is large here; near the drive it is all there is."),
        ),
    ),
    Claim(
        id="too_large_idles",
        says="One group for each read in flight is faster than a few groups of the largest size.",
        relation="faster than", factor=1.1,
        left=lambda bench: bench.measured.seconds(**on(FAR), row_group_rows=one_each(bench.base)),
        right=lambda bench: bench.measured.seconds(**on(FAR), row_group_rows=LARGE_ROWS),
        left_name="one group each", right_name="largest groups",
        reasons=(
            Reason(
                says="With a queue depth of 1 there is nobody to share with: the largest group is the best.",
                when=lambda left, right, bench: bench.base["queue_depth"] == 1,
            ),
            Reason(says="Decoding takes longer than the trips; the last group's idle connections do not show."),
        ),
    ),
    Claim(
        id="trips_not_bytes",
        says="In small groups on the object store, three times the bytes take hardly longer.",
        relation="within", tolerance=0.5,
        left=lambda bench: packed(bench.measured, "uncompressed"), right=lambda bench: packed(bench.measured, "zstd"),
        left_name="uncompressed", right_name="zstd",
        reasons=(
            Reason(
                says="Unpacking zstd took longer than the trips: the processor was the narrowest place.",
                when=lambda left, right, bench: left.median < right.median,
            ),
            Reason(says="With that many reads in flight the trips are hidden and the bytes begin to count."),
        ),
    ),
)  # fmt: skip

_SIZES = ("2,048 rows", "131,072 rows", "1,048,576 rows")
_TERMS = ("latency of the trips", "transfer of the bytes", "decoding", "the footer")
EXERCISES = (
    *IN_PRINT,
    Exercise(
        id="bottleneck",
        question="Groups of 2,048 rows on the object store, eight reads in flight. Which term is the bottleneck?",
        shape=Choice(options=_TERMS),
        answer="latency of the trips",
        equivalents=("a", "Latency of the trips"),
        misconceptions=(
            Misconception(
                name="compression decides scan speed", example="transfer of the bytes",
                hint="How many bytes has one such group, and how long do they take at the store's bandwidth?",
            ),
            Misconception(
                name="smaller groups are more work to decode", example="decoding",
                hint="All groups together hold the same rows. What is paid once a group?",
            ),
        ),
        hints=("Count the groups.", "Each pays the latency once.", "Groups / reads in flight × latency."),
        solution="Groups / 8 × latency is many times bytes / bandwidth. Halving the bytes would hardly be seen.",
    ),
    Exercise(
        id="rank",
        question="2,097,152 rows on an object store, eight reads in flight. Put the row-group sizes in order.",
        shape=Order(options=_SIZES, first="the fastest"),
        answer=("131,072 rows", "1,048,576 rows", "2,048 rows"),
        equivalents=("b > c > a", ["131,072 rows", "1,048,576 rows", "2,048 rows"]),
        misconceptions=(
            Misconception(
                name="bigger groups are always better", example=["c", "b", "a"],
                hint="How many groups of the largest size are there, and how many reads in flight?",
            ),
            Misconception(
                name="smaller groups spread better", example=["a", "b", "c"],
                hint="They do, but a thousand of them pay a thousand latencies, eight at a time.",
            ),
        ),
        hints=(
            "Count the groups of each size: 1,024, 16, 2.",
            "Eight at a time, each wave pays a latency and one group's transfer over one connection.",
            "128 waves of almost nothing but latency; 2 waves; 1 wave in which six of eight connections idle.",
        ),
        solution="16 groups are two full waves, 2 leave six connections idle, 1,024 are 128 trips in a row.",
    ),
    Exercise(
        id="smaller_is_good",
        question="What makes a smaller row group good enough?",
        shape=Several(
            options=("more reads in flight", "a lower latency", "more columns in the query", "a higher bandwidth")
        ),
        answer=("more reads in flight", "a lower latency", "more columns in the query"),
        equivalents=("a, b, c", ["c", "b", "a"]),
        misconceptions=(
            Misconception(
                name="a faster link helps everything", example=["a", "b", "c", "d"],
                hint="With a higher bandwidth, a group of the same bytes is over sooner: its trip weighs more.",
            ),
            Misconception(
                name="columns do not matter", example=["a", "b"],
                hint="A read brings the wanted columns of a group. With more of them, how many bytes is that?",
            ),
        ),
        hints=("Transfer must outweigh the trip.", "Bytes in flight ≥ latency × bandwidth.", "What makes more bytes?"),
        solution="Rows × bytes per row × reads in flight ≥ latency × bandwidth. A higher bandwidth asks for more.",
    ),
)  # fmt: skip
