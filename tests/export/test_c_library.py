"""Code for a Cortex-M0: no function of a library, so no 64-bit arithmetic, and never more than 64 kB."""

import subprocess

import numpy as np
import pytest
from chip_tools import needs
from compiled import compiled

import bddtorque as bt
from bddtorque.bench.emulation import measure
from bddtorque.export.c_exporter import c_files
from bddtorque.robots.library import builtin_names
from bddtorque.spec.chips import chip_named

FLASH = 64_000
CASES = [("planar2r", 12), ("scara", 12), ("ur5", 8), ("ur5", 12), ("puma560", 12)]


def library_symbols(model: bt.Model, folder, level: str) -> list[str]:
    """Return what the exported object file leaves to a library."""
    chip, code = chip_named("cortex-m0"), c_files(model, chip="cortex-m0", vectors=1)
    for name, text in code.files.items():
        (folder / name).write_text(text)
    compiler = [f"{chip.tools}gcc", *chip.flags, level, "-c", *code.sources, "-o", "words.o"]
    subprocess.run(compiler, cwd=folder, check=True)
    listed = subprocess.run(
        [f"{chip.tools}nm", "-u", "words.o"], cwd=folder, check=True, capture_output=True, text=True
    )
    return listed.stdout.split()[1::2]


@pytest.mark.parametrize("level", ["-Os", "-O2"])
@pytest.mark.parametrize(
    ("robot", "bits"), [CASES[0], *(pytest.param(*case, marks=pytest.mark.everything) for case in CASES[1:])]
)
def test_nothing_of_a_library_is_linked(robot, bits, level, tmp_path):
    needs("cortex-m0")
    model = compiled(robot, bits=bits, target="integer", chip="cortex-m0")
    assert library_symbols(model, tmp_path, level) == []


def test_library_functions_would_be_found(tmp_path):
    """Torques of 24 bits need 64-bit products, which a Cortex-M0 has from its library."""
    needs("cortex-m0")
    model = compiled("planar2r", bits=24, input_bits=12, target="integer", chip="cortex-m0")
    assert "__aeabi_lmul" in library_symbols(model, tmp_path, "-Os")


@pytest.mark.parametrize(
    "robot", ["scara", *(pytest.param(name, marks=pytest.mark.everything) for name in builtin_names())]
)
def test_arms_fit_64_kb_of_flash(robot, tmp_path):
    needs("cortex-m0")
    model = compiled(robot, bits=12, target="integer", chip="cortex-m0")
    bt.export_c(model, tmp_path / "c", vectors=1)
    for level in ("-Os", "-O2"):
        measured = measure(tmp_path / "c", "cortex-m0", np.zeros((1, 3 * len(model.formats.q))), (level,))
        assert measured.flash <= FLASH and measured.ram == 0
