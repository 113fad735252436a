"""The programme after the concert, on one page: what was played, how long, which claims held on this machine. Plain
HTML with its style inside, so that it can be mailed and read anywhere without a network.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from readahead import units
from readahead.chapters import CONTENTS
from readahead.commands.batch import FAILED, KEPT, Played
from readahead.commands.sheets import Sheet
from readahead.experiments.claim import AGREES, DIFFERS, NOISY
from readahead.measure.machine import Machine

_MARKS = {AGREES: "✓", DIFFERS: "≠", NOISY: "?"}
_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #8884; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.agrees { color: #009E73 } .differs, .failed { color: #D55E00 } .noisy, .facts { color: #767676 }
.scroll { overflow-x: auto } .verdict { white-space: nowrap }
"""


def page(sheet: Sheet, played: Sequence[Played], machine: Machine) -> str:
    """Return the page of a sheet that was played on one machine."""
    verdicts = Counter(claim["verdict"] for one in played for claim in one.claims)
    failed = [one.notebook for one in played if one.state == FAILED]
    said = (
        f"{len(played) - len(failed)} of {len(played)} notebooks ran through in"
        f" {sum(one.seconds for one in played):,.0f} s of work. Of {verdicts.total()} claims {verdicts[AGREES]} agree,"
        f" {verdicts[DIFFERS]} differ and {verdicts[NOISY]} were too noisy to say."
    )
    facts = ", ".join(_fact(name, value) for name, value in asdict(machine).items())
    rows = "".join(_row(one) for one in played)
    claims = "".join(_claim(one, claim) for one in played for claim in one.claims)
    title = html.escape(sheet.title)
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<style>{_STYLE}</style><h1>{title}</h1><p>{html.escape(said)}</p>"
        f"<p class='facts'>{html.escape(facts)}</p><div class='scroll'><table><thead><tr><th>Notebook<th>State"
        f"<th class='n'>Seconds<th class='n'>✓<th class='n'>≠<th class='n'>?</tr></thead><tbody>{rows}</tbody></table>"
        f"</div><h2>Claims</h2><div class='scroll'><table><tbody>{claims}</tbody></table></div></html>\n"
    )


def _fact(name: str, value: object) -> str:
    said = units.text(int(str(value)), "bytes") if name.endswith("_bytes") else str(value)
    return f"{name.removesuffix('_bytes').replace('_', ' ')} {said}"


def _row(one: Played) -> str:
    title = next(
        (place.title for place in CONTENTS if place.notebook == f"{one.notebook}.ipynb"), one.notebook
    )
    counts = Counter(claim["verdict"] for claim in one.claims)
    cells = "".join(f"<td class='n'>{counts[verdict] or ''}" for verdict in (AGREES, DIFFERS, NOISY))
    state = "played before" if one.state == KEPT else one.state
    name = (
        f"<a href='{one.notebook}.ipynb'>{html.escape(title)}</a>"
        if one.state != FAILED
        else html.escape(title)
    )
    why = f"<br><span class='failed'>{html.escape(one.says)}</span>" if one.says else ""
    return f"<tr><td>{name}{why}<td class='{one.state}'>{state}<td class='n'>{one.seconds:.0f}{cells}</tr>"


def _claim(one: Played, claim: dict[str, str]) -> str:
    word = {NOISY: "noisy"}.get(claim["verdict"], claim["verdict"])
    mark = _MARKS.get(claim["verdict"], "")
    return (
        f"<tr><td class='verdict {word}'>{mark} {html.escape(claim['verdict'])}<td>{html.escape(claim['says'])}"
        f"<br><span class='facts'>{html.escape(one.notebook)}: {html.escape(claim['seen'])}</span></tr>"
    )
