"""Samples of two machines refuse to be poured together, and say why."""

from dataclasses import replace

import pytest

from readahead.errors import BadValue
from readahead.measure.machine import this_machine
from readahead.measure.pool import differing_facts, pool
from readahead.measure.sample import Sample


def sample(*seconds: float, **settings: object) -> Sample:
    return Sample(
        seconds=seconds,
        cpu_s=seconds,
        reads=(),
        bytes_read=1,
        row_groups_scanned=1,
        row_groups_total=1,
        where="emulated device",
        machine=this_machine(),
        settings=settings,
    )


def test_repeats_of_one_query_on_one_machine_are_one_sample() -> None:
    whole = pool([sample(1.0, 2.0, rows=5), sample(3.0, rows=5)])
    assert whole.seconds == (1.0, 2.0, 3.0) and whole.cpu_s == (1.0, 2.0, 3.0)


def test_each_differing_fact_is_named() -> None:
    mine = sample(1.0)
    theirs = replace(mine, machine=replace(mine.machine, cpu="Another CPU", memory_bytes=1))
    assert set(differing_facts(mine.machine, theirs.machine)) == {"cpu", "memory_bytes"}
    with pytest.raises(BadValue, match=r"cpu \(.* against Another CPU\); memory_bytes \("):
        pool([mine, theirs])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"settings": {"rows": 6}}, "setting rows (5 against 6)"),
        ({"where": "this disk, cold"}, "where (emulated device against this disk, cold)"),
        ({"time_scale": 4.0}, "time scale (1 against 4)"),
    ],
)
def test_other_queries_are_refused_too(change: dict[str, object], named: str) -> None:
    mine = sample(1.0, rows=5)
    with pytest.raises(BadValue) as raised:
        pool([mine, replace(mine, **change)])  # type: ignore[arg-type]
    assert named in str(raised.value)


def test_nothing_cannot_be_pooled() -> None:
    with pytest.raises(BadValue, match="0 samples"):
        pool([])
