"""Owns the system's number for an open file, and gives it back exactly once."""

from __future__ import annotations

import os
from typing import Self


class Descriptor:
    """An open file's number; closing twice is fine."""

    _fd = -1

    def __init__(self, number: int) -> None:
        self._fd = number

    def close(self) -> None:
        """Give the file back to the system."""
        if self._fd >= 0:
            number, self._fd = self._fd, -1
            os.close(number)

    def __del__(self) -> None:
        """Give the file back when nobody holds it any more: DuckDB drops its handles without closing them."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
