"""A predicted time as the named terms that add up to it: opening, seek, latency, transfer, cpu and others.

Some things happen at the same time: while the device works, the processor works too. An estimate's `overlapped` terms
are shown but cost nothing, because another term hides them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from readahead import units

OWN = ("open", "engine", "readers", "cpu", "coordination", "disk", "commit", "rows")
"""The terms that are this machine's own: of the engine, plain readers, a coordinator, and this disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A predicted time in seconds, kept as the named terms it is the sum of."""

    terms_s: Mapping[str, float]
    """What adds up to the time that passes."""
    overlapped_s: Mapping[str, float] = field(default_factory=dict)
    """What happens meanwhile, hidden behind the terms above."""

    @property
    def seconds(self) -> float:
        """Return the time that passes."""
        return float(sum(self.terms_s.values()))

    @property
    def own_s(self) -> float:
        """Return the part of it that no emulated device or link decides, but this machine: it is in the calibration."""
        return float(sum(self.terms_s.get(name, 0.0) for name in OWN))

    @property
    def bottleneck(self) -> str:
        """Return the name of the largest term."""
        return max(self.terms_s, key=self.terms_s.__getitem__)

    def share(self, term: str) -> float:
        """Return the share of one term in the whole, from 0 to 1."""
        return self.terms_s.get(term, 0.0) / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        """Write it for people: the whole, its terms, and what happens meanwhile, as far as they take a nanosecond."""
        told, hidden = (
            ", ".join(
                f"{name} {units.text(seconds, 's')}" for name, seconds in terms.items() if seconds >= 1e-9
            )
            for terms in (self.terms_s, self.overlapped_s)
        )
        return f"{units.text(self.seconds, 's')}: {told}" + (f"; meanwhile {hidden}" if hidden else "")


def query_s(
    *,
    open_s: float,
    reads: int,
    in_flight: int,
    latency_s: float,
    size_bytes: float,
    bandwidth_bytes_per_s: float,
    seeks: float = 0.0,
    seek_s: float = 0.0,
    dispatch_s: float = 0.0,
    cpu_s: float = 0.0,
) -> float:
    r"""Return how long a query takes: it opens the file, and then waits for whoever is slowest.

    .. math:: o + \max\left(\lceil n / q \rceil \left(L + \frac{b}{n B}\right) + k s, \; n d, \; c\right)

    where o (`open_s`) is for planning and for reading the footer, which says where everything lies. Then n (`reads`)
    go in waves of q (`in_flight`): a wave waits L (`latency_s`) once, and each of its reads brings b/n bytes
    (`size_bytes` in all) at B (`bandwidth_bytes_per_s`), which is what one read gets. A head moves k (`seeks`) times
    for s (`seek_s`). Meanwhile the engine hands out one read in d (`dispatch_s`), and the processor decodes for c
    (`cpu_s`) what has come. If all waves are full, waves × latency is reads ÷ in flight × latency, and the bytes take
    bytes ÷ bandwidth, that of all reads in flight together.

    Source: R. Graham, Bounds for Certain Multiprocessing Anomalies, 1966, for work that is handed to whoever is free.
    """
    wave_s = latency_s + size_bytes / reads / bandwidth_bytes_per_s
    return open_s + max(math.ceil(reads / in_flight) * wave_s + seeks * seek_s, reads * dispatch_s, cpu_s)


def times_as_long(one_s: float, other_s: float) -> float:
    r"""Return how many times as long one query takes as another.

    .. math:: T_1 / T_2, \quad T = o + \max\left(\lceil n / q \rceil \left(L + \frac{b}{n B}\right), n d, c\right)

    where T₁ (`one_s`) and T₂ (`other_s`) are the times of queries, each by the law of a query's time: o to open the
    file, n reads in waves of q, latency L, b bytes at B for each read, d to hand a read out, and c of decoding
    meanwhile. Other row groups change n; another order changes n and b.
    """
    return one_s / other_s
