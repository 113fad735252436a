"""Benchmarks building a dataset with lock, check and rename against the bare COPY inside it."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

from readahead.datasets import build, store
from readahead.datasets.recipe import Recipe
from tools.bench.figure import Figure


def against_copy(*, repeats: int = 5) -> list[Figure]:
    """Build the same file both ways in turns, in a cache of its own."""
    recipe = Recipe(table="comments_narrow", size="small")
    careful: list[float] = []
    bare: list[float] = []
    before = os.environ.get("READAHEAD_CACHE")
    for turn in range(repeats + 1):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["READAHEAD_CACHE"] = folder
            try:
                start_s = time.perf_counter()
                store.path(recipe)
                middle_s = time.perf_counter()
            finally:
                os.environ.pop("READAHEAD_CACHE")
                if before is not None:
                    os.environ["READAHEAD_CACHE"] = before
            with duckdb.connect() as connection:
                connection.execute("SET threads = 1")
                bare_start_s = time.perf_counter()
                connection.execute(build.copy_sql(recipe, Path(folder) / "bare.parquet"))
                end_s = time.perf_counter()
        if turn:  # the first turn warms up
            careful.append(middle_s - start_s)
            bare.append(end_s - bare_start_s)
    return [
        Figure(
            name="building a dataset, against a bare COPY",
            value=float(np.median(careful) / np.median(bare)),
            unit="× the time",
            aim=1.15,
            samples={"store_s": careful, "copy_s": bare},
        )
    ]
