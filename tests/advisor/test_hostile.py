"""What learners really have on their disks: each trouble is one clear sentence and an exit code; nothing is touched."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from readahead.__main__ import run
from readahead.datasets.build import literal
from readahead.datasets.survey import MOST_LOOKED_AT, StoredColumn, survey
from readahead.errors import DataError
from readahead.measure import sample_run
from readahead.models.table_layout import Workload
from tools.faults.hostile import deep_table

ROWS = "SELECT i AS id, hash(i) AS x FROM range(20000) r(i)"


def write(path: Path, sql: str = ROWS, options: str = "ROW_GROUP_SIZE 2048", *before: str) -> Path:
    with duckdb.connect() as connection:
        for statement in before:
            connection.execute(statement)
        connection.execute(f"COPY ({sql}) TO {literal(path)} (FORMAT parquet, {options})")
    return path


def prints(folder: Path) -> dict[str, str]:
    """Return a fingerprint of everything in a folder."""
    return {
        str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()
    }


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write(tmp_path / "good.parquet")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["advise", *arguments])
    seen = capsys.readouterr()
    return code, seen.out, seen.err


def empty(folder: Path) -> tuple[str, str]:
    (folder / "bad.parquet").write_bytes(b"")
    return str(folder / "bad.parquet"), "is empty"


def without_end(folder: Path) -> tuple[str, str]:
    log = Path("/proc/kmsg")  # says that it is empty, and keeps its reader waiting
    return (str(log), "kmsg") if log.exists() else empty(folder)


def cut_off(folder: Path) -> tuple[str, str]:
    whole = write(folder / "whole.parquet").read_bytes()
    (folder / "bad.parquet").write_bytes(whole[: len(whole) // 2])
    return str(folder / "bad.parquet"), "is cut off"


def a_text(folder: Path) -> tuple[str, str]:
    (folder / "bad.parquet").write_text("id,x\n1,2\n")
    return str(folder / "bad.parquet"), "neither a Parquet file nor a DuckDB database"


def a_lying_footer(folder: Path) -> tuple[str, str]:
    (folder / "bad.parquet").write_bytes(b"PAR1" + b"\xff" * 40 + b"\xff\xff\xff\x7fPAR1")
    return str(folder / "bad.parquet"), "does not end as a Parquet file does"


def nonsense_inside(folder: Path) -> tuple[str, str]:
    (folder / "bad.parquet").write_bytes(b"PAR1" + b"\xff" * 400 + (200).to_bytes(4, "little") + b"PAR1")
    return str(folder / "bad.parquet"), "cannot read the metadata"


def a_name_that_is_no_text(folder: Path) -> tuple[str, str]:
    whole = write(folder / "bad.parquet", "SELECT i AS abcdefgh FROM range(20000) r(i)").read_bytes()
    data, footer = whole[:-8], len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    schema = data.index(b"abcdefgh", footer)  # the first of them: the row groups name it rightly
    (folder / "bad.parquet").write_bytes(whole[:schema] + b"\xff" * 8 + whole[schema + 8 :])
    return str(folder / "bad.parquet"), "cannot read the metadata"


def encrypted(folder: Path) -> tuple[str, str]:
    key = "PRAGMA add_parquet_key('k', '0123456789112345')"
    options = "ENCRYPTION_CONFIG {footer_key: 'k'}"
    write(folder / "bad.parquet", ROWS, options, "SET force_mbedtls_unsafe = 'true'", key)
    return str(folder / "bad.parquet"), "encrypted"


def missing(folder: Path) -> tuple[str, str]:
    return str(folder / "no such.parquet"), "is not there"


def an_empty_folder(folder: Path) -> tuple[str, str]:
    (folder / "empty").mkdir()
    return str(folder / "empty"), "holds no Parquet files"


def a_pattern_of_nothing(folder: Path) -> tuple[str, str]:
    return str(folder / "*.nothing"), "is not there"


def a_pattern_in_no_folder(folder: Path) -> tuple[str, str]:
    return str(folder / "no" / "**" / "*.parquet"), "is not there"


def more_rows_than_there_can_be(folder: Path) -> tuple[str, str]:
    (folder / "bad.parquet").write_bytes(deep_table(depth=0, claimed=1, rows=2**62))
    return str(folder / "bad.parquet"), "says that it holds 4,611,686,018,427,387,904 rows"


def nested_ten_thousand_deep(folder: Path) -> tuple[str, str]:
    (folder / "bad.parquet").write_bytes(deep_table(depth=10_000, claimed=1, rows=1_000))
    return str(folder / "bad.parquet"), "nested more than"


def no_rows(folder: Path) -> tuple[str, str]:
    return str(write(folder / "bad.parquet", f"{ROWS} LIMIT 0")), "holds no rows"


def a_broken_database(folder: Path) -> tuple[str, str]:
    (folder / "bad.duckdb").write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 20_000)
    return str(folder / "bad.duckdb"), "no database that DuckDB can open"


def two_tables_in_a_folder(folder: Path) -> tuple[str, str]:
    for name, sql in (("a", ROWS), ("b", "SELECT i AS other FROM range(9) r(i)"), ("c", ROWS)):
        write(folder / f"{name}.parquet", sql)
    return str(folder), "1 of them lack columns of a.parquet, such as 'id' in b.parquet"


def a_column_more_in_one_file(folder: Path) -> tuple[str, str]:
    write(folder / "a.parquet")
    write(folder / "b.parquet", "SELECT i AS id, hash(i) AS x, i AS z FROM range(9) r(i)")
    return str(folder), "1 of them have columns beside those of a.parquet, such as 'z' in b.parquet"


def nothing(folder: Path) -> tuple[str, str]:
    return " ", "The path is empty"


def a_null_in_the_path(folder: Path) -> tuple[str, str]:
    return str(folder / "a\0b"), "Give"


BAD = (empty, without_end, cut_off, a_text, a_lying_footer, nonsense_inside,
       more_rows_than_there_can_be, nested_ten_thousand_deep, a_name_that_is_no_text, encrypted, missing,
       an_empty_folder,
       a_pattern_of_nothing, a_pattern_in_no_folder, no_rows, a_broken_database, two_tables_in_a_folder,
       a_column_more_in_one_file, nothing,
       a_null_in_the_path)  # fmt: skip


@pytest.mark.parametrize("trouble", BAD, ids=lambda trouble: trouble.__name__)
def test_trouble_is_one_sentence_and_an_exit_code(
    trouble, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, words = trouble(tmp_path)
    before = prints(tmp_path)
    code, out, err = told(capsys, path)
    assert code == 1 and out == ""
    assert words in err and err.count("\n") == 1 and "Traceback" not in err
    assert prints(tmp_path) == before


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A database that a process of its own holds open for writing."""
    path = tmp_path / "held.duckdb"
    hold = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); c.execute('CREATE TABLE t AS FROM range(9)');"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        yield path
        process.communicate(b"")


def test_a_database_that_is_locked_is_said_to_be(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = told(capsys, str(locked))
    assert (code, out) == (1, "") and "is locked by another process" in err and err.count("\n") == 1


@pytest.mark.skipif(os.name == "nt" or shutil.which("setpriv") is None, reason="needs a user without rights")
def test_a_folder_that_may_not_be_read_is_no_empty_one(tmp_path: Path) -> None:
    folder = tmp_path / "shut"
    folder.mkdir()
    write(folder / "good.parquet")
    folder.chmod(0)
    code = "import sys; from readahead.datasets.survey import find; find(sys.argv[1])"
    command = [sys.executable, "-c", code, str(folder)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        folder.chmod(0o755)
    assert done.returncode and "may not be read by you" in done.stderr


def test_a_very_wide_table_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ", ".join(f"i + {n} AS c{n}" for n in range(2_000))
    path = write(tmp_path / "wide.parquet", f"SELECT {columns} FROM range(3000) r(i)")
    code, out, _ = told(capsys, str(path), "--device", "nvme", "--columns", "c3,c1999")
    assert code == 0 and "2,000, of which the query reads 2" in out


def test_a_nested_table_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT i AS id, {'a': i, 'b': [i, i + 1]} AS s, map {'k': i} AS m FROM range(9000) r(i)"
    path = write(tmp_path / "nested.parquet", sql)
    code, out, _ = told(capsys, str(path), "--columns", "s", "--device", "nvme", "--verify", "--by", "id",
                        "--selectivity", "0.2")  # fmt: skip
    assert code == 0 and re.search(r"[3-9] of them nested", out) and "promised" in out


def test_a_million_million_rows_in_one_group_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "huge.parquet").write_bytes(deep_table(depth=0, claimed=1, rows=10**12))
    code, out, _ = told(capsys, str(tmp_path / "huge.parquet"), "--device", "nvme")
    assert code == 0 and "row groups of 125,001,728" in out


def test_one_huge_row_group_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(
        tmp_path / "huge.parquet", "SELECT i AS id FROM range(3000000) r(i)", "ROW_GROUP_SIZE 3000320"
    )
    code, out, _ = told(capsys, str(path), "--device", "object-store")
    assert code == 0 and "a single row group" in out and "row groups of" in out


def test_many_small_files_are_sampled_and_that_is_said(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20_000):
        (folder / f"part-{number:05}.parquet").hardlink_to(good)
    code, out, _ = told(capsys, str(folder), "--device", "object-store")
    assert code == 0 and "20,000 Parquet files" in out and f"{MOST_LOOKED_AT} of them were looked at" in out
    assert "write the 20,000 files as one" in out


def test_links_that_lead_back_end_nobodys_patience(good: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "below").mkdir()
    write(tmp_path / "below" / ".hidden.parquet")
    other = write(tmp_path / "below" / "other.parquet")
    for asked, files in (
        (f"{tmp_path}/**/*.parquet", (other, good)),
        (f"{tmp_path}/**", (other, good)),
        (f"{tmp_path}/b*/*", (other,)),
        (f"{tmp_path}/b*/.h*", (tmp_path / "below" / ".hidden.parquet",)),
        (str(tmp_path), (other, good)),
    ):
        assert survey(asked).found.files == files


def test_a_thousand_folders_in_one_another_are_looked_through(good: Path, tmp_path: Path) -> None:
    before, deep = Path.cwd(), 1_500
    try:
        os.chdir(tmp_path)
        for _ in range(deep):  # a path that is too long to be made at once
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.chdir(before)
    try:
        assert survey(str(tmp_path)).found.files == (good,)
        assert survey(f"{tmp_path}/**/*.parquet").found.files == (good,)
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_a_name_that_is_no_utf8_is_left_out_and_told(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = os.fsdecode(bytes(tmp_path) + b"/caf\xe9.parquet")
    shutil.copy(good, bad)
    code, out, _ = told(capsys, str(tmp_path), "--device", "nvme")
    assert code == 0 and "caf\\udce9.parquet has a name that is not UTF-8" in out
    code, _, err = told(capsys, bad)
    assert code == 1 and "not UTF-8. Rename it" in err


def test_names_give_no_orders_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202e"
    path = write(tmp_path / f"{evil}.parquet", f'SELECT i AS "{evil}\nrow", i AS x FROM range(20000) r(i)')
    code, out, err = told(capsys, str(path), "--device", "nvme")
    assert code == 0 and r"\x1b]0;owned\x07" in out and not {"\x1b", "\x07", "\u202e"} & set(out + err)
    code, out, err = told(capsys, str(path), "--columns", evil[::-1])
    assert code == 1 and not {"\x1b", "\x07", "\u202e"} & set(out + err)


def test_rows_too_wide_to_be_sampled_are_refused_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(
        tmp_path / "wide.parquet",
        "SELECT repeat(i::VARCHAR, 100000) AS t FROM range(10, 70) r(i)",
        "COMPRESSION zstd",
    )
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(sample_run, "MOST_UNPACKED_BYTES", 10 * 2**20)
    code, _, err = told(capsys, str(path), "--device", "nvme", "--verify")
    assert code == 1 and "has 195 KiB, and DuckDB unpacks 2,048 at once: more than the 10 MiB" in err
    assert list(tmp_path.iterdir()) == [path]


def test_one_bad_file_among_good_ones_is_named_and_left_out(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a bad one.parquet").write_bytes(b"")
    code, out, _ = told(capsys, str(tmp_path), "--device", "nvme")
    assert code == 0 and "a bad one.parquet is empty" in out


ODD = ('it\'s "odd" [1] {x}', "a; DROP TABLE t; --", "semi;colon * star", "ünï çødé 数据")


@pytest.mark.parametrize("name", ODD)
def test_odd_names_of_files_and_columns_are_only_names(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    quoted = '"' + name.replace('"', '""') + '"'
    path = write(folder / f"{name}.parquet", f"SELECT i AS {quoted}, hash(i) AS x FROM range(20000) r(i)")
    before = prints(folder)
    code, out, err = told(
        capsys, str(path), "--device", "nvme", "--by", name, "--selectivity", "0.1", "--verify"
    )
    assert (code, "promised" in out) == (0, True), err
    assert prints(folder) == before and list(folder.iterdir()) == [path]


NESTED = "SELECT i AS \"x, y\", i % 7 AS z, {'a': i, 'b, c': i % 9} AS s, [i] AS l FROM range(20000) r(i)"


@pytest.mark.parametrize("by", ["z", "x, y", "s", "s, b, c"])
def test_a_comma_in_a_name_is_part_of_the_name(
    by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "commas.parquet", NESTED)
    code, out, err = told(
        capsys, str(path), "--device", "object-store", "--by", by, "--selectivity", "0.1", "--verify"
    )
    assert (code, "promised" in out, "Order of x, y" in out) == (0, True, True), err
    assert "3 of them nested" in out


@pytest.mark.parametrize("name", ["nested.parquet", "nested.duckdb"])
def test_nothing_is_filtered_by_what_lies_in_a_list(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if path.suffix == ".parquet":
        write(path, NESTED)
    else:
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH {literal(path)} AS made; CREATE TABLE made.t AS {NESTED}")
    code, out, err = told(capsys, str(path), "--by", "l", "--selectivity", "0.1")
    assert (code, out) == (1, "") and "by='l' must have one value a row" in err


def test_a_filter_that_duckdb_refuses_is_one_sentence(good: Path) -> None:
    seen = replace(survey(str(good), by="id"), columns=(StoredColumn(name="id", path=("gone",), size_bytes=1,
        raw_bytes=1, chunks=1, dictionary_chunks=0, encodings=""),))  # fmt: skip
    with pytest.raises(DataError, match="Column 'id' cannot be filtered by: Binder Error"):
        sample_run.clause(seen, Workload(selectivity=0.1))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--threads", "-3"), "threads=-3 must be from 0 to 256. Give 0"),
        (("--threads", "100000"), "threads=100000 must be from 0 to 256"),
        (("--by", "id", "--keys", "20001"), "keys=20001 must be from 0 to 20000"),
        (("--by", "id", "--keys", "5", "--selectivity", "0.1"), "must be one or the other"),
        (("--table", "t"), "table='t' must be of a DuckDB database"),
        (("--here",), "must come with --verify"),
        (("--device", "all", "--device", "bad"), "device='bad' must be one of"),
        (("--columns", " , "), "must name a column or more"),
    ],
)
def test_options_that_do_not_go_together_are_said_and_not_ignored(
    options: tuple[str, ...], words: str, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = told(capsys, str(good), *options)
    assert (code, out) == (1, "") and words in err and err.count("\n") == 1


def test_odd_names_in_a_database_are_only_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "it's.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(path)} AS made")
        connection.execute('CREATE SCHEMA made."s\'x"; CREATE TABLE made."s\'x"."t ""1""; --" AS ' + ROWS)
    before = prints(tmp_path)
    code, out, err = told(capsys, str(path), "--device", "nvme", "--by", "id", "--keys", "5", "--verify")
    assert (code, "promised" in out) == (0, True), err
    assert prints(tmp_path) == before
