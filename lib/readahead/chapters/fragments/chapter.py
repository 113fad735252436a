"""Fragments: what a disk with a head keeps of its speed when a file lies in pieces, and when many read at once."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from readahead import published, units
from readahead.chapters.fragments import laws
from readahead.chapters.fragments.workload import EXPERIMENT, READERS, REQUEST_BYTES, SHARED_BYTES
from readahead.devices import device
from readahead.experiments.claim import Sides
from readahead.experiments.figure import Line, Picture, curve, dots
from readahead.experiments.residual import Tally, tally
from readahead.experiments.round import Applied, Round, Study, along, compared
from readahead.experiments.steps import Frame
from readahead.measure.sample import Value
from readahead.models.queue import DeviceQueue
from readahead.questions.question import Computed
from readahead.units import KiB, MiB

figure = functools.partial(published.figure, "fragments")
PAGE_BYTES = 8 * KiB
ONE_PIECE = 64 * MiB
PIECE_BYTES = 128 * KiB
"""Of the pieces that are read step by step."""


def plain(**more: Any) -> dict[str, Any]:
    """Return the knobs of plain readers."""
    return {"workload": READERS, **more}


def disk(study: Study) -> dict[str, float]:
    """Return seek and bandwidth of the notebook's disk."""
    return {name: study.base[name] for name in ("seek_s", "bandwidth_bytes_per_s")}


LONG: dict[str, Any] = {"size": "small"}
"""A file of many pieces, read in far more time than opening takes, whatever the notebook's size."""


def disk_share(study: Study, fragment_bytes: int) -> float:
    """Return the share of its sequential speed that the disk kept while DuckDB scanned with one read at a time.

    It is what the bytes alone would have taken, over the time from each submission to its bytes. What DuckDB
    does between two reads is in neither.
    """
    reads = study.sample(fragment_bytes=fragment_bytes, queue_depth=1, **LONG).reads
    passing_s = sum(read.size_bytes for read in reads) / float(study.base["bandwidth_bytes_per_s"])
    return passing_s / sum(read.due_s - read.submitted_s for read in reads)


def _shared(study: Study) -> dict[str, Any]:
    """Return what the plain readers read, and on which disk."""
    requests = SHARED_BYTES // REQUEST_BYTES
    return {
        "requests": requests, "request_bytes": REQUEST_BYTES, "latency_s": study.base["latency_s"], **disk(study),
    }  # fmt: skip


BEFORE_BYTES, AFTER_BYTES = 225 * PAGE_BYTES, 1767 * PAGE_BYTES
"""Fragments before and after Neugebauer's rebuild."""
IN_PIECES, WHOLE = {"fragment_bytes": 512 * KiB}, {"fragment_bytes": ONE_PIECE}
ALONE = plain(readers=1, channels=1)
ON_ONE_HEAD, ON_EIGHT = plain(readers=8, channels=1), plain(readers=8, channels=8)
FLASH = {"device": "sata-ssd", "fragment_bytes": 64 * KiB}
FLASH_WHOLE = {**FLASH, "fragment_bytes": ONE_PIECE}

ROUNDS = {
    "yield": Round(
        measured=lambda study: disk_share(study, IN_PIECES["fragment_bytes"]),
        published=(figure("yield_share"),),
        law=lambda study: Applied(laws.yield_share, **IN_PIECES, **disk(study)),
    ),
    "half_speed": Round(
        published=(figure("seek_costs_bytes"),),
        law=lambda study: Applied(laws.half_speed_bytes, **disk(study)),
    ),
    "rebuild": Round(
        measured=lambda study: disk_share(study, AFTER_BYTES) / disk_share(study, BEFORE_BYTES),
        law=lambda study: Applied(
            laws.rebuild_gain, before_bytes=BEFORE_BYTES, after_bytes=AFTER_BYTES, **disk(study)
        ),
    ),
    "one_head": compared(
        ON_ONE_HEAD, ALONE, law=lambda study, *_: Applied(laws.turns_cost, **_shared(study))
    ),
    "eight_heads": compared(
        ALONE, ON_EIGHT, law=lambda study, *_: Applied(laws.heads_gain, heads=8, **_shared(study))
    ),
    "flash": compared(
        FLASH,
        FLASH_WHOLE,
        law=lambda *_: Applied(
            laws.rebuild_gain,
            before_bytes=FLASH["fragment_bytes"],
            after_bytes=FLASH_WHOLE["fragment_bytes"],
            seek_s=0.0,
            bandwidth_bytes_per_s=device("sata-ssd").bandwidth_bytes_per_s,
        ),
    ),
}

ANALOGUES = {"before": lambda study, _: disk_share(study, BEFORE_BYTES)}


# -- claims and exercises --------------------------------------------------------------------------------
def _at_half_speed(study: Study) -> Value:
    size = min(max(laws.half_speed_bytes(**disk(study)), 64 * KiB), ONE_PIECE)
    return study.measured.seconds(fragment_bytes=int(size), **LONG)


CLAIMS = {
    "half_is_half": Sides(
        left=_at_half_speed,
        right={**WHOLE, **LONG},
        when={"opening_the_file": lambda left, right, study: left.median < 2 * right.median},
    ),
    "model_holds": Sides(
        left=IN_PIECES,
        right=lambda study: study.model.seconds(**IN_PIECES),
        when={"reads_that_came": lambda left, right, study: left.median > right.median},
    ),
    "eight_heads_help": Sides(left=ON_EIGHT, right=ALONE),
    "flash_does_not_mind": Sides(left=FLASH, right=FLASH_WHOLE),
}
ANSWERS = {
    "small_reads": Computed(
        law=lambda given: Applied(
            laws.yield_share,
            fragment_bytes=4 * KiB,
            seek_s=given["latency_s"],
            bandwidth_bytes_per_s=given["bandwidth_bytes_per_s"],
        )
    )
}


# -- the figures -----------------------------------------------------------------------------------------
def _yield(study: Study) -> Picture:
    printed = figure("yield_share").value * study.base["bandwidth_bytes_per_s"]
    rate, sizes = study.base["bandwidth_bytes_per_s"], [2.0**power for power in range(14, 27)]
    alone = [rate * laws.yield_share(size, **disk(study)) for size in sizes]
    return Picture(
        lines=(
            curve("the disk alone, by the law", sizes, alone),
            *along(
                study, "fragment_bytes", seen=(64 * KiB, 512 * KiB, 4 * MiB, ONE_PIECE), label="whole scan"
            ),
            dots("mark's 33 %", [(512.0 * KiB, printed)], "published"),
        ),
        marks={"half speed": laws.half_speed_bytes(**disk(study))},
    )


def _readers(study: Study) -> Picture:
    lines: list[Line] = []
    for heads, label in ((1, "1 head"), (8, "8 heads")):
        lines += along(study, "readers", seen=(1, 8), label=label, by="measured", **plain(channels=heads))
    return Picture(lines=tuple(lines))


FIGURES = {
    "yield": _yield,
    "readers": _readers,
    "pieces": {"pieces of 512 KB": IN_PIECES, "one piece": WHOLE},
    "arms": {
        "one reader": ALONE,
        "eight readers, one head": ON_ONE_HEAD,
        "eight readers, eight heads": ON_EIGHT,
    },
    "no_arm": {"pieces of 64 KB": FLASH, "one piece": FLASH_WHOLE},
}


# -- in print --------------------------------------------------------------------------------------------
def in_print() -> Tally:
    """Return every printed figure that a law of this chapter meets.

    Only the scan of the table in fragments of 225 pages could have failed, and it does: with the drive's seek, such
    fragments cost little.
    """
    drive, small = device("usb-disk"), figure("drive_4k_read_bytes").value
    rate = drive.channel_bandwidth_bytes_per_s
    usb = {"seek_s": drive.seek_s + drive.latency_s, "bandwidth_bytes_per_s": rate}
    models = {
        "rowstore_scan_bytes_per_s": rate * laws.yield_share(BEFORE_BYTES, **usb),
        "drive_sequential_bytes_per_s": rate,
        "drive_4k_bytes_per_s": small / (usb["seek_s"] + small / rate),
    }
    return tally(__file__, models)


def _arm(study: Study) -> Iterator[Frame]:
    """Return four reads from a file in pieces and from one in one piece, as the queue of this disk books them."""
    drive = EXPERIMENT.device(study.base).but(channels=1)
    for lead, piece_bytes in (("A file in four pieces.", PIECE_BYTES), ("A file in one piece.", 0)):
        queue, now_s, spent = DeviceQueue(drive, piece_bytes), 0.0, []
        for at in range(4):
            due_s, seeks = queue.book(now_s, at * PIECE_BYTES, PIECE_BYTES)
            seek_s = seeks * drive.seek_s
            acts = [(f"The arm moves to part {at + 1}", "free", seek_s)] * (seeks > 0)
            acts += [(f"Part {at + 1} passes under the head", "work", due_s - now_s - seek_s)]
            for says, tone, takes_s in acts:
                now_s += takes_s
                took, so_far = units.text(takes_s, "s"), units.text(now_s, "s")
                spent.append((took, tone))
                parts = ["done"] * at + ["work" if tone == "work" else "wait"] + ["wait"] * (3 - at)
                lanes = {
                    "The file": [(str(part), its) for part, its in enumerate(parts, 1)],
                    "Time": tuple(spent),
                }
                yield Frame(says=f"{lead} {says}: {took}. In all {so_far}.", lanes=lanes)


STEPS = {"arm": _arm}
