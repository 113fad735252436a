"""Blocks, and who asks for them twice."""

from readahead.models.reads import FILE_HEADER_BYTES, block_reads, block_span
from readahead.units import KiB


def test_blocks_shared_by_two_groups_are_read_once_unless_the_window_is_deep() -> None:
    groups = [{0, 1, 5}, {2, 5}]
    alone = block_reads(groups, KiB, ahead=False, depth=1)
    assert [len(reads) for reads in alone] == [3, 1]
    shallow = block_reads(groups, KiB, ahead=True, depth=1)
    deep = block_reads(groups, KiB, ahead=True, depth=8)
    assert [[size // KiB for _, size in reads] for reads in shallow] == [[2, 1], [1]]
    assert [[size // KiB for _, size in reads] for reads in deep] == [[2, 1], [1, 1]]


def test_a_block_is_asked_for_again_only_while_its_group_is_under_way() -> None:
    groups = [{0, 5}, {1, 5}, {2, 5}]
    assert [
        sum(size for _, size in reads) // KiB for reads in block_reads(groups, KiB, ahead=True, depth=2)
    ] == [2, 2, 1]


def test_blocks_lie_one_after_the_other_behind_the_header() -> None:
    assert block_span(0, KiB) == (FILE_HEADER_BYTES, KiB)
    assert block_span(3, KiB, 2) == (sum(block_span(2, KiB)), 2 * KiB)
