"""`make test`: runs the tests that need a browser at the same time as all others: they wait for half of their time.

What the others say is shown as it comes, what those with a browser say at the end.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

PATIENCE_S = 60
"""How long a part that was told to stop may take to put away its browser, its kernels and its files."""

COMPILE = "from readahead.models.schedule import warm; warm()"
"""Done once before any test: else each of four processes would do it at the same time, for half a minute."""


def start(arguments: Sequence[str], open_files: int, **more: Any) -> subprocess.Popen[bytes]:
    """Start pytest in a process that may have so many files open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, most))

    return subprocess.Popen([sys.executable, "-m", "pytest", "-q", *arguments], preexec_fn=limit, **more)  # noqa: PLW1509 (no thread runs yet)


def main(paths: Sequence[str]) -> int:
    """Run both parts and return 0 if no test failed.

    Ctrl-C reaches both parts too, and each ends as pytest does; an order to end is passed on as Ctrl-C.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.environ["NUMBA_BOUNDSCHECK"] = "1"  # compiled code that reads beside an array says so
    subprocess.run([sys.executable, "-c", COMPILE], check=True)
    with tempfile.TemporaryFile() as said:
        browser = start(
            ["-m", "browser", "--timeout=1200", *paths], 1024, stdout=said, stderr=subprocess.STDOUT
        )
        others = start(["-n", "3", "--dist", "worksteal", "-m", "not browser", *paths], 256)
        told = False
        try:
            codes = [others.wait(), browser.wait()]
        except KeyboardInterrupt:
            told = True
            codes = [2]
        finally:
            for part in (others, browser):
                end(part, told=told)
        said.seek(0)
        print("\nWith a browser, at the same time:", said.read().decode(errors="replace"), sep="\n", end="")
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
