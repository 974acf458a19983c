"""The emulated chips: words and sizes of exported C, cycles that can be counted by hand, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from chip_tools import needs
from compiled import arm, random_words

import bddtorque as bt
from bddtorque.bench import emulation
from bddtorque.bench.emulation import measure, missing_tools
from bddtorque.bench.emulators import instruction_cost
from bddtorque.export.c_call import CCall
from bddtorque.export.folder import MANIFEST
from bddtorque.spec.chips import chips

SMALL = ("atmega2560", "cortex-m0")
OTHERS = [
    pytest.param(name, marks=pytest.mark.everything)
    for name, chip in chips().items()
    if chip.tools and name not in SMALL
]
HEADER = "#include <stdint.h>\nint32_t f(int32_t x, int32_t y);\n"


def written(folder: Path, body: str) -> Path:
    """Write a folder with a function f of two words."""
    folder.mkdir(exist_ok=True)
    call = CCall("f.h", ("f.c",), "int32_t f(int32_t x, int32_t y)", "out[0] = f(in[0], in[1]);", 2, 1)
    (folder / "f.h").write_text(HEADER)
    (folder / "f.c").write_text(f'#include "f.h"\n{call.prototype}\n{{\n{body}\n}}\n')
    (folder / MANIFEST).write_text(json.dumps({"call": call.to_plain()}))
    return folder


@pytest.mark.parametrize("chip", [*SMALL, *OTHERS])
def test_exported_c_gives_the_words_of_the_model(chip, tmp_path):
    needs(chip)
    model = arm(3, workers=1)
    words = random_words(model, 20)
    states = np.concatenate(words, axis=1)
    found = {}
    for form in ("bits", "ifs"):
        bt.export_c(model, tmp_path / form, form=form, vectors=1)
        found[form] = measure(tmp_path / form, chip, states, ("-O1",))
        assert np.array_equal(found[form].words, model.torque_words(*words))
        assert found[form].ram == 0 and found[form].flash > 1000 and 0 < found[form].stack < 200
    assert found["ifs"].net.mean() < found["bits"].net.mean()


LOOPS = {
    "atmega2560": (r"ldi r24, 4\n1: dec r24\n brne 1b", "r24", 1 + 4 * 1 + 3 * 2 + 1),
    "cortex-m0": (r"mov r3, #4\n1: sub r3, #1\n bne 1b", "r3", 1 + 4 * 1 + 3 * 3 + 1),
}
"""A loop of four rounds: its branch is taken three times."""


@pytest.mark.parametrize("chip", SMALL)
def test_cycles_that_can_be_counted_by_hand(chip, tmp_path):
    needs(chip)
    loop, register, cycles = LOOPS[chip]
    body = f'    (void)x;\n    (void)y;\n    __asm__ volatile("{loop}" ::: "{register}", "cc");\n    return 0;'
    found = measure(written(tmp_path / "f", body), chip, [[0, 0], [1, 7]], ("-O1",))
    assert found.net.tolist() == [cycles] * 2
    assert found.flash == 6


@pytest.mark.parametrize("chip", [*SMALL, *OTHERS])
def test_floats_run(chip, tmp_path):
    needs(chip)
    folder = written(tmp_path / "f", "    const float a = (float)x * 0.25f;\n    return (int32_t)(a * (float)y);")
    assert measure(folder, chip, [[10, 6], [-3, 40]]).words.tolist() == [[15], [-30]]


@pytest.mark.parametrize(
    ("model", "instruction", "cycles", "taken"),
    [
        ("m0", ("ldr", "r3, [r0, #4]"), 2, 0), ("m0", ("push", "{r4, r5, r6, r7, lr}"), 6, 0),
        ("m0", ("pop", "{r4-r6, pc}"), 5, 3), ("m0", ("bne.n", "100 <f>"), 1, 2), ("m0", ("bl", "200 <g>"), 1, 3),
        ("m0", ("bics", "r1, r2"), 1, 0), ("m0", ("muls", "r0, r1"), 1, 0),
        ("m0-slow-multiply", ("muls", "r0, r1"), 32, 0),
        ("m3", ("bl", "200 <g>"), 1, 2),
        ("m3", ("smull", "r0, r1, r2, r3"), 4, 0), ("m4", ("smull", "r0, r1, r2, r3"), 1, 0),
        ("m4", ("vdiv.f32", "s0, s1, s2"), 14, 0), ("m4", ("bfi", "r0, r1, #2, #3"), 1, 0),
        ("rv32", ("lw", "a0,4(a1)"), 2, 0), ("rv32", ("beqz", "a0,100"), 1, 2), ("rv32", ("remu", "a0,a1,a2"), 33, 0),
    ],
)  # fmt: skip
def test_the_model_of_cycles(model, instruction, cycles, taken):
    cost = instruction_cost(model, *instruction)
    assert (cost.cycles, cost.taken) == (cycles, taken)


def test_costs_of_shifts():
    wide, narrow = (chips()[name].costs for name in ("cortex-m0", "avr"))
    assert [wide.shift_by(count) for count in (0, 7, 31)] == [0, 1, 1]
    assert [narrow.shift_by(count) for count in (0, 3, 8, 16, 20)] == [0, 21, 6, 6, 22]
    assert narrow.shift_by(12, 64) == 124


def test_what_is_refused(tmp_path, monkeypatch):
    with pytest.raises(
        bt.BddTorqueError, match=r"chip must be 'cortex-m0', .*, got 'cortex-m00'; did you mean 'cortex-m0'"
    ):
        measure(tmp_path, "cortex-m00", [[0]])
    assert missing_tools("generic32").startswith("chip 'generic32' stands for many: choose one that has a compiler")
    monkeypatch.setattr(emulation, "which", lambda name: None)
    wanted = (
        "chip 'avr' needs avr-gcc, which is not installed: apt-get install gcc-avr avr-libc",
        "chip 'cortex-m4f' needs arm-none-eabi-gcc, which is not installed: apt-get install gcc-arm-none-eabi "
        "libnewlib-arm-none-eabi",
    )
    assert tuple(map(missing_tools, ("avr", "cortex-m4f"))) == wanted
    with pytest.raises(bt.BddTorqueError, match="needs arm-none-eabi-gcc"):
        measure(tmp_path, "cortex-m0", [[0]])
    monkeypatch.setattr(emulation, "which", lambda name: name)
    monkeypatch.setattr(emulation, "find_spec", lambda name: None)
    lacking = "chip 'cortex-m0' needs unicorn, which is not installed: pip install 'bddtorque[chips]'"
    assert missing_tools("cortex-m0") == lacking


def test_code_that_does_not_fit_or_compile_is_refused(tmp_path):
    needs("cortex-m0")
    with pytest.raises(bt.BddTorqueError, match=r"there must be a bddtorque-export\.json with the key 'call'"):
        measure(tmp_path, "cortex-m0", [[0]])
    folder = written(tmp_path / "f", "    return x;")
    with pytest.raises(bt.BddTorqueError, match=r"states must have shape \(N, 2\), N > 0, got \(1, 3\)"):
        measure(folder, "cortex-m0", [[0, 0, 0]])
    with pytest.raises(bt.BddTorqueError, match=r"arm-none-eabi-gcc for chip 'cortex-m0': .* error: 'z' undeclared"):
        measure(written(folder, "    return z;"), "cortex-m0", [[0, 0]])
    large = "    static const int32_t many[100000] = {1, 2, 3};\n    return many[(uint32_t)x % 100000] + y;"
    with pytest.raises(bt.BddTorqueError, match=r"bytes of flash .* do not fit chip 'cortex-m0', which has 262,144"):
        measure(written(folder, large), "cortex-m0", [[0, 0]])
