"""`python -m readahead calibrate`: measures this machine's disk, and what DuckDB itself takes on it."""

from __future__ import annotations

import click
import numpy as np

from readahead import devices, units
from readahead.datasets.tables import TABLES
from readahead.measure import disk
from readahead.measure.calibrate import COLD, WARM, engine
from readahead.measure.sample import this_machine


@click.command()
@click.option("--quick", is_flag=True, help="Read the disk for a few seconds only.")
def calibrate(*, quick: bool) -> None:
    """Measure this machine's disk and engine, and keep what was found for the models and the machine card."""
    click.echo("Reading this machine's disk ...", err=True)
    found = disk.probe(seconds_each=0.04, depths=(1, 4, 16)) if quick else disk.probe()
    own = disk.fit(found)
    machine = this_machine()
    click.echo(f"This machine's disk ({machine.file_system}, {machine.cpu})")
    click.echo(f"{'block':>9} {'in flight':>9}  {'order':<10} {'measured':>10} {'modeled':>10}  ratio")
    errors = []
    for cell, rate in zip(found.cells, disk.modeled_reads_per_s(own, found.cells), strict=True):
        errors.append(abs(rate / cell.reads_per_s - 1))
        measured, modeled = (
            units.text(each * cell.block_bytes, "bytes_per_s") for each in (cell.reads_per_s, rate)
        )
        click.echo(
            f"{units.text(cell.block_bytes, 'bytes'):>9} {cell.depth:>9}  {cell.order:<10}"
            f" {measured:>10} {modeled:>10}  {rate / cell.reads_per_s:.2f}"
        )
    click.echo(f"\n{found.how}; median misfit {units.text(float(np.median(errors)), '1')}")
    click.echo(
        f"{own.name}: latency {units.text(own.latency_s, 's')}, seek {units.text(own.seek_s, 's')},"
        f" {own.channels} channels of {units.text(own.channel_bandwidth_bytes_per_s, 'bytes_per_s')},"
        f" together {units.text(own.bandwidth_bytes_per_s, 'bytes_per_s')}"
    )
    where = devices.save_calibrated(own)
    for table in TABLES:
        costs, _, cold = (engine(table, here).run() for here in ("", WARM, COLD))
        click.echo(
            f"DuckDB on {table}: {units.text(costs.dispatch_s, 's')} a read, {units.text(costs.row_s, 's')} a row;"
            f" on this disk {units.text(cold.group_s, 's')} a row group"
        )
        if doubt := next(filter(None, (engine(table, here).doubt for here in ("", WARM, COLD))), ""):
            click.echo(doubt.replace("lesson.calibrate()", "python -m readahead calibrate"))
    click.echo(f"Kept in {where.parent}")
