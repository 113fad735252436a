"""Reading the index: Randal's four ways in print, the same ways on an emulated device, and samples drawn by DuckDB."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from readahead import published, units
from readahead.chapters.index_pages import laws
from readahead.chapters.index_pages.laws import PAGE_BYTES
from readahead.chapters.index_pages.workload import (
    CHOSEN,
    EXPERIMENT,
    IN_ORDER,
    SHUFFLED,
    PageIndex,
    layout,
    reads_of,
)
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import Settings
from readahead.experiments.figure import Line, Picture, curve, dots
from readahead.experiments.residual import Tally, tally
from readahead.experiments.round import Analogue, Applied, Round, Study, along, compared
from readahead.experiments.steps import Frame, listed
from readahead.questions.question import Computed
from readahead.units import KiB

figure, printed = partial(published.figure, "index_pages"), partial(published.best, "index_pages")
LEAVES, UPPER = printed("leaf_pages"), printed("upper_pages")
"""Of Randal's index."""
READ_BYTES = published.figure("lookups", "read_bytes.cold").value
"""What Chang saw the same database read for one page when its cache was empty."""
EXAMPLE_LEAVES = printed("example_leaf_pages")


# -- what is asked of model and measurement ----------------------------------------------------------------
WIDE: dict[str, Any] = {"way": "limited", "fanout": 48, "read_bytes": 64 * KiB}
"""An upper level long enough to be a chain of reads, eight pages a read."""
CHAIN = WIDE | {"read_bytes": PAGE_BYTES}
SHALLOW, DEEP = CHAIN | {"queue_depth": 1}, CHAIN | {"queue_depth": 128}
LIST = CHAIN | {"way": "map"}
EVERYTHING = {"way": "detailed"}


def table(way: str, **more: Any) -> dict[str, Any]:
    """Return the knobs of DuckDB on an object store, with a window that suits it."""
    return {"device": "object-store", "queue_depth": 32, "way": way, **more}


SAMPLE, WHOLE = table("tablesample"), table("table")
NATIVE_SAMPLE, NATIVE_WHOLE = table("tablesample", stored="native"), table("table", stored="native")


def half_width(study: Study, order: str) -> float:
    """Return the half-width of the interval that DuckDB's sample of row groups gives."""
    asked = table(CHOSEN, order=order)
    return EXPERIMENT.case(study.settings(**asked)).early_share(study.sample(**asked))[1]


def half_width_law(study: Study, order: str) -> Applied:
    """Return the law of the half-width, with the row groups that are drawn."""
    case = EXPERIMENT.case(study.settings(**table(CHOSEN, order=order)))
    drawn = {"drawn": len(case.chosen()), "of_groups": case.recipe.row_groups}
    if order == IN_ORDER:
        return Applied(laws.sorted_half_width, **drawn)
    return Applied(laws.shuffled_half_width, **drawn, group_rows=case.cluster_rows)


def _ways_law(study: Study, *ways: Settings) -> Applied:
    """Return the law of two ways to inspect the index, with the exact reads of each."""
    one_s, other_s = (_way_law(study.settings(**way)) for way in ways)
    return Applied(laws.times_as_long, one_s=one_s, other_s=other_s)


def _way_law(now: Settings) -> Applied:
    linked, listed = reads_of(EXPERIMENT.inspection(now).index, now["way"], now["read_bytes"])
    device = {name: now[name] for name in ("read_bytes", "latency_s", "bandwidth_bytes_per_s")}
    return Applied(laws.way_s, linked=len(linked), listed=len(listed), depth=now["queue_depth"], **device)


def _native_law(study: Study, *ways: Settings) -> Applied:
    """Return the law of a sample read step by step, against all blocks at once, of which the longest read is last."""
    part, whole = (EXPERIMENT.case(study.settings(**way)) for way in ways)
    one_s, other_s = (
        Applied(
            laws.chain_s,
            reads=reads,
            read_bytes=max(size for _, size in case.scan().listed),
            latency_s=case.device.latency_s,
            bandwidth_bytes_per_s=case.device.channel_bandwidth_bytes_per_s,
        )
        for case, reads in ((part, part.scan().read_groups), (whole, 1))
    )
    return Applied(laws.times_as_long, one_s=one_s, other_s=other_s)


def _sampled(order: str) -> Round:
    return Round(measured=partial(half_width, order=order), law=partial(half_width_law, order=order))


ROUNDS = {
    "upper": Round(
        published=(figure("example_upper_pages.bigint"),),
        law=lambda _: Applied(
            laws.upper_pages,
            leaf_pages=int(EXAMPLE_LEAVES),
            entries=laws.fanout(printed("entry_bytes.bigint")),
        ),
    ),
    "all_leaves": compared(EVERYTHING, {}, law=_ways_law, published=(figure("detailed_to_limited_factor"),)),
    "behind": Round(
        published=(published.figure("lookups", "read_bytes.cold"),),
        law=lambda _: Applied(
            laws.bytes_a_page,
            bytes_per_s=printed("bytes_per_s.limited"),
            elapsed_s=printed("elapsed_s.limited"),
            pages=int(UPPER),
        ),
    ),
    "sampled": Round(
        published=(figure("elapsed_s.sampled"),),
        law=lambda _: Applied(
            laws.in_proportion,
            first_s=printed("elapsed_s.limited"),
            all_s=printed("elapsed_s.detailed"),
            share=printed("sampled_share"),
        ),
    ),
    "eighth": compared(WIDE, CHAIN, law=_ways_law),
    "deep": compared(
        SHALLOW, DEEP, law=lambda *_: Applied(laws.under_way, known=1, depth=DEEP["queue_depth"])
    ),
    "map": compared(CHAIN, LIST, law=_ways_law),
    "sample_parquet": compared(SAMPLE, WHOLE),
    "sample_native": compared(NATIVE_SAMPLE, NATIVE_WHOLE, law=_native_law),
    "wrong": _sampled(IN_ORDER),
    "wrong_shuffled": _sampled(SHUFFLED),
}


def _bytes(way: Settings, other: Settings) -> Analogue:
    """Return how many times as many bytes are read in one way as in another."""
    return lambda study, _: study.glance(**way).bytes_read / study.glance(**other).bytes_read


ANALOGUES = {"pages": _bytes(EVERYTHING, {}), "bytes": _bytes(SAMPLE, WHOLE)}


# -- in print --------------------------------------------------------------------------------------------
KEY_BYTES = {"wide": printed("key_bytes.wide"), "bigint": 8}


def in_print() -> Tally:
    """Return every printed figure that the model of his times or of his entries meets.

    Reads of 64 KB are Chang's, who saw them on another machine: that they give this one's bytes a second is foretold.
    """
    times = {f"elapsed_s.{way}": printed(f"elapsed_s.{way}") for way in ("limited", "sampled", "detailed")}
    limited_s, detailed_s = times["elapsed_s.limited"], times["elapsed_s.detailed"]
    models = {
        "elapsed_s.count": detailed_s - limited_s,
        "bytes_per_s.limited": READ_BYTES * UPPER / limited_s,
        "entry_bytes.bigint": laws.entry_bytes(KEY_BYTES["bigint"], nullable=False),
        "entry_bytes.wide": laws.entry_bytes(KEY_BYTES["wide"], nullable=True),
    }
    return tally(__file__, models | times)


# -- the figures -----------------------------------------------------------------------------------------
def _levels(_: Study) -> Picture:
    keys, lines = [float(4 * 2**n) for n in range(8)] + [800.0], []
    for name, nullable in (("key that may be null", True), ("key that is never null", False)):
        entries = [laws.fanout(laws.entry_bytes(key, nullable=nullable)) for key in keys]
        lines.append(curve(name, keys, [laws.upper_pages(EXAMPLE_LEAVES, some) for some in entries]))
    said = [(float(size), printed(f"example_upper_pages.{key}")) for key, size in KEY_BYTES.items()]
    return Picture(lines=(*lines, dots("Randal's examples", said, "published")))


def _ways(_: Study) -> Picture:
    sampled = UPPER + LEAVES * printed("sampled_share")
    pages = {"limited": UPPER, "sampled": sampled, "count": LEAVES, "detailed": UPPER + LEAVES}
    said = [(read, printed(f"elapsed_s.{way}")) for way, read in pages.items()]
    even = [(read, printed("elapsed_s.limited") * read / UPPER) for read in pages.values()]
    his = dots("links, links and 1 in 100, COUNT(*), everything", said, "published")
    return Picture(lines=(Line(name="if time followed pages", points=even), his))


def _behind(study: Study) -> Picture:
    sizes = (CHAIN["read_bytes"], WIDE["read_bytes"])
    used = along(study, "read_bytes", seen=sizes, label="used", by="measured", **WIDE)
    delivered = []
    for line in used:
        behind = [(size, rate * size / PAGE_BYTES) for size, rate in line.points]
        delivered.append(replace(line, name=line.name.replace("used", "delivered"), points=behind))
    rates = (printed("bytes_per_s.limited"), UPPER * PAGE_BYTES / printed("elapsed_s.limited"))
    said = [(READ_BYTES, rate) for rate in rates]
    return Picture(lines=(*delivered, *used, dots("Randal's counter, and his pages", said, "published")))


def _sure(study: Study) -> Picture:
    case = EXPERIMENT.case(study.settings(**table(CHOSEN)))
    groups, share = case.recipe.row_groups, len(case.chosen()) / case.recipe.row_groups
    drawn = [max(2, round(part * groups)) for part in EXPERIMENT.knob("sample_share").steps]
    in_order = [(n / groups, min(1.0, laws.sorted_half_width(n, groups))) for n in drawn]
    shuffled = [(n / groups, laws.shuffled_half_width(n, groups, case.cluster_rows)) for n in drawn]
    lines = [Line(name="model, by time", points=in_order), Line(name="model, shuffled", points=shuffled)]
    for order in (IN_ORDER, SHUFFLED):
        name = f"DuckDB, {EXPERIMENT.knob('order').text(order)}"
        lines.append(dots(name, [(share, half_width(study, order))]))
    return Picture(lines=tuple(lines))


def _answers(study: Study) -> Picture:
    asked = {
        "all rows": WHOLE,
        "chosen row groups, by time": table(CHOSEN),
        "chosen row groups, shuffled": table(CHOSEN, order=SHUFFLED),
        "own format, TABLESAMPLE, by time": NATIVE_SAMPLE,
    }
    seen, lines = [], []
    for name, changes in asked.items():
        sample = study.sample(**changes)
        share, give = EXPERIMENT.case(study.settings(**changes)).early_share(sample)
        if math.isfinite(share) and math.isfinite(give):
            ends = (max(0.0, share - give), share, min(1.0, share + give))
            seen.append((float(sample.bytes_read), share))
            lines.append(curve(name, [sample.bytes_read] * 3, ends, "measured"))
    (most, truth), *parts = seen
    level = curve("all rows", (min(at for at, _ in seen), most), (truth, truth), "other")
    return Picture(lines=(level, *lines[1:], dots("what each answers", parts)))


FIGURES = {
    "levels": _levels,
    "ways": _ways,
    "two_halves": {"links": {}, "links, then all leaves": EVERYTHING},
    "behind": _behind,
    "chain": {"by the links": CHAIN, "by the map": LIST},
    "asked": {
        "own format, TABLESAMPLE": NATIVE_SAMPLE,
        "own format, all rows": NATIVE_WHOLE,
        "Parquet, metadata alone": table("metadata"),
        "Parquet, chosen row groups": table(CHOSEN),
        "Parquet, all rows": WHOLE,
    },
    "answers": _answers,
    "sure": _sure,
}


# -- claims and computed answers -------------------------------------------------------------------------
def _queued(given: Mapping[str, float]) -> Applied:
    """Return the wait of a read in a queue so deep at the pace of the leaf scan in reads of 64 KB."""
    scan_s = printed("elapsed_s.detailed") - printed("elapsed_s.limited")
    return Applied(laws.wait_s, **given, reads_per_s=LEAVES / 8 / scan_s)


CLAIMS: dict[str, Sides] = {
    "deaf": Sides(left=DEEP, right=SHALLOW),
    "map_pays": Sides(
        left=LIST,
        right=CHAIN,
        when={"with_so_few": lambda left, right, study: study.base["queue_depth"] < 6},
    ),
    "same_reads": Sides(
        left=lambda study: study.sample(**SAMPLE).bytes_read,
        right=lambda study: study.sample(**WHOLE).bytes_read,
    ),
    "longer": Sides(left=NATIVE_SAMPLE, right=NATIVE_WHOLE),
    "model_holds": Sides(left=EVERYTHING, right=lambda study: study.model.seconds(**EVERYTHING)),
    "stirred": Sides(left=partial(half_width, order=IN_ORDER), right=partial(half_width, order=SHUFFLED)),
}

ANSWERS = {"seconds": Computed(law=_queued, wrong={"a_read_for": lambda given: _queued(given).result / 8})}


def _walk(study: Study) -> Iterator[Frame]:
    """Return the pages of a small index in the order in which DETAILED reads them, with the times of the laws."""
    index, depth = PageIndex(leaf_pages=8, fanout=3), 4
    upper, leaves = (pages.tolist() for pages in layout(index))
    drive = {name: study.base[name] for name in ("latency_s", "bandwidth_bytes_per_s")}
    turns = [
        [0],
        *([page] for page in upper),
        *(leaves[at : at + depth] for at in range(0, len(leaves), depth)),
    ]
    read = {page: turn for turn, pages in enumerate(turns) for page in pages}
    told = {0: -1} | {page: turn for turn, page in enumerate(upper)}
    told |= {leaf: 1 + at // index.fanout for at, leaf in enumerate(leaves)}
    for turn, pages in enumerate(turns):
        links = min(turn, len(upper)) + 1
        now_s = laws.way_s(links, depth * (turn + 1 - links), PAGE_BYTES, depth, **drive)
        below = [leaf for leaf in leaves if told[leaf] == turn]
        says = f"The leaves {listed(pages)} are known from the pages above, and read at the same time."
        if turn <= len(upper):
            says = f"Page {pages[0]} {f'lists the leaves {listed(below)}, and ' if below else ''}says that "
            says += f"page {upper[turn]} comes next." if turn < len(upper) else "it is the last above them."
        tones = [
            "done" if read[page] < turn else "wait" if told[page] < turn else "free" for page in sorted(read)
        ]
        boxes = [(str(page), "work" if page in pages else tone) for page, tone in enumerate(tones)]
        says += f" In all {units.text(now_s, 's')}."
        yield Frame(says=says, lanes={"Pages of the file": boxes})


STEPS = {"walk": _walk}
