"""What is asked about loading: whether a difference is one, what more writers bring, and what a promise costs."""

from __future__ import annotations

from readahead.chapters.loading import laws
from readahead.chapters.loading.chapter import killed, per_row
from readahead.chapters.loading.noise import halves
from readahead.chapters.loading.writers import DATABASE
from readahead.experiments.claim import Claim, Reason
from readahead.models import scalability
from readahead.questions.answers import Amount, Choice, Order, Several
from readahead.questions.exercise import Exercise, Misconception
from readahead.questions.prediction import Prediction

PREDICTIONS = (
    Prediction(
        id="spread", kind="times", low=0.9, high=30,
        question="One and the same load, ten times in a row on your machine, nothing changed. How many times as"
        " long as the fastest run does the slowest take?",
        because="A disk has other customers, a cache fills and is written out, the system wakes somebody else"
        " first. None of it is your change, and all of it is in your number.",
    ),
    Prediction(
        id="runs", kind="count", low=1, high=1_000,
        question="Two set-ups truly differ by 2 %, and single runs scatter as Randal's five do. How many runs of"
        " each does it take to see the difference nine times in ten?",
        because="A mean of n runs scatters √n times less than one run. To see 2 % through a scatter of 2 % takes"
        " some two dozen runs of each; he had one.",
    ),
    Prediction(
        id="files", kind="times", low=0.5, high=50,
        question="Files on a volume that takes milliseconds to say that a batch is safe. Sixteen writers against"
        " one: how many times faster?",
        because="The waits of sixteen overlap, so they grow together as long as somebody waits. Then making a batch"
        " is what takes the time, and in one process that is done one after the other.",
    ),
    Prediction(
        id="database", kind="times", low=0.2, high=50,
        question="Now all write into one database on your own disk. Sixteen writers against one: how many times"
        " faster?",
        because="A commit is a line in one log, and the log has one end. Sixteen stand in one queue for it.",
    ),
    Prediction(
        id="durability", kind="times", low=1, high=2_000,
        question="One writer, one database, real syncs: what does a row cost in commits of 10 rows, against commits"
        " of 1,000?",
        because="To make a commit safe takes a sync, whatever is in it. A hundred times the rows share one promise,"
        " until the rows themselves cost as much.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="not_settled",
        says="Two halves of the same ten runs differ by less than the runs themselves scatter.",
        left=halves, right=lambda _: 1.0, left_name="the slower half's median over the faster's",
        right_name="no difference", relation="within", tolerance=0.5, kind="times",
        reasons=(Reason(says="something slow began or ended in the middle of the ten: that is what confounds a"
        " comparison"),),
    ),
    Claim(
        id="writers_help",
        says="Where each batch waits for its device, sixteen writers are several times faster than one.",
        left=lambda bench: bench.measured.seconds(writers=16), right=lambda bench: bench.measured.seconds(writers=1),
        left_name="sixteen writers", right_name="one", relation="faster than", factor=2.5,
        reasons=(
            Reason(
                says="batches are so large that making them is the time",
                when=lambda left, right, bench: bench.base["commit_rows"] > 2_000,
            ),
            Reason(says="the device answers so soon that there is little to overlap, or this machine is busy"),
        ),
    ),
    Claim(
        id="one_log",
        says="Into one database, sixteen writers are not even twice as fast as one.",
        left=lambda bench: bench.measured.seconds(target=DATABASE, writers=16),
        right=lambda bench: bench.measured.seconds(target=DATABASE, writers=1),
        left_name="sixteen writers", right_name="one", relation="at least", factor=0.5,
        reasons=(Reason(says="this machine makes rows so slowly that there was something to share after all"),),
    ),
    Claim(
        id="nothing_lost",
        says="A loader that was killed without warning has lost no row that it had reported as committed.",
        left=lambda bench: float(killed().found_rows), right=lambda bench: float(killed().acknowledged_rows),
        left_name="rows found", right_name="rows reported", relation="at least", kind="rows",
        reasons=(Reason(says="this disk says that data is safe before it is: a fault to take seriously"),),
    ),
    Claim(
        id="whole_commits",
        says="What it left are whole commits: no half of one.",
        left=lambda bench: float(killed().found_rows),
        right=lambda bench: float(killed().commit_rows * round(killed().found_rows / killed().commit_rows)),
        left_name="rows found", right_name="rows of whole commits", relation="within", tolerance=1e-9, kind="rows",
        reasons=(Reason(says="a commit is not atomic here: a fault of the engine or of the file system"),),
    ),
    Claim(
        id="cheaper",
        says="In commits of a thousand a row costs a small part of what it costs in commits of ten.",
        left=lambda bench: per_row(bench.measured, 1_000), right=lambda bench: per_row(bench.measured, 10),
        left_name="a row of a thousand", right_name="a row of ten", relation="at most", factor=0.1,
        reasons=(Reason(says="this disk does not really sync: look for a write cache that lies, or a file system in"
        " memory"),),
    ),
)  # fmt: skip


_KEEP = (
    "the third: it was the fastest",
    "none of them on these numbers",
    "the first: it is the simplest and nearly as fast",
)
_LAW = scalability.Law(alone=1_000.0, contention=0.05, crosstalk=0.002)

EXERCISES = (
    Exercise(
        id="best",
        question="21,252, 21,859, 20,745, 21,743 and 21,526 s: one run of each of five network set-ups. Which would"
        " you keep for its speed?",
        shape=Choice(options=_KEEP), answer=_KEEP[1], equivalents=("b", _KEEP[1].upper()),
        misconceptions=(
            Misconception(
                name="the smallest number wins", example="a",
                hint="Five draws from one hat have a smallest too. How far from the others would it lie?",
            ),
            Misconception(
                name="near enough is equal", example="c",
                hint="A reason to prefer it, but not its speed: nothing is known of its speed that is not known of"
                " the others'.",
            ),
        ),
        hints=("How often was each run?", "How far apart are five runs of the same thing?", "2.3 standard deviations."),
        solution="The five lie 2.5 standard deviations apart, five draws from one hat 2.3. He says himself that ten"
        " runs would give ten results. Keep whichever is cheapest to run, and say that speed did not decide.",
    ),
    Exercise(
        id="report",
        question="What must stand in a report that one set-up is faster than another?",
        shape=Several(
            options=(
                "how often each was run", "an interval for the difference", "the best run of each",
                "in which order they ran",
            )
        ),
        answer=("how often each was run", "an interval for the difference", "in which order they ran"),
        equivalents=("a, b, d", ["d", "b", "a"]),
        misconceptions=(
            Misconception(
                name="an average needs no spread", example="a, d",
                hint="Twenty runs of each, and a difference of 2 %: by how much may the 2 % be wrong?",
            ),
            Misconception(
                name="the best run is the true one", example="a, b, c, d",
                hint="The best of ten is better than the best of three, for the same machine.",
            ),
        ),
        hints=("What would make you doubt it?", "Chance, and what changed meanwhile.", "Repeats, interval, order."),
        solution="Repeats, the interval of the difference, and that the two were run in turns: what drifts in an"
        " afternoon is otherwise taken for the change. A best run says how lucky one was.",
    ),
    Exercise(
        id="runs",
        question="Runs scatter by 5 % of their mean. How many of each, about, to see a true difference of 5 % nine"
        " times in ten, at the usual 95 %?",
        shape=Amount(kind="count", tolerance=0.15), answer=laws.runs_to_settle(0.05, 0.05),
        equivalents=("22", "21", "about 22"),
        misconceptions=(
            Misconception(
                name="three are enough", example="3",
                hint="The mean of three scatters by 5 % / √3, and the difference of two means by √2 times that: 4 %.",
                matches=lambda given: given <= 6,
            ),
            Misconception(
                name="chance halves with twice the runs", example="100",
                hint="It falls with the root of their number; a hundred would show half of that difference.",
                matches=lambda given: given >= 60,
            ),
        ),
        hints=("n = 2 (z₁ + z₂)² (scatter / difference)².", "z₁ = 1.96, z₂ = 1.28.", "2 × 3.24² × 1²."),
        solution="2 × (1.96 + 1.28)² = 21, so 22 to be safe. For half the difference four times as many.",
    ),
    Exercise(
        id="peak",
        question="One writer loads 1,000 rows/s; the fitted law has contention 0.05 and crosstalk 0.002. At how"
        " many writers is its peak?",
        shape=Amount(kind="count", tolerance=0.05), answer=_LAW.peak, equivalents=("22", "21.8", "about 22"),
        misconceptions=(
            Misconception(
                name="more connections, more throughput", example="128",
                hint="Crosstalk grows with the pairs: 128 × 127 of them.", matches=lambda given: given > 60,
            ),
            Misconception(
                name="the peak is where contention takes half", example="20",
                hint="1 / 0.05 is where contention alone flattens the curve. What makes it fall?",
                matches=lambda given: 19 < given < 20.6,
            ),
        ),
        hints=("Where does one more writer bring nothing?", "√((1 − contention) / crosstalk).", "√(0.95 / 0.002)."),
        solution="√475 = 21.8. Past it every newcomer costs the others more than it brings; Randal saw it with 128"
        " connections, and with 8 he had too few.",
    ),
    Exercise(
        id="peaks",
        question="The peaks are printed as 106,012 bytes/sec on a link of 1 Gbit/s. What unit must they have, and"
        " how full is the link (125 MB/s)?",
        shape=Choice(options=("bytes/s: 0.08 %", "KB/s: 85 %", "pages/s: seven times too full")), answer="KB/s: 85 %",
        equivalents=("b", "kb/s: 85 %"),
        misconceptions=(
            Misconception(
                name="it is printed", example="a",
                hint="At 106 kB/s a terabyte takes 120 days. It took six hours.",
            ),
            Misconception(
                name="databases count in pages", example="c",
                hint="Seven times what the link can carry cannot have gone through it.",
            ),
        ),
        hints=("Try each unit against six hours.", "And against the link.", "106 MB/s of 125 MB/s."),
        solution="KB/s: 106 MB/s, nearly all that the link gives. That is why removing it as a bottleneck could"
        " only show another one behind it.",
    ),
    Exercise(
        id="modes",
        question="One terabyte of text is loaded from one place in 51:20, and with the files on the nodes in 22:30."
        " Order what explains it, the likeliest first.",
        shape=Order(
            options=(
                "two nodes read their own files side by side", "rows need no longer be dealt out and sent", "chance",
            ),
            first="the likeliest",
        ),
        answer=("two nodes read their own files side by side", "rows need no longer be dealt out and sent", "chance"),
        equivalents=("a, b, c", "a > b > c"),
        misconceptions=(
            Misconception(
                name="every difference may be chance", example="c, a, b",
                hint="2.28 times is no 3 %. Which scatter would make that?",
            ),
            Misconception(
                name="it is always the network", example="b, a, c",
                hint="Two readers alone explain a factor of 2; what is left for the network?",
            ),
        ),
        hints=("3,080 s over 1,350 s.", "What is doubled in the second way?", "2 of the 2.28."),
        solution="A factor of 2.28: two from two readers, a little from the dealing-out that is no longer done. (The"
        " links were not full: 325 MB/s of 2,500.) A difference of that size needs one run to be believed and a second"
        " to be reported.",
    ),
)  # fmt: skip
