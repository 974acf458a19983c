"""Every fact F01 to F46 that the papers state is checked somewhere; docs/papers.md says where, and what came out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FACTS = [f"F{number:02d}" for number in range(1, 47)]
VERDICTS = ("confirmed", "refuted", "open", "ours")
"""On what a paper states; *ours* where none does."""
HEADING = "## The facts, one by one"


@cache
def checks() -> dict[str, str]:
    """Return the text of every test and experiment, by its path from the root."""
    paths = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "experiments").glob("*.py")]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths if path != Path(__file__)}


def table() -> dict[str, list[str]]:
    """Return the cells of the table of facts in docs/papers.md: what, the paper, here, verdict, where."""
    _, found, rest = (ROOT / "docs" / "papers.md").read_text().partition(HEADING)
    assert found, f"docs/papers.md has no section '{HEADING}'"
    section = rest.split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "| F" in line]
    return {row[0]: row[1:] for row in rows}


def test_the_table_has_every_fact_once() -> None:
    assert list(table()) == FACTS


@pytest.mark.parametrize("fact", FACTS)
def test_where_the_table_says_there_is_a_check_of_the_fact(fact: str) -> None:
    *stated, verdict, where = table()[fact]
    assert len(stated) == 3
    assert all(stated)
    assert verdict.strip("*") in VERDICTS
    files = re.findall(r"`([a-z_0-9/]+\.py)`", where)
    assert files, f"{fact}: the last column names no test and no script: {where}"
    for file in files:
        path = file if "/" in file else f"experiments/{file}"
        assert path in checks(), f"{fact}: {path} does not exist"
        assert fact in checked_by(path), f"{path} does not check {fact}"


def checked_by(path: str) -> set[str]:
    """Return the facts that a script holds in a `Check`, or that a test names in or above a test with an assertion."""
    tree, lines = ast.parse(checks()[path]), checks()[path].splitlines()
    if path.startswith("experiments/"):
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Check"]
        return {fact for call in calls for fact in FACTS if fact in ast.unparse(call.args[0])}
    found: set[str] = set()
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    for test in tests:
        if any(isinstance(node, ast.Assert) or "raises" in ast.dump(node) for node in ast.walk(test)):
            first = min([test.lineno, *(decorator.lineno for decorator in test.decorator_list)])
            while first > 1 and lines[first - 2].startswith("#"):
                first -= 1
            text = "\n".join(lines[first - 1 : test.end_lineno])
            found |= {fact for fact in FACTS if re.search(rf"\b{fact}\b", text)}
    return found


def test_a_fact_that_is_only_named_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {
        "tests/test_a.py": '"""F01."""\ndef test_it():\n    """F02"""\n    print("assert")\n',
        "tests/test_b.py": 'def test_it():\n    """F03"""\n    assert 1 + 1 == 2\n',
        "experiments/c.py": 'print("F04: as expected")\nCheck("F05", "x", y, 1)\n',
    }
    monkeypatch.setitem(globals(), "checks", lambda: named)
    assert [checked_by(path) for path in named] == [set(), {"F03"}, {"F05"}]
