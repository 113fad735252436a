"""Takes the photograph in the README: `python tests/browser/picture.py` writes docs/panel.png."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import lab as reading_room

from readahead import paths

MOST_BYTES = 400_000


def main() -> int:
    """Open the start notebook, measure along the row-group slider, and photograph the panel."""
    path = paths.ROOT / "docs" / "panel.png"
    with (
        tempfile.TemporaryDirectory() as folder,
        reading_room.lab(Path(folder)) as running,
        reading_room.visitor(running, "00_start_here.ipynb", scale=1.4) as guest,
    ):
        guest.run_all()
        guest.page.wait_for_selector(".readahead-panel .readahead-line[d]", timeout=60_000, state="attached")
        guest.show_panel()
        guest.wait_until(lambda: guest.dots >= 1, 90)
        guest.handle("row_group_rows").focus()
        for key, times in (
            ("Home", 1),
            ("ArrowRight", 2),
            ("ArrowRight", 2),
            ("ArrowRight", 4),
            ("ArrowLeft", 2),
        ):
            for _ in range(times):
                guest.page.keyboard.press(key)
            before = guest.dots
            guest.wait_until(lambda was=before: guest.dots > was, 60)
        guest.page.wait_for_timeout(600)
        guest.page.locator(".readahead-panel").first.screenshot(path=str(path))
    size = path.stat().st_size
    print(f"{path}: {size:,} bytes")
    return 0 if size < MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
