"""`make bench`, or `python -m tools.bench PART`: the workbook's own figures, beside what was aimed at."""

from __future__ import annotations

import importlib
import json
from dataclasses import asdict
from pathlib import Path

import click

from readahead import paths
from readahead.measure.sample import this_machine
from tools.bench.figure import Figure

PARTS = {
    "models": ("against_simpy", "curve"),
    "calibration": ("new_machine",),
    "datasets": ("against_copy",),
    "disk": ("against_fio", "cold_scan"),
    "advisor": ("against_brute_force", "from_metadata"),
    "browser": ("waiting",),
    "claims": ("beside_a_busy_core",),
    "device": ("cost_per_read", "against_native", "delivered_latency"),
}
"""The files of `tools.bench`, in the order in which they run, and what each measures."""


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@click.option(
    "--json", "json_path", default=Path("out/bench.json"), show_default=True,
    type=click.Path(dir_okay=False, path_type=Path), help="Where the raw samples are kept.",
)  # fmt: skip
def bench(parts: tuple[str, ...], json_path: Path) -> None:
    """Measure the workbook itself (all PARTS, or those named) on a machine that does nothing else."""
    paths.require_ordinary(json_path)
    paths.require_writable(json_path.parent)
    machine = this_machine()
    click.echo(f"{machine.cpu}, {machine.cores} cores, DuckDB {machine.duckdb}, Python {machine.python}")
    figures: list[Figure] = []
    for part in parts or PARTS:
        module = importlib.import_module(f"tools.bench.{part}")
        for name in PARTS[part]:
            found: list[Figure] = getattr(module, name)()
            for figure in found:
                click.echo(str(figure))
            figures.extend(found)
    missed = sum(figure.met is False for figure in figures)
    click.echo(f"\n{sum(figure.met is True for figure in figures)} aims met, {missed} missed.")
    told = {
        "machine": asdict(machine),
        "figures": [asdict(figure) | {"met": figure.met} for figure in figures],
    }
    paths.write_whole(json_path, json.dumps(told, indent=1), make_folder=True)
    click.echo(f"Raw samples: {json_path}")


if __name__ == "__main__":
    bench()
