"""The catalogue, and what a device refuses to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from readahead import devices
from readahead.devices import Device
from readahead.errors import BadValue, DataError


def test_the_catalogue_has_the_devices_of_the_articles_and_each_names_its_source() -> None:
    entries = devices.catalogue()
    assert {"sas-15k", "sas-15k-x8", "usb-disk", "sata-ssd", "nvme", "optane-p4800x", "cloud-volume",
            "object-store"} <= set(entries)  # fmt: skip
    assert len(entries) >= 10
    assert all(len(entry.source) > 20 and entry.title for entry in entries.values())


def test_flash_is_never_slower_to_answer_than_a_disk() -> None:
    entries = devices.catalogue().values()
    flash = max(e.device.latency_s + e.device.seek_s for e in entries if e.kind == "flash")
    disks = min(e.device.latency_s + e.device.seek_s for e in entries if e.kind == "disk")
    assert flash < disks


def test_the_half_speed_size_of_the_textbook_disk_is_the_megabyte_of_its_comment() -> None:
    assert devices.device("textbook-disk").half_speed_bytes == pytest.approx(1e6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"latency_s": -0.001}, r"latency_s=-0.001 on device 'nvme' must be at least 0. Give seconds"),
        ({"channels": 0}, r"channels=0 on device 'nvme' must be at least 1"),
        ({"channels": 1.5}, r"channels=1.5 on device 'nvme' must be whole"),
        ({"bandwidth_bytes_per_s": float("nan")}, r"bandwidth_bytes_per_s=nan on device 'nvme'"),
    ],
)
def test_an_impossible_device_is_refused_with_value_range_and_advice(changes: dict, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        devices.device("nvme").but(**changes)


def test_an_unknown_device_is_answered_with_the_list() -> None:
    with pytest.raises(BadValue, match="device='floppy' must be one of: textbook-disk"):
        devices.device("floppy")


def test_a_damaged_catalogue_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "devices.csv"
    path.write_text("name,title\nbroken,Broken\n", encoding="utf-8")
    with pytest.raises(DataError, match="Line 2 of"):
        devices.catalogue(path)
    with pytest.raises(DataError, match="is missing"):
        devices.catalogue(tmp_path / "none.csv")


def test_a_calibrated_device_joins_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    assert devices.calibrated() is None
    own = Device(name=devices.THIS_MACHINE, latency_s=1e-4, bandwidth_bytes_per_s=1e9, channels=4)
    devices.save_calibrated(own, title="This machine", source="a test")
    assert devices.device(devices.THIS_MACHINE) == own
    (tmp_path / "calibrated.json").write_text("{", encoding="utf-8")
    assert devices.calibrated() is None
