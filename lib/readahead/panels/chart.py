"""Static charts: a drawing's lines, reads or residuals as SVG text, drawn by matplotlib.

They need no JavaScript and no kernel, take the colour of the text around them (so that they read in a light and in
a dark theme), and carry their sentence as the text that a screen reader speaks.
"""

from __future__ import annotations

import html
import io
import itertools
import math
import re
import textwrap
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from readahead import units
from readahead.experiments.figure import Axis, Drawing, Picture, Traces
from readahead.experiments.residual import Tally
from readahead.measure.sample import Value
from readahead.panels.markup import COLOURS, folded, paragraphs, table
from readahead.storage.trace import Read, in_flight

CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#767676", "#8C6D1F")
"""Colours for things without a meaning of their own, such as threads."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
"""Of the reader's own machine: nothing is fetched."""
WIDTH = 720
"""Of every chart, in the units of its viewBox: a pixel each where there is room."""
MOST_DASHES = 600
"""Reads drawn of one run at most; of more, every second or third one. The table has them all."""
MOST_STEPS = 300
"""Steps drawn of the reads in flight; of more, the highest of every two or three."""
NEAR, WIDEST = 1.1, 2.0
"""Of residuals: the shaded band, and where a dot that is farther off is drawn."""

_INK = "#010203"
"""Stands for currentColor, which matplotlib does not know, and is replaced by it in the text."""
_STYLE = Path(__file__).with_name("chart.mplstyle")
_STYLE_LOCK = threading.Lock()
"""Matplotlib's style is one for the whole process; charts are drawn in threads."""
Mark = tuple[str, str, Value]
"""One value on a strip: its name, whose it is (guess, modeled, measured, published or other), and itself."""
MARKS = {
    "guess": {"marker": "D", "markersize": 8},
    "modeled": {"marker": "|", "markersize": 15, "markeredgewidth": 4},
    "measured": {"marker": "o", "markersize": 9},
    "published": {"marker": "s", "markersize": 9, "markerfacecolor": "none", "markeredgewidth": 2.2},
    "other": {"marker": "o", "markersize": 9},
}
"""A mark for each source, so that a chart printed in grey loses nothing."""
_MORE_MARKS = ("^", "v", "D", "P")
"""For the second, third … series of marks of one source, in its colour."""
_MARK_ROW = 15
"""The height of the name of a place on the x axis."""
_TITLE_LETTERS = 84
"""Letters of a bold title that stand on one line above a strip of dashes."""
_DASHES: tuple[Any, ...] = ("solid", (0, (7, 4)), (0, (2, 3)), (0, (9, 3, 2, 3)))
"""A dash for each joined line, so that lines of one colour can be told apart."""


def chart(drawing: Drawing) -> str:
    """Return any drawing as SVG text."""
    ways: dict[type, Callable[..., float]]
    ways = {Traces: _draw_traces, Tally: _draw_residuals, Picture: _draw_picture}
    return _rendered(drawing.sentence, ways[type(drawing)], drawing)


def drawing_html(drawing: Drawing) -> str:
    """Return a drawing as HTML: title, sentence, chart, and the table, folded."""
    numbers = folded("The numbers", table(drawing.head, drawing.rows))
    title = drawing.title if drawing.title.endswith("?") else f"{drawing.title}."
    return paragraphs(f"**{title}** {drawing.sentence}") + chart(drawing) + numbers


def strip(marks: Sequence[Mark], kind: str, sentence: str) -> str:
    """Return values on one log axis as SVG text, each on its own row with its name. All must be above 0."""
    return _rendered(sentence, _draw_strip, marks, kind)


def ticks(low: float, high: float, *, log: bool = True, most: int = 8, kind: str = "") -> list[float]:
    """Return round places from `low` to `high`: decades, finer where few; for bytes and few things powers of two."""
    from matplotlib import ticker

    if log and (kind == "bytes" or (kind == "count" and low > 0.5 and high <= 512)):
        locator: Any = ticker.LogLocator(base=2, numticks=most)
    elif log:
        decades = math.log10(high / low)
        locator = ticker.LogLocator(
            subs=(1, 2, 5) if decades < 2 else (1, 3) if decades < 3 else (1,), numticks=most
        )
    elif kind == "bytes":
        locator = ticker.MultipleLocator(2.0 ** math.ceil(math.log2((high - low) / 6)))
    else:
        locator = ticker.MaxNLocator(6, steps=[1, 2, 5, 10], integer=kind in ("count", "rows"))
    places = [float(place) for place in locator.tick_values(low, high)]
    places = [place for place in places if low * (1 - 1e-9) <= place <= high * (1 + 1e-9)]
    return places if len(places) > 2 or not log else ticks(low, high, log=False, most=most, kind=kind)


def tick_texts(places: Sequence[float], kind: str, *, log: bool) -> list[str]:
    """Return places in words: each in its own unit on a log axis, all in one unit on an even one."""
    if log:
        return [units.text(place, kind) for place in places]
    above_0 = [place for place in places if place]
    words = iter(units.texts(above_0, kind))
    return [next(words) if place else "0" for place in places]


# -- the one way from a figure to text ------------------------------------------------------------
def _rendered(sentence: str, draw: Callable[..., float], *what: Any) -> str:
    """Make a figure, have it drawn, and return it as the text of an SVG element. `draw` returns its height."""
    from matplotlib import style  # a third of a second: only who draws pays
    from matplotlib.figure import Figure

    written = io.StringIO()
    plan = style.context(["default", _STYLE, {"svg.hashsalt": sentence}])
    with _STYLE_LOCK, warnings.catch_warnings(), plan:
        # A letter that the measuring font lacks is drawn all the same, by the reader's own fonts.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        figure = Figure(layout="constrained")
        figure.set_size_inches(WIDTH / 72, draw(figure, *what) / 72)
        figure.patch.set_visible(False)
        for axes in figure.axes:
            axes.patch.set_visible(False)
            axes.minorticks_off()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return _inline(written.getvalue(), sentence)


def _inline(text: str, sentence: str) -> str:
    """Return matplotlib's document as an element of a page: smaller, and without a style that others would take."""
    size = re.search(r'viewBox="([^"]+)"', text)
    assert size is not None
    body = text[text.index("</metadata>") + len("</metadata>") : text.rindex("</svg>")]
    body = re.sub(r"<defs>\s*<(style|clipPath).*?</\1>\s*</defs>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'(?<=<g) id="[^"]*"| clip-path="[^"]*"| transform="rotate\(-?0 [^"]*"', "", body)
    body = re.sub(r"font-family: [^;\"]*;? ?", "", body)
    # A tenth of a pixel is enough: one digit behind each point.
    fewer = partial(re.sub, r"(\.\d)\d+", r"\1")
    body = re.sub(r'(?<= )(d|x|y|transform)="[^"]*"', lambda found: fewer(found[0]), body)
    body = re.sub(r"\s+", " ", body).replace("> <", "><").replace("<g/>", "").replace(_INK, "currentColor")
    return (
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='100%'"
        f" viewBox='{size[1]}' role='img' aria-label='{html.escape(sentence, quote=True)}' style=\"max-width:{WIDTH}px;"
        f'font-family:{FONT};stroke-linejoin:round"><title>{html.escape(sentence)}</title>{body}</svg>'
    )


def _wide(text: str) -> float:
    """Return how wide a text of size 12 is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=12), ismath=False)[0])


# -- what is drawn ---------------------------------------------------------------------------------
def _mark(source: str, number: int = 0) -> dict[str, Any]:
    """Return how a source's marks look; `number` counts the series of this source."""
    plain = {**MARKS[source], "color": COLOURS[source], "linestyle": "none"}
    return plain if not number else {**plain, "marker": _MORE_MARKS[(number - 1) % len(_MORE_MARKS)]}


def _draw_picture(figure: Any, picture: Picture) -> float:
    """Draw lines and marks between two axes, and their names below."""
    axes = figure.add_subplot()
    points = [point for line in picture.lines for point in line.points]
    _prepare(axes, "x", picture.x, [x for x, _ in points] + list(picture.marks.values()))
    _prepare(axes, "y", picture.y, [y for _, y in points], rows=len(picture.marks))
    axes.set(xlabel=picture.x.label, title=picture.y.label)
    for row, (name, place) in enumerate(picture.marks.items()):
        axes.axvline(place, color=_INK, linewidth=1, linestyle=(0, (4, 4)), alpha=0.7)
        along = axes.transLimits.transform(axes.transScale.transform((place, 1)))[0]
        side, gap = ("left", 4) if along < 0.7 else ("right", -4)
        spot = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "va": "top", "ha": side}
        axes.annotate(name, (place, 1), xytext=(gap, -2 - _MARK_ROW * row), **spot)
    dashes, seen = itertools.cycle(_DASHES), dict.fromkeys(COLOURS, 0)
    for line in picture.lines:
        xs, ys = zip(*sorted(line.points), strict=True) if line.points else ((), ())
        if line.joined and len(xs) > 1:
            pen = {"color": COLOURS[line.source], "linewidth": 2, "linestyle": next(dashes)}
            axes.plot(xs, ys, label=line.name, **pen)
        else:
            axes.plot(xs, ys, label=line.name, **_mark(line.source, seen[line.source]))
            seen[line.source] += 1
    columns = 2 if len(picture.lines) > 2 and max(_wide(line.name) for line in picture.lines) < 280 else 1
    figure.legend(loc="outside lower left", ncols=columns)
    return 340 + 18 * -(-len(picture.lines) // columns)


def _prepare(axes: Any, side: str, axis: Axis, values: Sequence[float], rows: int = 0) -> None:
    """Give one axis its scale, its ends with some air around the values, and its places with their words.

    Above the values there is room for so many rows of words.
    """
    axes.grid(True, axis=side)
    if axis.names:
        crowded = side == "x" and sum(_wide(name) for name in axis.names) > 0.8 * WIDTH
        aslant = {"rotation": 30, "rotation_mode": "anchor", "ha": "right"} if crowded else {}
        axes.set(**{f"{side}lim": (0.5, len(axis.names) + 0.5)})
        getattr(axes, f"set_{side}ticks")(range(1, len(axis.names) + 1), axis.names, **aslant)
        return
    low, high = min(values), max(values)
    share = rows * _MARK_ROW / 250
    if axis.log:
        air = max((high / low) ** 0.06, 1.5 if high / low < 4 else 1.0)
        ends = low / air, high * air * (high * air**2 / low) ** share
    else:
        air = (high - low) * 0.06 or abs(high) or 1.0
        ends = 0.0 if low >= 0 else low - air, high + air + high * share
    places = ticks(*ends, log=axis.log, most=8 if side == "x" else 6, kind=axis.kind)
    axes.set(**{f"{side}scale": "log" if axis.log else "linear", f"{side}lim": ends})
    words = tick_texts(places, axis.kind, log=axis.log)
    words = apart(places, words, ends) if side == "x" and axis.log else words
    axes.set(**{f"{side}ticks": places, f"{side}ticklabels": words})


def apart(places: Sequence[float], words: Sequence[str], ends: tuple[float, float]) -> list[str]:
    """Return the words along a log axis, none where it would touch the one before."""
    kept, edge = [], -math.inf
    for place, word in zip(places, words, strict=True):
        at = 0.75 * WIDTH * math.log(place / ends[0]) / math.log(ends[1] / ends[0])
        fits = at - _wide(word) / 2 > edge
        kept.append(word if fits else "")
        edge = at + _wide(word) / 2 + 6 if fits else edge
    return kept


def _draw_strip(figure: Any, marks: Sequence[Mark], kind: str) -> float:
    """Draw each mark on its own row, its interval as a bar."""
    axes = figure.add_subplot()
    values = [n for _, _, one in marks for n in (one.median, one.low, one.high) if n > 0]
    _prepare(axes, "x", Axis(label="", kind=kind), values)
    if kind == "1" and max(values) <= 1:
        axes.set_xlim(right=min(1.0, axes.get_xlim()[1]))  # no share is more than the whole
    for row, (_, source, one) in enumerate(marks):
        if one.high > one.low:
            axes.hlines(row, max(one.low, min(values)), one.high, color=COLOURS[source], linewidth=3)
        axes.plot(max(one.median, min(values)), row, clip_on=False, **_mark(source))
    _name_rows(axes, [f"{name}: {units.text(one.median, kind)}" for name, _, one in marks])
    return 44 + 30 * len(marks)


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    """Name the rows at the left, the first on top, without an edge."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _draw_residuals(figure: Any, tally: Tally) -> float:
    """Draw model / printed of every figure on one log axis around 1, ten per cent to either side shaded.

    A full dot could have failed; a hollow one shows a figure that was fitted to, or that rests on a choice.
    """
    axes = figure.add_subplot()
    ratios = [one.ratio for one in tally.residuals]
    wide = min(WIDEST, max(1.25, *(max(ratio, 1 / ratio) for ratio in ratios)) * 1.02)
    axes.axvspan(1 / NEAR, NEAR, color=COLOURS["published"], alpha=0.14, linewidth=0)
    axes.axvline(1, color=COLOURS["published"], linewidth=2)
    names = []
    for row, one in enumerate(tally.residuals):
        shown, look = min(max(one.ratio, 1 / wide), wide), {"color": COLOURS["modeled"], "markersize": 8}
        role = "" if one.role == "foretold" else f" ({one.role})"
        names.append(textwrap.shorten(one.name, 50 - len(role), placeholder=" …") + role)
        hollow = {"markerfacecolor": "none", "markeredgewidth": 2} if role else {}
        axes.plot([shown], [row], marker="o", linestyle="none", **look, **hollow)
    axes.set(xscale="log", xlim=(1 / wide, wide))
    axes.set_xticks([1 / NEAR, NEAR], ["−10 %", "+10 %"])
    for label, side in zip(axes.get_xticklabels(), ("right", "left"), strict=True):
        label.set_horizontalalignment(side)  # away from each other: a wide axis leaves little room between
    above = {"xycoords": ("data", "axes fraction"), "xytext": (0, 3), "textcoords": "offset points"}
    axes.annotate("as printed", (1, 1), ha="center", va="bottom", **above)
    _name_rows(axes, names)
    percent = axes.secondary_yaxis("right")
    percent.set_yticks(
        range(len(ratios)), [f"{100 * (ratio - 1):+z.1f} %".replace("-", "−") for ratio in ratios]
    )
    percent.tick_params(axis="y", length=0, pad=9)
    percent.spines["right"].set_visible(False)
    axes.grid(True, axis="y")
    return 56 + 20 * len(ratios)


def _draw_traces(figure: Any, traces: Traces) -> float:
    """Draw every run as a strip of dashes with its reads in flight below, all on one clock."""
    end_s = max(read.done_s for _, reads in traces.runs for read in reads) * 1.02
    many = len(traces.runs)
    all_axes = figure.subplots(2 * many, 1, sharex=True, height_ratios=[5, 1] * many)
    lines = 0
    for number, (name, reads) in enumerate(traces.runs):
        dashes, flight = all_axes[2 * number : 2 * number + 2]
        title = textwrap.wrap(f"{name}: {len(reads):,} {traces.what}s", _TITLE_LETTERS)
        dashes.set_title("\n".join(title), fontweight="bold")
        lines += len(title) - 1
        if not reads:
            dashes.set_yticks([])
            flight.set_yticks([])
            continue
        _draw_dashes(dashes, reads)
        times, depths = (np.array(values) for values in in_flight(reads))
        starts = np.arange(0, len(times), -(-len(times) // MOST_STEPS))
        edges = np.append(times[starts], times[-1])
        flight.stairs(np.maximum.reduceat(depths, starts), edges, fill=True, color=_INK, alpha=0.3)
        flight.set_ylim(0, 1.1 * max(depths))
        flight.set_yticks([max(depths)], [f"{max(depths)} in flight"])
    for axes in all_axes:
        axes.tick_params(axis="both", length=0)
        axes.grid(True, axis="x")
    places = ticks(0.0, end_s, log=False)
    last = all_axes[-1]
    last.set(xlim=(0, end_s), xlabel=f"time since the {'query' if traces.what == 'read' else 'load'} began")
    last.set_xticks(places, tick_texts(places, "s", log=False))
    key = f"dash: a {traces.what} at its place in the file, a colour a thread; grey: {traces.what}s in flight"
    figure.supxlabel(key, x=0.01, ha="left", fontsize=11)
    return 56 + 178 * many + _MARK_ROW * lines


def _draw_dashes(axes: Any, reads: Sequence[Read]) -> None:
    """Draw a dash for each read, from when it was asked for to when it was there, at its place in the file."""
    shown = reads[:: -(-len(reads) // MOST_DASHES)]
    wide = 1.2 if len(shown) > 200 else 2.0 if len(shown) > 50 else 3.5
    end_bytes = max(read.offset + read.size_bytes for read in reads)
    least_s = max(read.done_s for read in reads) / WIDTH
    for colour, ink in enumerate(CYCLE):
        times, places = [], []
        for read in shown:
            if read.thread % len(CYCLE) == colour:
                times += [read.submitted_s, max(read.done_s, read.submitted_s + least_s), math.nan]
                places += 3 * [read.offset + read.size_bytes / 2]
        axes.plot(times, places, color=ink, linewidth=wide, solid_capstyle="butt")
    axes.set_ylim(0, end_bytes * 1.02)
    axes.set_yticks([0, end_bytes], ["0", units.text(end_bytes, "bytes")])
