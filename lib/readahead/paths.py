"""Where files lie: those in git, those that are built, and where a file may be written.

`data/` travels with the repository. `data/cache/` is built on this machine and can be thrown away
(READAHEAD_CACHE moves it, for instance to a larger disk or to one folder that a whole class shares).
"""

from __future__ import annotations

import contextlib
import errno
import functools
import glob
import json
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, TypeVarTuple

import yaml

from readahead.errors import DataError

Asked = TypeVarTuple("Asked")
About = ParamSpec("About")
Answer = TypeVar("Answer")


def expanded(path: Path | str) -> Path:
    """Return a path with `~` written out; an unknown user's stays as it is, as a shell leaves it."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


_CHECKOUT = Path(__file__).resolve().parents[2]
IS_CHECKOUT = (_CHECKOUT / "pyproject.toml").is_file()
"""Whether the library lies in its repository, and was not installed from a wheel."""
_COMES = _CHECKOUT if IS_CHECKOUT else Path(__file__).resolve().parent / "share"

ROOT = _CHECKOUT if IS_CHECKOUT else expanded("~/.readahead")
"""The folder of the repository; of an installed library, the one in the home where progress and tables are kept."""
DATA = _COMES / "data"
"""What is in git: the device catalogue and the published figures."""
NOTEBOOKS = _COMES / "notebooks"
"""The chapters."""
_CACHE = str(ROOT / "data" / "cache")
LEFT_S = 60.0
"""A half-written file of this age was left by a process that was killed."""


def write_whole(path: Path, text: str, *, make_folder: bool = False) -> None:
    """Write a text file so that it is never half there: beside it, then renamed. What is no letter becomes a `?`.

    Raises OSError as the system does, and then leaves the old file as it was. A device or a folder of that name is
    never replaced.
    """
    require_ordinary(path)
    if make_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
        if time.time() - left.stat().st_mtime > LEFT_S:
            left.unlink(missing_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _replace(new: Path, old: Path) -> None:
    """Rename a file over another. Windows refuses that while anybody reads the old one: wait half a second for them."""
    for _ in range(10):
        with contextlib.suppress(PermissionError):
            new.replace(old)
            return
        time.sleep(0.05)
    new.replace(old)


def read_text(path: Path, most_bytes: int = 100 * 1024**2) -> str:
    """Return the text of a file. Raises OSError for one that is no ordinary file, or too large to be meant."""
    require_ordinary(path)
    if path.stat().st_size > most_bytes:
        raise OSError(errno.EFBIG, f"it has more than {most_bytes:,} bytes", str(path))
    return path.read_text(encoding="utf-8")


def require_ordinary(path: Path) -> None:
    """Raise OSError if there is something at `path` that is no ordinary file: a folder, a device, a pipe."""
    if path.name in ("", "..") or (path.exists() and not path.is_file()):
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))


def require_writable(folder: Path) -> None:
    """Make a folder. Raise OSError if no file can be written in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"readahead")


def cache_dir() -> Path:
    """Return the folder of built files, which need not exist yet."""
    return _resolved(os.environ.get("READAHEAD_CACHE") or _CACHE, os.getcwd())  # noqa: PTH109 (quicker)


@functools.lru_cache(maxsize=64)
def _resolved(place: str, _from: str) -> Path:
    """Resolve a path once: a model asks for it at every point of a curve."""
    return expanded(place).resolve()


def kept(read: Callable[[*Asked], Answer]) -> Callable[[*Asked], Answer]:
    """Keep the answers of a function about a file, its first argument, for as long as the file is unchanged.

    Do not change what it returns. A file that cannot be read raises OSError.
    """

    @functools.lru_cache(maxsize=256)
    def remembered(_changed_ns: int, _size_bytes: int, _file: int, *asked: *Asked) -> Answer:
        return read(*asked)

    @functools.wraps(read)
    def ask(*asked: *Asked) -> Answer:
        facts = os.stat(str(asked[0]))  # type: ignore[misc]  # noqa: PTH116 (quicker than by the path)
        return remembered(facts.st_mtime_ns, facts.st_size, facts.st_ino, *asked)

    return ask


_ANSWERS = ContextVar[dict[Any, Any] | None]("answers", default=None)


@contextmanager
def unchanged() -> Iterator[None]:
    """Take files to stay as they are until the end: a curve asks about the same ones at every point."""
    token = _ANSWERS.set({})
    try:
        yield
    finally:
        _ANSWERS.reset(token)


def changed() -> None:
    """Ask about files anew from here on: one was built in the middle."""
    (_ANSWERS.get() or {}).clear()


def asked_once(ask: Callable[About, Answer]) -> Callable[About, Answer]:
    """Ask a function about files once for all as long as they are `unchanged`, and anew each time else."""

    @functools.wraps(ask)
    def asked(*about: About.args, **named: About.kwargs) -> Answer:
        answers = _ANSWERS.get()
        if answers is None:
            return ask(*about, **named)
        key = (ask, about, *named.items())
        if key not in answers:
            answers[key] = ask(*about, **named)
        return answers[key]  # type: ignore[no-any-return]

    return asked


@kept
def read_json(path: Path | str) -> Any:
    """Return what a JSON file holds. Raises OSError if the file cannot be read, ValueError if it is not JSON."""
    return json.loads(read_text(Path(path)))


def read_yaml(path: Path) -> Any:
    """Return what a YAML file holds. Raises `DataError` that names the file."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"{path} cannot be read: {error}. Mend it, or take it from git again.") from error


def schema_fault(told: object, schema: Path) -> str:
    """Return where what was read from a file breaks a JSON schema first, and how; nothing if it does not."""
    fault = next(_validator(schema).iter_errors(told), None)
    if fault is None:
        return ""
    return f"{'.'.join(map(str, fault.absolute_path)) or 'the whole'}: {fault.message[:200]}"


@functools.cache
def _validator(schema: Path) -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))


def work_dir() -> Path:
    """Return the folder for what is written only to be read once and removed; it need not exist yet.

    The cache itself, so that it lies on the same disk as the tables. Where the cache may only be read, as one that a
    class shares, a folder of one's own among the system's temporary files. A place that is no folder stays the cache:
    whoever writes there is told so.
    """
    place = cache_dir()
    return place if _is_writable(place) else own_dir()


def own_dir() -> Path:
    """Return a folder that nobody else can write, for compiled code, which is run when it is read.

    In the cache, where others may write beside it; where that may only be read, among the temporary files.
    """
    place = cache_dir()
    return _own_folder(place if _is_writable(place) else Path(tempfile.gettempdir()).resolve())


def _is_writable(place: Path) -> bool:
    """Return whether a folder, or the one in which it would be made, can be written; also if it is no folder."""
    there = next(folder for folder in (place, *place.parents) if folder.exists())
    return not there.is_dir() or os.access(there, os.W_OK | os.X_OK)


@functools.cache
def _own_folder(parent: Path) -> Path:
    """Make a folder that is ours alone in one where others may write."""
    user = os.getuid() if hasattr(os, "getuid") else 0  # where there are no numbers, the parent is one's own
    place = parent / f"readahead-{user}"
    with contextlib.suppress(OSError):
        parent.mkdir(parents=True, exist_ok=True)
    while True:
        try:
            place.mkdir(mode=0o700)
        except FileExistsError:
            facts = place.lstat()
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != user:
                place = place.with_name(f"{place.name}-")
                continue
            place.chmod(0o700)
        except OSError:
            pass  # whoever writes there is told so
        return place
