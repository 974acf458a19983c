"""The Coriolis term of the 2R arm, one direct table of 3W input bits against a cascade of two blocks of 2W (F41, F46).

The paper splits −2·m2·r1·r2·sin(q2)·q̇1·q̇2 = −10·S2·q̇1·q̇2 into u = S2·q̇1 and −10·u·q̇2 because 2^(3W) rows are too
many, and expects about the same time on line. Both ways are built here by the planner itself and run by the same
machine: bit by bit, one after another and side by side, and by whole words.

    python experiments/direct_or_cascade.py [--quick]
"""

from __future__ import annotations

import time
from fractions import Fraction

import matplotlib
import numpy as np
from reporting import TIMED, Check, Rule, arguments, at_most, between, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.dynamics.tracer import Tracer
from bddtorque.evaluate.code_writer import plans_folder
from bddtorque.evaluate.straight import straight
from bddtorque.plan.bound import compose_bounds
from bddtorque.plan.forms import BIT_FORMS, Bits, make_form
from bddtorque.plan.reduction import reduce
from bddtorque.plan.tabulate import tabulate
from bddtorque.spec import load_spec
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.tables.cover import Choices, cover

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RANGE = 400.0
"""N·m, of the torque words: ±200 as in the paper."""
STATES = 500_000
REPEATS = 5
SHOWN = {"bits": ":", "lockstep": "-.", "dense": "-"}
"""Forms that are run, and how each is drawn."""
TESTS = {5: 4.87, 6: 3.09, 7: 2.82, 8: 2.26}
"""Bit tests of the cascade over those of the direct table, by W."""


def term() -> object:
    """Return the graph of the term."""
    tracer = Tracer()
    sine = tracer.sin(tracer.input("q2"))
    return tracer.graph([-10.0 * sine * tracer.input("qd1") * tracer.input("qd2")], ["tau1"])


def measure(W: int, way: str) -> list[dict[str, object]]:
    """Build one way at one word length; return a row for each form it was run in."""
    robot, spec = bt.load_robot("planar2r"), load_spec("planar2r").with_options(bits=W)
    formats = spec.formats(robot)
    arguments = formats.arguments
    lsb = Fraction(RANGE) / (1 << W)
    target = OutputFormat("tau1", lsb, -(1 << (W - 1)), (1 << (W - 1)) - 1)
    start = time.perf_counter()
    if way == "direct":
        plan = cover(term(), arguments, [target], Choices((0,), 0), 3 * W)
    else:
        plan = cover(term(), arguments, [target], Choices((0,), 0, (W,)), 2 * W)
    tables, facts = zip(*map(tabulate, plan.blocks), strict=True)
    tabulated = time.perf_counter()
    diagrams = [reduce(table).diagram for table in tables]
    reduced = time.perf_counter()
    rng = np.random.default_rng(W)
    tests = [
        Bits.from_diagram(diagram).count_tests(rng.integers(0, len(table.values), 4000)).sum(axis=1).mean()
        for table, diagram in zip(tables, diagrams, strict=True)
    ]
    (bound,) = compose_bounds(plan, {name: each.scale for name, each in arguments.items()}, facts)
    q, qd, qdd = (rng.integers(-(1 << (W - 1)), 1 << (W - 1), (STATES, 2)) for _ in range(3))
    values = [formats.q[1].dequantise(q[:, 1]), formats.qd[0].dequantise(qd[:, 0]), formats.qd[1].dequantise(qd[:, 1])]
    true = -10.0 * np.sin(values[0]) * values[1] * values[2] / float(lsb)
    rows = []
    for name in SHOWN:
        made = [make_form(name, table, diagram) for table, diagram in zip(tables, diagrams, strict=True)]
        code = straight(plan, formats, tables, plans_folder(), False, made if name in BIT_FORMS else ())
        tau, counts = np.zeros((STATES, 2), dtype=np.int64), np.zeros(6, dtype=np.int64)
        code.states((q, qd, qdd), tau, code.table, counts)  # compiled
        times = []
        for _ in range(REPEATS):
            begun = time.perf_counter()
            code.states((q, qd, qdd), tau, code.table, counts)
            times.append(time.perf_counter() - begun)
        rows.append(
            {
                "W": W,
                "way": way,
                "input_bits": max(sum(block.input_widths) for block in plan.blocks),
                "blocks": len(plan.blocks),
                "rows": sum(len(table.values) for table in tables),
                "nodes": sum(diagram.node_count for diagram in diagrams),
                "tests": round(float(sum(tests)), 1),
                "tabulate_s": round(tabulated - start, 3),
                "reduce_s": round(reduced - tabulated, 3),
                "form": name,
                "ns_per_state": round(min(times) / STATES * 1e9, 1),
                "error_found": round(float(np.abs(tau[:, 0] - true).max()), 4),
                "error_proved": round(bound.total, 4),
            }
        )
    return rows


def expected(W: int, way: str) -> tuple[int, float]:
    """Return rows and largest error in units of W bits: 2^(3W) and 1/2, or 2·2^(2W) and what u in W bits adds.

    u in [-1, 1] in W bits adds 10/2^W N·m, 0.025 units. That takes a word filled to its ends; its unit is a power of
    two times the torque's, so that sums need no factors, and it may be filled to just above one half.
    """
    return (1 << (3 * W), 0.5) if way == "direct" else (2 << (2 * W), 0.5 + 2 * 10.0 / RANGE)


def checks_of(found: list[dict[str, object]]) -> list[Check]:
    """Check sizes and errors of every way, and compare what the two take on line."""
    checks = []
    for W, way in dict.fromkeys((row["W"], row["way"]) for row in found):
        one = next(row for row in found if (row["W"], row["way"]) == (W, way))
        rows, error = expected(W, way)
        bits = (3 if way == "direct" else 2) * W
        checks += [
            Check("F41", f"W = {W}, {way}: input bits of a block", one["input_bits"], bits, bits),
            Check("F41", f"W = {W}, {way}: rows", one["rows"], rows, rows),
            Check("ours", f"W = {W}, {way}: largest error found", one["error_found"], at_most(one["error_proved"])),
            Check("ours", f"W = {W}, {way}: error proved", one["error_proved"], at_most(error)),
        ]
    lengths = list(dict.fromkeys(row["W"] for row in found))
    same = Rule("the same order", between(0.2, 5).holds)

    def ratios(form: str, figure: str) -> list[float]:
        both = {(row["W"], row["way"]): row[figure] for row in found if row["form"] == form}
        return [both[W, "cascade"] / both[W, "direct"] for W in lengths]

    over = f"of the cascade over the direct table, W = {', '.join(map(str, lengths))}"
    counted = near([TESTS[W] for W in lengths], absolute=0.005)
    checks.append(Check("F46", f"bit tests {over}", ratios("bits", "tests"), counted, same))
    for name in SHOWN:
        paper = None if name == "dense" else same  # the paper has no table that is looked up as it is
        checks.append(Check("F46", f"time {over}, {name}", ratios(name, "ns_per_state"), TIMED, paper))
    return checks


def draw(found: list[dict[str, object]]) -> None:
    """Draw rows, nodes, building and running time over the word length."""
    figure, axes = plt.subplots(1, 4, figsize=(15, 3.8), layout="constrained")
    colours = {"direct": "tab:red", "cascade": "tab:blue"}
    for way, colour in colours.items():
        mine = [row for row in found if row["way"] == way and row["form"] == "dense"]
        W = [row["W"] for row in mine]
        axes[0].semilogy(W, [row["rows"] for row in mine], "o-", color=colour, label=way)
        axes[1].semilogy(W, [row["nodes"] for row in mine], "o-", color=colour, label=way)
        seconds = [row["tabulate_s"] + row["reduce_s"] for row in mine]
        axes[2].semilogy(W, seconds, "o-", color=colour, label=way)
        for name, style in SHOWN.items():
            times = [row["ns_per_state"] for row in found if row["way"] == way and row["form"] == name]
            axes[3].semilogy(W, times, f"o{style}", color=colour, label=f"{way}, {name.replace('_', ' ')}")
    for axis, title in zip(axes, ("rows", "diagram nodes", "building, s", "one state, ns"), strict=True):
        axis.set_title(title)
        axis.set_xlabel("W, bits of a word")
        axis.set_xticks(sorted({row["W"] for row in found}))
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize=7)
    axes[3].set_ylim(top=axes[3].get_ylim()[1] * 6)  # room for the legend
    axes[3].legend(fontsize=7, ncols=2, loc="upper left")
    figure.suptitle("Coriolis term −10 S2 q̇1 q̇2: one table of 3W bits against a cascade of two of 2W")
    save_figure("direct_or_cascade", figure)


def main() -> None:
    lengths = (5, 6) if arguments(__doc__).quick else (6, 7, 8)
    measure(4, "cascade")  # what Numba compiles is not counted
    found = [row for W in lengths for way in ("direct", "cascade") for row in measure(W, way)]
    show_table(found)
    write_csv("direct_or_cascade", found)
    draw(found)
    finish(checks_of(found))


if __name__ == "__main__":
    main()
