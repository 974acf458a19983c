"""Rules that keep the package in order: layers, budgets, imports at the top, one file and one class for each name.

`docs/architecture.md` states them.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import bddtorque as bt
from bddtorque.base import version

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "bddtorque"
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))

OWN = [name for name in FILES if not name.startswith("independent/")]
"""Files of the package but the checker, which is copied elsewhere as a folder of its own."""
BUDGETS = {
    "assurance": 3_210,
    "base": 2_220,
    "bench": 2_200,
    "cli": 3_770,
    "compiler": 2_200,
    "dynamics": 4_130,
    "evaluate": 5_429,
    "export": 7_120,
    "independent": 7_587,
    "model": 1_185,
    "plan": 4_140,
    "proof": 3_788,
    "questions": 3_790,
    "report": 2_350,
    "robots": 3_112,
    "spec": 1_835,
    "sweeps": 2_050,
    "targets": 4_039,
    "words": 2_545,
}
"""Lines of Python that a folder may hold. They only shrink; what needs more says why in the commit that changes it."""
MAX_LINES, MAX_FILES, MAX_TEST_LINES, MAX_FILE_LINES = 66_770, 356, 44_819, 450
"""Of the package, of its files, of tests/, and of one file."""


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse((PACKAGE / name).read_text(encoding="utf-8"))


def line_count(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def nodes(*kinds: type[ast.AST], outside: tuple[str, ...] = ("independent",)) -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes of these kinds in the package, each with its file, outside some folders."""
    for name in FILES:
        if name.split("/")[0] not in outside:
            yield from ((name, node) for node in ast.walk(tree_of(name)) if isinstance(node, kinds))


def texts(node: ast.AST) -> set[str]:
    return {inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, str)}


@pytest.mark.parametrize("folder", sorted(BUDGETS))
def test_every_folder_keeps_to_its_budget(folder: str) -> None:
    assert sum(line_count(path) for path in (PACKAGE / folder).rglob("*.py")) <= BUDGETS[folder]


def test_the_whole_keeps_to_its_budget() -> None:
    lines = {name: line_count(PACKAGE / name) for name in FILES}
    assert set(BUDGETS) == {name.split("/")[0] for name in FILES if "/" in name}
    assert sum(lines.values()) <= MAX_LINES and len(FILES) <= MAX_FILES
    assert sum(map(line_count, (ROOT / "tests").rglob("*.py"))) <= MAX_TEST_LINES
    assert {name: count for name, count in lines.items() if count > MAX_FILE_LINES} == {}


def test_folders_of_tests_mirror_the_package() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    assert folders - {"docs", "examples", "fuzz", "machines"} <= set(BUDGETS)


def test_no_two_classes_have_the_same_name() -> None:
    classes = Counter(node.name for _, node in nodes(ast.ClassDef) if isinstance(node, ast.ClassDef))
    assert {name: count for name, count in classes.items() if count > 1} == {}


def test_limits_are_called_max_and_min() -> None:
    assert [name for name in FILES if re.search(r"\b_?(MOST|FEWEST)_", (PACKAGE / name).read_text("utf-8"))] == []


def test_docstrings_say_what_a_thing_is() -> None:
    """They open with a noun or a verb, not with a question."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [
        f"{name}: {text.splitlines()[0]}"
        for name, node in nodes(*documented, outside=())
        if isinstance(node, documented) and (text := ast.get_docstring(node))
        if re.match(r"(What|Whether|How)\b", text)
    ]
    assert found == []


def test_nothing_branches_on_a_target_or_a_quantity_as_text() -> None:
    """Their records say what differs; names are texts only where specifications and options are read."""
    found = []
    for name, node in nodes(ast.Compare, outside=("targets", "spec", "cli", "independent")):
        assert isinstance(node, ast.Compare)
        sides = [node.left, *node.comparators]
        named = {side.attr if isinstance(side, ast.Attribute) else getattr(side, "id", "") for side in sides}
        if named & {"target", "quantity"} and any(map(texts, sides)):
            found.append(f"{name}:{node.lineno}")
    assert found == []


def test_nothing_branches_on_the_kind_of_a_provenance_or_a_plan() -> None:
    found = []
    for name, node in nodes(ast.Call):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            kinds = {inner.id for inner in ast.walk(node.args[1]) if isinstance(inner, ast.Name)}
            found += [f"{name}:{node.lineno} {kind}" for kind in kinds if re.search("Provenance$|Source$|.Plan$", kind)]
    assert found == []


def late_imports(text: str) -> Iterator[str]:
    """Yield the modules of the package that are imported inside functions."""
    if not re.search(r"^[ \t]+(from|import) ", text, re.MULTILINE):
        return  # as in most files: nothing is imported but at the top
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in (inner for function in functions for inner in ast.walk(function)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = ["bddtorque"] if node.level else [node.module or ""]
        yield from (name for name in names if name.split(".")[0] == "bddtorque")


def test_nothing_of_the_package_is_imported_inside_a_function() -> None:
    """`cli/` may, so that `--help` is there at once, and `__main__`, so that Ctrl-C is caught while it imports.

    `bddtorque/__init__` loads names by `import_module`.
    """
    checked = [name for name in FILES if not name.startswith("cli/") and Path(name).name != "__main__.py"]
    late = {name: list(late_imports((PACKAGE / name).read_text(encoding="utf-8"))) for name in checked}
    assert {name: found for name, found in late.items() if found} == {}
    assert len(checked) > 100


def test_an_import_inside_a_function_would_be_found() -> None:
    assert list(late_imports("def f():\n    def g():\n        from bddtorque.words import Format\n")) != []
    assert list(late_imports("class A:\n    def f(self):\n        import bddtorque.words\n")) == ["bddtorque.words"]
    assert list(late_imports("async def f():\n    from . import Format\n")) == ["bddtorque"]
    assert list(late_imports("from bddtorque.words import Format\ndef f():\n    import json\n")) == []


def test_no_file_name_stands_twice() -> None:
    """The independent checker aside, which is copied elsewhere as a folder of its own."""
    names = [Path(name).name for name in OWN]
    twice = {name for name, count in Counter(names).items() if count > 1}
    assert twice <= {"__init__.py"}


def test_layers_are_checked_by_make_lint() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    assert "$(BIN)/lint-imports" in recipe
    assert "cd experiments && $(abspath $(BIN))/lint-imports" in recipe  # the library of machines
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = [contract for contract in contracts if contract.get("exhaustive")]
    folders = {name.split("/")[0] for name in FILES if "/" in name}
    assert set(layers["layers"]) == folders
    assert layers["layers"][-1] == "independent"  # below all: it imports nothing of the package


def test_there_is_one_version_number() -> None:
    assert bt.__version__ == version.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "bddtorque/base/version.py"
