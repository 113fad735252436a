"""Questions for Monday: what metadata can tell and what it cannot, which change pays, and how a promise is tested."""

from __future__ import annotations

from readahead.chapters.your_data.chapter import PACKED, SORTED, packed
from readahead.experiments.claim import Claim, Reason
from readahead.questions.answers import Amount, Choice, Order, Several
from readahead.questions.exercise import Exercise, Misconception
from readahead.questions.prediction import Prediction

PREDICTIONS = (
    Prediction(
        id="touched", kind="times", low=0.5, high=1_000,
        question="Your filter keeps the share of the rows that the parameters say (a tenth, unless you changed it). As"
        " the table lies, how many row groups must be read for each one that would do if the wanted rows lay side by"
        " side?",
        because="A row group can be passed over only if its smallest and largest value rule the filter out. What counts"
        " is the order in which the rows were written, not how few of them are wanted.",
    ),
    Prediction(
        id="other_groups", kind="times", low=0.3, high=300,
        question="The same rows in the same order, with the row groups that the model likes best on this device. How"
        " many times faster is the query?",
        because="Only the number and length of the reads changed: trips against transfer, and how many can be under way"
        " at once.",
    ),
    Prediction(
        id="other_order", kind="times", low=0.3, high=1_000,
        question="Now sorted by the column of the filter too, with the row groups that are best for that. How many"
        " times faster than as it lies?",
        because="The wanted rows lie side by side now. The rest is never read; what remains is to open the file and"
        " fetch a few groups, and that no order can shorten.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="promise_groups",
        says="The model, which saw only metadata, tells the time of the repacked table within a fifth.",
        relation="within", factor=1.0, tolerance=0.2,
        left=lambda bench: bench.measured.seconds(**packed(bench.base, PACKED)),
        right=lambda bench: bench.model.seconds(**packed(bench.base, PACKED)),
        left_name="measured", right_name="modeled",
        reasons=(
            Reason(
                says="The query takes so little time that starting it weighs as much as reading.",
                when=lambda left, right, bench: right.median < 0.02,
            ),
            Reason(says="Bytes a row change with the row group: dictionaries and compression see other rows together."),
        ),
    ),
    Claim(
        id="order_pays",
        says="Sorting by the filter is at least as good as other row groups alone.",
        relation="at most", factor=1.0, tolerance=0.1,
        left=lambda bench: bench.measured.seconds(**packed(bench.base, SORTED)),
        right=lambda bench: bench.measured.seconds(**packed(bench.base, PACKED)),
        left_name="sorted", right_name="other row groups",
        reasons=(
            Reason(
                says="The filter keeps so much that there is little to skip.",
                when=lambda left, right, bench: bench.base["selectivity"] > 0.5,
            ),
            Reason(says="The table was sorted by this column already, so only the noise is new."),
        ),
    ),
)  # fmt: skip

_METADATA = (
    "how far a filter on a column could skip row groups",
    "how long each column chunk is",
    "whether the wanted rows of a row group lie together inside it",
    "how many trips a scan needs",
    "how warm the page cache will be on Monday",
)

EXERCISES = (
    Exercise(
        id="overlap",
        question="A table has 50 row groups. It is sorted by day, and a filter keeps a tenth of the days. About how"
        " many row groups are read?",
        shape=Amount(kind="count", tolerance=0.21),
        answer=6,
        equivalents=("5", "6.0"),
        misconceptions=(
            Misconception(
                name="a filter reads every row group", example="50",
                hint="Each group says its smallest and largest day. Most of them rule the filter out.",
            ),
            Misconception(
                name="what is sorted lies in one row group", example="1",
                hint="A tenth of the days is more than one group's worth: how many groups hold a tenth of the rows?",
            ),
        ),
        hints=(
            "A tenth of the rows, in rows that are sorted by day, is a tenth of the table's length.",
            "A tenth of 50 groups is five groups' worth of rows.",
            "The range seldom begins and ends where a group does: it reaches into one more.",
        ),
        solution="0.1 × 50 + 1: five groups' worth, and one because both ends are cut. With much smaller groups the"
        " one more would not matter; with ten groups it would double the reading.",
    ),
    Exercise(
        id="knows",
        question="Which of these can be told from a Parquet file's metadata alone?",
        shape=Several(options=_METADATA),
        answer=(_METADATA[0], _METADATA[1], _METADATA[3]),
        equivalents=("a, b, d", "d, b, a"),
        misconceptions=(
            Misconception(
                name="minimum and maximum tell where inside a group the rows are",
                example=(_METADATA[0], _METADATA[1], _METADATA[2], _METADATA[3]),
                hint="A label gives the ends of what is inside and not its order.",
            ),
            Misconception(
                name="metadata holds only names and types", example=(_METADATA[1],),
                hint="Each column chunk has its smallest and largest value too, and where it lies in the file.",
            ),
        ),
        hints=(
            "Think of a crate with a label: what is written on it?",
            "Offset, length, rows, smallest, largest, encodings: for every chunk.",
            "Reads follow from offsets and lengths; skipping follows from smallest and largest.",
        ),
        solution="Lengths, trips and skipping are in the labels. The order inside a group, and the state of a cache,"
        " are not: those you measure.",
    ),
    Exercise(
        id="bottleneck",
        question="The advisor says of your file on an object store: bottleneck latency. Which change helps most?",
        shape=Choice(
            options=("larger row groups or more reads in flight", "a stronger compression", "more threads to decode")
        ),
        answer="larger row groups or more reads in flight",
        equivalents=("a", "Larger row groups or more reads in flight"),
        misconceptions=(
            Misconception(
                name="fewer bytes always help", example="a stronger compression",
                hint="The trips stay as many, and as long. Which term did you shorten?",
            ),
            Misconception(
                name="slow means that the processor is short", example="more threads to decode",
                hint="The workers wait already. What do they wait for?",
            ),
        ),
        hints=(
            "Name the term, then ask what it is multiplied by.",
            "Latency is paid once a trip.",
            "Either make fewer trips, or make them at the same time.",
        ),
        solution="Time in trips is trips × latency / trips under way. Larger groups lower the first, a deeper queue"
        " raises the last; compression shortens only the transfer.",
    ),
    Exercise(
        id="small_files",
        question="A folder of 20,000 files of 100 KiB each lies on an object store. Order what would help, best first.",
        shape=Order(
            options=("write them as a few large files", "read more of them at once", "compress them better"),
            first="the best",
        ),
        answer=("write them as a few large files", "read more of them at once", "compress them better"),
        equivalents=("a > b > c",),
        misconceptions=(
            Misconception(
                name="concurrency mends everything",
                example=("read more of them at once", "write them as a few large files", "compress them better"),
                hint="Each file still has a footer that must be there before its data is asked for: two trips.",
            ),
            Misconception(
                name="bytes are what storage charges for",
                example=("compress them better", "write them as a few large files", "read more of them at once"),
                hint="How long does 100 KiB take to arrive, and how long the answer to come?",
            ),
        ),
        hints=(
            "Count the trips of one file.",
            "A footer, then the data: the second cannot begin before the first is back.",
            "Which change removes trips, which overlaps them, which only shortens them?",
        ),
        solution="One large file has one footer and few trips. Reading at once overlaps the trips and leaves them as"
        " many. Compression shortens a transfer that was hardly there.",
    ),
    Exercise(
        id="proof",
        question="The model promises a gain of 8. You rewrite a sample, measure, and get 3. What do you do first?",
        shape=Choice(
            options=(
                "look at the sample's spread, and which term the measurement adds",
                "believe the model: it knows the whole file",
                "believe the measurement and throw the model away",
            )
        ),
        answer="look at the sample's spread, and which term the measurement adds",
        equivalents=("a",),
        misconceptions=(
            Misconception(
                name="the model is the truth", example="believe the model: it knows the whole file",
                hint="It knows what it was told. What was it not told?",
            ),
            Misconception(
                name="one measurement is the truth", example="believe the measurement and throw the model away",
                hint="How far apart were the repeats? And was the sample large enough for its trips to count?",
            ),
        ),
        hints=(
            "Two witnesses disagree. Ask both a smaller question.",
            "A short sample pays the same opening as a long file.",
            "Compare the terms: open, latency, transfer, cpu. Where does the time go that was not promised?",
        ),
        solution="A promise that fails is a finding. First the noise, then the terms: a small sample is mostly opening,"
        " and a gain in the reads cannot show. Then mend the model or the sample, and measure again.",
    ),
)  # fmt: skip
