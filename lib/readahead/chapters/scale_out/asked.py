"""What is asked about more nodes: what can be above two, what holds a query back, and what crosses the link."""

from __future__ import annotations

from readahead.chapters.scale_out import laws as arithmetic
from readahead.chapters.scale_out.asked_moving import MOVING
from readahead.chapters.scale_out.chapter import (
    JOINED,
    NEAR,
    SLOW,
    SMALL_SMALL,
    printed,
    speedup,
)
from readahead.chapters.scale_out.workload import KILLED, PUSHED, SHUFFLED, TWO_COPIES
from readahead.experiments.claim import Claim, Reason
from readahead.experiments.round import Bench
from readahead.questions.answers import Amount, Choice
from readahead.questions.exercise import Exercise, Misconception
from readahead.questions.prediction import Prediction

PREDICTIONS = (
    Prediction(
        id="warm",
        question="All data in memory, unsorted: from one server to two, how many times as fast?",
        kind="times", low=0.2, high=30,
        because="More than two. The second server brought processors and also memory: what did not fit well into one"
        " server's fast memory fits better into two.",
    ),
    Prediction(
        id="anomaly",
        question="A product of factors (sorted, redundant, cold, two nodes) is fitted to eight of the ten times: all"
        " but this one and the cold one with redundancy. How long should two nodes take cold, unsorted, in seconds?",
        kind="s", low=60, high=10_000, word="s",
        because="The eight agree among themselves to a few per cent. The ninth, printed, does not agree with them, nor"
        " does the tenth, beside it; both were measured once only.",
    ),
    Prediction(
        id="two",
        question="DuckDB on two Dask workers, each with half of the rows on a device of its own. How many times as fast"
        " as one node with all the rows?",
        kind="times", low=0.2, high=20,
        because="The reads are shared out evenly. Opening a file is not: each node reads a footer before its first row"
        " group, and the user module sends out and collects once more.",
    ),
    Prediction(
        id="requests",
        question="One node, one query; outstanding requests raised as MariaDB raised theirs. How many times as fast?",
        kind="times", low=0.3, high=15,
        because="Requests are served in rounds of as many as may be outstanding. The last round is seldom full, and the"
        " footer and the way to the user module gain nothing.",
    ),
    Prediction(
        id="slow",
        question="The last of two nodes has a device that takes three times as long to answer. How many times as long"
        " does the query take?",
        kind="times", low=0.2, high=30,
        because="Nothing can be added up before the last slip is there. The fast node's gain is spent in waiting. What"
        " is not reading, the way there and back, stays as it was.",
    ),
    Prediction(
        id="copy",
        question="Now each node's file has a copy on the neighbour's device. All are alive. How many times as long does"
        " the query take?",
        kind="times", low=0.1, high=10,
        because="Nobody reads the second copy while the first is there. It costs room, and the time to write it.",
    ),
    Prediction(
        id="killed",
        question="In the middle of the query a worker process is killed; its neighbour has the copy. How many times as"
        " long as an undisturbed query?",
        kind="times", low=0.2, high=20,
        because="The neighbour ends its own part, then does the dead one's from the beginning: what was half done died"
        " with the process. Noticing takes little beside that.",
    ),
    Prediction(
        id="pushed",
        question="A join whose small side has more bytes than would have to be moved of the large side. It is sent"
        " whole to both nodes, or both sides are dealt out. How many times as long does sending it whole take?",
        kind="times", low=0.1, high=10,
        because="Sent whole, it crosses the user module's link once for each node. Dealt out it crosses once, and only"
        " half of each node's own rows have to move; more rounds of talk eat some of the gain.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="nearly_two",
        says="Where the device is the bottleneck, two nodes are nearly twice as fast.",
        left=lambda bench: speedup(bench.measured), right=lambda bench: 1.8,
        left_name="measured", right_name="at least", relation="at least", factor=1.0, kind="times",
        reasons=(
            Reason(
                says="so many requests are outstanding that opening the file is a large part of the query",
                when=lambda left, right, bench: bench.base["queue_depth"] > 2,
            ),
            Reason(says="the workers share too few cores, or this machine is busy; close other programs"),
        ),
    ),
    Claim(
        id="model_holds",
        says="The model foretells the speed-up.",
        left=lambda bench: speedup(bench.measured), right=lambda bench: speedup(bench.model),
        left_name="measured", right_name="modeled", relation="within", tolerance=0.05, kind="times",
        reasons=(
            Reason(says="sending out and collecting took longer than when the cluster was weighed"),
        ),
    ),
    Claim(
        id="slowest_rules",
        says="The slow node decides: the query is as slow as if both were slow.",
        left=lambda bench: bench.measured.seconds(**NEAR, slow_times=SLOW),
        right=lambda bench: bench.measured.seconds(**{**NEAR, "latency_s": NEAR["latency_s"] * SLOW}),
        left_name="one slow", right_name="both slow", relation="within", tolerance=0.1,
        reasons=(Reason(says="this machine was busy during one of the two"),),
    ),
    Claim(
        id="survives",
        says="A query whose worker was killed has the very answer of an undisturbed one.",
        left=lambda bench: _agreeing(bench),  # noqa: PLW0108 (defined below)
        right=lambda bench: 1.0,
        left_name="same sums", right_name="all", relation="within", tolerance=1e-9, kind="1",
        reasons=(Reason(says="the answers differ, and they must not: report it"),),
    ),
    Claim(
        id="small_pushed",
        says="A small side far below the limit is better sent to every node.",
        left=lambda bench: bench.measured.seconds(**JOINED, join=PUSHED, small_bytes=SMALL_SMALL),
        right=lambda bench: bench.measured.seconds(**JOINED, join=SHUFFLED, small_bytes=SMALL_SMALL),
        left_name="pushed down", right_name="shuffled", relation="faster than", factor=1.0,
        reasons=(Reason(says="this machine was busy while the small side was sent"),),
    ),
)  # fmt: skip


def _agreeing(bench: Bench) -> float:
    """Return the share of sums on which a disturbed query and an undisturbed one agree."""
    one = bench.sample(nodes=2).answer
    other = bench.sample(nodes=2, copies=TWO_COPIES, failing=KILLED).answer
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


_SIDES = (
    "sorted, cold, two nodes",
    "unsorted, cold, two nodes",
    "unsorted, warm, two nodes",
    "sorted, warm, two nodes",
)
_WHY_ABOVE = (
    "the second server's memory holds what the first could not",
    "two processors agree better than one",
    "the clock of the user module runs slower",
    "nothing: it cannot be above two",
)
_WHY_SEVENTEEN = (
    "the second copy is read as well",
    "something that stands between engine and files works in every query",
    "the disks write the second copy during the query",
    "cold runs wait for the slower copy",
)

EXERCISES = (
    Exercise(
        id="above",
        question="Warm, two servers are 2.55 times as fast as one. What can make a second server worth more than one?",
        shape=Choice(options=_WHY_ABOVE),
        answer=_WHY_ABOVE[0],
        equivalents=("a",),
        misconceptions=(
            Misconception(
                name="speed-up cannot exceed the number of nodes", example=_WHY_ABOVE[3],
                hint="It cannot if a node brings only hands. What else is inside a server?",
            ),
            Misconception(
                name="co-operation is a gain", example=_WHY_ABOVE[1],
                hint="Having to agree costs time; the law of scaling has a term for it, and it is a cost.",
            ),
        ),
        hints=(
            "What does each server have besides processors?",
            "Block cache on one: 736 GB. On two: 1,472 GB. And fast memory in front of it doubles too.",
            "A share of the accesses is served by something faster than before.",
        ),
        solution="Memory. With two servers there is twice the fast memory in front of the same data, so a larger share"
        " of accesses hits it, besides there being twice the processors. Contention comes out negative. It does not go"
        " on for ever: once everything fits, the next server brings hands only.",
    ),
    Exercise(
        id="alpha",
        question="By N / (1 + a(N - 1)): what contention a does the printed speed-up of 165 % on two nodes stand for?",
        shape=Amount(kind="1", tolerance=0.04, word="%"),
        answer=lambda bench: arithmetic.contention(printed("speedup.cold.unsorted"), 2),
        equivalents=("21.2 %", "21.21 %"),
        misconceptions=(
            Misconception(
                name="what is missing to two", example="35 %",
                hint="2 - 1.65 is a difference of speed-ups. The law divides: 2 / 1.65.",
            ),
            Misconception(
                name="percent more", example="65 %",
                hint="165 % is the old time over the new: the speed-up itself.",
            ),
        ),
        hints=("Put N = 2 and C = 1.65.", "1.65 = 2 / (1 + a).", "a = 2 / 1.65 - 1."),
        solution="2 / 1.65 - 1 is about 0.21: a fifth of the work would have to be serial. One number from one number"
        " always fits; that the other cold row, sorted, gives under 3 % is what makes this one suspect.",
    ),
    Exercise(
        id="outlier",
        question="One of the rows for two nodes breaks the pattern of all others. Which?",
        shape=Choice(options=_SIDES),
        answer=_SIDES[1],
        equivalents=("b",),
        misconceptions=(
            Misconception(
                name="above two must be the error", example=_SIDES[2],
                hint="Both warm rows are above two, by nearly as much. Two that agree are a pattern.",
            ),
            Misconception(
                name="the one nearest to two is the lucky one", example=_SIDES[0],
                hint="Is sorted over unsorted on two nodes what it is on one node? Try it cold, then warm.",
            ),
        ),
        hints=(
            "Divide sorted by unsorted: cold and warm, one node and two.",
            "Three of the four ratios lie between 0.53 and 0.58.",
            "The fourth is 366.32 / 813.82.",
        ),
        solution="Sorting takes 0.53, 0.54 and 0.57 of the time in three cases and 0.45 in the fourth, so the unsorted"
        " time there is some 20 % too long. The author says it too: cold was measured once, warm three times. The row"
        " with redundancy has the same excess, so it may not be chance; nobody can tell from one run.",
    ),
    Exercise(
        id="seventeen",
        question="Redundancy costs 17 % cold, and 17 % warm as well, when everything is in the block cache. What does"
        " that tell of its cause?",
        shape=Choice(options=_WHY_SEVENTEEN),
        answer=_WHY_SEVENTEEN[1],
        equivalents=("b",),
        misconceptions=(
            Misconception(
                name="redundancy doubles the reads", example=_WHY_SEVENTEEN[0],
                hint="Then cold would take twice as long, and warm would take no longer than before.",
            ),
            Misconception(
                name="it is the disks", example=_WHY_SEVENTEEN[2],
                hint="Warm, nothing is read and nothing written. Which cause would still be there?",
            ),
            Misconception(
                name="it waits for the slower copy", example=_WHY_SEVENTEEN[3],
                hint="That would be a cause for cold runs alone.",
            ),
        ),
        hints=(
            "Which work do cold and warm runs share?", "Would a device's extra work show in a warm run?",
            "A cost in the same proportion everywhere is in the way of everything.",
        ),
        solution="951.01 / 813.82 and 243.53 / 207.99 are both 1.17. What costs a warm query as much cannot be the"
        " devices alone. The article names it: GlusterFS, the file system beneath the redundancy. Why it costs a warm"
        " query as much it does not say. Our second copy, which nobody passes through, costs a running query nothing.",
    ),
    *MOVING,
)  # fmt: skip
