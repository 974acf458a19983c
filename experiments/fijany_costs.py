"""Fijany and Bejczy's triangular array, simulated: cost, hops and messages of each phase beside the print (F16 to F21).

Every processor runs its own programme on its own words and talks to nearest neighbours; the simulator counts. Formulas
are fitted to runs at n = 4, 8, 16, 32 and hold there exactly, or the script fails.

    python experiments/fijany_costs.py [--quick]
"""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from reporting import Verdicts, arguments, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.machines.fijany.fijany_costs import (
    PRINTED,
    SUM_OF_PARTS,
    CostFormula,
    doublings_of,
    fitted,
    heading_costs,
    measured_costs,
)
from bddtorque.machines.fijany.fijany_machine import PHASES_OF, run_array, trace_array
from bddtorque.machines.fijany.generic_arms import generic_arm
from bddtorque.machines.fijany.links import arm_constants
from bddtorque.machines.fijany.owned_words import Costs, Path
from bddtorque.machines.fijany.serial import inertia_matrix, project

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
        state, hop = np.linspace(0.2, 0.9, n), Costs(hop=1.0)
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
                "time": total.time(Costs()),
                "time, data-driven": driven.time(Costs()),
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


def judge(found: dict[str, CostFormula], verdicts: Verdicts) -> None:
    """Set measured formulas beside the printed ones."""
    for name, formula in PRINTED.items():
        if name in ("bias", "total", "articulated body"):
            continue
        fact = "F20" if name == "inertia matrix" else "2.7"
        verdicts.add(fact, f"cost of {name}", formula, found[name], found[name] == formula)
    bias = found["bias"] + found["(22) K"]
    verdicts.add(
        "2.7",
        "bias and a second (22)",
        PRINTED["bias"],
        bias,
        bias == PRINTED["bias"] + CostFormula(constant=Path(3, -3)),
        "the array has K and does without the second (22)",
    )
    right = SUM_OF_PARTS.constant == Path(248, 171)
    verdicts.add("F21", "printed parts added up", "238m printed, 248m right", SUM_OF_PARTS, right, "misprint")
    saved = CostFormula(constant=Path(54 - 3, 36 + 3))
    less = found["total"] + saved == SUM_OF_PARTS
    verdicts.add("F21", "total of the array", f"that less {saved}", found["total"], less, "no second (22)")


def judge_array(sizes: tuple[int, ...], verdicts: Verdicts) -> None:
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
    for name, fact in (("serial", "F16"), ("array", "F16"), ("solution", "F17")):
        what = "torques of its accelerations" if name == "solution" else f"inertia matrix, {name}"
        verdicts.add(fact, f"{what}, n = 1..9", "< 1e-12", f"{worst[name]:.1e}", worst[name] < 1e-12)
    runs = {n: measured_costs(n) for n in sizes}
    processors = len(runs[6].array)
    verdicts.add("F18", "processors, n = 6", 21, processors, processors == 21)
    steps = {n: run.phases["(17) R(n+1,j)"].path.multiplications // 27 for n, run in runs.items()}
    logarithmic = all(steps[n] == doublings_of(n) for n in steps)
    verdicts.add("F19", f"doublings of (17), n to {sizes[-1]}", "ceil(log2 n)", list(steps.values()), logarithmic)
    hops = {n: sum(run.hops(heading) for heading in PHASES_OF) for n, run in runs.items()}
    linear = all(count == 13 * n - 12 for n, count in hops.items())
    verdicts.add("2.1", f"hops of all phases, n = 2 to {sizes[-1]}", "O(n)", "13n - 12" if linear else hops, linear)
    channels = all(len(run.array.outputs) == n and all(map(len, run.array.outputs.values())) for n, run in runs.items())
    verdicts.add("2.1", "Qdd leaves column 1 by n channels", True, channels, channels)


def draw_costs(found: dict[str, CostFormula], sizes: tuple[int, ...]) -> None:
    """Draw the measured time of each heading over n, and the printed formulas as lines."""
    unit = Costs()
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
    hop = Costs(hop=1.0)
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
    costs = Costs(hop=1.0)
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
    found, verdicts = formulas(powers), Verdicts()
    judge(found, verdicts)
    judge_array(sizes, verdicts)
    verdicts.show()
    draw_costs(found, sizes)
    draw_array(8)
    verdicts.exit()


if __name__ == "__main__":
    main()
