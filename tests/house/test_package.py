"""A wheel, built from the source archive, is the whole workbook, and runs far from the repository."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import editables
import nbformat
import pytest

from readahead.paths import DATA, NOTEBOOKS, ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source archive, from it the wheel, and unpack that as pip would."""
    folder = tmp_path_factory.mktemp("built")

    def build(source: Path, kind: str) -> Path:
        command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
        subprocess.run(command, cwd=source, check=True, capture_output=True)
        [made] = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
        return made

    with tarfile.open(build(ROOT, "sdist")) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # the first Python 3.11 have none
        archive.extractall(folder / "source")
    [source] = (folder / "source").iterdir()
    with zipfile.ZipFile(build(source, "wheel")) as wheel:
        wheel.extractall(folder / "site")
    return folder / "site"


UNHELPFUL = {"LANG": "C", "LC_ALL": "C"} | dict.fromkeys(
    ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"
)
"""No language but English in seven bits, and a proxy that refuses everything."""


def run_python(
    library: Path, home: Path, command: list[str], **more: str
) -> "subprocess.CompletedProcess[str]":
    """Run Python far from the repository, with a library first on its path, a home of its own, and no git, no make."""
    home.mkdir(exist_ok=True)
    mine = {key: value for key, value in os.environ.items() if not key.startswith("READAHEAD")}
    mine |= UNHELPFUL | {
        "PYTHONPATH": str(library),
        "HOME": str(home),
        "PATH": str(Path(sys.executable).parent),
    }
    return subprocess.run(
        command, cwd=home, env=mine | more, capture_output=True, encoding="utf-8", check=False
    )


def python(installed: Path, home: Path, *arguments: str) -> str:
    """Run Python with the unpacked wheel, and return what it says. It must end well."""
    done = run_python(installed, home, [sys.executable, *arguments])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_the_notebooks_and_the_data_and_nothing_that_was_built(installed: Path) -> None:
    share = installed / "readahead" / "share"
    kept = [*NOTEBOOKS.glob("*.ipynb"), *DATA.glob("*/*.csv"), *DATA.glob("sheets/*"), DATA / "devices.csv"]
    found = {path.relative_to(share) for path in share.rglob("*") if path.is_file()}
    assert found == {path.relative_to(ROOT) for path in kept}
    assert {path.name for path in installed.iterdir()} == {"readahead", "readahead-0.1.0.dist-info"}
    [about] = installed.glob("*.dist-info")
    assert (about / "licenses" / "LICENSE").read_text().startswith("MIT License")
    assert "readahead = readahead.__main__:run" in (about / "entry_points.txt").read_text()


def test_an_installed_workbook_is_copied_to_a_folder_and_a_learner_s_copy_stays(
    installed: Path, tmp_path: Path
) -> None:
    code = "from readahead.commands.lab import copied; from pathlib import Path; print(copied(Path('my folder')))"
    home = tmp_path / "höme with blanks"
    assert python(installed, home, "-c", code).strip() == "my folder/00_start_here.ipynb"
    mine = home / "my folder" / "01_fragments.ipynb"
    mine.write_text("mine")
    (home / "my folder" / "02_read_ahead.ipynb").unlink()
    python(installed, home, "-c", code)
    assert mine.read_text() == "mine"
    assert {path.name for path in mine.parent.iterdir()} == {
        path.name for path in NOTEBOOKS.iterdir() if path.suffix == ".ipynb"
    }


@pytest.mark.notebook
def test_an_installed_workbook_runs_and_keeps_its_files_in_the_home(installed: Path, tmp_path: Path) -> None:
    home = tmp_path / "höme with blanks"
    assert python(installed, home, "-m", "readahead", "--version").strip() == "readahead, version 0.1.0"
    assert "laptop-ssd" in python(installed, home, "-m", "readahead", "sheet")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_code_cell(cell)
        for cell in (
            "import readahead; print(readahead.__file__)",
            "from readahead.chapters import CONTENTS, chapter; print(len(CONTENTS), chapter('fragments').place.title)",
            "from readahead.datasets import store; from readahead.datasets.recipe import Recipe",
            "print(store.path(Recipe(table='comments_narrow', size='tiny')))",
        )
    ]
    nbformat.write(notebook, home / "tried.ipynb")
    python(installed, home, "-m", "readahead", "run", "tried.ipynb", "--out", "out")
    cells = nbformat.read(home / "out" / "tried.ipynb", as_version=4).cells
    said = [cell.outputs[0].text for cell in cells if cell.outputs]
    assert said[0].startswith(str(installed)) and said[1].startswith("12 ")
    assert said[2].startswith(str(home / ".readahead" / "data" / "cache"))


def test_a_repository_with_umlauts_in_its_path_is_found_whatever_the_language(
    installed: Path, tmp_path: Path
) -> None:
    [source] = (installed.parent / "source").iterdir()
    place = shutil.copytree(source, tmp_path / "Kürs mit Leerzeichen")
    code = "import hatchling.build, sys; print(hatchling.build.build_editable(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=place, check=True, capture_output=True, text=True
    )
    with zipfile.ZipFile(tmp_path / made.stdout.strip().splitlines()[-1]) as wheel:
        wheel.extractall(tmp_path / "site")
    packages = str(Path(editables.__file__).parents[1])
    code = "import site, sys; sys.path += [sys.argv[2], sys.argv[1]]; site.addsitedir(sys.argv[2]); import readahead"
    command = [sys.executable, "-I", "-S", "-c", f"{code}; print(readahead.__file__)"]
    command = [*command, packages, str(tmp_path / "site")]
    done = run_python(tmp_path, tmp_path / "home", command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(place / "lib" / "readahead" / "__init__.py")


@pytest.fixture
def locked(installed: Path) -> Iterator[Path]:
    """Return an unpacked repository that can only be read."""
    [source] = (installed.parent / "source").iterdir()
    everything = [source, *source.rglob("*")]
    for place in everything:
        place.chmod(place.stat().st_mode & ~0o222)
    yield source
    for place in everything:
        place.chmod(place.stat().st_mode | 0o200)


@pytest.mark.skipif(os.name == "nt" or shutil.which("setpriv") is None, reason="needs a user without rights")
def test_a_repository_that_can_only_be_read_serves_with_places_of_one_s_own(
    locked: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    rights = (
        [str(shutil.which("setpriv")), "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    )

    def run(*arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return run_python(locked / "lib", home, [*rights, sys.executable, *arguments], **more)

    told = run("-m", "readahead", "doctor")
    assert (
        told.returncode == 1
        and f"{locked / 'notebooks'} cannot be written (Permission denied)" in told.stdout
    )
    assert "`python -m readahead lab FOLDER`" in told.stdout and "READAHEAD_PROGRESS" in told.stdout
    code = (
        "from readahead.datasets import store; from readahead.datasets.recipe import Recipe\n"
        "from readahead.questions.progress import Progress; from readahead import paths\n"
        "own = Progress.open(); own.keep_guess('fragments', 'yield', 1.0)\n"
        "print(paths.IS_CHECKOUT, own.notices, own.path, store.path(Recipe(table='comments_narrow', size='tiny')))"
    )
    done = run("-c", code)
    assert done.returncode == 1 and "set READAHEAD_CACHE to another folder" in done.stderr
    mine = {"READAHEAD_CACHE": str(home / "cache"), "READAHEAD_PROGRESS": str(home / "mine.json")}
    done = run("-c", code, **mine)
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout.startswith(f"True [] {home / 'mine.json'} {home / 'cache'}")
        and (home / "mine.json").is_file()
    )
