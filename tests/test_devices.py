"""The catalogue, and what a device refuses to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from readahead import devices
from readahead.devices import Device
from readahead.errors import BadValue, DataError
from readahead.paths import DATA
from readahead.published import rows


def test_the_catalogue_has_the_devices_of_the_articles_and_each_names_its_source() -> None:
    entries = devices.catalogue()
    lines = rows(DATA / "devices.csv", devices.COLUMNS)
    assert {"sas-15k", "sas-15k-x8", "usb-disk", "sata-ssd", "nvme", "optane-p4800x", "cloud-volume",
            "object-store"} <= set(entries)  # fmt: skip
    assert len(entries) >= 10
    assert all(len(line["source"]) > 20 and line["title"] for line in lines)


def test_flash_is_never_slower_to_answer_than_a_disk() -> None:
    known, lines = devices.catalogue(), rows(DATA / "devices.csv", devices.COLUMNS)
    answers = [(line["kind"], known[line["name"]].latency_s + known[line["name"]].seek_s) for line in lines]
    flash = max(answer_s for kind, answer_s in answers if kind == "flash")
    disks = min(answer_s for kind, answer_s in answers if kind == "disk")
    assert flash < disks


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"latency_s": -0.001}, r"latency_s=-0.001 on device 'nvme' must be from 0 to 1e\+06. Give seconds"),
        ({"channels": 0}, r"channels=0 on device 'nvme' must be a whole number from 1 to 100000. Give 1, 8"),
        (
            {"channels": 10**12},
            r"channels=1000000000000 on device 'nvme' must be a whole number from 1 to 100000",
        ),
        ({"stripe_bytes": 0.5}, r"stripe_bytes=0.5 on device 'nvme' must be a whole number"),
        ({"latency_s": 10**400}, r"latency_s=1000.* on device 'nvme' must be from 0"),
        ({"channels": 1.5}, r"channels=1.5 on device 'nvme' must be a whole number"),
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
    with pytest.raises(DataError, match="Line 1 of .*: column"):
        devices.catalogue(path)
    with pytest.raises(DataError, match="cannot be read: .*No such file"):
        devices.catalogue(tmp_path / "none.csv")


HEAD = (
    "name,title,kind,latency_s,seek_s,channel_bandwidth_bytes_per_s,bandwidth_bytes_per_s,channels,"
    "stripe_bytes,source"
)
GOOD = "a,A,disk,0.001,,,1e6,8,,a test"


def test_what_may_be_left_empty_in_a_catalogue_has_its_usual_value(tmp_path: Path) -> None:
    path = tmp_path / "devices.csv"
    path.write_text(f"{HEAD}\n{GOOD}\n", encoding="utf-8")
    assert devices.catalogue(path)["a"] == Device(
        name="a", latency_s=0.001, bandwidth_bytes_per_s=1e6, channels=8
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\xff\xfe\x00", "cannot be read"),
        (f"{HEAD}\n".encode() + b"x" * 300_000, "cannot be read: field larger"),
        (b"", "Line 1 of .*: column .* is missing"),
        (HEAD.encode(), "holds no devices. Restore"),
        (f"{HEAD}\n{GOOD}\n{GOOD}", "Line 3 of .*name='a' must be there once"),
        (f"{HEAD}\n{GOOD.replace('a,A', ',A')}", "Line 2 of .*: name must have a value"),
        (f"{HEAD}\n{GOOD.replace('0.001', '')}", "Line 2 of .*: latency_s must have a value"),
        (f"{HEAD}\n{GOOD},more", "Line 2 of .* has 11 cells"),
        (f"{HEAD}\n{GOOD.replace(',8,', ',2.7,')}", "channels=2.7 on device 'a' must be a whole number"),
        (
            f"{HEAD}\n{GOOD.replace(',8,', ',1e400,')}",
            "channels=inf on device 'a' must be a whole",
        ),
        (f"{HEAD}\n{GOOD.replace(',8,', ',1e12,')}", "must be a whole number from 1 to 100000"),
        (f"{HEAD}\n{GOOD.replace(',8,', ',nan,')}", "must be a whole number from 1 to 100000"),
    ],
    ids=range(12),
)
def test_a_catalogue_in_any_disorder_is_one_sentence(text: str | bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "devices.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=words):
        devices.catalogue(path)


def test_a_folder_is_no_catalogue(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        devices.catalogue(tmp_path)


def test_a_calibrated_device_joins_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    assert devices.calibrated() is None
    own = Device(name=devices.THIS_MACHINE, latency_s=1e-4, bandwidth_bytes_per_s=1e9, channels=4)
    devices.save_calibrated(own)
    assert devices.device(devices.THIS_MACHINE) == own
    (tmp_path / "calibrated.json").write_text("{", encoding="utf-8")
    assert devices.calibrated() is None


@pytest.mark.parametrize(
    "damage",
    [
        {"name": ["x"]},
        {"name": "nvme"},
        {"channels": 1e400},
        {"channels": 10**400},
        {"latency_s": "x"},
        {"latency_s": 1e308},
        {"more": 1},
    ],
    ids=str,
)
def test_a_damaged_calibration_counts_as_none(
    damage: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    own = {"name": devices.THIS_MACHINE, "latency_s": 1e-4, "bandwidth_bytes_per_s": 1e9, "channels": 1.0}
    facts = {"device": own, "source": "a file of an older version"}
    path = tmp_path / "calibrated.json"
    path.write_text(json.dumps(facts), encoding="utf-8")
    found = devices.calibrated()
    assert found is not None and isinstance(found.channels, int)
    path.write_text(json.dumps({**facts, "device": {**own, **damage}}), encoding="utf-8")
    assert devices.calibrated() is None
    path.write_text("[" * 100_000, encoding="utf-8")
    assert devices.calibrated() is None


def test_a_value_without_end_is_not_told_whole(tmp_path: Path) -> None:
    text = (DATA / "devices.csv").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines(keepends=True) if line.startswith("nvme,"))
    (tmp_path / "devices.csv").write_text(text + 2 * ("9" * 50_000 + row), encoding="utf-8")
    with pytest.raises(DataError, match="once|is not a device") as told:
        devices.catalogue(tmp_path / "devices.csv")
    assert len(str(told.value)) < 1_000
