"""Every export of every quantity, function and target: the words of the plain interpreter, by the code's own test."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from c_programs import WARNINGS, needs_compiler
from hypothesis import given
from hypothesis import strategies as st
from logic_readers import words_of
from small_models import EVERY, Maker, small_quantity
from verilog_tools import lint, needs_iverilog, simulate

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_exporter import c_files
from bddtorque.export.c_text import MAX_NAME, safe_unit
from bddtorque.export.logic import blif_text, pla_text
from bddtorque.model.applicability import applies


def self_test(model: bt.Model, folder: Path, **options: Any) -> str:
    """Have what an export writes compiled and run by its own Makefile, and return what that prints."""
    folder.mkdir()
    for name, text in c_files(model, vectors=40, **options).files.items():
        (folder / name).write_text(text, encoding="ascii")
    command = ["make", "-s", "check", "CFLAGS=-O1 -Wconversion -Wsign-conversion"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return made.stdout + made.stderr


@needs_compiler
@pytest.mark.parametrize("make", EVERY)
def test_c_with_floats_tests_itself(make: Maker, tmp_path: Path) -> None:
    model = make()
    assert self_test(model, tmp_path / "c", floats=True) == "OK: 40 states\n"
    assert self_test(model, tmp_path / "small", floats=True, io=16, chip="avr") == "OK: 40 states\n"


@needs_compiler
def test_exports_of_one_arm_go_into_one_program(tmp_path: Path) -> None:
    """Files, include guards and symbols of every quantity have names of their own."""
    exports = [c_files(small_quantity(quantity, "integer"), floats=True, vectors=1) for quantity in QUANTITIES]
    for code in exports:
        for name in (f"{code.prefix}.h", *code.sources):
            assert not (tmp_path / name).exists()
            (tmp_path / name).write_text(code.files[name], encoding="ascii")
    includes = "".join(f'#include "{code.prefix}.h"\n' for code in exports)
    macros = " ".join(f"(void){code.prefix.upper()}_DIGEST;" for code in exports)  # nothing if a guard was there before
    (tmp_path / "main.c").write_text(f"{includes}int main(void) {{ {macros} return 0; }}\n")
    command = ["cc", *WARNINGS, "-o", "program", "main.c", *(source for code in exports for source in code.sources)]
    linked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert linked.returncode == 0, linked.stderr[:2000]


@needs_compiler
@pytest.mark.parametrize("package", ["arduino", "cmake", "platformio", "zephyr"])
def test_libraries_call_the_function_as_it_is(package: str, tmp_path: Path) -> None:
    model = small_quantity("torque", "integer", given="payload")
    for name, text in c_files(model, package=package).files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    if package != "arduino":
        command = ["cc", *WARNINGS, "-Isrc", "-c", "examples/main.c"]
        assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


@needs_iverilog
@pytest.mark.parametrize("make", EVERY)
def test_circuits_and_logic(make: Maker, tmp_path: Path) -> None:
    model = make()
    if not applies(model, "circuits"):
        with pytest.raises(bt.BddTorqueError, match=r"circuits: .* computes in floats: compile it with"):
            bt.export_verilog(model, tmp_path / "v")
        return
    made = bt.export_verilog(model, tmp_path / "v", name="dut", vectors=20)
    assert simulate(tmp_path / "v", "dut_tb.v", *made.sources)[-1] == "OK: 20 states"
    every = [path.name for path in (tmp_path / "v").glob("*.v")]
    together = ["iverilog", "-g2001", "-o", "together", *every]
    assert subprocess.run(together, cwd=tmp_path / "v", check=False).returncode == 0
    assert which("verilator") is None or lint(tmp_path / "v", *made.sources[1:], made.sources[0]) == ""
    if not applies(model, "diagrams"):
        for export in (bt.export_blif, bt.export_pla, bt.export_one_bit):
            with pytest.raises(bt.BddTorqueError, match=r"diagrams: .* multiplies"):
                export(model, tmp_path / "refused")
        return
    assert blif_text(model).startswith("# written by")
    for table in model.tables:
        words = [int(value) & ((1 << table.output_bits) - 1) for value in table.values]
        assert words_of(pla_text(table, "b")) == words
    if sum(diagram.node_count for diagram in model.diagrams) < 3000:
        for way in ("bits", "terms"):
            cores = bt.export_one_bit(model, tmp_path / way, name="dut", vectors=2, processors=2, spread=way)
            assert simulate(tmp_path / way, "dut_tb.v", *cores.sources)[-1].startswith("OK: 2 states in ")


@pytest.mark.parametrize("make", EVERY)
def test_every_word_has_its_unit_and_every_array_its_size(make: Maker) -> None:
    model = make()
    header = next(text for name, text in c_files(model, vectors=1).files.items() if name.endswith(".h"))
    for word in (*model.formats.words.values(), *model.formats.results.values()):
        unit = safe_unit(word.unit)
        assert unit.isascii() and f"/* {unit} */" in header
        assert not word.unit or re.sub("[^A-Za-z]", "", unit) == re.sub("[^A-Za-z]", "", word.unit)
    signature = CSignature.of(model, 32, 32)
    arrays = {**signature.arrays, signature.result: signature.outputs}
    for array, words in arrays.items():
        assert f"#define {signature.count('P', array).replace('P_', '', 1)} {len(words)}" in re.sub(
            rf"#define {header.split('.h:')[0].removeprefix('/* ').upper()}_", "#define ", header
        )


@given(st.text())
def test_units_cannot_end_a_comment(text: str) -> None:
    unit = safe_unit(text)
    assert unit.isascii() and 0 < len(unit) <= MAX_NAME
    assert not re.search(r"\*/|/\*|//|\n|\\|\?\?", unit)


def test_units_as_c_shows_them() -> None:
    units = {
        "kg·m²": "kg*m^2",
        "J": "J",
        "m/s²": "m/s^2",
        "N·m·s/rad": "N*m*s/rad",
        "m⁻¹": "m^-1",
        "°C": "degC",
        "%": "%",
    }
    assert {unit: safe_unit(unit) for unit in units} == units
    assert safe_unit("") == "(no unit)" and safe_unit("µm") == "um"
