"""Questions about a columnstore that somebody else measured: what cut its row groups, what its counter counted, and
what its two long scans differ by.
"""

from __future__ import annotations

from readahead.chapters.row_groups import columnstore
from readahead.questions.answers import Amount, Choice
from readahead.questions.exercise import Exercise, Misconception

_FULL = (
    "One closes the row group, the other writes the column without a dictionary",
    "Both close the row group",
    "Both go on with a larger dictionary",
)
_COUNTED = (
    "The same page several times, on its way through memory",
    "Bytes that the drive delivered",
    "Bytes after decompression",
)

IN_PRINT = (
    Exercise(
        id="count",
        question="A table has 10,000,000 rows, and its row groups hold up to 122,880. How many row groups?",
        shape=Choice(options=("81 row groups", "82 row groups", "1,220,704 row groups")),
        answer="82 row groups",
        equivalents=("82 row", "b"),
        misconceptions=(
            Misconception(name="round down", example="81 row groups", hint="Where do the last rows go?"),
            Misconception(
                name="row groups are pages", example="c",
                hint="A page is a unit of bytes, often 8 KiB. A row group is a unit of rows, and has many pages.",
            ),
        ),
        hints=("Divide.", "10,000,000 / 122,880 is a little above 81.", "The rest needs a group too: round up."),
        solution="10,000,000 / 122,880 = 81.4, so 81 full groups and one that is part full: 82.",
    ),
    Exercise(
        id="dictionary",
        question=(
            "Row groups became ten times as many, 350 for 36,585,420 rows, when a text of about 160 new bytes a row was"
            " added. How large was the dictionary that was full?"
        ),
        shape=Amount(kind="bytes", tolerance=0.08, word="MiB"),
        answer=lambda _: columnstore.dictionary_from_groups(),
        equivalents=("16 MiB", "16", "16.7 MB"),
        misconceptions=(
            Misconception(
                name="the group's 2 MB is the limit", example="2 MiB",
                hint="That is the group without its dictionary. What did the text of its rows weigh?",
            ),
            Misconception(
                name="all text over all groups of the narrow table", example="160 MiB",
                hint="Divide the rows by the groups that there were with the text: 350.",
                matches=lambda given: given > 100e6,
            ),
        ),
        hints=("How many rows did one of the 350 hold?", "Rows × new bytes of text.", "104,500 rows of 160 bytes."),
        solution=(
            "36,585,420 / 350 ≈ 104,500 rows × 160 bytes ≈ 16.7 million bytes, which is 16 MiB: the documented limit of"
            " a dictionary in SQL Server. The 160 bytes are the two row stores' difference over the rows."
        ),
    ),
    Exercise(
        id="full_dictionary",
        question="A text column brings more different values than a dictionary may hold. What does SQL Server's"
        " columnstore do, and what DuckDB's Parquet writer?",
        shape=Choice(options=_FULL), answer=_FULL[0], equivalents=("a", _FULL[0].upper()),
        misconceptions=(
            Misconception(
                name="a full dictionary always cuts", example="b",
                hint="Count the row groups of the two files of order lines, with and without dictionaries: as many.",
            ),
            Misconception(
                name="dictionaries grow as needed", example="c",
                hint="What would a dictionary save in which every value stands once?",
            ),
        ),
        hints=("What happened to his row groups?", "And to the file without dictionaries?", "One was cut, one grew."),
        solution="His engine cut the rows, and reads became short; DuckDB keeps the rows together, and the file becomes"
        " longer. The first costs trips, the second bytes: know which of them your device is short of.",
    ),
    Exercise(
        id="difference",
        question="The author's last scans took 261,031 and 260,157 ms. He prints a difference of 0,04 %. What is it?",
        shape=Amount(kind="1", tolerance=0.03, word="%"),
        answer="0.336 %",
        equivalents=("0.34 %", "0.00336", "0.335%"),
        misconceptions=(
            Misconception(
                name="it is printed", example="0.04 %", hint="One second of 260: is that one in 2,500?",
            ),
            Misconception(
                name="a factor, not a difference", example="100.3 %",
                hint="That is the one in per cent of the other. How far is it from the whole?",
                matches=lambda given: given > 0.5,
            ),
        ),
        hints=("Subtract first.", "0.874 s of 260 s.", "0.874 / 260.157, in per cent."),
        solution="(261,031 − 260,157) / 260,157 = 0.336 %, eight times what is printed, and still nothing.",
    ),
    Exercise(
        id="what_counted",
        question="A USB drive reads 90 MB/s, a counter claims 360 MB/s. What did it most likely count?",
        shape=Choice(options=_COUNTED),
        answer=_COUNTED[0],
        equivalents=("a", _COUNTED[0].upper()),
        misconceptions=(
            Misconception(
                name="a counter is a measurement", example="b",
                hint="Could a drive that reads 90 MB/s deliver four times as much?",
            ),
            Misconception(
                name="it counts rows as they come out", example="c",
                hint="Read-ahead fetches what lies on the drive, compressed. Think of a page counted twice.",
            ),
        ),
        hints=(
            "Divide the counter's pages by the pages of a table of that size.",
            "580,565 pages were counted, and some 87,000 are there.",
            "Nearly seven times each; the author suspects two pools that both count.",
        ),
        solution=(
            "The same pages, as they pass from drive to object pool to buffer pool. Table bytes over seconds,"
            " 55 MB/s, fits the drive. Check any counter against what the hardware can do."
        ),
    ),
)  # fmt: skip
