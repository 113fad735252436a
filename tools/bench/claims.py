"""What a busy core does to the claims of the chapters: none may turn from agreeing to differing, see `Claim.on`."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from readahead.chapters import CONTENTS, chapter
from readahead.experiments.claim import AGREES, DIFFERS
from readahead.experiments.round import Study
from tools import draws
from tools.bench.figure import Figure

BUSY = "while True: pass"


def beside_a_busy_core() -> list[Figure]:
    """Test every claim at the smallest size, first alone and then beside a process that keeps a core busy."""
    topics = [row.topic for row in CONTENTS]
    alone = _verdicts(topics)
    with _busy_core():
        beside = _verdicts(topics)
    return turned(alone, beside)


def turned(alone: Mapping[str, str], beside: Mapping[str, str]) -> list[Figure]:
    """Return how many agree alone and differ beside a busy core, what there is of each verdict, and their names."""
    names = [name for name, verdict in alone.items() if verdict == AGREES and beside[name] == DIFFERS]
    told = [
        Figure(name=f"claims: {verdict}, {where}", value=count, unit="", note=_named(verdicts, verdict))
        for where, verdicts in (("alone", alone), ("beside a busy core", beside))
        for verdict, count in sorted(Counter(verdicts.values()).items())
    ]
    wrong = Figure(
        name="claims that a busy core turns from agreeing to differing",
        value=len(names), unit="", aim=0, note=", ".join(names),
    )  # fmt: skip
    return [*told, wrong]


def _named(verdicts: Mapping[str, str], verdict: str) -> str:
    """Return the claims of this verdict; nothing of those that agree, which are most."""
    return ", ".join(name for name, said in verdicts.items() if said == verdict != AGREES)


def _verdicts(topics: Sequence[str]) -> dict[str, str]:
    """Return the verdict of each claim, by topic and name, on measurements made for it."""
    found = {}
    for topic in topics:
        asked = chapter(topic)
        study = Study(asked.experiment, **draws.smallest(asked.experiment))
        for claim in asked.claims:
            found[f"{topic} {claim.id}"] = claim.on(study).verdict
    return found


@contextmanager
def _busy_core() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", BUSY]) as beside:
        try:
            yield
        finally:
            beside.kill()
