"""What was weighed is found again: from the file, or where none could be written, from memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from readahead.chapters.cache_tiers import calibrate_cache
from readahead.chapters.cache_tiers.laws import CacheCosts
from readahead.measure.calibrate import weighed_on
from readahead.measure.kept import keep, kept


def test_costs_hold_for_their_conditions_only(tmp_path: Path) -> None:
    path, costs = tmp_path / "deep" / "costs.json", CacheCosts(query_s=3e-3)
    keep(path, costs, {"machine": "ours"})
    assert kept(path, CacheCosts, {"machine": "ours"}) == costs
    assert kept(path, CacheCosts, {"machine": "another"}) is None


def test_the_cache_s_costs_serve_where_the_cupboard_can_only_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "file"))
    costs = CacheCosts(query_s=3e-3)
    keep(calibrate_cache._path(), costs, weighed_on())
    assert calibrate_cache.ensure_cache_costs() == calibrate_cache.cache_costs() == costs
