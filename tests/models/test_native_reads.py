"""Blocks, and who asks for them twice."""

from readahead.devices import Device
from readahead.models.native import FILE_HEADER_BYTES, block_span, blocks_ahead, blocks_alone
from readahead.models.schedule import Window
from readahead.units import KiB

DISK = Device(name="disk", latency_s=0.01, bandwidth_bytes_per_s=1e9)
"""One channel: reads come one after the other, each 10 ms after the one before."""


def ahead(groups: list[set[int]], *, slots: int, depth: int, device: Device = DISK) -> list[list[int]]:
    """Return how many blocks each read of each row group has."""
    window = Window(slots=slots, depth=depth, threads=1)
    found = blocks_ahead(groups, [2_048] * len(groups), KiB, device, window)
    return [[size // KiB for _, size in reads] for reads in found]


def test_blocks_shared_by_two_groups_are_read_once_unless_the_window_is_deep() -> None:
    groups = [{0, 1, 5}, {2, 5}]
    assert [len(reads) for reads in blocks_alone(groups, KiB)] == [3, 1]
    assert ahead(groups, slots=1, depth=1) == [[2, 1], [1]]
    assert ahead(groups, slots=8, depth=8) == [[2, 1], [1, 1]]


def test_a_block_is_asked_for_again_only_while_its_group_is_under_way() -> None:
    found = ahead([{0, 5}, {1, 5}, {2, 5}], slots=8, depth=2)
    assert [sum(blocks) for blocks in found] == [2, 2, 1]


def test_a_block_is_asked_for_again_only_while_nobody_has_got_it() -> None:
    """Four wait for a block of one disk, one after the other; the third who needs a block of an idle disk finds it."""
    groups = [{0}] * 4 + [{0}, {1}, {1}, {1}]
    assert ahead(groups, slots=4, depth=4) == [[1], [1], [1], [1], [], [1], [1], [1]]
    striped = DISK.but(channels=2, stripe_bytes=KiB)
    assert ahead(groups, slots=4, depth=4, device=striped) == [[1], [1], [1], [1], [], [1], [1], []]


def test_what_a_group_needs_is_looked_for_when_its_place_is_free_not_its_slot() -> None:
    """One slot, four places: the second group's read waits for the slot, and still asks for what has come meanwhile."""
    assert ahead([{0}, {0, 1}, {1}, {1}], slots=1, depth=4) == [[1], [2], [1], [1]]
    assert ahead([{0}, {0, 1}, {1}, {1}], slots=1, depth=1) == [[1], [1], [], []]


def test_blocks_lie_one_after_the_other_behind_the_header() -> None:
    assert block_span(0, KiB) == (FILE_HEADER_BYTES, KiB)
    assert block_span(3, KiB, 2) == (sum(block_span(2, KiB)), 2 * KiB)
