"""Neugebauer's figures, worked out: the fit finds what was put in, and stays within what the chapter promises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.row_groups import columnstore
from readahead.chapters.row_groups.chapter import EXPERIMENT, ROUNDS
from readahead.chapters.row_groups.columnstore import TableScan, disk_scan_s, fit_disk
from readahead.experiments.round import Study
from readahead.units import MiB


def test_ten_times_as_many_groups_means_a_dictionary_of_16_mib() -> None:
    assert columnstore.dictionary_from_groups() == pytest.approx(16 * MiB, rel=0.02)
    assert columnstore.wide_groups() / columnstore.full_groups() == pytest.approx(10, rel=0.03)


def test_the_drive_delivered_what_it_can_and_the_counter_says_more() -> None:
    law = ROUNDS["counter"].law
    assert law is not None
    counted = columnstore.printed("counted_bytes_per_s.narrow_columnstore")
    assert law(Study(EXPERIMENT)).result < 90e6 < counted


@given(seek_s=st.floats(2e-3, 25e-3), read_bytes=st.floats(1e5, 1e7))
def test_the_fit_finds_the_seek_and_the_read_that_made_the_times(seek_s: float, read_bytes: float) -> None:
    known = [
        TableScan(name=str(size), size_bytes=size, cpu_s=cpu, read_bytes=512 * 1024)
        for size, cpu in ((7e8, 9.0), (6e9, 30.0))
    ]
    hidden = TableScan(name="hidden", size_bytes=5e9, cpu_s=20.0, read_bytes=0)
    scans = [*known, hidden]
    timed = [replace(scan, elapsed_s=disk_scan_s(scan, seek_s, read_bytes, 90e6)) for scan in scans]
    found_s, found_bytes = fit_disk(timed, 90e6)
    assert found_s == pytest.approx(seek_s, abs=1e-5)
    assert found_bytes == pytest.approx(read_bytes, rel=0.02)


@given(cpu=st.floats(0, 100), seek_s=st.floats(0, 0.02))
def test_a_scan_lies_between_full_overlap_and_taking_turns(cpu: float, seek_s: float) -> None:
    scan = TableScan(name="t", size_bytes=1e9, cpu_s=cpu, read_bytes=1e6)
    io_s = 1e9 / 90e6 + 1000 * seek_s
    assert max(io_s, cpu) <= disk_scan_s(scan, seek_s, 0.0, 90e6) * (1 + 1e-12)
    assert disk_scan_s(scan, seek_s, 0.0, 90e6) <= io_s + cpu + 1e-9


def test_the_model_keeps_to_what_was_published() -> None:
    errors = {
        one.figure.name: one.error for one in columnstore.in_print().residuals if one.role == "foretold"
    }
    assert len(errors) == 6
    assert np.median(list(errors.values())) <= 0.08
    assert {name for name, error in errors.items() if error > 0.1} == {"row_group_bytes_factor"}
