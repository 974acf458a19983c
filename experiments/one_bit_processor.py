"""The one-bit processor of the Boolean/BDD paper's section IV beside a word-wide one, on every block of the 2R arm.

The paper argues, without figures, that processors of a single bit which can only test and branch would suit its scheme
better than byte-wide ones. Here both are run: a diagram is lowered to BRANCH and OUTPUT instructions, and to three
programs of a word-wide processor of 32 bits (the same tests as code, one walk to a whole word, a table of words). All
give the block's words at every input; instructions, memory and bit steps (instructions times the processor's width) are
counted as they run.

    python experiments/one_bit_processor.py [--quick]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from reporting import Check, Rule, arguments, below, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.forms.bit_forms import Bits
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Lookup, Product
from machines.boolean.one_bit import one_bit_program
from machines.boolean.word_wide import (
    INSTRUCTION_BITS,
    bit_test_program,
    table_program,
    word_test_program,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

WAYS = ("one-bit", "bit tests", "word tests", "table")
TESTS = {
    False: [(20, 20)] * 5 + [(10, 10)] * 2 + [(20, 20), (10, 10), (20, 20), (10, 10)],
    True: [(14, 14)] * 5 + [(7, 7)] * 2 + [(14, 14), (7, 7), (14, 14), (7, 7)],
}
"""The most tests of an output bit and the input bits v of every block, by `--quick`."""
BIT_STEPS = {False: 0.014, True: 0.0133}
"""Bit steps of the one-bit processor over those of a word-wide one that does the same tests, by `--quick`."""
COLOURS = dict(zip(WAYS, ("tab:red", "tab:orange", "tab:green", "tab:blue"), strict=True))


@dataclass(frozen=True)
class Counted:
    """One way to compute one block, over all its inputs."""

    way: str
    width: int
    mean: float
    worst: int
    memory_bits: int
    right: bool


def count(table: Table, diagram: Diagram) -> tuple[list[Counted], dict[str, Any]]:
    """Return each way counted on every input, and what is particular to the one-bit processor."""
    indices = np.arange(len(table.values), dtype=np.int64)
    words = table.values.astype(np.int64) & ((1 << table.output_bits) - 1)
    shared = one_bit_program(diagram)
    bits, executed = shared.run(indices)
    right = bool(np.array_equal((bits << np.arange(table.output_bits)).sum(axis=1), words))
    serial = executed.sum(axis=1)
    found = [Counted("one-bit", 1, float(serial.mean()), int(serial.max()), shared.code_bits, right)]
    programs = {
        "bit tests": bit_test_program(diagram, table.input_widths),
        "word tests": word_test_program(table, diagram.order),
        "table": table_program(table),
    }
    for way, program in programs.items():
        given, steps = program.run(indices)
        memory = program.code_bits + program.data_bits
        same = bool(np.array_equal(given, words))
        found.append(Counted(way, INSTRUCTION_BITS, float(steps.mean()), int(steps.max()), memory, same))
    alone = [one_bit_program(diagram, [bit]) for bit in range(table.output_bits)]
    tests = Bits.from_diagram(diagram).count_tests(indices)
    own = {
        "instructions": len(shared),
        "jumps": shared.jumps,
        "instruction bits": shared.instruction_bits,
        "most tests": int(tests.max()),
        "processor a bit: steps": int(executed.max()),
        "processor a bit: code bits": sum(program.code_bits for program in alone),
    }
    return found, own


def named_blocks(model: bt.Model) -> dict[int, str]:
    """Return a name for each block: its number, and what reads it first."""
    wires, names = model.plan.wires, {}
    for wire in wires:
        if isinstance(wire, Lookup):
            names.setdefault(wire.block, f"b{wire.block} {wire.name}")
        elif isinstance(wire, Product):
            names.setdefault(wire.block, f"b{wire.block} {wires[wire.left].name} × {wires[wire.right].name}")
    return names


def draw(rows: list[dict[str, Any]], bits: int) -> None:
    """Draw instructions, bit steps and memory of every block, way by way."""
    blocks = list(dict.fromkeys(row["block"] for row in rows))
    figure, axes = plt.subplots(1, 3, figsize=(15, 5.2), layout="constrained", sharey=True)
    quantities = ("instructions, mean", "bit steps, mean", "memory bits")
    for axis, quantity in zip(axes, quantities, strict=True):
        for k, way in enumerate(WAYS):
            values = [next(row[quantity] for row in rows if (row["block"], row["way"]) == (b, way)) for b in blocks]
            place = np.arange(len(blocks)) + (k - 1.5) * 0.2
            axis.barh(place, values, 0.19, color=COLOURS[way], label=way if way == "one-bit" else f"word-wide, {way}")
        axis.set_xscale("log")
        axis.set_xlim(left={"instructions, mean": 1, "bit steps, mean": 10, "memory bits": 1000}[quantity])
        axis.set_title(quantity)
        axis.grid(alpha=0.3, axis="x", which="both")
    labels = [f"{b}\n{next(row['input bits'] for row in rows if row['block'] == b)} input bits" for b in blocks]
    axes[0].set_yticks(range(len(blocks)), labels, fontsize=8)
    axes[0].invert_yaxis()
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    figure.suptitle(
        f"A whole word of every block of the 2R arm, {bits}-bit torques by the paper's rule: "
        "one-bit processor beside a word-wide one of 32 bits"
    )
    save_figure("one_bit_processor", figure)


def main() -> None:
    options = arguments(__doc__)
    bits = 5 if options.quick else 8
    model = bt.compile("planar2r", bits=bits, accuracy="paper")
    names = named_blocks(model)
    rows, own = [], []
    for block, (table, diagram) in enumerate(zip(model.tables, model.diagrams, strict=True)):
        found, particular = count(table, diagram)
        for each in found:
            rows.append(
                {
                    "block": names[block],
                    "input bits": table.input_bits,
                    "output bits": table.output_bits,
                    "nodes": diagram.node_count,
                    "way": each.way,
                    "instructions, mean": round(each.mean, 1),
                    "worst": each.worst,
                    "bit steps, mean": round(each.mean * each.width, 1),
                    "memory bits": each.memory_bits,
                    "right": each.right,
                }
            )
        own.append({"block": names[block], "v": table.input_bits, "nodes": diagram.node_count, **particular})
    print(f"2R arm, torques of {bits} bits by the paper's rule; a whole word of each block, every input\n")
    show_table(rows)
    print("\nThe one-bit processor by itself; with one processor an output bit, each has its own program\n")
    show_table(own)
    sums = ("instructions, mean", "bit steps, mean", "memory bits")
    total = {way: {key: float(sum(row[key] for row in rows if row["way"] == way)) for key in sums} for way in WAYS}
    print("\nAll blocks once\n")
    show_table([{"way": way, **each} for way, each in total.items()])
    print()
    shares = [total["one-bit"][key] / total["table"][key] for key in sums]
    print(
        f"Beside a word-wide table, of which the paper does not speak, the one-bit processor takes\n"
        f"{shares[1]:.2f} of the bit steps and {shares[2]:.2f} of the memory but {shares[0]:.1f} times\n"
        "the instructions.\n"
    )
    write_csv("one_bit_processor", rows)
    draw(rows, bits)
    one, same = (total[way]["bit steps, mean"] for way in ("one-bit", "bit tests"))
    tests = [(each["most tests"], each["v"]) for each in own]
    finish(
        [
            Check("F42", "most tests of an output bit beside v, block by block", tests, TESTS[options.quick],
                  Rule("at most v", lambda ours: all(most <= v for most, v in ours))),
            Check("ours", "programs that are right at every input", sum(row["right"] for row in rows), len(rows)),
            Check("BDD2R section IV", "bit steps, one-bit over the same tests word-wide", one / same,
                  near(BIT_STEPS[options.quick], absolute=5e-4), Rule("fewer", below(1).holds)),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
