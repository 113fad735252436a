"""What has to be carried from room to room: rows that are loaded, tables that are joined, slips that are added up."""

from __future__ import annotations

from readahead.chapters.scale_out import laws as arithmetic
from readahead.chapters.scale_out.chapter import printed
from readahead.questions.answers import Amount, Several
from readahead.questions.exercise import Exercise, Misconception
from readahead.units import GB, GiB

MOVING = (
    Exercise(
        id="load",
        question="A terabyte of text was loaded in 51 min 20 s when each job read one place, and in 22 min 30 s when"
        " every node loaded what lay with it. How many times as fast, and is that more than two nodes explain?",
        shape=Amount(kind="times", tolerance=0.02, word="×"),
        answer=lambda bench: printed("cpimport_s.mode1", "loading") / printed("cpimport_s.mode2", "loading"),
        equivalents=("2.28 ×", "2.28"),
        misconceptions=(
            Misconception(
                name="the difference is the gain", example="1.28 ×",
                hint="1.28 times more is 2.28 times as fast. Divide the two times.",
            ),
            Misconception(
                name="two nodes, so two", example="2 ×",
                hint="That is what you expect. What do the two times say?",
            ),
        ),
        hints=("Both in seconds.", "51 × 60 + 20 and 22 × 60 + 30.", "3,080 / 1,350."),
        solution="2.28: two readers in place of one explain two, and the rest is work that is no longer done: rows"
        " need not be dealt out and sent. The network was not full; 1 TB in 51 min is 325 MB/s.",
    ),
    Exercise(
        id="limit",
        question="By bytes alone: two nodes that hold half each of a large side of 8 GB, links of the same speed. Up to"
        " which size is a small side better sent whole to every node?",
        shape=Amount(kind="bytes", tolerance=0.08, word="GiB"),
        answer=lambda bench: arithmetic.push_limit_bytes(8 * GB, 2),
        equivalents=("2 GB", "2000 MB", "1.863 GiB"),
        misconceptions=(
            Misconception(
                name="up to the size of the large side", example="8 GB",
                hint="Sent whole, it crosses the user module's link once for each node.",
            ),
            Misconception(
                name="a small side is a few megabytes", example="64 MB",
                hint="That was the default. It guards memory. Set the bytes on the links equal instead.",
                matches=lambda given: given < GiB / 4,
            ),
        ),
        hints=(
            "Sent whole: nodes × small. Dealt out: small once, and what nodes send one another.",
            "Each node holds half of the large side and sends away half of that, at the same time as the other.",
            "2 S = S + 8 GB / 4.",
        ),
        solution="N·S = S + L(N - 1) / N², so S = L / N², here 2 GB, about what MariaDB's limit was raised to. The"
        " other half of the reason is memory: each node must hold the whole small side.",
    ),
    Exercise(
        id="merge",
        question="Which of these can a user module work out from one number of each node?",
        shape=Several(options=("the sum", "the count", "the average", "the number of different users", "the largest")),
        answer=("the sum", "the count", "the largest"),
        equivalents=("a, b, e", ["e", "a", "b"]),
        misconceptions=(
            Misconception(
                name="averages average", example="a, b, c, e",
                hint="Node 1: ten rows, average 1. Node 2: one row, average 12. The average of all?",
            ),
            Misconception(
                name="distinct counts add up", example="a, b, d, e",
                hint="A user who wrote comments on both nodes: how often is he counted?",
            ),
        ),
        hints=(
            "Which can be told from the nodes' own results, without their rows?",
            "An average needs two numbers of each node.", "Different users need the users, or a sketch of them.",
        ),
        solution="Sums, counts, smallest and largest merge. An average travels as sum and count; distinct users need"
        " rows dealt out by user, or a sketch. This is why the same query can cross a link in bytes or in gigabytes.",
    ),
)  # fmt: skip
