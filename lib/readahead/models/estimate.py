"""A predicted time as the named terms that add up to it: opening, seek, latency, transfer, cpu and others.

Some things happen at the same time: while the device works, the processor works too. An estimate's `overlapped` terms
are shown but cost nothing, because another term hides them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from readahead import units


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
    def engine_s(self) -> float:
        """Return the part of it that is the engine's own, and no device's."""
        return float(sum(self.terms_s.get(name, 0.0) for name in ("open", "engine", "cpu")))

    @property
    def bottleneck(self) -> str:
        """Return the name of the largest term."""
        return max(self.terms_s, key=self.terms_s.__getitem__)

    def share(self, term: str) -> float:
        """Return the share of one term in the whole, from 0 to 1."""
        return self.terms_s.get(term, 0.0) / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        """Write it for people: the whole, its terms, and what happens meanwhile, as far as they are above nothing."""
        told, hidden = (
            ", ".join(f"{name} {units.text(seconds, 's')}" for name, seconds in terms.items() if seconds > 0)
            for terms in (self.terms_s, self.overlapped_s)
        )
        return f"{units.text(self.seconds, 's')}: {told}" + (f"; meanwhile {hidden}" if hidden else "")
