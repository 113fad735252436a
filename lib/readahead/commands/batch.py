"""An orchestra with a few desks. The pieces of a sheet are played side by side, each in a process of its own; what is
done is written down at once, so that a run that was broken off goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import nbformat

from readahead import paths
from readahead.commands.sheets import Piece, Sheet
from readahead.errors import BadValue, Cancelled, require_range
from readahead.measure.machine import this_machine

PLAYED, KEPT, FAILED = "played", "kept", "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What became of one notebook."""

    notebook: str
    state: str
    """played, kept (from an earlier run of the same) or failed."""
    seconds: float
    digest: str
    claims: tuple[dict[str, str], ...] = ()
    """Each with its id, what it says, its verdict and what was seen."""
    says: str = ""
    """Why it failed."""
    copy: str = ""
    """A hash of the executed copy."""

    def __post_init__(self) -> None:
        texts = (self.notebook, self.state, self.digest, self.says, self.copy)
        told = all(isinstance(claim, dict) and claim.keys() >= _TOLD for claim in self.claims)
        words = [word for claim in self.claims for word in claim.values()] if told else []
        if not told or not all(isinstance(text, str) for text in (*texts, *words)):
            raise BadValue(f"notebook={self.notebook!r} must be told in texts. Play it again.")
        require_range("seconds", self.seconds, low=0, of=f"of {self.notebook}", advice="Play it again.")


_TOLD = {"claim", "says", "verdict", "seen"}
"""What a claim tells."""


def desks() -> int:
    """Return how many notebooks are played at once: half of the cores, since each of them measures with two."""
    return max(1, this_machine().cores // 2)


def play(
    sheet: Sheet,
    out: Path,
    *,
    jobs: int,
    again: bool = False,
    told: Callable[[Played], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> list[Played]:
    """Run every notebook of a sheet, `jobs` at once, and return what became of each, in the sheet's order.

    What was run before with the same notebook, parameters and versions is kept unless `again`. Raises `BadValue` for
    no jobs, and `Cancelled` when `stop` is set or for Ctrl-C; what was finished by then stays.
    """
    if jobs < 1:
        raise BadValue(f"jobs={jobs} must be at least 1. Give how many notebooks may run at once.")
    out.mkdir(parents=True, exist_ok=True)
    stop = stop or threading.Event()
    found: dict[str, Played] = {}
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        waiting: dict[Future[Played], Piece] = {
            pool.submit(_one, piece, out, again=again, stop=stop): piece for piece in sheet.pieces
        }
        try:
            for future in as_completed(waiting):
                played = future.result()
                found[waiting[future].path.stem] = played
                told(played)
        except BaseException:
            stop.set()
            for future in waiting:
                future.cancel()
            raise
    return [found[piece.path.stem] for piece in sheet.pieces]


def _one(piece: Piece, out: Path, *, again: bool, stop: threading.Event) -> Played:
    """Run one notebook, unless it was run before."""
    stem, record, copy = piece.path.stem, out / f"{piece.path.stem}.played.json", out / piece.path.name
    digest = piece.digest
    known = None if again else _known(record)
    if known and known.state == PLAYED and (known.digest, known.copy) == (digest, _hash(copy)):
        return Played(**{**asdict(known), "state": KEPT})
    command = [sys.executable, "-m", "readahead", "run", str(piece.path), "--out", str(out)]
    for name, value in piece.given.items():
        command += ["-p", name, value if isinstance(value, str) else repr(value)]
    start_s = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        errors = _finish(process, stop)
    seconds = time.monotonic() - start_s
    if process.returncode == 0:
        claims = tuple(_claims(copy))
        played = Played(
            notebook=stem, state=PLAYED, seconds=seconds, digest=digest, claims=claims, copy=_hash(copy)
        )
    else:
        said = errors.strip().removeprefix("Error: ") or f"It ended with exit code {process.returncode}."
        played = Played(notebook=stem, state=FAILED, seconds=seconds, digest=digest, says=said)
    paths.write_whole(record, json.dumps(asdict(played), indent=1))
    return played


def _finish(process: subprocess.Popen[str], stop: threading.Event) -> str:
    """Wait for a process and return what it said of errors. Raises `Cancelled`, when it has ended, if told to stop."""
    while True:
        try:
            return process.communicate(timeout=0.2)[1]
        except subprocess.TimeoutExpired:
            if stop.is_set():
                process.terminate()
                process.communicate()
                raise Cancelled("The sheet was broken off. Give the same command to go on.") from None


def _hash(copy: Path) -> str:
    """Return what tells one executed copy from another; nothing if there is none."""
    try:
        return hashlib.sha256(copy.read_bytes()).hexdigest()
    except OSError:
        return ""


def _known(record: Path) -> Played | None:
    """Return what a record tells; a damaged one counts as none."""
    try:
        told = json.loads(record.read_text(encoding="utf-8"))
        return Played(**{**told, "claims": tuple(told["claims"])})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _claims(copy: Path) -> Iterator[dict[str, str]]:
    """Yield the findings that a chapter left beside its claims, from an executed copy."""
    for cell in nbformat.read(copy, as_version=4).cells:
        for output in cell.get("outputs", []):
            found = output.get("metadata", {}).get("readahead")
            if isinstance(found, dict) and found.keys() >= _TOLD:
                yield {str(name): str(value) for name, value in found.items()}
