"""Two buckets poured into one, if they hold the same water. Samples of the same query on the same machine
are one larger sample; samples of two machines are two facts, and refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from readahead.errors import BadValue
from readahead.measure.machine import Machine
from readahead.measure.sample import Sample


def differing_facts(one: Machine, other: Machine) -> dict[str, tuple[object, object]]:
    """Return the facts in which two machines differ, by name: (of one, of other)."""
    names = (field.name for field in fields(Machine))
    return {
        name: (getattr(one, name), getattr(other, name))
        for name in names
        if getattr(one, name) != getattr(other, name)
    }


def pool(samples: Sequence[Sample]) -> Sample:
    """Return all repeats as one sample; the trace is that of the last.

    Raises `BadValue` naming every fact, setting or place in which the samples differ.
    """
    if not samples:
        raise BadValue("pool() got 0 samples and needs at least 1. Measure first.")
    first, last = samples[0], samples[-1]
    for other in samples[1:]:
        unlike = _unlike(first, other)
        if unlike:
            raise BadValue(
                f"Samples that differ in {'; '.join(unlike)} cannot be pooled."
                " Only repeats of one query on one machine can: show them side by side instead."
            )
    return replace(
        last,
        seconds=tuple(second for sample in samples for second in sample.seconds),
        cpu_s=tuple(second for sample in samples for second in sample.cpu_s),
    )


def _unlike(one: Sample, other: Sample) -> list[str]:
    facts = differing_facts(one.machine, other.machine)
    said = [f"{name} ({mine} against {theirs})" for name, (mine, theirs) in facts.items()]
    for name in sorted(set(one.settings) | set(other.settings)):
        mine, theirs = one.settings.get(name), other.settings.get(name)
        if mine != theirs:
            said.append(f"setting {name} ({mine} against {theirs})")
    if one.where != other.where:
        said.append(f"where ({one.where} against {other.where})")
    if one.time_scale != other.time_scale:
        said.append(f"time scale ({one.time_scale:g} against {other.time_scale:g})")
    return said
