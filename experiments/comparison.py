"""All of them together: every machine of the literature and the compiled tables, each built-in arm, one cost model.

Time from a state to its torques, the interval at which torque sets can follow each other, processors, multipliers and
table memory. Three cost models, which differ in what a processor is:

    word steps     a multiplication, an addition, a table load, a bit test, a hop: 1 each
    bit steps      a bit test 1, an addition b, a multiplication b², a load one step for each bit of its index, a hop b;
                   b is the median word of the arm's recursive plan, and tables add words of their own widths
    cell steps     the same, but a multiplier is a row of b cells, one a bit, and takes 2b steps

The number of processors told is that of word steps. What is charged to whom stands at the head of
machines/comparison.py. Everything is measured: on traced graphs, by schedules, or by the simulated array.

    python experiments/comparison.py [--quick]
"""

from __future__ import annotations

from statistics import median
from typing import Any

import matplotlib
from reporting import Check, Rule, arguments, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.dynamics.terms import Terms
from machines.comparison import expanded_terms, literature
from machines.cost_model import CostModel, Machine, bit_steps, cell_steps, unsupported, word_steps
from machines.machine_figure import add_legend, draw_machines
from machines.table_machines import table_machines

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ARMS = ("planar2r", "planar3r_a", "planar3r_b", "scara", "stanford", "puma560", "ur5", "panda")
BITS = 8
MODELS = ("word", "bit", "cell")
RECORDED = {
    "planar2r": ([32, 32], [13, 20, 27, 298], [207, 240]),
    "planar3r_a": ([35, 39], [11, 33, 46, 521], [339, 591]),
    "planar3r_b": ([35, 39], [13, 38, 53, 521], [496, 704]),
    "scara": ([41, 50], [13, 32, 54, 715], [485, 803]),
    "stanford": ([44, 65], [34, 104, 185, 1161], [771, 1945]),
    "puma560": ([44, 64], [39, 139, 197, 1190], [691, 1713]),
    "ur5": ([43, 63], [33, 112, 190, 1190], [696, 3867]),
    "panda": ([45, 73], [42, 169, 348, 1413], [4176, 4292]),
}
"""Word steps of Lathrop's machines, of those that share processors, and bit steps of tables and of recursions."""


def compiled(arm: str) -> list[bt.Model]:
    """Return the arm from its terms, where that is feasible, and from the recursion."""
    terms = "auto" if arm == "panda" else "terms"  # which has too many of them
    models = [bt.compile(arm, bits=BITS, source=each) for each in (terms, "recursive")]
    return models if models[0].plan.source == "terms" else models[1:]


def machines(robot: bt.Robot, models: list[bt.Model], terms: Terms | None, costs: CostModel) -> list[Machine]:
    """Return all machines on one arm."""
    found = literature(robot, costs, terms)
    if all(model.plan.source != "terms" for model in models):
        found.append(unsupported("terms by bits", "bit", "planner: too many harmonics"))
        found.append(unsupported("terms by words", "word", "planner: too many harmonics"))
    for model in models:
        found += table_machines(model, costs)
    return found


def rows_of(arm: str, word: list[Machine], bit: list[Machine], cell: list[Machine]) -> list[dict[str, Any]]:
    """Return one line a machine; an arm that a machine cannot do has no figures, and the note says why."""
    return [
        {
            "arm": arm,
            "machine": each.name,
            "processors": each.processors or "",
            "of": each.unit if each.processors else "",
            "word steps": "" if each.time is None else each.time,
            "interval": "" if each.interval is None else each.interval,
            "bit steps": "" if other.time is None else round(other.time),
            "interval, bit steps": "" if other.interval is None else round(other.interval),
            "cell steps": "" if third.time is None else round(third.time),
            "multipliers": each.multipliers if each.processors else "",
            "messages": each.messages if each.processors else "",
            "table bytes": each.table_bytes or "",
            "note": each.note,
        }
        for each, other, third in zip(word, bit, cell, strict=True)
    ]


def fastest(machines: list[Machine], least: str = "time", most_processors: float = float("inf")) -> Machine:
    """Return the machine of least time (or interval) among those whose torques are of the state alone."""
    able = [each for each in machines if each.time is not None and each.exact and each.processors <= most_processors]
    return min(able, key=lambda each: (getattr(each, least), each.processors))


def winners(found: dict[tuple[str, str], list[Machine]], arms: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return who wins what on each arm."""
    rows = []
    for arm in arms:
        word, bit = found[arm, "word"], found[arm, "bit"]
        n = bt.load_robot(arm).degrees_of_freedom
        cases = {
            "one processor": (fastest(word, most_processors=1), "time"),
            "up to n": (fastest(word, most_processors=n), "time"),
            "any number": (fastest(word), "time"),
            "interval": (fastest(word, "interval"), "interval"),
            "one processor, bits": (fastest(bit, most_processors=1), "time"),
            "any number, bits": (fastest(bit), "time"),
            "any number, cells": (fastest(found[arm, "cell"]), "time"),
        }
        rows.append(
            {"arm": arm}
            | {
                case: f"{each.name} ({getattr(each, kind):.0f}, {each.processors})"
                for case, (each, kind) in cases.items()
            }
        )
    return rows


def draw(found: dict[tuple[str, str], list[Machine]], arms: tuple[str, ...], model: str) -> None:
    """Draw time against processors for each arm, and the interval of piped machines as hollow marks."""
    columns = min(4, len(arms))
    lines = -(-len(arms) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.6 * columns, 4.4 * lines + 1.2), layout="constrained")
    shown: dict[str, Any] = {}
    for axis, arm in zip(axes.flat, arms, strict=False):
        shown = draw_machines(axis, found[arm, model], arm, model) | shown
    for axis in list(axes.flat)[len(arms) :]:
        axis.set_visible(False)
    add_legend(figure, shown, 5)
    figure.suptitle(f"From a state to its torques, tables of {BITS} bits: {model} steps against processors, every arm")
    save_figure(f"comparison_{model}", figure)


def checks_of(found: dict[tuple[str, str], list[Machine]], arms: tuple[str, ...]) -> list[Check]:
    """Hold claims of the papers against the table."""
    checks = []
    rising = Rule("in this order", lambda ours: ours == sorted(ours))
    for arm in arms:
        word = {each.name: each.time for each in found[arm, "word"] if each.time is not None}
        lathrop, hamilton, bits = RECORDED[arm]
        if bt.load_robot(arm).degrees_of_freedom > 2:
            pair = [round(word[name]) for name in ("Lathrop logarithmic", "Lathrop linear")]
            checks.append(Check("LAT", f"{arm}: word steps of logarithmic, linear (n > 2)", pair, lathrop, rising))
        order = ("Hamilton new", "Binder/Herzog", "Luh-Lin", "Newton-Euler general, serial")
        times = [round(word[name]) for name in order]
        checks.append(Check("HAM", f"{arm}: word steps of {', '.join(order)}", times, hamilton, rising))
        best, other = (fastest(each) for each in apart(found[arm, "bit"]))
        checks.append(
            Check("BDD2R", f"{arm}: bit steps of tables, of the fastest recursion, processors without limit",
                  [round(best.time), round(other.time)], bits, rising,
                  note=f"{other.name}; a product is b² steps of one processor")
        )  # fmt: skip
    return checks


def against_recursions(found: dict[tuple[str, str], list[Machine]], arms: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the fastest tables beside the fastest recursion on each arm, in the three cost models: steps, ratio."""
    rows = []
    for arm in arms:
        row: dict[str, Any] = {"arm": arm}
        for model in MODELS:
            tables, recursion = (fastest(each) for each in apart(found[arm, model]))
            assert tables.time is not None
            assert recursion.time is not None
            row[f"{model}: tables"] = round(tables.time)
            row[f"{model}: recursion"] = f"{recursion.time:.0f} ({recursion.name})"
            row[f"{model}: gain"] = round(recursion.time / tables.time, 2)
        rows.append(row)
    return rows


def apart(machines: list[Machine]) -> tuple[list[Machine], list[Machine]]:
    """Return compiled tables, and recursions; Horn and Raibert's look-up is neither."""
    tables = [each for each in machines if " by " in each.name]
    return tables, [each for each in machines if each not in tables and "Raibert" not in each.name]


def main() -> None:
    options = arguments(__doc__)
    arms = ("planar2r", "scara") if options.quick else ARMS
    found: dict[tuple[str, str], list[Machine]] = {}
    rows = []
    for arm in arms:
        models = compiled(arm)
        robot, plan = models[0].robot, models[-1].plan
        terms = expanded_terms(robot)
        b = int(median(plan.bits_of(k) for k in range(len(plan.wires))))
        for costs in (word_steps(BITS), bit_steps(BITS, b), cell_steps(BITS, b)):
            found[arm, costs.name] = machines(robot, models, terms, costs)
        rows += rows_of(arm, *(found[arm, model] for model in MODELS))
    show_table(rows)
    print("\nWho wins (time or interval, processors), torques of the state alone; old data left out\n")
    show_table(winners(found, arms))
    print("\nFastest tables beside the fastest recursion, as many processors as either can use\n")
    gains = against_recursions(found, arms)
    show_table(gains)
    print()
    write_csv("comparison", rows)
    write_csv("comparison_gains", gains)
    for model in ("word", "bit"):
        draw(found, arms, model)
    finish(checks_of(found, arms))


if __name__ == "__main__":
    main()
