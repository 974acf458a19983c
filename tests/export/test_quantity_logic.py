"""Netlists of quantities other than torque: words of the evaluator, by the tools of others."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from logic_readers import bits_of, joined
from logic_readers import simulate as run_netlist
from verilog_tools import needs_iverilog, needs_yosys, run

import bddtorque as bt
from bddtorque import export_blif
from bddtorque.export.logic import blif_text
from bddtorque.export.verilog_stages import Circuit, Stage
from bddtorque.export.verilog_sums import sum_stage
from bddtorque.words.integer_range import Range

QUANTITIES = ("gravity", "bias", "mass_matrix", "kinematics", "computed_torque")
LARGE = pytest.mark.everything


@cache
def model_of(quantity: str) -> bt.Model:
    options: dict[str, Any] = {"gains": {"kp": 30.0, "kv": 8.0}} if quantity == "computed_torque" else {}
    return bt.compile("planar2r", quantity=quantity, bits=4, torque="auto", block_bits=8, workers=1, **options)


def some_states(model: bt.Model, count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {
        array.name: np.stack([rng.integers(word.lowest, word.highest, count, endpoint=True) for word in array], axis=1)
        for array in model.formats.inputs
    }


def output_ports(model: bt.Model) -> list[tuple[str, int]]:
    """Return what the words of all outputs are called in a netlist, and their bits."""
    return [
        (output.name, word.bits)
        for output, word in zip(model.plan.outputs, model.formats.results.values(), strict=True)
    ]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_netlist_gives_the_words_of_the_evaluator(quantity: str) -> None:
    model = model_of(quantity)
    states = some_states(model, 300)
    inputs: dict[str, np.ndarray] = {}
    for array in model.formats.inputs:
        for k, word in enumerate(array):
            inputs |= bits_of(f"{array.name}{k + 1}", states[array.name][:, k], word.bits)
    nets = run_netlist(blif_text(model), inputs)
    found = [joined(nets, name, bits) for name, bits in output_ports(model)]
    np.testing.assert_array_equal(np.stack(found, axis=1), model.evaluator().output_words(**states))


@needs_yosys
@needs_iverilog
@pytest.mark.parametrize(
    "quantity",
    [
        "gravity",
        "mass_matrix",
        *(pytest.param(each, marks=LARGE) for each in ("bias", "kinematics", "computed_torque")),
    ],
)
def test_the_netlist_read_by_yosys_and_simulated_by_icarus(quantity: str, tmp_path: Path) -> None:
    model, count = model_of(quantity), 40
    export_blif(model, tmp_path / "gate.blif")
    top = next(line.split()[1] for line in (tmp_path / "gate.blif").read_text().splitlines() if ".model" in line)
    script = f"read_blif gate.blif; hierarchy -top {top}; flatten; opt_clean; rename {top} dut; write_verilog gate.v"
    assert run(["yosys", "-q", "-p", script], tmp_path).returncode == 0
    states = some_states(model, count)
    wanted = model.evaluator().output_words(**states)
    read = {wire.name for wire in model.plan.inputs}  # a netlist has no pins for other inputs
    ports = [
        (f"{array.name}{k}", word.bits, states[array.name][:, k - 1])
        for array in model.formats.inputs
        for k, word in enumerate(array, 1)
        if f"{array.name}{k}" in read
    ]
    outs = output_ports(model)
    pins = [f".{name}_{bit}({name}[{bit}])" for name, bits, *_ in [*ports, *outs] for bit in range(bits)]
    lines = ["module tb;", *(f"reg [{bits - 1}:0] {name};" for name, bits, _ in ports)]
    lines += [
        *(f"wire [{bits - 1}:0] {name};" for name, bits in outs),
        f"dut dut ({', '.join(pins)});",
        "initial begin",
    ]
    for k in range(count):
        lines += [f"{name} = {int(words[k]) % (1 << bits)};" for name, bits, words in ports]
        lines += ["#1;", f'$display("{" ".join(["%0d"] * len(outs))}", {", ".join(name for name, _ in outs)});']
    (tmp_path / "tb.v").write_text("\n".join([*lines, "end", "endmodule", ""]))
    built = run(["iverilog", "-g2001", "-o", "tb", "tb.v", "gate.v"], tmp_path)
    assert (built.returncode, built.stderr) == (0, "")
    printed = [[int(word) for word in line.split()] for line in run(["vvp", "tb"], tmp_path).stdout.splitlines()]
    assert printed == [[int(w) % (1 << bits) for w, (_, bits) in zip(row, outs, strict=True)] for row in wanted]


def test_a_sum_of_one_narrow_word_is_rounded_by_its_sign() -> None:
    """All bits of the word are shifted out, and the bit that rounds is beyond them: the sign again."""
    circuit = Circuit()
    word = circuit.add(Stage((), "x", Range(-128, 127), "input"))
    stage = sum_stage(circuit, [(word, 1)], 0, 9, Range(0, 0))
    assert "[8]" not in circuit.stages[stage].text and "@0[7]" in circuit.stages[stage].text
