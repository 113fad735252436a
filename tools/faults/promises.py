"""What the workbook promises, the trials and tests that hold each promise, and how often a trial was survived."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from readahead import paths
from tools.faults.__main__ import LONG, TRIALS

COUNTS = paths.ROOT / "docs" / "faults.json"
"""What `make faults` counted last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A sentence, and what holds it."""

    says: str
    trials: str = ""
    """Names, with blanks between."""
    tests: str = ""
    """Files below tests/, with blanks between."""


PROMISES = (
    Promise(
        says="A killed or cancelled build, and a full disk, leave no half table, and the next run needs no hand",
        trials="build_killed build_on_a_full_disk build_cancelled",
        tests="datasets/test_store.py",
    ),
    Promise(
        says="Many kernels on one cache build a table once; another user's cache, another disk and a wrong clock serve",
        trials="builders_at_once cache_of_another_user cache_on_another_disk clock_set_back",
        tests="notebooks/test_kernels_at_once.py test_paths.py",
    ),
    Promise(
        says="A learner's progress outlives kills, full disks, two kernels and damage",
        trials="progress_killed progress_on_a_full_disk",
        tests="questions/test_progress.py",
    ),
    Promise(
        says="A page, a sheet's run, a proof and a calibration that are killed leave nothing half there",
        trials="page_killed sheet_killed advise_killed probe_killed calibration_killed",
        tests="commands/test_sheet.py measure/test_calibrate.py",
    ),
    Promise(
        says="A file of the learner's own is only read; whatever it is or holds, it works or is one sentence,"
        " in 10 s and 2 GiB",
        trials="hostile_parquet hostile_database hostile_schema hostile_names hostile_path decompression_bomb",
        tests="advisor/test_hostile.py",
    ),
    Promise(
        says="Damaged progress, sheets, catalogues and calibrations are one sentence, or count as none",
        trials="kept_spoilt",
        tests="test_devices.py measure/test_calibrate.py commands/test_sheet.py",
    ),
    Promise(
        says="What a learner hands in spoils nobody's chart and runs nothing in the leader's notebook",
        trials="hostile_result",
        tests="panels/test_markup.py panels/test_class_results.py",
    ),
    Promise(
        says="The emulated device gives the bytes of the file, whoever reads; one that fails is one sentence",
        trials="device_races device_fails table_spoilt",
        tests="storage/test_emulated.py measure/test_case.py",
    ),
    Promise(
        says="Cancel is over in half a second and leaves no thread and no file; a shaken slider and an interrupted"
        " kernel go on",
        trials="measurement_cancelled slider_shaken kernel_interrupted",
        tests="panels/test_panel.py test_running.py",
    ),
    Promise(
        says="A worker or a scheduler that dies, hangs or comes back: an answer or a sentence within a minute",
        trials="cluster_harmed",
        tests="chapters/scale_out/test_cluster.py",
    ),
    Promise(
        says="A bad parameter, sheet or notebook is refused before anything runs",
        tests="commands/test_run.py commands/test_sheet.py",
    ),
    Promise(
        says="JupyterLab keeps its token and stays on this machine; one extension starts with it; no data file is code",
        tests="commands/test_lab.py house/test_security.py",
    ),
    Promise(
        says="A wheel is the whole workbook, in a home with umlauts, without git, make or a network; what Windows and"
        " macOS lack is not needed",
        tests="house/test_package.py house/test_other_systems.py",
    ),
)


def table() -> str:
    """Return the promises as a table, with the counts of the last campaign."""
    told = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.is_file() else {"trials": {}}
    lines = ["| promise | tried | survived | held by |", "|---|---:|---:|---|"]
    for promise in PROMISES:
        tried, survived = (_sum(promise, told["trials"], what) for what in ("tried", "survived"))
        held = [f"`{name}`" for name in promise.trials.split()]
        held += [f"[{name}](tests/{name})" for name in promise.tests.split()]
        lines.append(f"| {promise.says} | {tried} | {survived} | {', '.join(held)} |")
    if told["trials"]:
        lines += ["", f"Counted in {told['minutes']:g} minutes, seed {told['seed']}."]
    return "\n".join(lines)


def _sum(promise: Promise, trials: Mapping[str, Mapping[str, int]], what: str) -> str:
    found = [trials[name][what] for name in promise.trials.split() if name in trials]
    return f"{sum(found):,}" if found else ""


def unpromised() -> set[str]:
    """Return the trials that hold no promise, and the names that are no trial's."""
    return {trial.__name__ for trial in (*TRIALS, *LONG)} ^ set(
        " ".join(promise.trials for promise in PROMISES).split()
    )
