"""The compiled tables as a controller of the planar arms A and B, at 8, 10 and 12 bits, beside float.

Four controllers: float; float torques of quantised positions, velocities and commands; the same rounded to torque
words; the compiled tables (their kernel runs inside the compiled loop). So it is seen what words of the inputs cost,
what words of the torques add, and what the tables add. Limit period: the shortest at which some joint is ever further
than 0.2 rad off. Speculative machines are checked too: converged on frozen words they agree with the tables within the
certificate.

    python experiments/closed_loop_tables.py [--quick]
"""

from __future__ import annotations

import math

import matplotlib
import numpy as np
from reporting import Check, Rule, arguments, at_most, between, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from machines.control.closed_loop import FAST, SLOW, Experiment, Run, simulate
from machines.control.closed_loop_words import WordsLoop
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import (
    BINDER_HERZOG,
    METHODS,
    NEW,
    SERIAL,
    Method,
    iterations_to_exact,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ON_WORDS = ("float on words", "rounded float", "tables")
TASKS = {"slow": SLOW, "fast": FAST}
PERIODS_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
LIMIT_PERIODS = {"A": (96, 3.6), "B": (106, 12.6)}
"""ms, of the tables and of old data, in steps of 5 %."""
TOO_FAR = 0.2
"""rad, for the limit period; the float loop's own error stays below a tenth of it."""


class Controllers:
    """All controllers of one arm by name; the compiled ones by word length."""

    def __init__(self, name: str, bits: tuple[int, ...]) -> None:
        self.robot = bt.load_robot(name)
        self.loops = {r: WordsLoop(bt.compile(name, bits=r)) for r in bits}
        self.names = ["float"] + [f"{kind}, {r} bits" for r in bits for kind in ON_WORDS]

    def run(self, controller: str, period: float, experiment: Experiment) -> Run:
        """Simulate under one of `names`."""
        if controller == "float":
            return simulate(self.robot, SERIAL, period, experiment)
        kind, _, rest = controller.rpartition(", ")
        return self.loops[int(rest.split()[0])].simulate(kind, period, experiment)


def tracking(arm: str, controllers: Controllers) -> list[dict[str, object]]:
    """Return the rms errors over controllers, tasks and periods."""
    rows = []
    for task, motion in TASKS.items():
        for controller in controllers.names:
            row: dict[str, object] = {"arm": arm, "task": task, "controller": controller}
            for ms in PERIODS_MS:
                run = controllers.run(controller, ms * 1e-3, Experiment(motion))
                row[f"{ms:g} ms"] = run.rms_norm() if run.tracks else math.nan
            rows.append(row)
    return rows


def limit_period(run, start: float, step: float = 1.05) -> float:
    """Return the first period (ms), in even ratios from `start`, at which a run is lost; infinity if none to 150 ms."""
    ms = start
    while ms < 150:
        if not run(ms * 1e-3).tracks:
            return ms
        ms *= step
    return math.inf


def limits(arm: str, controllers: Controllers) -> list[dict[str, object]]:
    """Return the limit periods of all controllers on the slow task, old data beside them."""
    strict = Experiment(SLOW, too_far=TOO_FAR)
    rows = [
        {
            "arm": arm,
            "controller": name,
            "limit period, ms": limit_period(lambda T, n=name: controllers.run(n, T, strict), 40.0),
        }
        for name in controllers.names
    ]

    def old(method: Method) -> float:
        return limit_period(lambda T: simulate(controllers.robot, method, T, strict), 1.0)

    return rows + [
        {"arm": arm, "controller": f"float, {method.name}", "limit period, ms": old(method)}
        for method in (BINDER_HERZOG, NEW)
    ]


def converged(model: bt.Model, states: int) -> list[Check]:
    """Compare the tables with every method's torques on frozen words, after as many iterations as it takes."""
    random = np.random.default_rng(3)
    bits = model.formats.q[0].bits
    words = [random.integers(-(1 << (bits - 1)), 1 << (bits - 1), (states, 3)) for _ in range(3)]
    values = [getattr(model.formats, name).dequantise(w) for name, w in zip(("q", "qd", "qdd"), words, strict=True)]
    formats = model.formats.tau
    compiled, checks = model.torque_words(*words), []
    for method in METHODS:
        machine, count = (
            SpeculativeMachine(model.robot, method, HAMILTON),
            iterations_to_exact(HAMILTON, method, ["revolute"] * 3),
        )
        tau = machine.step(*(np.repeat(rows, count, axis=0) for rows in values))[count - 1 :: count]
        units = tau / [each.lsb for each in formats]
        units = np.clip(units, [each.lowest for each in formats], [each.highest for each in formats])
        worst = np.abs(compiled - units).max(axis=0)
        what = f"{model.robot.name}, {bits} bits: tables against converged {method.name}, units"
        checks.append(Check("ours", what, list(worst), at_most(np.array(model.certificate.bounds) + 1e-9)))
    return checks


def compared(rows: list[dict[str, object]], found: list[dict[str, object]], bits: tuple[int, ...]) -> list[Check]:
    """Check what the tables show."""
    checks = []
    close = Rule("words < tables < 2 × rounded", lambda ours: ours[0] < ours[2] < 2 * ours[1])
    for arm in dict.fromkeys(row["arm"] for row in rows):
        slow = {row["controller"]: row for row in rows if (row["arm"], row["task"]) == (arm, "slow")}
        for r in bits:
            errors = [float(slow[f"{kind}, {r} bits"]["1 ms"]) for kind in ON_WORDS]
            what = f"{arm}, {r} bits, slow task at 1 ms: error of words, rounded, tables"
            checks.append(Check("ours", what, errors, close))
        falls = float(slow[f"tables, {bits[0]} bits"]["1 ms"]) / float(slow[f"tables, {bits[-1]} bits"]["1 ms"])
        finer = 2 ** (bits[-1] - bits[0])
        what = f"{arm}: error of the tables at {bits[0]} bits over {bits[-1]} bits"
        checks.append(Check("ours", what, falls, between(0.4 * finer, 4 * finer)))
        period = {row["controller"]: float(row["limit period, ms"]) for row in found if row["arm"] == arm}
        checks.append(
            Check("ours", f"{arm}: limit period, ms, of the tables (worst word length), of old data (new)",
                  (min(period[f"tables, {r} bits"] for r in bits), period["float, new"]),
                  near(LIMIT_PERIODS[arm], relative=0.06), goal=Rule("ten times old data", lambda o: o[0] > 10 * o[1]))
        )  # fmt: skip
    return checks


def draw(rows: list[dict[str, object]], found: list[dict[str, object]]) -> None:
    """Draw tracking errors over the period, and limit periods."""
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    figure, axes = plt.subplots(len(arms), 3, figsize=(15, 4.6 * len(arms)), layout="constrained", squeeze=False)
    styles = {"float on words": ":", "rounded float": "--", "tables": "-"}
    for line, arm in zip(axes, arms, strict=True):
        for axis, task in zip(line, TASKS, strict=False):
            for row in (r for r in rows if (r["arm"], r["task"]) == (arm, task)):
                name = str(row["controller"])
                kind, r = name.rpartition(", ")[0], name.split()[-2] if name != "float" else ""
                style = styles.get(kind, "-")
                colour = {"": "black", "8": "tab:red", "10": "tab:orange", "12": "tab:blue"}[r]
                axis.loglog(PERIODS_MS, [row[f"{ms:g} ms"] for ms in PERIODS_MS], style, color=colour, label=name)
            axis.set(title=f"robot {arm}, {task} task", xlabel="sampling period, ms", ylabel="rms error, rad")
            axis.grid(alpha=0.3, which="both")
        mine = [row for row in found if row["arm"] == arm]
        line[2].barh(
            [str(row["controller"]) for row in mine], [float(row["limit period, ms"]) for row in mine], color="tab:gray"
        )
        line[2].set(xscale="log", xlim=(1, 200), title=f"robot {arm}: limit period, ms (slow task)")
        line[2].invert_yaxis()
        line[2].tick_params(axis="y", labelsize=8)
        line[2].grid(alpha=0.3, axis="x", which="both")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    figure.suptitle("Compiled tables in closed loop beside float, and what words alone cost")
    save_figure("closed_loop_tables", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    bits = (8,) if quick else (8, 10, 12)
    rows, found, checks = [], [], []
    for letter in "B" if quick else "AB":
        controllers = Controllers(f"planar3r_{letter.lower()}", bits)
        rows += tracking(letter, controllers)
        found += limits(letter, controllers)
        checks += converged(controllers.loops[8].model, 200 if quick else 2000)
    show_table(rows)
    print()
    show_table(found)
    print()
    write_csv("closed_loop_tables", rows)
    write_csv("closed_loop_limit_periods", found)
    if not quick:
        checks += compared(rows, found, bits)
    draw(rows, found)
    finish(checks)


if __name__ == "__main__":
    main()
