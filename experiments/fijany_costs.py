"""Fijany and Bejczy's triangular array, simulated: cost, hops and messages of each phase beside the print (F16 to F21).

Every processor runs its own programme on its own words and talks to nearest neighbours; the simulator counts. Formulas
are fitted to runs at n = 4, 8, 16, 32 and hold there exactly, or the script fails.

    python experiments/fijany_costs.py [--quick]
"""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from reporting import EQUAL, Check, Rule, arguments, below, finish, save_figure, show_table, write_csv

import bddtorque as bt
from machines.fijany.array_costs import (
    PRINTED,
    SUM_OF_PARTS,
    CostFormula,
    doublings_of,
    fitted,
    heading_costs,
    measured_costs,
)
from machines.fijany.forward_array import PHASES_OF, run_array, trace_array
from machines.fijany.links import arm_constants
from machines.fijany.owned_words import ArrayCosts, Path
from machines.forward.serial_forward import inertia_matrix, project
from machines.generic_arms import generic_arm

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def phase_rows(n: int) -> list[dict[str, Any]]:
    """Return what every phase took for n joints."""
    run = measured_costs(n)
    return [
        {
            "phase": name,
            "m": record.path.multiplications,
            "a": record.path.additions,
            "printed": str(PRINTED[name].at(n)[:2]) if name in PRINTED else "",
            "hops": record.hops,
            "messages": record.messages,
            "words": record.words,
            "m of all": record.work.multiplications,
            "a of all": record.work.additions,
        }
        for name, record in run.phases.items()
    ]


def arm_rows() -> list[dict[str, Any]]:
    """Return what the array takes for the built-in arms of revolute joints, with barriers and without."""
    rows = []
    for name in ("planar2r", "planar3r_a", "planar3r_b", "puma560", "ur5", "panda"):
        robot = bt.load_robot(name)
        n = robot.degrees_of_freedom
        state, hop = np.linspace(0.2, 0.9, n), ArrayCosts(hop=1.0)
        run = run_array(robot, state, state, state)
        total = heading_costs(run)["total"]
        driven = run_array(robot, state, state, state, barriers=False).phases["output"].path
        priced = run_array(robot, state, state, state, costs=hop, barriers=False).phases["output"].path
        counts = trace_array(robot).counts()
        rows.append(
            {
                "arm": name,
                "n": n,
                "processors": len(run.array),
                "m": total.multiplications,
                "a": total.additions,
                "time": total.time(ArrayCosts()),
                "time, data-driven": driven.time(ArrayCosts()),
                "and a hop = 1": priced.time(hop),
                "messages": sum(record.messages for record in run.phases.values()),
                "operations of all": sum(sum(record.work) for record in run.phases.values()),
                "distinct, before solving": counts["sums"] + counts["products"],
            }
        )
    return rows


def formulas(sizes: tuple[int, ...]) -> dict[str, CostFormula]:
    """Return the formula of every phase and heading, fitted to powers of two."""
    found = {n: heading_costs(measured_costs(n)) for n in sizes}
    return {name: fitted({n: found[n][name] for n in sizes}) for name in found[sizes[0]]}


def cost_checks(found: dict[str, CostFormula]) -> list[Check]:
    """Set measured formulas beside the printed ones."""
    checks = [
        Check("F20" if name == "inertia matrix" else "FIJ", f"cost of {name}", found[name], formula, formula)
        for name, formula in PRINTED.items()
        if name not in ("bias", "total", "articulated body")
    ]
    own, shared = CostFormula(Path(), Path(0, 15), Path(90, 62)), "ours has K from (22) and projects no inertia twice"
    again, total = (
        CostFormula(Path(), Path(0, 15), Path(144, 98)),
        CostFormula(Path(3, 2), Path(33, 48), Path(197, 132)),
    )
    return [
        *checks,
        Check("FIJ", "bias as simulated", found["bias"], own, PRINTED["bias"], shared),
        Check("FIJ", "bias and a second (22)", found["bias"] + found["(22) K"], again, PRINTED["bias"]),
        Check("F21", "total: the printed parts added up", str(SUM_OF_PARTS), "(3m+2a)n + (33m+48a)L + (248m+171a)",
              str(PRINTED["total"]), note="a misprint"),
        Check("F21", "total as simulated", found["total"], total, PRINTED["total"], shared),
    ]  # fmt: skip


def array_checks(sizes: tuple[int, ...]) -> list[Check]:
    """Check results against Newton-Euler, and the claims about the array."""
    worst = {"serial": 0.0, "array": 0.0, "solution": 0.0}
    for n in range(1, 10):
        robot, random = generic_arm(n, n), np.random.default_rng(n)
        q, qd, tau = random.uniform(-3, 3, (3, 12, n))
        run, A = run_array(robot, q, qd, tau), bt.mass_matrix(robot, q)
        arm = arm_constants(robot)
        serial = np.array([inertia_matrix(project(arm, list(np.sin(row)), list(np.cos(row)))) for row in q])
        worst["serial"] = max(worst["serial"], np.abs(serial - A).max() / np.abs(A).max())
        worst["array"] = max(worst["array"], np.abs(run.inertia - A).max() / np.abs(A).max())
        left = bt.inverse_dynamics(robot, q, qd, run.accelerations) - tau
        worst["solution"] = max(worst["solution"], np.abs(left).max() / np.abs(tau).max())
    runs = {n: measured_costs(n) for n in sizes}
    steps = [run.phases["(17) R(n+1,j)"].path.multiplications // 27 for run in runs.values()]
    hops = [sum(run.hops(heading) for heading in PHASES_OF) for run in runs.values()]
    channels = [sum(map(bool, run.array.outputs.values())) for run in runs.values()]
    logarithmic = Rule("ceil(log2 n)", lambda ours: ours == [doublings_of(n) for n in sizes])
    linear = Rule("O(n)", lambda ours: all(count < 13 * n for count, n in zip(ours, sizes, strict=True)))
    tried = f"n = {', '.join(map(str, sizes))}"
    return [
        Check("F16", "inertia matrix, serial, n = 1 to 9", worst["serial"], below(1e-12), EQUAL),
        Check("F16", "inertia matrix, array, n = 1 to 9", worst["array"], below(1e-12), EQUAL),
        Check("F17", "torques of its accelerations, n = 1 to 9", worst["solution"], below(1e-12), EQUAL),
        Check("F18", "processors, n = 6", len(runs[6].array), 21, 21),
        Check("F19", f"doublings of (17), {tried}", steps, [doublings_of(n) for n in sizes], logarithmic),
        Check("FIJ", f"hops of all phases, {tried}", hops, [13 * n - 12 for n in sizes], linear),
        Check("FIJ", f"channels by which Qdd leaves column 1, {tried}", channels, list(sizes),
              Rule("n", lambda ours: ours == list(sizes))),
    ]  # fmt: skip


def draw_costs(found: dict[str, CostFormula], sizes: tuple[int, ...]) -> None:
    """Draw the measured time of each heading over n, and the printed formulas as lines."""
    unit = ArrayCosts()
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    runs = {n: heading_costs(measured_costs(n)) for n in sizes}
    line = list(range(2, max(sizes) + 1))
    for heading, colour in zip(("step 1", "step 2", "step 3", "bias", "solve"), plt.cm.tab10.colors, strict=False):
        left.plot(line, [PRINTED[heading].at(n).time(unit) for n in line], color=colour, lw=1)
        left.plot(sizes, [runs[n][heading].time(unit) for n in sizes], "o", ms=4, color=colour, label=heading)
    left.set_title("longest path by step: lines as printed, dots as simulated")
    for formula, label, style in (
        (SUM_OF_PARTS, "printed parts, added up (248m)", "-"),
        (PRINTED["total"], "printed total (238m)", "--"),
        (found["total"], "formula fitted to the simulation", ":"),
    ):
        right.plot(line, [formula.at(n).time(unit) for n in line], style, color="black", lw=1, label=label)
    right.plot(sizes, [runs[n]["total"].time(unit) for n in sizes], "o", ms=4, color="tab:red", label="simulated")
    hop = ArrayCosts(hop=1.0)
    priced = [sum(r.path.time(hop) for r in measured_costs(n, hop).phases.values()) for n in sizes]
    right.plot(sizes, priced, "s-", ms=4, lw=1, color="tab:blue", label="simulated, a hop costs as much as an addition")
    right.set_title("the whole of forward dynamics")
    for axis in (left, right):
        axis.set_xlabel("n, joints")
        axis.set_ylabel("time, one unit per operation")
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    left.set_ylim(top=410)  # room for the legend
    left.legend(fontsize=8, ncols=5, loc="upper left")
    right.legend(fontsize=8)
    figure.suptitle("Fijany and Bejczy's triangular array: what every step takes")
    save_figure("fijany_costs", figure)


def draw_array(n: int) -> None:
    """Draw the triangle: operations and messages of each processor, and how long it waits for Gamma."""
    costs = ArrayCosts(hop=1.0)
    run = measured_costs(n, costs, barriers=False)
    done = run.phases["(30) a"].paths
    panels = {
        "operations": {(p.row, p.column): p.multiplications + p.additions for p in run.array},
        "messages sent": {(p.row, p.column): p.messages for p in run.array},
        "wait from own a_ji to the solution": {
            place: path.time(costs) - done[place].time(costs)
            for place, path in run.phases["solve"].triggered.items()
            if place[1] > 1
        },
    }
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.8), layout="constrained")
    for axis, (title, values) in zip(axes, panels.items(), strict=True):
        grid = np.full((n, n), np.nan)
        for (row, column), value in values.items():
            grid[row - 1, column - 1] = value
        image = axis.imshow(grid, cmap="viridis", extent=(0.5, n + 0.5, n + 0.5, 0.5))
        middle = (np.nanmin(grid) + np.nanmax(grid)) / 2
        for (row, column), value in values.items():
            colour = "white" if value < middle else "black"
            axis.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=7, color=colour)
        axis.set_title(title)
        axis.set_xlabel("column i")
        axis.set_ylabel("row j")
        axis.set_xticks(range(1, n + 1))
        axis.set_yticks(range(1, n + 1))
        figure.colorbar(image, ax=axis, shrink=0.8)
    figure.suptitle(
        f"The array for n = {n}, data-driven, a hop as dear as an operation: column 1 has the bias too, the others wait"
    )
    save_figure("fijany_array", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    powers = (4, 8, 16) if quick else (4, 8, 16, 32)
    sizes = (2, 3, 4, 6, 8, 12) if quick else (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32)
    print("n = 6, phase by phase: longest path, longest chain of hops, and totals over the 21 processors")
    rows = phase_rows(6)
    show_table(rows)
    write_csv("fijany_costs", rows)
    print("\nbuilt-in arms; times in units of one operation")
    rows = arm_rows()
    show_table(rows)
    write_csv("fijany_arms", rows)
    print("\nL = ceil(log2 n); formulas are measured at n = " + ", ".join(map(str, powers)))
    found = formulas(powers)
    draw_costs(found, sizes)
    draw_array(8)
    finish([*cost_checks(found), *array_checks(sizes)])


if __name__ == "__main__":
    main()
