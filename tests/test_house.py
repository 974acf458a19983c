"""Rules that keep the package in order: layers, imports at the top, one file for each name, one version number."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import bddtorque as bt
from bddtorque.base import version

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "bddtorque"
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


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
    names = [Path(name).name for name in FILES if not name.startswith("independent/")]
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
