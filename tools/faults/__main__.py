"""The campaign: which faults there are, how often each is tried, and the counts."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import click

from readahead import paths
from tools.faults import races, slow
from tools.faults.hostile import (
    decompression_bomb,
    hostile_database,
    hostile_names,
    hostile_parquet,
    hostile_path,
    hostile_result,
    hostile_schema,
    kept_spoilt,
)
from tools.faults.kept import (
    advise_killed,
    calibration_killed,
    page_killed,
    probe_killed,
    progress_killed,
    progress_on_a_full_disk,
    sheet_killed,
)
from tools.faults.processes import Trial
from tools.faults.races import (
    device_races,
    kernel_interrupted,
    measurement_cancelled,
    slider_shaken,
    table_spoilt,
)
from tools.faults.slow import cluster_harmed, device_fails
from tools.faults.tables import (
    build_cancelled,
    build_killed,
    build_on_a_full_disk,
    builders_at_once,
    cache_of_another_user,
    cache_on_another_disk,
    clock_set_back,
)

TRIALS: tuple[Trial, ...] = (
    build_killed, build_on_a_full_disk, build_cancelled, clock_set_back, progress_killed, progress_on_a_full_disk,
    page_killed, sheet_killed, advise_killed, probe_killed, hostile_parquet, hostile_database, hostile_schema,
    hostile_names, hostile_path, hostile_result, kept_spoilt, device_races, device_fails, table_spoilt,
    measurement_cancelled, slider_shaken,
)  # fmt: skip
LONG: tuple[Trial, ...] = (
    calibration_killed, decompression_bomb, builders_at_once, cache_of_another_user, cache_on_another_disk,
    kernel_interrupted, cluster_harmed,
)  # fmt: skip
"""Those of which one trial takes many seconds: they do not run with `make test`."""


@dataclass(slots=True)
class Count:
    """How one kind of trial went."""

    kind: str
    """The trial's name."""
    tried: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Write it as a line of the table."""
        return f"{self.kind:26} {self.tried:6} {self.tried - len(self.faults):9} {self.seconds:8.0f}"


def campaign(trial: Trial, seconds: float, seed: int) -> Count:
    """Repeat one kind of trial for so many seconds, at least once."""
    count, began_s = Count(kind=trial.__name__), time.monotonic()
    while not count.tried or time.monotonic() < began_s + seconds:
        rng = random.Random(f"{seed} {count.kind} {count.tried}")
        with tempfile.TemporaryDirectory(prefix="readahead-fault-", ignore_cleanup_errors=True) as folder:
            try:
                fault = trial(rng, Path(folder))
            except Exception as error:  # noqa: BLE001 - a trial that ends so has not survived
                fault = f"{type(error).__name__}: {error}"
        if fault:
            count.faults.append(f"{count.kind}, number {count.tried} of seed {seed}: {fault}")
        count.tried += 1
    count.seconds = time.monotonic() - began_s
    return count


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([trial.__name__ for trial in (*TRIALS, *LONG)]))
@click.option("--minutes", default=20.0, show_default=True, help="For all of them together.")
@click.option("--seed", default=1, show_default=True, help="Which instants and bytes.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Keep the counts.")
def faults(names: tuple[str, ...], minutes: float, seed: int, json_path: Path | None) -> None:
    """Try all kinds of faults, or those NAMES, and print how many were tried and survived; exit code 1 if not all."""
    chosen = [trial for trial in (*TRIALS, *LONG) if not names or trial.__name__ in names]
    click.echo(f"{'fault':26} {'tried':>6} {'survived':>9} {'seconds':>8}")
    counts = []
    for trial in chosen:
        counts.append(campaign(trial, 60 * minutes / len(chosen), seed))
        click.echo(str(counts[-1]))
        for fault in counts[-1].faults[:5]:
            click.echo(f"  {fault}", err=True)
    races.end()
    slow.end()
    if json_path:
        told = {one.kind: {"tried": one.tried, "survived": one.tried - len(one.faults)} for one in counts}
        paths.write_whole(
            json_path, json.dumps({"seed": seed, "minutes": minutes, "trials": told}, indent=1) + "\n"
        )
    tried, lost = sum(one.tried for one in counts), sum(len(one.faults) for one in counts)
    click.echo(f"{'all':26} {tried:6} {tried - lost:9} {sum(one.seconds for one in counts):8.0f}")
    sys.exit(bool(lost))


if __name__ == "__main__":
    faults()
