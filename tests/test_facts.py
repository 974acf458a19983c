"""Every fact F01 to F46 that the papers state is checked somewhere, and docs/papers.md says where."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FACTS = [f"F{number:02d}" for number in range(1, 47)]
HEADING = "## The facts, one by one"


@cache
def checks() -> dict[str, str]:
    """Return the text of every test and experiment, by its path from the root."""
    paths = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "experiments").glob("*.py")]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths if path != Path(__file__)}


def table() -> dict[str, list[str]]:
    """Return the cells of the table of facts in docs/papers.md: expected, found, where."""
    _, found, rest = (ROOT / "docs" / "papers.md").read_text().partition(HEADING)
    assert found, f"docs/papers.md has no section '{HEADING}'"
    section = rest.split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "| F" in line]
    return {row[0]: row[1:] for row in rows}


def test_the_table_has_every_fact_once() -> None:
    assert list(table()) == FACTS


@pytest.mark.parametrize("fact", FACTS)
def test_where_the_table_says_there_is_a_check_that_names_the_fact(fact: str) -> None:
    what, expected, found, where = table()[fact]
    assert what
    assert expected
    assert found
    files = re.findall(r"`([a-z_0-9/]+\.py)`", where)
    assert files, f"{fact}: a test or a script required in the last column, '{where}' given"
    for file in files:
        path = file if "/" in file else f"experiments/{file}"
        assert path in checks(), f"{fact}: {path} does not exist"
        assert re.search(rf"\b{fact}\b", checks()[path]), f"{path} does not name {fact}"


def test_naming_is_no_empty_promise() -> None:
    """A file that names a fact asserts something, or is a script that exits with a verdict."""
    for path, text in checks().items():
        if any(re.search(rf"\b{fact}\b", text) for fact in FACTS) and not path.endswith("reporting.py"):
            assert "assert" in text or "verdict" in text.lower() or "as expected" in text, path
