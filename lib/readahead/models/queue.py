"""The counter at a storage device: a read takes a ticket, waits for a free channel, and is told when its
bytes will be ready.

This is the whole physics of the workbook, in one place. The emulated device asks it for the due time of
every read that DuckDB really issues; the scheduling simulation asks it for the due time of every read that a
model expects. Time is a number that is passed in, so nothing here waits.
"""

from __future__ import annotations

import heapq

from readahead.devices import Device
from readahead.errors import require_range


class DeviceQueue:
    """The reads a device has promised, on a virtual clock.

    `fragment_bytes` is the length of the contiguous pieces in which the file lies on the device; moving from
    one piece to the next costs a seek, as does every read that does not begin where the channel's head stands.
    0 means one piece.
    """

    def __init__(self, device: Device, fragment_bytes: int = 0) -> None:
        require_range("fragment_bytes", fragment_bytes, low=0, advice="Give 0 for a file in one piece.")
        self.device = device
        self.fragment_bytes = int(fragment_bytes)
        self._striped = device.stripe_bytes > 0 and device.channels > 1
        share = device.bandwidth_bytes_per_s / (device.channels if self._striped else 1)
        self.byte_s = 1.0 / min(device.channel_bandwidth_bytes_per_s, share)
        self.link_byte_s = 0.0 if self._striped else 1.0 / device.bandwidth_bytes_per_s
        self.plain = not self._striped and device.seek_s == 0
        """Whether any free channel serves any read in the same time: no head, no stripes."""
        self._free = [(0.0, channel) for channel in range(device.channels)]
        self._heads = [-1] * device.channels
        self._link_free_s = 0.0

    def book(
        self, now_s: float, offset: int, size_bytes: int, *, out_of_turn: bool = False
    ) -> tuple[float, int]:
        """Return when a read submitted at `now_s` has its bytes ready, and how many seeks it costs.

        Reads are booked in the order in which they are submitted (first come, first served). A simulation that
        books in file order says `out_of_turn` of a read that would have come at another moment: its heads move.
        """
        if out_of_turn:
            self._heads = [-1] * self.device.channels
        if self._striped:
            return self._book_striped(now_s, offset, size_bytes)
        free_s, channel = self._free[0]
        seeks = self._seeks(channel, offset, size_bytes, self.fragment_bytes)
        ready_s = max(now_s, free_s) + self.device.latency_s + seeks * self.device.seek_s
        self._link_free_s = max(ready_s, self._link_free_s) + size_bytes * self.link_byte_s
        due_s = max(ready_s + size_bytes * self.byte_s, self._link_free_s)
        heapq.heapreplace(self._free, (due_s, channel))
        return due_s, seeks

    def _book_striped(self, now_s: float, offset: int, size_bytes: int) -> tuple[float, int]:
        """Serve each drive's share of the read on that drive; the read is ready with the slowest.

        Consecutive stripes of one drive lie side by side on it, so a long read is one piece a drive. Each
        drive has its equal share of the link.
        """
        due_s, seeks = now_s, 0
        for channel, start, length in pieces(self.device, offset, size_bytes):
            free_s = self._free[channel][0]
            moves = self._seeks(channel, start, length, self.fragment_bytes // self.device.channels)
            done_s = max(now_s, free_s) + self.device.latency_s + moves * self.device.seek_s
            done_s += length * self.byte_s
            self._free[channel] = (done_s, channel)
            due_s, seeks = max(due_s, done_s), seeks + moves
        return due_s, seeks

    def _seeks(self, channel: int, offset: int, size_bytes: int, fragment_bytes: int) -> int:
        """Count the head's moves for one read and leave the head at its end."""
        end = offset + size_bytes
        moves = int(self._heads[channel] != offset)
        if fragment_bytes:
            moves += max(0, (end - 1) // fragment_bytes - offset // fragment_bytes)
            moves += int(not moves and offset % fragment_bytes == 0)
        self._heads[channel] = end
        return moves


def pieces(device: Device, offset: int, size_bytes: int) -> list[tuple[int, int, int]]:
    """Split a read over the drives of a striped device: (channel, start on that drive, length), as RAID 0 does."""
    stripe, channels = device.stripe_bytes, device.channels
    end = offset + size_bytes

    def share(upto: int, channel: int) -> int:
        """Return how many of the first `upto` bytes lie on `channel`."""
        rounds, rest = divmod(upto, stripe * channels)
        return rounds * stripe + min(max(rest - channel * stripe, 0), stripe)

    first = (offset // stripe) % channels
    touched = min(channels, (end - 1) // stripe - offset // stripe + 1)
    order = [(first + step) % channels for step in range(touched)]
    return [(c, share(offset, c), share(end, c) - share(offset, c)) for c in order]
