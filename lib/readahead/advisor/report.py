"""The letter that the consultant leaves on the table: what was seen, what it costs today, what to change first."""

from __future__ import annotations

from collections.abc import Iterator

from readahead import units
from readahead.advisor.advice import Advice
from readahead.advisor.findings import findings
from readahead.datasets.survey import Survey

REMEDY = {
    "seek": "the head moves too often: read longer pieces",
    "latency": "the trips: make fewer of them, or more at once",
    "transfer": "the bytes: read fewer columns, skip groups, compress",
    "engine": "handing out reads: make fewer and larger ones",
    "cpu": "decoding: more threads, fewer columns",
    "open": "opening: fewer files, a shorter footer",
}
"""What helps against each term."""


def speed(advice: Advice, seconds: float) -> str:
    """Return the throughput at so many seconds, as text."""
    return units.text(advice.work / seconds, advice.unit)


def letter(survey: Survey, advices: list[Advice]) -> Iterator[str]:
    """Yield the report, line by line."""
    seen = findings(survey)
    wide = max(len(what) for what, _ in seen)
    yield f"What lies at {survey.asked}"
    for what, says in seen:
        yield f"  {what:<{wide}}  {says}"
    for advice in advices:
        yield ""
        yield from _of_device(survey, advice)


def _of_device(survey: Survey, advice: Advice) -> Iterator[str]:
    asked, today = advice.asked, advice.today
    device = advice.device
    what = f"a lookup of {asked.workload.keys:,} rows by {survey.by}" if asked.workload.keys else "a scan"
    if asked.workload.selectivity < 1:
        what += f" of {units.text(asked.workload.selectivity, '1')} of the values of {survey.by}"
    yield (
        f"On {device.name} ({units.text(device.latency_s, 's')}, {device.channels} at once,"
        f" {units.text(device.bandwidth_bytes_per_s, 'bytes_per_s')}): {what}, queue depth {asked.queue_depth}"
    )
    yield (
        f"  today   {units.text(today.seconds, 's'):>9}  {speed(advice, today.seconds):>12}"
        f"  {advice.today_groups:,} row groups read; bottleneck {today.bottleneck}"
        f" ({units.text(today.share(today.bottleneck), '1', 2)}): {REMEDY.get(today.bottleneck, '')}"
    )
    for number, option in enumerate(advice.options, start=1):
        yield (
            f"  {number}. {option.gain:5.2f} × {units.text(option.seconds, 's'):>9}"
            f"  {speed(advice, option.seconds):>12}  {option.says}; then the bottleneck is {option.bottleneck}"
        )
    if not advice.options:
        yield "  Nothing would gain: leave it as it is."
    yield "  row groups of " + ", ".join(f"{r:,}: {speed(advice, s)}" for r, s in advice.sizes)
    yield "  queue depth " + ", ".join(f"{d}: {speed(advice, s)}" for d, s in advice.depths)
