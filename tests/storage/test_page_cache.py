"""The system can be made to forget a file, and can be asked whether it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from readahead.errors import DataError
from readahead.storage import page_cache


@pytest.mark.skipif(
    not page_cache.can_evict(), reason="this system gives programs no way to empty the page cache"
)
def test_an_evicted_file_is_cold_and_a_read_one_is_warm(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1_000_000))
    page_cache.evict(path)
    share = page_cache.cached_share(path)
    if share == 1.0:
        pytest.skip("this file system lives in memory: its pages cannot be dropped")
    assert share == 0.0
    path.read_bytes()
    assert page_cache.cached_share(path) == 1.0


def test_an_empty_file_has_no_share(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert page_cache.cached_share(tmp_path / "empty") is None


def test_where_it_cannot_be_done_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(DataError, match="Measure warm, or on an emulated device"):
        page_cache.require_evict()
