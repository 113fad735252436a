"""Where things are kept, and what is never written over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from readahead import paths
from readahead.commands import doctor
from readahead.models import queue


def test_an_unknown_user_s_home_stays_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths.expanded("~nobody-of-that-name/x") == Path("~nobody-of-that-name/x")
    assert paths.expanded("~") == Path.home()
    monkeypatch.setenv("READAHEAD_CACHE", "~nobody-of-that-name/x")
    assert paths.cache_dir() == Path.cwd() / "~nobody-of-that-name" / "x"


def test_only_a_file_is_written_over(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no ordinary file"):
        paths.write_whole(tmp_path, "text")
    with pytest.raises(OSError, match="no ordinary file"):
        paths.write_whole(Path(), "text")
    paths.write_whole(tmp_path / "file", "old")
    paths.write_whole(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "new"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_writer_left_goes_with_a_later_write(tmp_path: Path) -> None:
    target = tmp_path / "progress[1].json"
    code = "import os, sys; from readahead import paths; from pathlib import Path; os.fsync = lambda _: os._exit(9)\n"
    code += "paths.write_whole(Path(sys.argv[1]), 'half')"
    assert subprocess.run([sys.executable, "-c", code, str(target)], check=False).returncode == 9
    [left] = tmp_path.iterdir()
    paths.write_whole(target, "mine")
    assert left.exists()  # it may be that of somebody who is writing just now
    os.utime(left, (0, 0))
    paths.write_whole(target, "mine")
    assert list(tmp_path.iterdir()) == [target]


def test_what_is_removed_again_goes_elsewhere_where_the_cache_is_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "shared" / "cache"))
    assert paths.work_dir() == paths.cache_dir()
    monkeypatch.setattr(os, "access", lambda place, _mode: place != tmp_path)
    assert paths.work_dir() != paths.cache_dir()
    assert "readahead-" in paths.work_dir().name
    with pytest.raises(doctor.Note, match="can only be read"):
        doctor.write_rights()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners here")
def test_nobody_else_s_folder_is_worked_in(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    taken = tmp_path / f"readahead-{os.getuid()}"
    taken.symlink_to(tmp_path / "elsewhere")
    own = paths._own_folder(tmp_path)
    assert own.name == f"{taken.name}-" and own.stat().st_mode & 0o777 == 0o700
    taken.unlink()
    taken.mkdir()
    taken.chmod(0o777)
    paths._own_folder.cache_clear()
    assert paths._own_folder(tmp_path) == taken and taken.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners here")
def test_compiled_code_lies_where_nobody_else_can_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("READAHEAD_CACHE", str(shared))
    own = paths.own_dir()
    assert own.parent == shared and own.stat().st_mode & 0o777 == 0o700
    assert queue._folder().is_relative_to(own)
    blocked = tmp_path / "file"
    blocked.write_text("x", encoding="utf-8")
    monkeypatch.setenv("READAHEAD_CACHE", str(blocked))
    assert paths.own_dir().parent == blocked  # whoever writes there is told so


def test_a_place_for_the_results_is_asked_for_beforehand(tmp_path: Path) -> None:
    paths.require_writable(tmp_path / "deep")
    assert list((tmp_path / "deep").iterdir()) == []
    blocked = tmp_path / "file"
    blocked.write_text("x", encoding="utf-8")
    for place in (blocked / "figures.json", tmp_path):
        ask = paths.require_ordinary if place.exists() else paths.require_writable
        with pytest.raises(OSError, match=r"file|ordinary"):
            ask(place)


def test_where_files_are_unchanged_they_are_asked_about_once_until_one_is_built() -> None:
    asked: list[str] = []
    ask = paths.asked_once(lambda name: asked.append(name) or len(asked))
    assert (ask("a"), ask("a")) == (1, 2)
    with paths.unchanged():
        assert (ask("a"), ask("a"), ask("b"), ask("a")) == (3, 3, 4, 3)
        paths.changed()
        assert ask("a") == 5
    assert ask("a") == 6
    paths.changed()
