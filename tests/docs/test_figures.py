"""Tables of figures in the pages come from docs/figures.py, and those that need no clock are as it finds them."""

import importlib.util

import pytest
from pages import NAMES, ROOT, text_of

from bddtorque.robots.library import builtin_names

SPEC = importlib.util.spec_from_file_location("figures", ROOT / "docs" / "figures.py")
figures = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(figures)


def found() -> dict[str, list[str]]:
    """Return the tables in all pages, by name."""
    tables: dict[str, list[str]] = {}
    for name in NAMES:
        for block in figures.BLOCK.finditer(text_of(name)):
            tables.setdefault(block[2], []).append(block[3])
    return tables


def test_every_table_has_its_measurement_and_the_other_way_round():
    assert set(found()) == set(figures.FIGURES)


@pytest.mark.parametrize(
    "name",
    [name if name == "planar2r" else pytest.param(name, marks=pytest.mark.everything) for name in builtin_names()],
)
def test_arms_are_as_compiled(name):
    (table,) = found()["arms"]
    assert f"| {' | '.join(figures.arm_row(name))} |\n" in table


def test_tables_are_markdown():
    assert figures.table(["a", "b"], [["1", "2"]]) == "| a | b |\n|---|---|\n| 1 | 2 |\n"
