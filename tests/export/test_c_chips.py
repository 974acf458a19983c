"""C for chips: `--chip` and `--io`, functions of words, what is refused; and a big-endian machine, run by qemu."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from c_programs import compiled, needs_compiler
from compiled import arm

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_exporter import c_files
from bddtorque.export.c_steps import PlanSteps, take_inputs
from bddtorque.export.c_text import HelperCalls
from bddtorque.export.selftest import _outside
from bddtorque.spec.chips import chip_named


def check(model: bt.Model, folder, **options) -> str:
    """Compile an export with its self-test on this machine, strictly, run it, and return its source."""
    code = c_files(model, vectors=200, **options)
    program = compiled(code.files, [*code.sources, f"{code.prefix}_selftest.c"], folder)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "OK: 200 states\n")
    return code.files[f"{code.prefix}.c"]


@needs_compiler
@pytest.mark.parametrize("chip", ["cortex-m0", "avr"])
@pytest.mark.parametrize("io", [16, 32])
def test_words_of_16_and_32_bits(chip, io, tmp_path):
    source = check(arm(6, workers=1, source="recursive", block_bits=6), tmp_path, chip=chip, io=io, floats=True)
    assert f"const int{io}_t *given_qd = qd;" in source


@needs_compiler
@pytest.mark.parametrize("form", ["dense", "folded"])
def test_arrays_that_avr_gcc_would_not_take_are_cut(form, tmp_path):
    """A table of 2^15 words of 16 bits, and one of a quarter of 2^16."""
    bits = 15 if form == "dense" else 16
    model = bt.compile_function(np.cos, inputs={"x": (bits, "angle")}, output={"y": (14, (-1.0, 1.0))}, name="cosine")
    source = check(model, tmp_path, chip="avr", form=form)
    sizes = [int(each) for each in source.replace("[", "]").split("]") if each.isdigit()]
    assert 2 * max(sizes) <= 32767 and len([size for size in sizes if size > 1000]) > 1
    assert "block_0_words_1[" not in check(model, tmp_path / "m0", chip="cortex-m0", form=form)


@needs_compiler
def test_functions_and_measured_data(tmp_path):
    def celsius(volts):
        return 1 / (1 / 298.15 + math.log(volts / (3.4 - volts)) / 3950) - 273.15

    model = bt.compile_function(
        celsius, inputs={"volts": (8, (0.1, 3.3), "V")}, output={"temperature": (8, (-50.0, 170.0), "°C")}
    )
    check(model, tmp_path / "function")
    assert "degC" in c_files(model).files["celsius.h"]
    x = np.linspace(-1, 1, 9)
    measured = bt.compile_samples(np.column_stack([x, x * x]), inputs={"x": (6, 1.0)}, output={"y": (8, 1.0)})
    assert "words(const int32_t in[" in check(measured, tmp_path / "samples")


@needs_compiler
@pytest.mark.parametrize("register", [32, 8])
def test_angles_beyond_the_limits_of_their_joint_are_counted(register, tmp_path):
    """Limits on one side of zero, on both, on both sides of half a turn, at a single word, between two words."""
    angle = arm(6, workers=1).formats.q[0]
    ends = [(-1.0, 2.0), (0.5, 1.0), (2.5, 4.0), (-3.5, -2.0), (-0.01, 0.01), (0.01, 0.02)]
    formats = tuple(replace(angle, low=low, high=high) for low, high in ends)
    signature = CSignature({"q": formats}, {"q": tuple("abcdef")}, register=register)
    lines = [
        line.replace("outside +=", f"out[{k}] =")
        for k, line in enumerate(line for line in take_inputs(signature, {}, HelperCalls()) if "outside" in line)
    ]
    body = "\n".join(lines)
    code = f"void f(const int32_t *q, int32_t *out);\nvoid f(const int32_t *q, int32_t *out)\n{{\n{body}\n}}\n"
    (tmp_path / "f.c").write_text(f"#include <stdint.h>\n{code}")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", "f.so", "f.c"], cwd=tmp_path, check=True)
    function = ctypes.CDLL(str(tmp_path / "f.so")).f
    for given in (*range(-200, 200), -(2**31), 2**31 - 1, 123456789):
        found = (ctypes.c_int32 * 6)()
        function((ctypes.c_int32 * 6)(*([given] * 6)), found)
        assert list(found) == [int(_outside(word, np.array([given]))[0]) for word in formats]


def test_another_chip_than_the_plan_was_made_for_is_told(tmp_path):
    model = arm(12, target="integer", chip="cortex-m0")
    assert bt.export_c(model, tmp_path / "same", vectors=1).note == ""
    other = bt.export_c(model, tmp_path / "other", vectors=1, chip="avr")
    assert (other.chip, other.note.split(":")[0]) == ("avr", "planned for chip 'cortex-m0'")
    assert "compile with --chip avr" in other.to_plain()["note"]
    assert bt.export_c(arm(6, workers=1), tmp_path / "tables", vectors=1, chip="avr").note == ""


def test_what_is_refused():
    model = arm(6, workers=1)
    with pytest.raises(BddTorqueError, match=r"chip must be .*, got 'cortex-m1'; did you mean 'cortex-m"):
        c_files(model, chip="cortex-m1")
    with pytest.raises(BddTorqueError, match="io must be 16 or 32, the bits that words are passed in, got 8"):
        c_files(model, io=8)
    with pytest.raises(BddTorqueError, match="words of 18 bits do not fit --io 16: use --io 32"):
        c_files(arm(18, target="float"), io=16)
    big = arm(8, products="blocks", block_bits=16)
    read = "the compiler of chip 'avr' reads at most 65,536 from flash"
    with pytest.raises(BddTorqueError, match=f"{read}: compile with less 'memory', or with target = 'integer'$"):
        c_files(big, chip="avr", form="dense")
    with pytest.raises(BddTorqueError, match=f"tables take 65,540 bytes, but {read}: compile with fewer bits$"):
        c_files(arm(16, target="integer", chip="avr"))


def test_flash_folds_the_sine_table(tmp_path):
    """A key of the spec, and an option of the export: as much of the tables as fits, refused where nothing does."""
    model = arm(12, target="integer", chip="cortex-m0", flash="4 kB")
    assert model.spec.flash == 4000 and 'flash = "4000 B"' in str(model.spec)
    assert [block.form for block in c_files(model).blocks] == ["folded"]
    assert [block.form for block in c_files(model, flash="16 kB").blocks] == ["dense"]
    free = arm(12, target="integer", chip="cortex-m0")
    assert [block.form for block in c_files(free).blocks] == ["dense"]
    exported = bt.export_c(model, tmp_path / "c", vectors=1)
    assert isinstance(exported.measured, str) or exported.measured.rom <= 4000
    with pytest.raises(BddTorqueError, match=r"flash must hold 2,090 bytes of tables .* about \d+ of code on chip"):
        c_files(model, flash="2 kB")
    with pytest.raises(
        BddTorqueError, match=r"flash must hold 2,090 bytes of tables .* on chip 'cortex-m0', got 2,000"
    ):
        arm(12, target="integer", chip="cortex-m0", flash="2 kB")
    with pytest.raises(BddTorqueError, match=r"flash must hold .* on chip 'attiny', got 8,192: .* fewer bits"):
        c_files(arm(16, target="integer", chip="avr"), chip="attiny")
    with pytest.raises(
        BddTorqueError, match="flash is only valid for targets 'tables' and 'integer', got target 'float'"
    ):
        bt.compile("planar2r", bits=6, target="float", flash="4 kB")
    with pytest.raises(BddTorqueError, match="flash must be a size in bytes"):
        bt.compile("planar2r", bits=6, flash="a lot")


def test_a_slow_multiplication_takes_no_more_code_than_a_call():
    """Cycles inside an instruction or a library function are not bytes: else tables seem not to fit a chip."""
    model = arm(8, target="integer", chip="cortex-m0-slow-multiply")

    def code(chip):
        steps = PlanSteps(model.plan, model.tables, chip_named(chip))
        signature = CSignature.of(model, 32, chip_named(chip).register)
        return steps.steps(take_inputs(signature, steps.inputs, steps.calls), signature).code_bytes

    assert code("cortex-m0") < code("cortex-m0-slow-multiply") < 2 * code("cortex-m0")
    assert code("attiny") < 2 * code("avr")


COMPILER, MACHINE = "powerpc-linux-gnu-gcc", "qemu-ppc"
PACKAGES = "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross qemu-user"
MODELS = {
    "integer": {"bits": 12, "target": "integer", "chip": "cortex-m0"},
    "tables": {"bits": 6},
    "float": {"bits": 8, "target": "float"},
}


@pytest.mark.skipif(
    shutil.which(COMPILER) is None or shutil.which(MACHINE) is None,
    reason=f"no PowerPC to run on: apt-get install {PACKAGES}",
)
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("io", [16, 32])
def test_the_self_test_passes(kind, io, tmp_path):
    code = c_files(arm(**MODELS[kind]), vectors=500, io=io)
    for name, text in code.files.items():
        (tmp_path / name).write_text(text)
    sources = [*code.sources, f"{code.prefix}_selftest.c"]
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off", "-static"]
    subprocess.run([COMPILER, *flags, "-o", "selftest", *sources, "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([MACHINE, "./selftest"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "OK: 500 states\n")
