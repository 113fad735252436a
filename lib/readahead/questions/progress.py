"""A learner's progress: one plain JSON file that outlives the kernel and can be read, copied, handed in or thrown away.

    {"format": 1, "machine": {…}, "versions": {…}, "topics": {"fragments": {"guesses": {…}, "answers": {…},
     "measured": {…}, "settings": {…}, "hints": {…}}}}

It is written by the kernel under a lock, beside and then renamed, so that two kernels lose nothing and a power cut
leaves the old file or the new one. A file that cannot be understood is set aside under another name; one that cannot
be written is kept in memory; either way `notices` says so in words.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import filelock
import psutil

from readahead import __version__, paths
from readahead.errors import DataError

SCHEMA = Path(__file__).with_name("progress.schema.json")
"""What a file must hold. Its amounts are such as a learner may give: they are divided and drawn."""
LOCK_WAIT_S = 10.0
"""How long to wait for another kernel that is writing."""

Clock = Callable[[], datetime]
Facts = dict[str, Any]


_now = functools.partial(datetime.now, UTC)


def by_papermill() -> bool:
    """Return whether this kernel was started to run a notebook from end to end, with nobody watching.

    READAHEAD_RUN=papermill says so; a parent process called papermill or nbconvert says so too.
    """
    said = os.environ.get("READAHEAD_RUN")
    if said is not None:
        return said == "papermill"
    try:
        parent = psutil.Process().parent()
        names = [Path(word).stem for word in parent.cmdline()[:4]] if parent else []
    except psutil.Error:
        return False
    return any(name in ("papermill", "jupyter-nbconvert", "nbconvert", "jupyter-execute") for name in names)


# -- the file ------------------------------------------------------------------------------------------
def empty() -> Facts:
    """Return the progress of somebody who has not begun."""
    versions = {"readahead": __version__, "python": ".".join(map(str, sys.version_info[:3]))}
    return {"format": 1, "versions": versions, "machine": {}, "topics": {}}


def read_result(path: Path) -> Facts:
    """Return the progress in a file that was handed in. Raises `DataError` that says what is wrong with it."""
    try:
        return _read(path)
    except (OSError, ValueError) as error:
        ask = "Ask for what `python -m readahead progress --export FILE` writes."
        raise DataError(f"{path.name} is not a result of this workbook: {error}. {ask}") from error


def _read(path: Path) -> Facts:
    """Return the progress in a file. Raises `OSError` if it cannot be read, and `ValueError` with what is wrong."""
    try:
        facts: Facts = json.loads(paths.read_text(path), parse_constant=lambda _: None)
        fault = paths.schema_fault(facts, SCHEMA)
    except RecursionError as error:
        raise ValueError("its tables are nested too deeply") from error
    if fault:
        raise ValueError(fault)
    return facts


def _write(path: Path, facts: Facts) -> None:
    def plain(value: Any) -> Any:  # numpy's numbers
        return value.item() if hasattr(value, "item") else str(value)

    paths.write_whole(path, json.dumps(facts, indent=1, ensure_ascii=False, default=plain))


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
        """Return the learner's own progress; under papermill an empty one that touches no file.

        It is kept where READAHEAD_PROGRESS says, or in `progress.json` in the repository.
        """
        kept = paths.expanded(os.environ.get("READAHEAD_PROGRESS") or paths.ROOT / "progress.json")
        return cls(None if by_papermill() else kept.resolve(), now)

    # -- all of it -------------------------------------------------------------------------------------
    def read(self) -> Facts:
        """Return everything that is kept. A damaged file is set aside, with a notice."""
        if self.path is None or self._memory is not None:
            return copy.deepcopy(self._memory or empty())
        try:
            return self._fetch(self.path)
        except OSError as error:
            self._notice(f"{self.path} cannot be read ({error}). Nothing earlier is shown.")
            return empty()

    def change(self, edit: Callable[[Facts], None]) -> None:
        """Apply `edit` to the newest state and keep it. Nothing another kernel wrote is lost."""
        if self.path is not None and self._memory is None:
            try:
                paths.require_ordinary(self.path)
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self._lock:
                    facts = self._fetch(self.path)
                    edit(facts)
                    _write(self.path, facts)
                return
            except (OSError, filelock.Timeout) as error:
                self._memory = self.read()
                self._notice(
                    f"{self.path} cannot be written ({error}). Your work is kept until the kernel stops. Give"
                    " another place in READAHEAD_PROGRESS and restart the kernel to keep it longer."
                )
        assert self._memory is not None
        edit(self._memory)

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
                return self._move(self.path, "backup") if self.path.exists() else None
        except (OSError, filelock.Timeout) as error:
            raise DataError(f"{self.path} cannot be reset: {error}. Move it away by hand.") from error

    def _fetch(self, path: Path) -> Facts:
        """Return what the file holds, setting a damaged one aside. Raises `OSError` if it cannot be read."""
        try:
            return _read(path)
        except FileNotFoundError:
            return empty()
        except ValueError:
            return self._set_aside(path)

    def _set_aside(self, path: Path) -> Facts:
        """Move a damaged file away, unless another kernel has done so by the time the lock is ours."""
        try:
            with self._lock:
                try:
                    return _read(path)
                except ValueError as error:
                    moved = self._move(path, "damaged")
                    self._notice(
                        f"{path} could not be understood ({error}) and was set aside as {moved.name}."
                        " A new, empty one was begun. Repair the old one and rename it back to go on with it."
                    )
        except FileNotFoundError:
            pass
        except (OSError, filelock.Timeout) as error:
            self._memory = empty()
            self._notice(f"{path} is damaged and cannot be set aside ({error}). Move it by hand.")
        return empty()

    def _move(self, path: Path, word: str) -> Path:
        stem = f"{path.stem}.{word}-{self._now():%Y%m%d-%H%M%S}"
        target, count = path.with_name(f"{stem}{path.suffix}"), 1
        while target.exists():
            count += 1
            target = path.with_name(f"{stem}-{count}{path.suffix}")
        return path.rename(target)

    def _notice(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)

    # -- one entry -------------------------------------------------------------------------------------
    def keep(self, topic: str, section: str, name: str, entry: Mapping[str, Any]) -> None:
        """Keep one entry, with the time, in place of an earlier one of that name.

        `section` is guesses, measured, settings or hints.
        """
        stamped = {**entry, "at": self._stamp()}
        self.change(lambda facts: _section(facts, topic, section).__setitem__(name, stamped))

    def kept(self, topic: str, section: str, name: str) -> Facts | None:
        """Return one entry, or None if there is none."""
        entry = self.section(topic, section).get(name)
        return dict(entry) if isinstance(entry, dict) else None

    def section(self, topic: str, section: str) -> Facts:
        """Return all entries of one section of a topic."""
        return _section(self.read(), topic, section)

    def keep_guess(
        self, topic: str, name: str, guess: float | str, because: str = "", sure: str = ""
    ) -> bool:
        """Keep a guess, its reason, and how sure it is. Once its answer was revealed it stands: False is returned."""
        stood: list[bool] = []

        def edit(facts: Facts) -> None:
            guesses = _section(facts, topic, "guesses")
            stood.append("revealed" in guesses.get(name, {}))
            if not stood[-1]:
                guesses[name] = {"guess": guess, "because": because, "sure": sure, "at": self._stamp()}

        self.change(edit)
        return not stood[-1]

    def keep_reveal(self, topic: str, name: str, truth: float | None = None) -> None:
        """Mark a guess as revealed, and once it is known keep the true value it is scored by (the first)."""

        def edit(facts: Facts) -> None:
            entry = _section(facts, topic, "guesses").get(name)
            if entry is not None:
                entry.setdefault("revealed", self._stamp())
                if truth is not None:
                    entry.setdefault("truth", truth)

        self.change(edit)

    def keep_answer(
        self, topic: str, name: str, answer: Any, outcome: str, idea: str = "", says: str = "", seed: int = 0
    ) -> None:
        """Add one attempt at an exercise: what was answered, what came of it and was said, with which numbers, when."""
        attempt = {"answer": answer, "outcome": outcome, "misconception": idea, "says": says, "seed": seed}
        attempt["at"] = self._stamp()
        self.change(lambda facts: _section(facts, topic, "answers").setdefault(name, []).append(attempt))

    def answers(self, topic: str, name: str) -> list[Facts]:
        """Return all attempts at one exercise, oldest first."""
        return list(self.section(topic, "answers").get(name, []))

    def keep_machine(self, facts: Mapping[str, Any]) -> None:
        """Keep the machine card."""
        card = dict(facts)
        if self.read()["machine"] != card:
            self.change(lambda found: found.__setitem__("machine", card))

    def _stamp(self) -> str:
        return self._now().isoformat(timespec="seconds")


def _section(facts: Facts, topic: str, section: str) -> Facts:
    found: Facts = facts["topics"].setdefault(topic, {}).setdefault(section, {})
    return found
