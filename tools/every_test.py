"""`make test`: every test, and those that need a browser after all others: beside them a kernel hung, two times."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence

PATIENCE_S = 60
"""How long a part that was told to stop may take to put away its browser, its kernels and its files."""


def start(arguments: Sequence[str], open_files: int) -> subprocess.Popen[bytes]:
    """Start pytest in a process that may have so many files open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, most))

    return subprocess.Popen([sys.executable, "-m", "pytest", "-q", *arguments], preexec_fn=limit)  # noqa: PLW1509 (no thread runs yet)


def main(paths: Sequence[str]) -> int:
    """Run both parts, one after the other, and return 0 if no test failed.

    Ctrl-C reaches the part that runs too, and it ends as pytest does; an order to end is passed on as Ctrl-C.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.environ["NUMBA_BOUNDSCHECK"] = "1"  # compiled code that reads beside an array says so
    codes = []
    for arguments, open_files in (
        (["-n", "3", "--dist", "worksteal", "-m", "not browser"], 256),
        (["-m", "browser", "--timeout=1200"], 1024),
    ):
        part, told = start([*arguments, *paths], open_files), False
        try:
            codes.append(part.wait())
        except KeyboardInterrupt:
            told = True
            return 2
        finally:
            end(part, told=told)
    return next((abs(code) for code in codes if code), 0)


def end(part: subprocess.Popen[bytes], *, told: bool) -> None:
    """Wait for a part that is to stop, tell it if nobody has, and kill it if it does not."""
    if part.poll() is None and not told:
        part.send_signal(signal.SIGINT)
    try:
        part.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        part.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
