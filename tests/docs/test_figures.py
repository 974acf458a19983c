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


def test_speed_comes_from_bench(monkeypatch):
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bddtorque" / "bench").glob("*.py"))
    assert all(contender in sources for _, _, contender, _ in figures.WAYS)
    timings = [
        {"name": way, "nanoseconds": 123.4, "ratio": 9.876, "vector_ratio": 0.5}
        for _, _, way, _ in figures.WAYS
        if way != "CasADi's C, float64"
    ]
    report = {"timings": timings, "calls": [{"name": "torque", "nanoseconds": 1234.5}]}
    monkeypatch.setattr(figures, "command", lambda *_: {"machine": {"processor": "Abacus"}, "reports": [report]})
    figures.benched.cache_clear()
    lines = figures.pc().splitlines()
    assert lines[0] == "| ns per state | planar2r | planar3r_a | puma560 | ur5 |"
    assert lines[2].endswith("| 123 (9.88 T) | 123 (9.88 T) | 123 (9.88 T) | 123 (9.88 T) |")
    assert lines[3].endswith("| 123 (0.50 V) |")
    assert lines[6].endswith("| 123 | 123 | 123 | 123 |")
    assert "not installed" in lines[10]
    assert lines[-1] == "Machine: processor Abacus."
    assert len(figures.speed().splitlines()) == len(figures.WAYS) + 4
    assert "| torque | 1,234 | 1,234 | 1,234 | 1,234 |" in figures.calls()
    figures.benched.cache_clear()


def test_cycles_come_from_bench(monkeypatch):
    measured = [{"way": way, "target": "integer", "mean": 1234.5, "flash": 5678} for way in ("bddtorque", "X", "F")]
    looked_up = {"way": "bddtorque", "target": "tables", "mean": 20000, "flash": 70000}
    monkeypatch.setattr(figures, "command", lambda *_: {"figures": [*measured, looked_up]})
    monkeypatch.setattr(figures, "compiler_version", lambda name: f"{name} 1.2.3")
    lines = figures.chips().splitlines()
    assert lines[2] == "| planar2r | 1,234, 5.7 kB | 20,000, 70.0 kB | 1,234 | 1,234 |"
    assert lines[11] == "| planar2r | 1,234 | 1,234 | 1,234 | 1,234 | 1,234 |"
    assert lines[-1] == "Compilers: arm-none-eabi-gcc 1.2.3, riscv64-unknown-elf-gcc 1.2.3, avr-gcc 1.2.3."


def test_a_table_is_the_same_on_every_page():
    assert all(len(set(tables)) == 1 for tables in found().values())


def test_unknown_tables_are_refused():
    with pytest.raises(SystemExit, match="unknown table 'pcs'; known: arms, chips, pc"):
        figures.write(["pcs"])


def test_tables_are_markdown():
    assert figures.table(["a", "b"], [["1", "2"]]) == "| a | b |\n|---|---|\n| 1 | 2 |\n"
