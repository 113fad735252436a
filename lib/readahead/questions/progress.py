"""A learner's exercise book: one plain file that outlives the kernel, can be read with any editor, copied,
handed in, or thrown away.

    {"format": 1, "machine": {…}, "versions": {…}, "topics": {"fragments": {"guesses": {…}, "answers": {…},
     "measured": {…}, "settings": {…}, "hints": {…}}}}

It is written by the kernel under a lock, beside and then renamed, so that two kernels lose nothing and a
power cut leaves the old file or the new one. A file that cannot be read is set aside under another name;
one that cannot be written is kept in memory; either way `notices` says so in words.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import filelock
import psutil

from readahead import paths
from readahead.errors import DataError
from readahead.questions.progress_file import Facts, empty, load, read_result

LOCK_WAIT_S = 10.0
"""How long to wait for another kernel that is writing."""

Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


def default_path() -> Path:
    """Return where progress is kept: READAHEAD_PROGRESS, or `progress.json` in the repository."""
    return paths.expanded(os.environ.get("READAHEAD_PROGRESS") or paths.ROOT / "progress.json").resolve()


def by_papermill() -> bool:
    """Return whether this kernel was started to run a notebook from end to end, with nobody watching.

    READAHEAD_RUN=papermill says so; a parent process called papermill or nbconvert says so too.
    """
    said = os.environ.get("READAHEAD_RUN")
    if said is not None:
        return said == "papermill"
    try:
        parent = psutil.Process().parent()
        names = [Path(word).name for word in parent.cmdline()[:4]] if parent else []
    except psutil.Error:
        return False
    return any(name in ("papermill", "jupyter-nbconvert", "nbconvert", "jupyter-execute") for name in names)


class Progress:
    """Guesses, answers, measured values and settings, by topic."""

    def __init__(self, path: Path | None, now: Clock = _now) -> None:
        """Keep progress in the file `path`, or with None in memory only."""
        self.path = path
        self.notices: list[str] = []
        self._now = now
        self._memory: Facts | None = empty() if path is None else None
        self._lock = filelock.FileLock(f"{path}.lock", timeout=LOCK_WAIT_S)

    @classmethod
    def open(cls, now: Clock = _now) -> Progress:
        """Return the learner's own progress; under papermill an empty one that touches no file."""
        return cls(None if by_papermill() else default_path(), now)

    # -- whole book --------------------------------------------------------------------------------
    def read(self) -> Facts:
        """Return everything that is kept. A damaged file is set aside, with a notice."""
        if self.path is None or self._memory is not None:
            return copy.deepcopy(self._memory or empty())
        try:
            return self._fetch(self.path)
        except OSError as error:
            notice = f"{self.path} cannot be read ({error}). Nothing earlier is shown."
            if notice not in self.notices:
                self.notices.append(notice)
            return empty()

    def change(self, edit: Callable[[Facts], None]) -> None:
        """Apply `edit` to the newest state and keep it. Nothing another kernel wrote is lost."""
        if self.path is None or self._memory is not None:
            assert self._memory is not None
            edit(self._memory)
            return
        try:
            paths.require_ordinary(self.path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock:
                facts = self._fetch(self.path)
                edit(facts)
                _write(self.path, facts)
        except (OSError, filelock.Timeout) as error:
            self._memory = self.read()
            edit(self._memory)
            self.notices.append(
                f"{self.path} cannot be written ({error}). Your work is kept until the kernel stops. Give"
                " another place in READAHEAD_PROGRESS and restart the kernel to keep it longer."
            )

    def export(self, path: Path | str, more: Mapping[str, Any] | None = None) -> Path:
        """Write everything, and `more`, to one result file for the class view. Raises `DataError` if that fails."""
        target = paths.expanded(path)
        try:
            _write(target, self.read() | {"exported": self._stamp()} | dict(more or {}))
        except OSError as error:
            raise DataError(
                f"{target} cannot be written: {error}. Give a folder that you may write."
            ) from error
        return target

    def reset(self) -> Path | None:
        """Start afresh. The old file stays beside it as a backup, whose path is returned."""
        if self.path is None or self._memory is not None:
            self._memory = empty()
            return None
        try:
            paths.require_ordinary(self.path)
            with self._lock:
                return self._move("backup") if self.path.exists() else None
        except (OSError, filelock.Timeout) as error:
            raise DataError(f"{self.path} cannot be reset: {error}. Move it away by hand.") from error

    def _fetch(self, path: Path) -> Facts:
        """Return what the file holds. Raises `OSError` if it cannot be read: never overwrite it."""
        try:
            return load(path)
        except ValueError:
            return self._set_aside()

    def _set_aside(self) -> Facts:
        """Move a damaged file away, unless another kernel has done so by the time the lock is ours."""
        assert self.path is not None
        try:
            with self._lock:
                try:
                    return load(self.path)
                except ValueError as error:
                    moved = self._move("damaged")
                    self.notices.append(
                        f"{self.path} could not be understood ({error}) and was set aside as {moved.name}."
                        " A new, empty one was begun. Repair the old one and rename it back to go on with it."
                    )
        except (OSError, filelock.Timeout) as error:
            self._memory = empty()
            self.notices.append(f"{self.path} is damaged and cannot be set aside ({error}). Move it by hand.")
        return empty()

    def _move(self, word: str) -> Path:
        assert self.path is not None
        stem = f"{self.path.stem}.{word}-{self._now():%Y%m%d-%H%M%S}"
        target = self.path.with_name(f"{stem}{self.path.suffix}")
        count = 1
        while target.exists():
            count += 1
            target = self.path.with_name(f"{stem}-{count}{self.path.suffix}")
        return self.path.rename(target)

    # -- one entry ---------------------------------------------------------------------------------
    def keep(self, topic: str, shelf: str, name: str, entry: Mapping[str, Any]) -> None:
        """Keep one entry, with the time, in place of an earlier one of that name.

        `shelf` is guesses, measured, settings or hints.
        """
        stamped = {**entry, "at": self._stamp()}
        self.change(lambda facts: _shelf(facts, topic, shelf).__setitem__(name, stamped))

    def kept(self, topic: str, shelf: str, name: str) -> Facts | None:
        """Return one entry, or None if there is none."""
        entry = self.shelf(topic, shelf).get(name)
        return dict(entry) if isinstance(entry, dict) else None

    def shelf(self, topic: str, shelf: str) -> Facts:
        """Return all entries of one shelf."""
        found = self.read()["topics"].get(topic, {}).get(shelf, {})
        return found if isinstance(found, dict) else {}

    def keep_guess(self, topic: str, name: str, guess: float | str) -> bool:
        """Keep a guess. Once its answer was revealed it stands: False is returned and nothing changed."""
        stood: list[bool] = []

        def edit(facts: Facts) -> None:
            guesses = _shelf(facts, topic, "guesses")
            earlier = guesses.get(name)
            stood.append(isinstance(earlier, dict) and "revealed" in earlier)
            if not stood[-1]:
                guesses[name] = {"guess": guess, "at": self._stamp()}

        self.change(edit)
        return not stood[-1]

    def keep_reveal(self, topic: str, name: str, truth: float | None = None) -> None:
        """Mark a guess as revealed, and once it is known keep the true value it is scored by (the first)."""

        def edit(facts: Facts) -> None:
            entry = _shelf(facts, topic, "guesses").get(name)
            if isinstance(entry, dict):
                entry.setdefault("revealed", self._stamp())
                if truth is not None:
                    entry.setdefault("truth", truth)

        self.change(edit)

    def keep_answer(
        self, topic: str, name: str, answer: Any, outcome: str, idea: str = "", says: str = ""
    ) -> None:
        """Add one attempt at an exercise: what was answered, what came of it and was said, when."""
        attempt = {
            "answer": answer,
            "outcome": outcome,
            "misconception": idea,
            "says": says,
            "at": self._stamp(),
        }
        self.change(lambda facts: _shelf(facts, topic, "answers").setdefault(name, []).append(attempt))

    def answers(self, topic: str, name: str) -> list[Facts]:
        """Return all attempts at one exercise, oldest first."""
        found = self.shelf(topic, "answers").get(name, [])
        return found if isinstance(found, list) else []

    def keep_machine(self, facts: Mapping[str, Any]) -> None:
        """Keep the machine card."""
        card = dict(facts)
        if self.read()["machine"] != card:
            self.change(lambda book: book.__setitem__("machine", card))

    def _stamp(self) -> str:
        return self._now().isoformat(timespec="seconds")


def _shelf(facts: Facts, topic: str, shelf: str) -> Facts:
    found: Facts = facts["topics"].setdefault(topic, {}).setdefault(shelf, {})
    return found


def _number(thing: Any) -> Any:
    """Return numpy's numbers as Python's."""
    return thing.item() if hasattr(thing, "item") else str(thing)


def _write(path: Path, facts: Facts) -> None:
    paths.write_whole(path, json.dumps(facts, indent=1, ensure_ascii=False, default=_number))


__all__ = ["LOCK_WAIT_S", "Clock", "Facts", "Progress", "by_papermill", "default_path", "read_result"]
