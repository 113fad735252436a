"""What is read from executed pages would be missed if it were wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from executed import odd_answers, odd_numbers

from readahead.chapters import chapter
from readahead.chapters.fragments import laws
from readahead.experiments.round import Applied
from readahead.panels.markup import table
from readahead.panels.predictions import law_fold

LAW = Applied(laws.rebuild_gain, before_bytes=1e6, after_bytes=2e6, seek_s=0.01, bandwidth_bytes_per_s=1e8)
APART = "The law alone gives 1.33×; the model, which knows more, says 1.4×."


def notebook(page: str, code: str = 'lesson.reveal("rebuild")') -> Any:
    """Return an executed notebook of one cell."""
    output = nbformat.v4.new_output("display_data", data={"text/html": page})
    return SimpleNamespace(cells=[nbformat.v4.new_code_cell(code, outputs=[output])])


def page(model: str = "1.33× (1.2× to 1.4×)", apart: str = "") -> str:
    """Return the HTML of an answer."""
    return table(("Source", "Value"), [("Model", model)]) + law_fold(LAW, "times", apart)


@pytest.mark.parametrize("told", [page(), page("1.4×", APART)])
def test_an_answer_that_its_law_gives_is_right(told: str) -> None:
    assert odd_answers(notebook(told), chapter("fragments")) == ([], {"rebuild"})


@pytest.mark.parametrize(
    "told",
    [
        page("1.4×"),  # nothing says why
        page("1.5×", APART),
        page("1.4×", APART.replace("1.33", "1.2")),
        page().replace("1.33333: 1.33×", "1.33333: 1.3×"),
        page().replace("# 1.33333", "# 1.33433"),
        page().replace("before_bytes=1e6", "before_bytes=1.1e6"),
        page().replace("reading_s / (seek_s", "reading_s / (2 * seek_s"),
    ],
)
def test_a_page_that_does_not_give_its_answer_is_seen(told: str) -> None:
    faults, _ = odd_answers(notebook(told), chapter("fragments"))
    assert faults


@pytest.mark.parametrize("left_out", ["def yield_share", "from __future__ import annotations\n\n\n"])
def test_a_page_that_leaves_out_what_its_law_needs_is_seen(left_out: str) -> None:
    told = page().replace(left_out, "def other" if left_out.startswith("def") else "import readahead\n")
    with pytest.raises((NameError, AssertionError)):
        odd_answers(notebook(told), chapter("fragments"))


@pytest.mark.parametrize(
    "words", ["1.12e+06 B", "it takes 0 TiB", "0.0000012 s", "0.9676000000000001", "8,765,432.1 B/s"]
)
def test_a_number_that_is_not_for_people_is_seen(words: str) -> None:
    assert odd_numbers(notebook(f"<p>It is {words}.</p>"))


@pytest.mark.parametrize(
    "words",
    [
        "1,026.8",
        "100 %",
        "0 B",
        "strayed by 130 %",
        "+255.8 %",
        "1.25 GiB",
        "rg2048-b02e7b9f8d",
        "<pre>1e8</pre>",
    ],
)
def test_plain_numbers_are_let_through(words: str) -> None:
    assert odd_numbers(notebook(f"<p>It is {words}.</p>")) == []
