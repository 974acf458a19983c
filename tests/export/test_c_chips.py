"""C for chips: what `--chip` and `--io` change, functions of words, and what is refused."""

import math
import subprocess

import numpy as np
import pytest
from c_programs import compiled, needs_compiler
from compiled import arm

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.exporter import c_files


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
    x = np.linspace(-1, 1, 9)
    measured = bt.compile_samples(np.column_stack([x, x * x]), inputs={"x": (6, 1.0)}, output={"y": (8, 1.0)})
    assert "words(const int32_t in[" in check(measured, tmp_path / "samples")
    with pytest.raises(BddTorqueError, match="floats is only valid for a whole robot"):
        c_files(model, floats=True)


def test_what_is_refused():
    model = arm(6, workers=1)
    with pytest.raises(BddTorqueError, match=r"chip must be .*, got 'cortex-m1'; did you mean 'cortex-m"):
        c_files(model, chip="cortex-m1")
    with pytest.raises(BddTorqueError, match="io must be 16 or 32, the bits that words are passed in, got 8"):
        c_files(model, io=8)
    with pytest.raises(BddTorqueError, match="words of 18 bits do not fit --io 16: use --io 32"):
        c_files(arm(18, target="float"), io=16)
    big = arm(8)
    with pytest.raises(BddTorqueError, match=r"the compiler of chip 'avr' reads at most 65,536 from flash"):
        c_files(big, chip="avr", form="dense")
