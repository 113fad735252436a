"""An emulated device: a filesystem whose reads arrive when the device would have delivered them, and are traced.

DuckDB reads Parquet and attached native files through it as `dev://<absolute path>`. One rule keeps it right:
DuckDB calls `seek` and then `read` on one handle that all its threads share, without a lock, so the position
is kept per thread, the bytes are fetched at once, and only then does the thread wait.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fsspec import AbstractFileSystem

from readahead.devices import Device
from readahead.errors import require_range
from readahead.models.queue import DeviceQueue
from readahead.models.schedule import warm
from readahead.storage.trace import Trace

SPIN_S = 80e-6
"""Sleep until this long before the deadline: a plain sleep is 70–90 µs late."""
HOLD_S = 20e-6
"""From SPIN_S to this long before the deadline give way to other threads; then hold on, for who gives way now comes
back late."""
PATIENCE_S = 0.1
"""The longest sleep before asking whether anybody hurries."""

_prctl = ctypes.PyDLL(None).prctl if sys.platform == "linux" else None
_PR_SET_TIMERSLACK = 29


class Clock:
    """Seconds that only go forward, and a way to let them pass: the machine's own."""

    def now_s(self) -> float:
        """Return the high-resolution counter in seconds."""
        return time.perf_counter()

    def wait_until(self, due_s: float, hurry: Callable[[], bool] = lambda: False) -> float:
        """Sleep until shortly before `due_s`, then look at the clock until it has come, or until `hurry()` is true.

        The answer is the processor time that the waiting took, in seconds.
        """
        left_s = due_s - time.perf_counter()
        if left_s <= 0:
            return 0.0
        _sharpen()
        while left_s > SPIN_S:
            time.sleep(min(left_s - SPIN_S, PATIENCE_S))
            if hurry():
                return 0.0
            left_s = due_s - time.perf_counter()
        before_s = time.thread_time()
        while (left_s := due_s - time.perf_counter()) > 0:
            if left_s > HOLD_S:
                time.sleep(0)
        return time.thread_time() - before_s


def _sharpen() -> None:
    """Ask Linux not to group this thread's wake-ups: its timer slack is 50 µs by default.

    At every wait, for it takes a microsecond, and what Python keeps for a thread of DuckDB's lasts for one call.
    """
    if _prctl is not None:
        _prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


PROTOCOL = "dev"
REMOTE_PROTOCOL = "s3"


class EmulatedFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Local files, read at the pace of `device`.

    With `time_scale` above 1 the device runs that many times slower, for latencies too short to wait for
    exactly; whoever reports the result divides by it and says so.
    """

    protocol = PROTOCOL
    cachable = False

    def __init__(
        self, device: Device, *, fragment_bytes: int = 0, clock: Clock | None = None, time_scale: float = 1.0
    ) -> None:
        super().__init__()
        require_range("time_scale", time_scale, low=1, high=1000, advice="1 runs in real time.")
        self.device = device
        self.clock = clock or Clock()
        self.time_scale = time_scale
        self.trace = Trace()
        self.spun_s = 0.0
        """Processor seconds spent waiting for deadlines: not the engine's."""
        self._fragment_bytes = fragment_bytes
        warm()  # nothing is compiled while somebody measures
        self._lock = threading.Lock()
        self._waiting = True
        self.fresh()

    def fresh(self) -> None:
        """Forget all promises and the trace, as if the device had been idle for ever."""
        self._queue = DeviceQueue(self.device, self._fragment_bytes)
        self._start_s = self.clock.now_s()
        self.spun_s = 0.0
        self.trace.clear()

    @contextmanager
    def instant(self) -> Iterator[None]:
        """Deliver without delay inside the block: to warm the engine, or to see what it costs by itself."""
        before, self._waiting = self._waiting, False
        try:
            yield
        finally:
            self._waiting = before

    def hurry(self) -> None:
        """Deliver everything at once from now on, so that a cancelled query can end."""
        self._waiting = False

    def wait_until(self, due_s: float) -> None:
        """Let the calling thread wait for its bytes."""
        if self._waiting:
            self.spun_s += self.clock.wait_until(due_s, lambda: not self._waiting)

    def book(self, offset: int, size_bytes: int) -> tuple[float, float, int]:
        """Queue a read; return when it was submitted and is due, on the clock's own scale, and its seeks."""
        with self._lock:
            submitted_s = self.clock.now_s()
            virtual_s = (submitted_s - self._start_s) / self.time_scale
            due_s, seeks = self._queue.book(virtual_s, offset, size_bytes)
        return submitted_s, self._start_s + due_s * self.time_scale, seeks

    # -- what DuckDB asks of a filesystem ------------------------------------------------------------
    def open(self, path: str, mode: str = "rb", **_: Any) -> EmulatedFile:
        """Open a local file for reading; the device is read-only."""
        if "w" in mode or "a" in mode or "+" in mode:
            raise OSError(
                f"{path} was opened with mode {mode!r}: the emulated device is only read. Use 'rb'."
            )
        return EmulatedFile(self, self._strip_protocol(path))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return name, size and type. Raises FileNotFoundError as a local file would."""
        local = self._strip_protocol(path)
        return {"name": local, "size": Path(local).stat().st_size, "type": "file"}

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the path itself if it is a file; patterns are expanded as on a local disk."""
        local = Path(self._strip_protocol(path))
        if local.exists():
            return [str(local)]
        return sorted(str(found) for found in local.parent.glob(local.name))

    def modified(self, path: str) -> datetime:
        """Return when the local file last changed: without it DuckDB refuses to cache metadata."""
        return datetime.fromtimestamp(Path(self._strip_protocol(path)).stat().st_mtime, tz=UTC)


class RemoteFileSystem(EmulatedFileSystem):
    """The same device under a scheme that DuckDB takes for remote: only blocks of remote files may be spilled."""

    protocol = REMOTE_PROTOCOL


class EmulatedFile(io.FileIO):
    """An open file whose position belongs to the thread that set it."""

    def __init__(self, device: EmulatedFileSystem, path: str) -> None:
        super().__init__(path)
        self._device = device
        self.size = os.fstat(self.fileno()).st_size
        self._at: dict[int, int] = {}
        """Where each thread stands."""
        self._last = 0
        self._pread = pread_for(self.fileno())

    def __del__(self) -> None:
        """Close it without a warning when nobody holds it any more: DuckDB drops its handles as they are."""
        self.close()

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set this thread's position."""
        base = (0, self.tell(), self.size)[whence] if whence else 0
        self._at[threading.get_ident()] = self._last = at = base + offset
        return at

    def tell(self) -> int:
        """Return this thread's position, or the last one anybody set if it never set one."""
        return self._at.get(threading.get_ident(), self._last)

    def read(self, size_bytes: int = -1) -> bytes:  # type: ignore[override]
        """Return the bytes when the device would have them ready."""
        offset = self.tell()
        if size_bytes < 0:
            size_bytes = self.size - offset
        device = self._device
        submitted_s, due_s, seeks = device.book(offset, size_bytes)
        data = self._pread(size_bytes, offset)
        self._at[threading.get_ident()] = offset + len(data)
        device.wait_until(due_s)
        device.trace.note(offset, size_bytes, submitted_s, due_s, device.clock.now_s(), seeks)
        return data


def pread_for(fd: int) -> Callable[[int, int], bytes]:
    """Return a positioned read of `fd`: the system's own, or on Windows a locked seek and read."""
    if hasattr(os, "pread"):
        return lambda size, offset: os.pread(fd, size, offset)
    lock = threading.Lock()

    def locked(size: int, offset: int) -> bytes:
        with lock:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, size)

    return locked
