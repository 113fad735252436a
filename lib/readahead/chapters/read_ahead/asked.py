"""What is asked about read-ahead: how much must be under way for a device never to wait for an order."""

from __future__ import annotations

from readahead.chapters.read_ahead import laws
from readahead.chapters.read_ahead.chapter import (
    FILE_COPY_BYTES,
    SSD_BYTES_PER_S,
    SSD_LATENCY_S,
    sheas_device,
    switched,
)
from readahead.chapters.read_ahead.workload import ALONE, NATIVE, OFF, ON
from readahead.experiments.claim import Claim, Reason
from readahead.questions.answers import Amount, Choice, Several
from readahead.questions.exercise import Exercise, Misconception
from readahead.questions.prediction import Prediction
from readahead.units import KiB

PREDICTIONS = (
    Prediction(
        id="shea",
        question="From the size of the table and his time: how fast, in MB/s, does Shea's disk read with read-ahead"
        " off?",
        kind="bytes_per_s", low=1e6, high=2e9, word="MB/s",
        because="16,000 MB in 210 s, and the rate that he printed agrees. His two times and two request sizes tell"
        " more: two equations for a latency of each request and a bandwidth for all bytes.",
    ),
    Prediction(
        id="file_copy",
        question="One request of 256 KB at a time, on the fast drive given above. What share of its bandwidth is used?",
        kind="1", low=0.005, high=1.5, word="%",
        because="The drive reads the request in less time than it takes to answer. While it answers, and while the next"
        " order is on its way, it could have read something else.",
    ),
    Prediction(
        id="switch",
        question="DuckDB scans a Parquet file with read-ahead switched off. How many times slower?",
        kind="times", low=0.5, high=300,
        because="Two things are lost at once: several reads under way, and reads as long as a row group. Without them"
        " DuckDB asks for the header of each page, waits, and asks for the page.",
    ),
    Prediction(
        id="switch_native",
        question="The same switch for DuckDB's own file format. How many times slower?",
        kind="times", low=0.5, high=100,
        because="It reads in blocks, and without read-ahead one at a time. Blocks are longer than the headers of pages,"
        " so less is lost than with Parquet.",
    ),
    Prediction(
        id="switch_here",
        question="The same Parquet switch on your own machine's disk, from which nothing is in memory. How many times"
        " slower is the scan without DuckDB's read-ahead?",
        kind="times", low=0.2, high=100,
        because="The model knows the disk and DuckDB and not the third reader: the operating system. It saw short reads"
        " in a row and fetched what follows before anybody asked. Two who read ahead of one another gain little.",
    ),
    Prediction(
        id="depth",
        question="From a queue depth of 1 to a queue depth of 128: how many times faster is the scan?",
        kind="times", low=1, high=500,
        because="The wait is shared by all that wait at the same time, until the engine itself is the narrowest place:"
        " opening the file, passing out reads and decoding cannot be asked for ahead.",
    ),
    Prediction(
        id="alone",
        question="Now set only async_threads to 128, and leave read_ahead_depth to DuckDB. How many times faster than a"
        " queue depth of 1?",
        kind="times", low=0.8, high=500,
        because="Threads that may read are no orders to read. DuckDB itself keeps as many row groups under way as"
        " a memory rule allows: four for each worker, however many threads stand ready.",
    ),
    Prediction(
        id="waste",
        question="SELECT * … LIMIT 10 at a queue depth of 32. Ten rows lie in one row group. How many reads does DuckDB"
        " send?",
        kind="count", low=1, high=3000,
        because="It cannot know that the first group will be enough before it has it, and by then the whole window has"
        " been asked for. What is under way is thrown away.",
    ),
    Prediction(
        id="hole",
        question="Two columns with three others between them: jumping that hole against reading through it, one"
        " read at a time. How many times as long does jumping take?",
        kind="times", low=0.1, high=20,
        because="The hole is shorter than latency times bandwidth, so the bytes in it cost less than another question."
        " DuckDB 2.0 fits that product from its own reads.",
    ),
)  # fmt: skip

CLAIMS = (
    Claim(
        id="both_settings",
        says="With both settings, the deepest window is many times faster than one read at a time.",
        left=lambda bench: bench.measured.seconds(queue_depth=128),
        right=lambda bench: bench.measured.seconds(queue_depth=1),
        left_name="depth 128", right_name="depth 1", relation="faster than", factor=15.0,
        reasons=(
            Reason(
                says="the latency was set so low that the engine's own work is most of the time",
                when=lambda left, right, bench: bench.base["latency_s"] < 0.004,
            ),
            Reason(says="this machine is slow to wake readers, or busy; close other programs"),
        ),
    ),
    Claim(
        id="flat_alone",
        says="async_threads alone gains nothing from 16 to 128.",
        left=lambda bench: bench.measured.seconds(queue_depth=128, read_ahead=ALONE),
        right=lambda bench: bench.measured.seconds(queue_depth=16, read_ahead=ALONE),
        left_name="128 threads", right_name="16 threads", relation="within", tolerance=0.15,
        reasons=(
            Reason(
                says="with many workers the memory rule allows more row groups under way",
                when=lambda left, right, bench: bench.base["threads"] > 4,
            ),
            Reason(says="starting many threads took time on this machine"),
        ),
    ),
    Claim(
        id="model_holds",
        says="The model foretells the scan at a middling depth.",
        left=lambda bench: bench.measured.seconds(queue_depth=8),
        right=lambda bench: bench.model.seconds(queue_depth=8),
        left_name="measured", right_name="modeled", relation="within", tolerance=0.12,
        reasons=(Reason(says="the engine was weighed while this machine was busy: python -m readahead calibrate"),),
    ),
    Claim(
        id="in_memory",
        says="On a device that answers at once, read-ahead gains little beside what it gains on a distant one.",
        left=lambda bench: bench.measured.seconds(**_near(OFF)) / bench.measured.seconds(**_near(ON)),
        right=lambda bench: (
            bench.measured.seconds(**switched(OFF, NATIVE)) / bench.measured.seconds(**switched(ON, NATIVE))
        ),
        left_name="gain nearby", right_name="gain far away", relation="at most", factor=1.0, kind="times",
        reasons=(Reason(says="both runs are so short that this machine's own noise shows; repeat on a quiet machine"),),
    ),
)  # fmt: skip


def _near(way: str) -> dict[str, object]:
    return {**switched(way, NATIVE), "latency_s": 20e-6}


_HOLE_S, _HOLE_RATE = 0.005, 200e6
_COUNTS = ("350 KB a read", "80 seconds", "20,000 read-ahead pages a second", "16,000 MB of table")

_WINDOWS = ("1 request", "2 requests", "3 requests", "15 requests", "128 requests")


def _window_of(request_bytes: float, **device: float) -> str:
    depth = laws.depth_to_ask_for(request_bytes, **device)
    return next(window for window in _WINDOWS if window.split()[0] == str(depth))


EXERCISES = (
    Exercise(
        id="latency",
        question="Shea's table has 2,000,000 pages of 8 KB. Read page by page it took 210 s; in reads of 350 KB, 80 s."
        " What does one read cost apart from its bytes?",
        shape=Amount(kind="s", tolerance=0.1, word="µs"),
        answer=lambda bench: sheas_device()[0],
        equivalents=lambda bench: (
            f"{sheas_device()[0] * 1e6:.4g} µs", f"{sheas_device()[0] * 1e3:.4g} ms", f"{sheas_device()[0]:.6f} s",
        ),
        misconceptions=(
            Misconception(
                name="all of the time is latency", example=lambda bench: f"{210 / 2e6 * 1e6:.0f} µs",
                hint="210 s over all pages also holds the time in which their bytes pass. The fast scan moved the same"
                " bytes.",
            ),
            Misconception(
                name="read-ahead makes the disk faster", example=lambda bench: f"{80 / 2e6 * 1e6:.0f} µs",
                hint="The disk is the same in both scans. What changed is how often it was asked.",
            ),
        ),
        hints=(
            "Both scans move the same bytes. In what do they differ?",
            "The difference in seconds is the difference in reads times the latency.",
            "(210 - 80) seconds over (2,000,000 - 2,000,000 × 8 / 350) reads.",
        ),
        solution="The bytes pass equally long in both, so they drop out of the difference: 130 s for 1.95 million reads"
        " more. Then the bandwidth follows from either scan. Two numbers from two: a perfect fit that proves nothing"
        " until a third figure agrees.",
    ),
    Exercise(
        id="cannot_be",
        question="One of the figures Shea printed cannot be right beside the others. Which?",
        shape=Choice(options=_COUNTS),
        answer=_COUNTS[2],
        equivalents=("c", "20,000 read-ahead pages"),
        misconceptions=(
            Misconception(
                name="the largest number is the wrong one", example="16,000 MB of table",
                hint="2,000,000 pages of 8 KB: multiply.",
            ),
            Misconception(
                name="the time is too short", example="80 seconds",
                hint="16,000 MB in 80 s is a rate. Is it the one he printed?",
            ),
        ),
        hints=("Turn each figure into bytes a second.", "A page is 8 KB.",
               "Pages a second × 80 s: is it the whole table?"),
        solution="20,000 pages a second for 80 s are 1.6 million of the 2 million pages; it takes 25,000. Perhaps the"
        " counter was read early, or not every page came by read-ahead. His time, size and rate agree.",
    ),
    Exercise(
        id="window_disk",
        question="Requests of 512 KB on a disk of 200 MB/s that takes 5 ms to answer. How many must be under way to"
        " saturate it?",
        shape=Choice(options=_WINDOWS),
        answer=_window_of(512 * KiB, latency_s=0.005, bandwidth_bytes_per_s=200e6),
        equivalents=("c", "3 REQUESTS"),
        misconceptions=(
            Misconception(
                name="one is enough if it is large", example="1 request",
                hint="While the disk answers one request for 5 ms, it delivers nothing.",
            ),
            Misconception(
                name="the wait alone", example="2 requests",
                hint="5 ms × 200 MB/s passes while the disk answers. The request itself takes time to pass, too.",
            ),
            Misconception(
                name="more depth is always better", example="128 requests",
                hint="Past saturation, more requests only wait in the queue, and hold memory meanwhile.",
            ),
        ),
        hints=(
            "How long does one request take, from order to last byte?",
            "How many bytes could the disk have delivered in that time?",
            "200 MB/s × (5 ms + 512 KB / 200 MB/s), in requests of 512 KB, rounded up.",
        ),
        solution="One takes 5 ms to be answered and about 2.6 ms to pass. In 7.6 ms the disk could deliver 1.5 MB,"
        " three requests. Bandwidth × (wait + passing) is what must be under way.",
    ),
    Exercise(
        id="window_ssd",
        question="An SSD of 3 GB/s that answers in 100 µs: how many requests of 256 KB must be under way?",
        shape=Choice(options=_WINDOWS),
        answer=_window_of(FILE_COPY_BYTES, latency_s=SSD_LATENCY_S, bandwidth_bytes_per_s=SSD_BYTES_PER_S),
        equivalents=("c", "3 requests"),
        misconceptions=(
            Misconception(
                name="a fast drive needs no read-ahead", example="1 request",
                hint="Multiply its own two: 100 µs × 3 GB/s passes while it answers. Is that less than one request?",
            ),
            Misconception(
                name="fifteen times faster, fifteen times deeper", example="15 requests",
                hint="Depth is bandwidth × delay. The delay has fallen too.",
            ),
        ),
        hints=("The same sum as for the disk.", "256 KB pass in under 100 µs.", "3 GB/s × (100 µs + 87 µs) / 256 KB."),
        solution="187 µs at 3 GB/s are some 560 KB: three requests of 256 KB. A drive that also answers sooner may"
        " need no deeper a window; one that is only faster does.",
    ),
    Exercise(
        id="longest_hole",
        question="Two column chunks you want lie apart, on a device that answers in 5 ms and delivers 200 MB/s. Up to"
        " which length should the hole between them be read through?",
        shape=Amount(kind="bytes", tolerance=0.08, word="MiB"),
        answer=lambda bench: laws.bytes_to_ask_for(latency_s=_HOLE_S, bandwidth_bytes_per_s=_HOLE_RATE),
        equivalents=("1 MB", "1000 kB", "1,000,000 B"),
        misconceptions=(
            Misconception(
                name="never read what nobody wants", example="0.001 MiB",
                hint="The second question costs 5 ms. What passes in 5 ms?", matches=lambda given: given < 1e5,
            ),
            Misconception(name="a second's worth", example="200 MB", hint="The delay is 5 ms, not a second.",
                          matches=lambda given: given > 1e7),
        ),
        hints=("What does another read cost?", "How many bytes pass in that time?", "Bandwidth × delay."),
        solution="5 ms × 200 MB/s = 1 MB. (What to keep under way is this and one request more.) DuckDB fits it from"
        " its own reads and merges what lies nearer (parquet_prefetch_column_gap pins it).",
    ),
    Exercise(
        id="when",
        question="Where does read-ahead help?",
        shape=Several(
            options=(
                "a scan of a distant object store", "a table that is already in memory",
                "a scan of a disk, one page at a time", "ten rows from the first row group",
            )
        ),
        answer=("a scan of a distant object store", "a scan of a disk, one page at a time"),
        equivalents=("a, c", ["c", "a"], "a and c"),
        misconceptions=(
            Misconception(
                name="prefetch helps when data is in memory", example="a, b, c",
                hint="What is the delay of memory? Bandwidth × nothing is nothing to ask for ahead.",
            ),
            Misconception(
                name="more reading never hurts", example="a, b, c, d",
                hint="What happens to the reads that were sent when the tenth row had arrived?",
            ),
        ),
        hints=("Is there a delay to hide?", "Will what is asked for be needed?", "Both must be so."),
        solution="Read-ahead hides a delay behind other work. In memory there is none, and for ten rows there is"
        " no other work: the rest of the window is read for nobody.",
    ),
)  # fmt: skip
