"""How a module looks, and what importing it drags along."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from readahead.paths import ROOT

PACKAGE = ROOT / "lib" / "readahead"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 60
"""Lines of a function. A file may be as long as its subject."""
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def public(tree: ast.Module) -> Iterator[Documented]:
    """Every public function, class and method."""
    for item in tree.body:
        inside = item.body if isinstance(item, ast.ClassDef) else []
        yield from (one for one in (item, *inside) if isinstance(one, Documented))


def undocumented(source: str) -> list[str]:
    """Return what has no docstring and should: the module, and each public thing of it."""
    tree = ast.parse(source)
    missing = [] if ast.get_docstring(tree) else ["the module"]
    hidden = {c.name for c in tree.body if isinstance(c, ast.ClassDef) and c.name.startswith("_")}
    inside = {id(m) for c in tree.body if isinstance(c, ast.ClassDef) and c.name in hidden for m in c.body}
    return missing + [
        one.name
        for one in public(tree)
        if not one.name.startswith("_") and id(one) not in inside and not ast.get_docstring(one)
    ]


def too_long(source: str) -> set[str]:
    """Return the functions of a module that have more lines than they should."""
    found = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return {one.name for one in found if (one.end_lineno or 0) - one.lineno + 1 > LONGEST}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_says_what_it_is_and_its_functions_stay_short(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert undocumented(source) == []
    assert too_long(source) == set()
    assert path.stem not in {"utils", "util", "helpers", "misc", "common"}


def test_the_reader_of_docstrings_sees_what_is_missing() -> None:
    bare = "class A:\n    def b(self): ...\n    def _c(self): ...\nclass _D:\n    def e(self): ...\ndef f(): ...\n"
    assert undocumented(bare) == ["the module", "A", "b", "f"]
    assert too_long("def f():\n" + "    pass\n" * LONGEST) == {"f"}
    assert too_long("def f():\n" + "    pass\n" * (LONGEST - 1)) == set()


@pytest.mark.parametrize(
    "wanted",
    [
        "units",
        "devices",
        "published",
        *(f"models.{path.stem}" for path in sorted((PACKAGE / "models").glob("[a-z]*.py"))),
    ],
)
def test_facts_and_models_start_neither_the_engine_nor_the_charts(wanted: str) -> None:
    heavy = "{'duckdb', 'plotly', 'ipywidgets', 'pandas', 'IPython'}"  # numba brings scipy along
    code = f"import sys, readahead.{wanted}; print(sorted({heavy} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
