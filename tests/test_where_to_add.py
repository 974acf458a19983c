"""The table "where to add things" of docs/architecture.md lists all files that name a thing of a kind.

A name is a text, or a class that is imported. Beside the table stand the tests of the kind itself.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.export import export_options
from bddtorque.plan.wires import OPERATIONS
from bddtorque.questions.asking import QUESTIONS
from bddtorque.robots.joint_kinds import JOINT_KINDS
from bddtorque.spec.chips import chips
from bddtorque.targets import TARGETS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "bddtorque"
NODES = {
    path.relative_to(PACKAGE).as_posix(): list(ast.walk(ast.parse(path.read_text("utf-8"))))
    for path in PACKAGE.rglob("*.py")
}
TEXTS = {name: {node.value for node in nodes if isinstance(node, ast.Constant)} for name, nodes in NODES.items()}


@cache
def row(thing: str) -> str:
    """Return what the table says of a thing."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^\| {re.escape(thing)} \| (.*) \|$", text, re.MULTILINE)
    return str(found)


def listed(thing: str) -> set[str]:
    """Return the files of the package that the table lists for a thing."""
    return {path for path in re.findall(r"`([a-z_]+/\w+(?:/\w+)?\.\w+)`", row(thing)) if (PACKAGE / path).is_file()}


def named_in(text: str) -> set[str]:
    """Return the files with a text that is a name and nothing else."""
    return {name for name, texts in TEXTS.items() if text in texts}


@cache
def imported(module: str) -> dict[str, set[str]]:
    """Return what each file takes from a module of the package, by its own name or that of the module."""
    found = {}
    for file, nodes in NODES.items():
        parts = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == module]
        wholes = [each for node in nodes if isinstance(node, ast.Import) for each in node.names if each.name == module]
        aliases = {each.asname for each in wholes}
        used = [node for node in nodes if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in aliases]
        found[file] = {each.name for node in parts for each in node.names} | {node.attr for node in used}
    return found


def importing(module: str, *names: str) -> set[str]:
    """Return the files that take all of these from a module."""
    return {file for file, own in imported(module).items() if own.issuperset(names)}


def outside_the_checker(files: set[str]) -> set[str]:
    return {name for name in files if not name.startswith("independent/")}


@pytest.mark.parametrize("quantity", sorted(set(QUANTITIES) - {"torque", "gravity", "jacobian", "coriolis"}))
def test_a_quantity_is_named_in_its_record_and_in_the_checker_only(quantity: str) -> None:
    """Those left out are called as an array, a key or a kind of term is; `bddtorque/__init__` names what users call."""
    files = named_in(quantity) - {"__init__.py"}
    own = {name for name in files if not name.startswith("independent/quantity_")}
    assert own == {f"dynamics/quantities/{quantity}.py"} and len(files - own) <= 1


@pytest.mark.parametrize("kind", sorted(JOINT_KINDS))
def test_a_joint_kind_is_named_in_its_record_and_in_the_checker_only(kind: str) -> None:
    assert named_in(kind) == listed("a joint kind")


def test_every_kind_of_wire_is_known_where_the_table_says() -> None:
    """All kinds of words, and all kinds of floats, each in the files that the table lists, and in its definition."""
    module = "bddtorque.plan.wires"
    words = {each.__name__ for each in OPERATIONS.values() if each.in_words} - {"Input"}
    floats = {each.__name__ for each in OPERATIONS.values() if not each.in_words}
    everywhere = importing(module, *words) | importing(module, *floats)
    assert everywhere == listed("a kind of wire") - {"plan/wires.py", "plan/fields.py"}
    for operation in ("Multiply", "Add", "Fused"):  # others are read for what is counted or shown of them alone
        assert importing(module, operation) <= everywhere, operation


def test_a_target_is_listed_where_the_table_says() -> None:
    """Its record apart, which stands in a folder of its name; other files have no list of all targets."""
    assert {path.parent.name for path in (PACKAGE / "targets").glob("*/__init__.py")} == set(TARGETS)
    lists = set.intersection(*map(named_in, TARGETS))
    assert outside_the_checker(lists) == listed("a target")


NAMES_OF_MORE = {
    "avr": "cycles that simavr counts",
    "generic32": "the default",
    "fpga": "a circuit",
    "uniform": "a cost",
}
"""Chips that are also called as something else is."""


@pytest.mark.parametrize("chip", sorted(set(chips()) - set(NAMES_OF_MORE)))
def test_a_chip_is_named_in_its_entry_only(chip: str) -> None:
    assert named_in(chip) == set()
    assert listed("a chip") == {"spec/chips.toml", "bench/emulators.py"}
    assert f"`{chip}`" in (ROOT / "docs" / "chips.md").read_text(encoding="utf-8")


def test_a_robot_reader_is_known_to_the_library_only() -> None:
    """`robots/__init__` offers the functions of those that read text."""
    readers = [path.stem for path in (PACKAGE / "robots").glob("*_reader.py")]
    assert len(readers) > 3
    for reader in readers:
        files = {file for file, own in imported(f"bddtorque.robots.{reader}").items() if own}
        assert "robots/library.py" in files, reader
        assert files <= listed("a robot file format") | {"robots/__init__.py", "dynamics/inertia_fix.py"}, reader


@pytest.mark.parametrize("record", [each.__name__ for each in export_options.ExportOptions.__subclasses__()])
def test_an_export_is_known_where_the_table_says(record: str) -> None:
    files = importing("bddtorque.export.export_options", record)
    (exporter,) = files - listed("an export")
    assert re.fullmatch(r"export/\w+_exporter\.py", exporter)
    assert listed("an export") == {"export/export_options.py", "cli/export_command.py"}


@pytest.mark.parametrize("question", sorted(set(QUESTIONS) - {"largest", "error", "saturation"}))
def test_a_question_is_named_by_its_command_only(question: str) -> None:
    """Those left out are called as a key or a feature is."""
    assert {name for name in named_in(question) if not name.startswith("questions/")} == {"cli/ask_command.py"}
    assert listed("a question") >= {"questions/asking.py", "cli/ask_command.py"}


def test_the_table_is_read() -> None:
    assert listed("a chip") and not listed("an experiment")
    with pytest.raises(ValueError, match="not enough values"):
        row("a kind of thing that nobody adds")
