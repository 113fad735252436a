"""Files that nobody meant well with: tables, databases, paths, what is kept, what is handed in."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb

from readahead import devices, paths
from readahead.commands import sheet
from readahead.datasets.build import literal
from readahead.errors import ReadaheadError
from readahead.measure import calibrate
from readahead.models.schedule import Costs
from readahead.panels import class_view
from readahead.questions.progress import Progress
from tools.faults.processes import KEPT, PATIENCE_S, cache, start

HOSTILE_S, HOSTILE_BYTES = 10.0, 2 * 2**30
"""What a hostile file may take of the processor's time and of memory."""
EVIL = (
    "'; DROP TABLE chunks; --", '"quoted"', "new\nline", "<img src=x onerror=alert(1)>", "=HYPERLINK(1)",
    r"$\text{<img src=x onerror=alert(1)>}$", r"$\frac$", "\x1b]0;owned\x07", "\u202e", "{table}", "%s", "*", "`x`",
    "ü数", "a, b", "x" * 50_000,
)  # fmt: skip
"""Texts that mean something to somebody."""

JUDGE = """
import json, resource, sys, time
from readahead.__main__ import run
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print("ready", flush=True)
for line in sys.stdin:
    begun_s = time.process_time()
    code = run(["advise", "--device", "nvme", *json.loads(line)])
    most_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print("\\nended", code, most_bytes, time.process_time() - begun_s, flush=True)
"""


@dataclass(slots=True)
class Judge:
    """A process that advises on one file after the other, and is replaced when one of them ends it."""

    child: subprocess.Popen[str] | None = None
    folder: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory)

    def ask(self, *words: Path | str) -> str:
        """Return what is wrong with what comes of a file and options, if anything."""
        if self.child is None:
            self.child = start(JUDGE, Path(self.folder.name))
        child = self.child
        assert child.stdin is not None and child.stdout is not None
        print(json.dumps([str(word) for word in words]), file=child.stdin, flush=True)
        said, over_s = "", time.monotonic() + PATIENCE_S
        while "\nended" not in said or not said.endswith("\n"):
            ready = select.select([child.stdout], [], [], max(0.0, over_s - time.monotonic()))[0]
            more = os.read(child.stdout.fileno(), 65_536).decode(errors="replace") if ready else ""
            said += more
            if not more:
                self.child = None
                child.kill()
                child.wait()
                return (
                    f"{'no answer in time' if not ready else f'it died: {child.returncode}'}: {said[-300:]}"
                )
        code, most_bytes, took_s = map(float, said.rsplit("ended", maxsplit=1)[1].split())
        errors = [line for line in said.splitlines() if line.startswith("Error: ")]
        if "Traceback" in said or code not in (0, 1) or len(errors) != code:
            return f"it said: {said[-500:]}"
        if most_bytes > HOSTILE_BYTES or took_s > HOSTILE_S:
            return f"it took {most_bytes:,.0f} bytes and {took_s:.0f} s"
        return ""


@functools.cache
def _judge() -> Judge:
    return Judge()


@functools.cache
def _whole_files() -> tuple[bytes, ...]:
    """Return Parquet files of several kinds: flat, nested, many groups, with every compression."""
    rows = "SELECT i AS id, hash(i) AS h, 'word ' || i % 50 AS w, i / 7 AS f FROM range(20000) r(i)"
    nested = "SELECT i AS id, {'a': i, 'b': [i, i + 1]} AS s, map {'k': i} AS m FROM range(5000) r(i)"
    found = []
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        target = Path(folder, "one.parquet")
        for sql in (rows, nested):
            for options in (
                "ROW_GROUP_SIZE 2048, COMPRESSION snappy",
                "COMPRESSION zstd",
                "COMPRESSION uncompressed",
            ):
                connection.execute(f"COPY ({sql}) TO {literal(target)} (FORMAT parquet, {options})")
                found.append(target.read_bytes())
    return tuple(found)


def damaged(rng: random.Random, whole: bytes) -> bytes:
    """Return a Parquet file with some damage: most of it in its footer, where every structure is told."""
    data = bytearray(whole)
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for _ in range(rng.choice((1, 1, 2, 5, 40))):
        begin = rng.choice((0, footer, footer, footer, len(data) - 8))
        at = rng.randrange(min(begin, len(data) - 1), len(data))
        match rng.randrange(6):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                data[at : at + 5] = b"\xff\xff\xff\xff\x0f"  # the largest length there is
            case 3:
                del data[at : at + rng.randrange(1, 64)]
            case 4:
                data[at:at] = rng.randbytes(rng.randrange(1, 64))
            case 5:
                data[at:] = data[at:][: rng.randrange(len(data) - at)] + data[-8:]
        if len(data) < 16:
            break
    if rng.random() < 0.1:
        data[-8:-4] = rng.randbytes(4)
    return bytes(data)


def hostile_parquet(rng: random.Random, folder: Path) -> str:
    """Advise on a damaged Parquet file."""
    path = folder / "hostile.parquet"
    path.write_bytes(damaged(rng, rng.choice(_whole_files())))
    return _judge().ask(path)


@functools.cache
def _whole_database() -> bytes:
    path = Path(KEPT.name, "whole.duckdb")
    with duckdb.connect() as connection:
        sql = "SELECT i AS id, hash(i) AS h, 'word ' || i % 50 AS w FROM range(20000) r(i)"
        connection.execute(f"ATTACH {literal(path)} AS file (BLOCK_SIZE 16384)")
        connection.execute(f"CREATE TABLE file.t AS {sql}; DETACH file")
    return path.read_bytes()


def hostile_database(rng: random.Random, folder: Path) -> str:
    """Advise on a damaged database."""
    data = bytearray(_whole_database())
    for _ in range(rng.choice((1, 2, 5, 40))):
        at = rng.randrange(
            rng.choice((12_288, len(data)))
        )  # where its metadata lies is told in the first pages
        data[at : at + 8] = rng.randbytes(8)
    path = folder / "hostile.duckdb"
    path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)
    return _judge().ask(path)


# -- a footer written by hand, in Thrift's compact protocol -----------------------------------------------
I32, I64, TEXT, LIST, STRUCT = 5, 6, 8, 9, 12
"""Kinds of fields."""


def _varint(value: int) -> bytes:
    """Return an unsigned number, seven bits a byte."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _field(step: int, kind: int, value: int | bytes | list[bytes], items: int = STRUCT) -> bytes:
    """Return a field whose number is the last one's plus `step`; `items` is the kind of a list's items."""
    if isinstance(value, int):
        told = _varint(value << 1)
    elif isinstance(value, list):
        told = bytes([0xF0 | items]) + _varint(len(value)) + b"".join(value)
    else:
        told = value if kind == STRUCT else _varint(len(value)) + value
    return bytes([step << 4 | kind]) + told


def deep_table(depth: int, claimed: int, rows: int) -> bytes:
    """Return a Parquet file with one column inside `depth` others, each of which claims to hold so many."""
    within = _field(1, TEXT, b"g") + _field(1, I32, claimed) + b"\0"
    column = _field(1, I32, 1) + _field(2, I32, 0) + _field(1, TEXT, b"x") + b"\0"
    schema = [
        _field(4, TEXT, b"root") + _field(1, I32, 1) + b"\0",
        *[_field(3, I32, 1) + within] * depth,
        column,
    ]
    path = [b"\1g"] * depth + [b"\1x"]
    meta = _field(1, I32, 1) + _field(1, LIST, [b"\0"], I32) + _field(1, LIST, path, TEXT) + _field(1, I32, 0)
    meta += _field(1, I64, rows) + _field(1, I64, 100) + _field(1, I64, 100) + _field(2, I64, 4) + b"\0"
    chunk = _field(2, I64, 4) + _field(1, STRUCT, meta) + b"\0"
    group = _field(1, LIST, [chunk]) + _field(1, I64, 100) + _field(1, I64, rows) + b"\0"
    footer = (
        _field(1, I32, 1) + _field(1, LIST, schema) + _field(1, I64, rows) + _field(1, LIST, [group]) + b"\0"
    )
    return b"PAR1" + bytes(100) + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def hostile_schema(rng: random.Random, folder: Path) -> str:
    """Advise on a footer whose schema is nested deeply, and lies about it."""
    depth, claimed = rng.choice((0, 3, 400, 600, 10_000, 100_000)), rng.choice((1, 1, 1, 2, 2**31 - 1))
    path = folder / "deep.parquet"
    path.write_bytes(deep_table(depth, claimed, rng.choice((0, 1_000, 2**62))))
    return _judge().ask(path)


def hostile_names(rng: random.Random, folder: Path) -> str:
    """Advise on a table whose columns and file have names that mean something to SQL, a page or a terminal."""
    names = [f"{number}{rng.choice(EVIL)}{rng.choice(EVIL)}" for number in range(4)]
    columns = ", ".join(f'i % 7 AS "{name.replace(chr(34), chr(34) * 2)}"' for name in names)
    path = folder / f"{rng.choice(EVIL[:-1]).replace('/', '')}.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {columns} FROM range(5000) r(i)) TO {literal(path)} (FORMAT parquet)"
        )
    before = path.read_bytes()
    options = ["--by", rng.choice(names), "--selectivity", "0.1"] if rng.random() < 0.7 else []
    fault = _judge().ask(path, *options, *(["--verify"] if rng.random() < 0.3 else []))
    if list(folder.iterdir()) != [path] or path.read_bytes() != before:
        return "the table was changed, or something lies beside it"
    return fault


def _foreign(rng: random.Random) -> bytes:
    """Return the first bytes of a file of another format."""
    signs = (
        b"\x1f\x8b\x08", b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"SQLite format 3\0", b"ORC", b"Obj\x01", b"ARROW1",
        b"\x7fELF", b"%PDF-1.7", b"<html><script>", b'{"a": 1}', b"a,b\n1,2\n", b"PAR1", b"\0" * 8 + b"DUCK",
    )  # fmt: skip
    return rng.choice(signs) + rng.randbytes(rng.randrange(5_000)) + rng.choice((b"", b"PAR1", b"PARE"))


def hostile_path(rng: random.Random, folder: Path) -> str:
    """Advise on a path that is no table: devices, pipes, links, folders, other formats with a lying suffix."""
    path = folder / f"table{rng.choice(('.parquet', '.duckdb', '.pq', '.csv', ''))}"
    match rng.randrange(6):
        case 0:
            return _judge().ask(
                rng.choice(
                    ("/dev/zero", "/dev/null", "/dev/random", "/proc/kmsg", "/proc/*", "/dev/*", "/dev/fd/0")
                )
            )
        case 1:
            os.mkfifo(path)
        case 2:
            path.symlink_to(rng.choice(("/dev/zero", "nowhere", path.name, "/proc/self/environ")))
        case 3:
            path.mkdir()
            os.mkfifo(path / "pipe.parquet")
        case 4:
            up = "../" * rng.choice((1, 40))
            return _judge().ask(
                rng.choice((f"{up}etc/passwd", f"{folder}/{up}*", f"{folder}/{up}none", "a\0b", ""))
            )
        case _:
            path.write_bytes(_foreign(rng))
    return _judge().ask(rng.choice((path, f"{folder}/*", folder)))


@functools.cache
def _bombs() -> tuple[Path, ...]:
    """Return small Parquet files that hold very much: many equal rows, long equal texts, a list of many."""
    found = []
    for number, (sql, options) in enumerate((
        ("SELECT 7 AS x FROM range(30000000)", "ROW_GROUP_SIZE 10000000"),
        ("SELECT repeat('x', 3000000) AS t FROM range(100)", "COMPRESSION zstd"),
        ("SELECT i AS id, range(200000) AS l FROM range(20) r(i)", "COMPRESSION zstd"),
    )):  # fmt: skip
        path = Path(KEPT.name, f"bomb{number}.parquet")
        with duckdb.connect() as connection:
            connection.execute("SET threads = 1; SET preserve_insertion_order = false")
            connection.execute(f"COPY ({sql}) TO {literal(path)} (FORMAT parquet, {options})")
        found.append(path)
    return tuple(found)


def decompression_bomb(rng: random.Random, folder: Path) -> str:
    """Advise on a small file that unpacks to much, and prove the advice."""
    path = Path(shutil.copy(rng.choice(_bombs()), folder))
    return _judge().ask(path, *(["--verify"] if rng.random() < 0.8 else []))


# -- what is kept, damaged ---------------------------------------------------------------------------------
WORDS = (
    "1e308", "-1e308", "1e999", "5e-324", "NaN", "null", "[]", "{}", '"<script>"', "true", "[" * 9_999, "9" * 5_000,
    "\0", "\ufeff", '"\\ud800"', "-1", '""', "{" * 50,
)  # fmt: skip
"""What nobody would have written."""


def spoilt(rng: random.Random, text: str) -> bytes:
    """Return a text with some of its values replaced, or its bytes damaged."""
    if rng.random() < 0.6:
        values = [part for part in _values(text) if part]
        for _ in range(rng.choice((1, 1, 3))):
            text = text.replace(rng.choice(values), rng.choice(WORDS), rng.choice((1, -1)))
        return text.encode(errors="replace")
    data = bytearray(text.encode())
    for _ in range(rng.choice((1, 5))):
        at = rng.randrange(len(data))
        data[at : at + rng.choice((1, 20))] = rng.randbytes(rng.choice((0, 1, 20)))
    return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data)


def _values(text: str) -> list[str]:
    """Return what stands between the marks of JSON, YAML and CSV."""
    return [part.strip() for part in re.split(r"[:,{}\[\]\n]", text)]


def _spoilt_progress(rng: random.Random, folder: Path) -> None:
    own = Progress(folder / "progress.json")
    own.keep_guess("fragments", "yield", 0.4, "it moves", "sure")
    own.keep_answer("fragments", "hole", "?", "Wrong", "an idea")
    assert own.path is not None
    data = spoilt(rng, own.path.read_text(encoding="utf-8"))
    own.path.write_bytes(data)
    again = Progress(own.path)
    again.keep_guess("fragments", "other", 1.0)
    found = [path for path in folder.glob("progress*") if path.read_bytes() == data]
    kept = again.section("fragments", "guesses")
    if "other" not in kept or not (found or "yield" in kept or again.kept("fragments", "guesses", "other")):
        raise RuntimeError("what was kept is lost")


def _spoilt_sheet(rng: random.Random, folder: Path) -> None:
    text = rng.choice(sorted(sheet.FOLDER.glob("*.yaml"))).read_text(encoding="utf-8")
    (folder / "one.yaml").write_bytes(spoilt(rng, text))
    sheet.load(str(folder / "one.yaml"))


def _spoilt_catalogue(rng: random.Random, folder: Path) -> None:
    text = (paths.DATA / "devices.csv").read_text(encoding="utf-8")
    (folder / "devices.csv").write_bytes(spoilt(rng, text))
    devices.catalogue(folder / "devices.csv")


def _spoilt_calibration(rng: random.Random, folder: Path) -> None:
    known = calibrate.engine("comments_narrow")
    with cache(folder):
        devices.save_calibrated(devices.device("nvme").but(name=devices.THIS_MACHINE))
        known.keep(Costs())
        calibrate.usual_s(0.01)
        for path in folder.glob("*.json"):
            path.write_bytes(spoilt(rng, path.read_text(encoding="utf-8")))
        devices.catalogue()
        calibrate.usual_s(0.01)
        for told in (known.costs(), known.off, known.strayed, known.doubt, known.kept()):
            str(told)


KEEPERS: tuple[Callable[[random.Random, Path], None], ...] = (
    _spoilt_progress, _spoilt_sheet, _spoilt_catalogue, _spoilt_calibration,
)  # fmt: skip


def kept_spoilt(rng: random.Random, folder: Path) -> str:
    """Read damaged progress, sheets, catalogues and calibrations: they work, or say what is wrong in a sentence."""
    begun_s, keeper = time.process_time(), rng.choice(KEEPERS)
    try:
        keeper(rng, folder)
    except ReadaheadError as error:
        if len(str(error)) > 20_000:
            return f"{keeper.__name__} said {len(str(error))} characters"
    except Exception as error:  # noqa: BLE001 - whatever is raised is what was looked for
        return f"{keeper.__name__}: {type(error).__name__}: {str(error)[:300]}"
    took_s = time.process_time() - begun_s
    return f"{keeper.__name__} took {took_s:.0f} s" if took_s > HOSTILE_S else ""


# -- what learners hand in -------------------------------------------------------------------------------
class _Tags(HTMLParser):
    """Collects what of a page would run."""

    runs = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "img", "iframe", "a", "object", "embed", "link", "form"):
            self.runs = tag
        for name, _ in attrs:
            if name.startswith("on") or name in ("href", "src"):
                self.runs = name


def _page(folder: Path) -> tuple[str, Any]:
    """Return all that the leader is shown of a class, and its guesses."""
    shown: list[str] = []
    with mock.patch.object(class_view, "show", shown.append):
        room = class_view.open_class(folder, names=True)
        for part in (room.devices, room.calibration, room.sureness, room.exercises):
            part()
        for of_chapter in (room.guesses, room.reasons):
            of_chapter("fragments")
    return "".join(shown), class_view.guesses_table(room.results)


def hostile_result(rng: random.Random, folder: Path) -> str:
    """Show a class of two learners, of whom one handed in values and names that nobody would have written."""
    own = Progress(folder / "own.progress")
    own.keep_machine({"cpu": "a cpu", "cores": 4, "system": "Linux"})
    own.keep_guess("fragments", "yield", 0.4, "it moves", "sure")
    own.keep_reveal("fragments", "yield", 0.5)
    own.keep_answer("fragments", "hole", "?", "Wrong", "an idea")
    text = own.export(folder / "good.json").read_text(encoding="utf-8")
    names = (
        "0.4",
        "0.5",
        '"?"',
        '"Wrong"',
        '"an idea"',
        '"it moves"',
        '"a cpu"',
        "{}",
        "1",
        '"fragments"',
        '"yield"',
    )
    word = rng.choice((*WORDS, *map(json.dumps, EVIL), json.dumps("x" * rng.choice((10**6, 10**8)))))
    bad = folder / f"{rng.choice(EVIL[:-1]).replace('/', '')}.json"
    bad.write_bytes(text.replace(rng.choice(names), word).encode(errors="replace"))
    begun_s = time.process_time()
    try:
        page, found = _page(folder)
    except ReadaheadError as error:
        return f"one result spoils all: {str(error)[:300]}"
    except Exception as error:  # noqa: BLE001 - whatever is raised is what was looked for
        return f"{type(error).__name__}: {str(error)[:300]}"
    took_s, tags = time.process_time() - begun_s, _Tags()
    tags.feed(page)
    if tags.runs or took_s > HOSTILE_S:
        return f"it would run {tags.runs}, and took {took_s:.0f} s"
    return "" if found.off.between(1, 1e60).all() and 0.8 in set(found.ratio) else "a factor that nothing has"
