"""Sentences, tables and boxes as plain HTML, the same with a kernel, without one, and in print."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

import mistune

from readahead.errors import ReadaheadError

COLOURS = {
    "guess": "#D55E00",
    "modeled": "#0072B2",
    "measured": "#009E73",
    "published": "#B8860B",
    "other": "#767676",
}
"""Of the sources: Okabe and Ito's (2008), which colour-blind readers can tell apart, the yellow darkened for white
paper. panel.css has those of the panel."""
_LINES = "line-height:1.5"
"""Closer than in a widget of ipywidgets, whose lines are as high as its buttons."""
_CELL = f"text-align:left;padding:.15em 1em .15em 0;{_LINES}"
PARAGRAPH = f"margin:.3em 0;{_LINES}"
_MARKDOWN: Any = mistune.create_markdown(plugins=["math"])
_MARKDOWN.block.rules = ["blank_line"]  # a sentence that begins with a number is no list
_MARKDOWN.inline.rules = ["codespan", "emphasis", "inline_math"]
_MARKDOWN.renderer.register("inline_math", lambda _, latex: mathml(latex))
_MARKDOWN.renderer.register("block_math", lambda _, latex: formula(latex))


def paragraphs(text: str) -> str:
    """Return text as HTML: escaped, with `code`, **strong**, *slanted* and $formulas$, paragraphs at empty lines."""
    return str(_MARKDOWN(text)).replace("<p>", f"<p style='{PARAGRAPH}'>")


def formula(latex: str) -> str:
    """Return a formula in LaTeX as MathML, on a line of its own; nothing for an empty one."""
    if not latex:
        return ""
    scrolls = "margin:.3em 0;padding:.2em 0;overflow:auto hidden"  # where it is wide, by keyboard too
    return f"<div tabindex='0' style='{scrolls}'>{mathml(latex, display='block')}</div>"


def mathml(latex: str, display: str = "inline") -> str:
    """Return LaTeX as MathML, escaped: the package undoes its escaping, and a text in a formula could be a script."""
    from latex2mathml.converter import convert_to_element

    root = convert_to_element(latex, display=display)
    em = 1.3 if display == "block" else 1.15  # the letters of its font are small beside the text's
    root.set("style", f"font-size:{em}em")
    for element in root.iter():  # the package writes its signs as entities
        element.text = html.unescape(element.text or "")
        element.attrib.pop("href", None)
    return str(ET.tostring(root, encoding="unicode"))


def plain(text: str) -> str:
    """Return text as HTML, escaped and nothing else: what others wrote, such as a name, gives no orders."""
    return f"<p style='{PARAGRAPH};white-space:pre-wrap'>{html.escape(text.strip())}</p>"


def code(text: str) -> str:
    """Return lines of code as they stand."""
    return f"<pre tabindex='0' style='margin:.4em 0;overflow-x:auto'><code>{html.escape(text)}</code></pre>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the first cell of each row is its heading."""
    top = "".join(f"<th scope='col' style='{_CELL}'>{html.escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>"
        f"<th scope='row' style='{_CELL};font-weight:normal'>{html.escape(row[0])}</th>"
        + "".join(f"<td style='{_CELL}'>{html.escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def box(mark: str, title: str, body: str, colour: str) -> str:
    """Return a box with a coloured edge; its mark and title say in words what the colour says."""
    return (
        f"<div role='status' style='border-left:4px solid {colour};padding:.3em .8em;margin:.4em 0'>"
        f"<strong>{html.escape(mark)} {html.escape(title)}</strong>{body}</div>"
    )


def error_box(error: BaseException | None) -> str:
    """Return an error as a box: our own as they are, others with their type; nothing for None."""
    if error is None:
        return ""
    text = str(error) if isinstance(error, ReadaheadError) else f"{type(error).__name__}: {error}"
    return box("✗", "That did not work.", plain(text), COLOURS["guess"])


def bullets(items: Sequence[str]) -> str:
    """Return a list with a bullet each; nothing if it is empty."""
    if not items:
        return ""
    return "<ul style='margin:.2em 0'>" + "".join(f"<li>{paragraphs(item)}</li>" for item in items) + "</ul>"


def folded(title: str, body: str, *, is_open: bool = False) -> str:
    """Return something that opens on a click, or is open already."""
    return f"<details{' open' if is_open else ''}><summary>{html.escape(title)}</summary>{body}</details>"


def show(text: str, metadata: Mapping[str, Any] | None = None) -> None:
    """Show HTML as the output of the cell; `metadata` is for programs that read the executed notebook."""
    from IPython import display as ipython

    display: Any = ipython.display
    page: Any = ipython.HTML
    display(page(text), metadata=metadata)
