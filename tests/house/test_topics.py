"""A topic has one name in every room: whoever knows the topic knows the notebook, the files and the tests."""

from pathlib import Path

import pytest

from readahead.chapters import CONTENTS, Place
from readahead.paths import NOTEBOOKS, ROOT

NO_PUBLICATION = {"start_here", "your_data"}
"""Topics with the figures of other chapters, or about the learner's own files."""


def belonging(place: Place, root: Path) -> list[Path]:
    """Return every file that the chapter of a topic must have."""
    topic = place.topic
    files = [
        root / "lib" / "readahead" / "chapters" / topic / "chapter.py",
        root / "tests" / "chapters" / topic / "test_chapter.py",
    ]
    return files if topic in NO_PUBLICATION else [*files, root / "data" / "published" / f"{topic}.csv"]


def missing(place: Place, root: Path) -> list[str]:
    """Return the files that a topic should have and has not, once its notebook is there."""
    if not (root / "notebooks" / place.notebook).exists():
        return []
    return [file.relative_to(root).as_posix() for file in belonging(place, root) if not file.exists()]


@pytest.mark.parametrize("place", CONTENTS, ids=lambda place: place.topic)
def test_a_topic_with_a_notebook_has_its_files(place: Place) -> None:
    assert missing(place, ROOT) == []


def test_every_notebook_is_in_the_contents() -> None:
    listed = {place.notebook for place in CONTENTS} | {"class_view.ipynb"}
    assert {path.name for path in NOTEBOOKS.glob("*.ipynb")} <= listed


def test_the_readme_names_every_chapter_that_is_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    there = [path.name for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
    assert [name for name in there if f"notebooks/{name}" not in readme] == []


def test_a_lonely_notebook_is_caught(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "02_read_ahead.ipynb").write_text("{}")
    [place] = [place for place in CONTENTS if place.topic == "read_ahead"]
    assert missing(place, tmp_path) == [
        "lib/readahead/chapters/read_ahead/chapter.py",
        "tests/chapters/read_ahead/test_chapter.py",
        "data/published/read_ahead.csv",
    ]
