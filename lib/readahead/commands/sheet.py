"""`python -m readahead sheet`: runs the workbook with one set of parameters, and writes a page that says how it went.

A sheet says which notebooks run with which parameters. It is plain YAML, in `data/sheets` or anywhere:

    title: "Files in an object store"
    common: {reveal: true, size: tiny}        # for every notebook that has the parameter
    notebooks:                                # more for some of them
      03_row_groups: {queue_depth: 32}
    only: [03_row_groups]                     # if not all are wanted

The executed copies are all that is kept: a notebook whose copy is of the same notebook, parameters and versions is not
run again.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import jinja2
import nbformat
import yaml
from click.exceptions import Exit
from tqdm import tqdm

from readahead import paths, units
from readahead.chapters import CONTENTS
from readahead.commands.run import check_parameters, defaults, digest
from readahead.errors import BadValue, DataError
from readahead.experiments.claim import AGREES, DIFFERS, NOISY
from readahead.measure.sample import Machine, this_machine

FOLDER = paths.DATA / "sheets"
MOST_BYTES = 2**20
"""Of a sheet."""
SCHEMA = Path(__file__).with_name("sheet.schema.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A named set of parameters for the workbook."""

    name: str
    title: str
    runs: Mapping[Path, Mapping[str, Any]]
    """Each notebook with its parameters."""


def names() -> list[str]:
    """Return the sheets that come with the workbook."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str, folder: Path = paths.NOTEBOOKS) -> Sheet:
    """Return a sheet by its name or its path, every parameter checked against its notebook.

    Raises `DataError` for a file that is missing or no YAML, `BadValue` for what is in it and cannot be run.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    told = _read(path, name)
    common, more = told.get("common") or {}, told.get("notebooks") or {}
    found = {notebook.stem: notebook for notebook in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}
    only = told.get("only") or list(found)
    for wanted in (*more, *only):
        if wanted not in found:
            raise BadValue(f"{path.name}: {wanted!r} is no notebook. There are: {', '.join(found)}.")
    runs, stray = {}, set(common)
    for stem in (stem for stem in found if stem in only):
        known = defaults(found[stem])
        own = {key: value for key, value in common.items() if key in known}
        stray -= own.keys()
        runs[found[stem]] = check_parameters(found[stem], {**own, **(more.get(stem) or {})})
    if stray:
        listed = ", ".join(map(repr, sorted(stray, key=str)))
        raise BadValue(f"{path.name}: no notebook takes {listed}. Mend the line under common.")
    return Sheet(name=path.stem, title=told.get("title") or path.stem, runs=runs)


def _plain_yaml(text: str) -> Any:
    """Return what YAML says. Raises `ValueError` for aliases: a few lines of them stand for more than any memory."""
    if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
        raise ValueError("a value that stands for others, such as *name, is not taken")
    return yaml.safe_load(text)


def _read(path: Path, name: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = _plain_yaml(paths.read_text(path, MOST_BYTES))
    except FileNotFoundError as error:
        raise DataError(
            f"There is no sheet {name!r}. There are: {', '.join(names())}; or give the path of a .yaml file."
        ) from error
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise DataError(f"{path} cannot be read as a sheet: {error}. Mend it, or take another.") from error
    if fault := paths.schema_fault(told, SCHEMA):
        raise BadValue(
            f"{path.name}, {fault}. A sheet has title: TEXT, common: {{parameter: value}}, notebooks: {{03_row_groups:"
            " {parameter: value}} and only: [03_row_groups], all of them optional; a value is a text, a number, true or"
            " false."
        )
    return told


# -- running it -----------------------------------------------------------------------------------------
_TOLD = {"claim", "says", "verdict", "seen"}
"""What a claim leaves in the executed copy."""
RAN, KEPT, FAILED = "ran", "ran before", "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one notebook."""

    notebook: str
    state: str
    """ran, ran before (an executed copy of the same was there) or failed."""
    seconds: float
    claims: tuple[dict[str, str], ...] = ()
    """Each with its id, what it says, its verdict and what was seen."""
    says: str = ""
    """Why it failed."""


def run_sheet(chosen: Sheet, out: Path, *, jobs: int, again: bool = False) -> list[Outcome]:
    """Run every notebook of a sheet, `jobs` at once, each in a process of its own, and return what became of each.

    Meanwhile a bar shows how far it is, and a line what became of each. What was run before with the same notebook,
    parameters and versions is kept unless `again`. When it is broken off, by Ctrl-C say, no other is begun, and what
    was finished by then stays.
    """
    out.mkdir(parents=True, exist_ok=True)
    with (
        tqdm(total=len(chosen.runs), desc=chosen.name, unit="notebook", disable=None) as bar,
        ThreadPoolExecutor(max_workers=jobs) as pool,
    ):
        runs = [pool.submit(_one, path, given, out, again=again) for path, given in chosen.runs.items()]
        try:
            for run in as_completed(runs):
                bar.update()
                tqdm.write(_line(run.result()))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [run.result() for run in runs]


def _one(path: Path, given: Mapping[str, Any], out: Path, *, again: bool) -> Outcome:
    """Run one notebook, unless it was run before."""
    copy, wanted = out / path.name, digest(path, given)
    before = None if again else _executed(copy, wanted)
    if before:
        return replace(before, state=KEPT)
    command = [sys.executable, "-m", "readahead", "run", str(path), "--out", str(out)]
    for name, value in given.items():
        command += ["-p", name, value if isinstance(value, str) else repr(value)]
    start_s = time.monotonic()
    ended = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", check=False
    )
    seconds = time.monotonic() - start_s
    outcome = _executed(copy, wanted) if ended.returncode == 0 else None
    says = ended.stderr.strip().removeprefix("Error: ") or f"It ended with exit code {ended.returncode}."
    return outcome or Outcome(notebook=path.stem, state=FAILED, seconds=seconds, says=says)


def _executed(copy: Path, wanted: str) -> Outcome | None:
    """Return what an executed copy tells of its run; None if there is none, of this digest, that can be read."""
    try:
        notebook = nbformat.read(copy, as_version=4)
        if notebook.metadata["readahead"]["digest"] != wanted:
            return None
        seconds = float(notebook.metadata["papermill"]["duration"])
    except Exception:  # noqa: BLE001 - whatever is wrong with a copy, the notebook is run again
        return None
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    told = [output.get("metadata", {}).get("readahead") for output in shown]
    claims = tuple(
        {str(name): str(value) for name, value in claim.items()}
        for claim in told
        if isinstance(claim, dict) and claim.keys() >= _TOLD
    )
    return Outcome(notebook=copy.stem, state=RAN, seconds=seconds, claims=claims)


_MARKS = {AGREES: ("✓", "agrees"), DIFFERS: ("≠", "differs"), NOISY: ("?", "noisy")}


def page(title: str, outcomes: Sequence[Outcome], machine: Machine) -> str:
    """Return how a sheet went on one machine, as an HTML page that needs no network."""
    verdicts = Counter(claim["verdict"] for one in outcomes for claim in one.claims)
    well = sum(one.state != FAILED for one in outcomes)
    said = (
        f"{well} of {len(outcomes)} notebooks ran through in {sum(one.seconds for one in outcomes):,.0f} s of work."
        f" Of {verdicts.total()} claims {verdicts[AGREES]} agree, {verdicts[DIFFERS]} differ and"
        f" {verdicts[NOISY]} were too noisy to say."
    )
    memory = units.text(machine.memory_bytes, "bytes")
    shown = {name.removesuffix("_bytes"): value for name, value in asdict(machine).items()} | {
        "memory": memory
    }
    template = jinja2.Template(Path(__file__).with_name("sheet.html").read_text("utf-8"), autoescape=True)
    return template.render(
        title=title,
        said=said,
        facts=", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items()),
        marks=_MARKS,
        titles={Path(place.notebook).stem: place.title for place in CONTENTS},
        outcomes=outcomes,
    )


@click.command()
@click.argument("name", required=False)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the copies.  [out/NAME]"
)
@click.option("--jobs", type=click.IntRange(min=1), help="Notebooks at once.  [half of the cores]")
@click.option("--again", is_flag=True, help="Run also what was run before.")
def sheet(name: str | None, out: Path | None, jobs: int | None, *, again: bool) -> None:
    """Run the notebooks of a sheet (a NAME, or a .yaml file); without a name, list the sheets.

    A run that was broken off goes on where it stopped. The exit code is 1 if a notebook failed.
    """
    if name is None:
        for known in names():
            click.echo(f"{known:15} {load(known).title}")
        return
    chosen = load(name)
    folder = out or Path("out") / chosen.name
    jobs = jobs or max(1, this_machine().cores // 2)  # each of them measures with two
    found = run_sheet(chosen, folder, jobs=jobs, again=again)
    summary = folder / "index.html"
    paths.write_whole(summary, page(chosen.title, found, this_machine()))
    click.echo(f"Summary: {summary}")
    if any(outcome.state == FAILED for outcome in found):
        raise Exit(1)


def _line(outcome: Outcome) -> str:
    differ = [claim["claim"] for claim in outcome.claims if claim["verdict"] != "agrees"]
    more = f"; not agreed: {', '.join(differ)}" if differ else ""
    why = f": {outcome.says}" if outcome.says else ""
    claims = f", {len(outcome.claims)} claims" if outcome.claims else ""
    return f"{outcome.notebook:18} {outcome.state} in {outcome.seconds:.0f} s{claims}{more}{why}"
