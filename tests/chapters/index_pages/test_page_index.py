"""A file of pages: every leaf is listed once, the links lead through all pages above, the map knows them all."""

from __future__ import annotations

import numpy as np
import pytest

from readahead.chapters.index_pages.page_index import PAGE_BYTES, PageIndex, layout, page_in, write
from readahead.errors import BadValue, DataError

SMALL = PageIndex(leaf_pages=1_000, fanout=37)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of the small index."""
    path = tmp_path_factory.mktemp("index") / "small.part"
    write(SMALL, path)
    return path.read_bytes()


def test_the_links_lead_through_every_upper_page_and_list_every_leaf_once(data: bytes) -> None:
    front = page_in(data, 0, 0)
    seen, listed, page = [], [], front.next
    while page >= 0:
        seen.append(page)
        read = page_in(data, 0, page)
        listed += read.listed.tolist()
        page = read.next
    upper, leaves = front.map()
    assert sorted(seen) == upper.tolist() and len(seen) == SMALL.upper_pages
    assert sorted(listed) == leaves.tolist() and len(leaves) == SMALL.leaf_pages
    assert [seen, listed] == [part.tolist() for part in layout(SMALL)]
    assert len(data) == SMALL.size_bytes == SMALL.pages * PAGE_BYTES


def test_the_chain_does_not_lie_in_order() -> None:
    upper, leaves = layout(SMALL)
    assert np.any(np.diff(upper) < 0) and np.any(np.diff(leaves) < 0)


@pytest.mark.parametrize("read_bytes", [8_192, 65_536])
def test_a_read_has_its_page_in_it_and_stays_in_the_file(data: bytes, read_bytes: int) -> None:
    for page in (0, 1, SMALL.pages // 2, SMALL.pages - 1):
        offset, size = SMALL.block(page, read_bytes)
        assert offset % read_bytes == 0 and offset + size <= SMALL.size_bytes
        assert page_in(data[offset : offset + size], offset, page).numbers[1] == page


def test_another_page_and_a_short_file_are_noticed(data: bytes) -> None:
    for piece, page in ((data[PAGE_BYTES : 2 * PAGE_BYTES], 0), (data[:100], 0), (bytes(PAGE_BYTES), 0)):
        with pytest.raises(DataError, match="damaged"):
            page_in(piece, 0, page)


@pytest.mark.parametrize("facts", [{"leaf_pages": 1, "fanout": 9}, {"leaf_pages": 99, "fanout": 1_000}])
def test_an_index_that_cannot_be_is_refused(facts: dict[str, int]) -> None:
    with pytest.raises(BadValue, match="whole number of pages"):
        PageIndex(**facts)
