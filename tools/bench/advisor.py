"""Benchmarks the advisor: recommended row groups against the best that brute force finds, on a grid of tables, devices
and workloads; and the seconds from a path to the advice.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import psutil

from readahead.advisor import advice
from readahead.datasets.build import literal
from readahead.datasets.survey import survey
from readahead.devices import device
from readahead.models import table_layout
from readahead.models.reads import Reads
from readahead.models.schedule import Costs
from readahead.models.table_layout import Case, Layout, Table, Workload
from readahead.units import MiB
from tools.bench.figure import Figure

NEAR = 1.05
"""A recommendation within this factor of the best is good."""
DEVICES = ("usb-disk", "sas-15k-x8", "sata-ssd", "nvme", "cloud-volume", "object-store")
BRUTE = 600
"""Sizes that brute force tries: all those that differ by a vector, or so many evenly on a log scale."""


def tables() -> dict[str, tuple[Table, Costs]]:
    """Return tables of several shapes: narrow, wide, large, a few columns of many, and with text."""
    return {
        "2M narrow rows": (_table(2_097_152, [("a", 8.0), ("b", 4.0), ("c", 6.0)], ("a", "b", "c")), Costs()),
        "10M rows of 60 bytes": (
            _table(10_000_000, [("a", 30.0), ("b", 30.0)], ("a", "b")),
            Costs(row_s=20e-9),
        ),
        "2 of 40 columns": (_table(3_000_000, [(f"c{n}", 6.0) for n in range(40)], ("c3", "c20")), Costs()),
        "half a million texts": (
            _table(500_000, [("id", 4.0), ("text", 300.0)], ("id", "text")),
            Costs(row_s=110e-9, dispatch_s=60e-6),
        ),
    }


def _table(
    rows: int, widths: list[tuple[str, float]], wanted: tuple[str, ...], today: int = 122_880
) -> Table:
    """Return a table in equal row groups, whose filter's column is not sorted."""
    count = -(-rows // today)
    sizes = [today] * (count - 1) + [rows - today * (count - 1)]
    width = sum(size for _, size in widths)
    return Table(
        reads=Reads.of(
            [(int(rows * width), 65_536)],
            [[(int(n * today * width) + 4, int(size * width))] for n, size in enumerate(sizes)],
            sizes,
        ),
        widths=tuple(widths),
        wanted=frozenset(wanted),
        ranges=np.tile([0.0, 1.0], (count, 1)),
        footer_bytes_per_group=80.0 * len(widths),
    )


def grid() -> dict[str, Case]:
    """Return every table on every device under every workload: a scan, a range, a lookup."""
    workloads = {
        "scan": (Workload(), 8),
        "deep scan": (Workload(), 32),
        "a twentieth": (Workload(selectivity=0.05), 8),
        "20 keys": (Workload(keys=20), 8),
    }
    return {
        f"{table_name}, {device_name}, {work_name}": Case(
            table=table, workload=workload, device=device(device_name), costs=costs, queue_depth=depth
        )
        for table_name, (table, costs) in tables().items()
        for device_name in DEVICES
        for work_name, (workload, depth) in workloads.items()
    }


def off_by(case: Case, tried: int = BRUTE) -> float:
    """Return the time with the recommended row group over the time with the best of `tried` sizes."""
    by = case.workload.filters

    def took(rows: int) -> float:
        return case.seconds(Layout(rows=rows, in_order=by))

    least = min(took(size) for size in table_layout.sizes(case.table, points=tried))
    return took(case.best_rows(in_order=by)) / least


def against_brute_force(*, tried: int = BRUTE) -> list[Figure]:
    """Search every setting of the grid by brute force, under the exact schedule, and compare."""
    off = {name: off_by(case, tried) for name, case in grid().items()}
    good = sum(ratio <= NEAR for ratio in off.values())
    worst = max(off, key=off.__getitem__)
    return [
        Figure(
            name=f"advised row groups within 5 % of brute force, of {len(off)} settings",
            value=good / len(off),
            unit="of settings",
            aim=0.95,
            at_least=True,
            samples={"ratio": list(off.values())},
            note=f"{good} of {len(off)}; median {np.median(list(off.values())):.4f},"
            f" worst {off[worst]:.3f} ({worst})",
        )
    ]


def from_metadata(*, repeats: int = 5) -> list[Figure]:
    """Time the way from a path to the advice, for a file of 1,000 row groups and for one of 2,000 columns."""
    with tempfile.TemporaryDirectory() as folder:
        tall, wide = Path(folder) / "tall.parquet", Path(folder) / "wide.parquet"
        with duckdb.connect() as connection:
            connection.execute(
                "COPY (SELECT i id, i % 97 a, hash(i) b, i // 1000 c, (i * 7919) % 1000003 d, 'x' || i % 31 e"
                f" FROM range({1000 * 2048}) r(i)) TO {literal(tall)} (FORMAT parquet, ROW_GROUP_SIZE 2048)"
            )
            columns = ", ".join(f"i + {n} AS c{n}" for n in range(2_000))
            connection.execute(
                f"COPY (SELECT {columns} FROM range(20480) r(i)) TO {literal(wide)}"
                " (FORMAT parquet, ROW_GROUP_SIZE 2048)"
            )
        figures = []
        for path, words in ((tall, "1,000 row groups"), (wide, "2,000 columns, 10 row groups")):
            took = [_once(path) for _ in range(repeats)]
            aim = 1.0 if path is tall else None
            figures.append(
                Figure(
                    name=f"from path to advice, {words}",
                    value=float(np.median(took)),
                    unit="s",
                    aim=aim,
                    samples={"seconds": took},
                    note=f"worst {max(took):.2g} s",
                )
            )
    return [*figures, Figure(name="most memory of the process so far", value=_peak_bytes() / MiB, unit="MiB")]


def _peak_bytes() -> int:
    """Return the most memory that this process has held; three systems tell it in three ways."""
    try:
        import resource
    except ImportError:  # Windows
        return int(psutil.Process().memory_info().peak_wset)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _once(path: Path) -> float:
    start_s = time.perf_counter()
    seen = survey(str(path))
    advice.advise(seen, advice.case_of(seen, device("object-store")))
    return time.perf_counter() - start_s
