"""Blocks, and who asks for them twice."""

from readahead.models.native_reads import block_reads
from readahead.units import KiB


def test_blocks_shared_by_two_groups_are_read_once_unless_the_window_is_deep() -> None:
    groups = [{0, 1, 5}, {2, 5}]
    alone = block_reads(groups, KiB, ahead=False, depth=1)
    assert [len(reads) for reads in alone] == [3, 1]
    shallow = block_reads(groups, KiB, ahead=True, depth=1)
    deep = block_reads(groups, KiB, ahead=True, depth=8)
    assert [[size // KiB for _, size in reads] for reads in shallow] == [[2, 1], [1]]
    assert [[size // KiB for _, size in reads] for reads in deep] == [[2, 1], [1, 1]]
