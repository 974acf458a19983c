"""Serial forward dynamics in O(n), O(n²) and O(n³): operations measured on traced graphs, and where they cross.

FIJ (section I, after Featherstone) says that composite rigid bodies with an explicit solution are best below n = 12,
that VNEB, made for many processors, is not efficient on one (section III), and that the O(n) way can be speeded up by a
constant factor only, however many processors there are (section II).

    python experiments/forward_dynamics_crossing.py [--quick]
"""

from __future__ import annotations

from functools import cache

import matplotlib
from reporting import Verdicts, arguments, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.machines.fijany.fijany_costs import PRINTED
from bddtorque.machines.fijany.forward_counts import METHODS, ForwardGraph, trace_forward
from bddtorque.machines.fijany.generic_arms import generic_arm
from bddtorque.machines.fijany.owned_words import Costs

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ARMS = ("planar2r", "planar3r_a", "puma560", "ur5", "panda")
WEIGHTS = {"m = a": Costs(1, 1), "m = 2a": Costs(2, 1), "m only": Costs(1, 0)}
FOUND = {"m = a": 9, "m = 2a": 9, "m only": 8}
"""Where composite bodies lost their lead when this was written: a change of either algorithm shows."""
COLOURS = dict(zip(METHODS, ("tab:blue", "tab:green", "tab:red", "tab:orange"), strict=True))


@cache
def graph_of(name: str, n: int) -> ForwardGraph:
    """Return the graph of one way for a generic arm in Denavit-Hartenberg frames."""
    return trace_forward(METHODS[name], generic_arm(n))


def quoted(n: int, costs: Costs) -> float:
    """Return the time of the articulated body as FIJ quotes it."""
    return PRINTED["articulated body"].at(n).time(costs)


def crossing(costs: Costs, sizes: range) -> dict[str, int | None]:
    """Return the first n at which composite bodies cost more than the articulated body: as traced, as quoted."""
    composite = {n: graph_of("composite rigid body", n).cost.time(costs) for n in sizes}
    traced = {n: graph_of("articulated body", n).cost.time(costs) for n in sizes}
    return {
        "as traced": next((n for n in sizes if composite[n] > traced[n]), None),
        "as quoted": next((n for n in sizes if composite[n] > quoted(n, costs)), None),
    }


def draw(sizes: range) -> None:
    """Draw operations per joint, and the gain that unlimited processors would give."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
    for name, colour in COLOURS.items():
        costs = [sum(graph_of(name, n).cost) for n in sizes]
        left.plot(sizes, [cost / n for cost, n in zip(costs, sizes, strict=True)], "o-", ms=3, color=colour, label=name)
        gains = [cost / graph_of(name, n).longest_path() for cost, n in zip(costs, sizes, strict=True)]
        right.plot(sizes, gains, "o-", ms=3, color=colour, label=name)
    left.plot(sizes, [quoted(n, Costs()) / n for n in sizes], "k--", lw=1, label="articulated body as FIJ quotes it")
    for n, label in ((FOUND["m = a"], "here"), (12, "FIJ")):
        left.axvline(n, color="grey", lw=0.8, ls=":")
        left.text(n + 0.15, 40, f"{n}, {label}", fontsize=8, color="grey")
    left.set_ylim(0, 1500)
    left.set_title("operations a joint, multiplication = addition")
    left.set_ylabel("operations / n")
    right.set_title("operations / longest path: the most that processors can gain")
    right.set_ylim(bottom=0)
    for axis in (left, right):
        axis.set_xlabel("n, joints")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    figure.suptitle("Serial forward dynamics of generic revolute arms, measured on traced graphs")
    save_figure("forward_dynamics_crossing", figure)


def main() -> None:
    sizes = range(2, 17) if arguments(__doc__).quick else range(2, 31)
    rows = []
    for n in sizes:
        row: dict[str, object] = {"n": n}
        for name in METHODS:
            cost = graph_of(name, n).cost
            row |= {f"{name} m": cost.multiplications, f"{name} a": cost.additions}
        best = min(METHODS, key=lambda name, n=n: sum(graph_of(name, n).cost))
        rows.append(row | {"quoted m + a": int(quoted(n, Costs())), "fewest": best})
    show_table(rows)
    write_csv("forward_dynamics_crossing", rows)
    print("\nbuilt-in arms, as they are (special numbers cost less), m + a:")
    arms = []
    for name in ARMS:
        robot = bt.load_robot(name)
        counts = {method: sum(trace_forward(way, robot).cost) for method, way in METHODS.items()}
        arms.append({"arm": name, "n": robot.degrees_of_freedom} | counts)
    show_table(arms)
    write_csv("forward_dynamics_arms", arms)
    print()
    verdicts = Verdicts()
    for label, costs in WEIGHTS.items():
        found = crossing(costs, sizes)
        verdicts.add(
            "2.1",
            f"composite bodies cost more from n = ..., {label}",
            f"12 by FIJ, {FOUND[label]} here",
            f"{found['as traced']}; against the quoted articulated body {found['as quoted'] or f'> {sizes[-1]}'}",
            found["as traced"] == FOUND[label],
            "FIJ's 12 not reproduced",
        )
    slope = [
        graph_of("articulated body", n + 1).cost[k] - graph_of("articulated body", n).cost[k]
        for n in (8,)
        for k in (0, 1)
    ]
    verdicts.add(
        "2.7", "articulated body, a joint more", "380m + 302a quoted", f"{slope[0]}m + {slope[1]}a", True, "fewer"
    )
    last = sizes[-1]
    gain = {name: sum(graph_of(name, last).cost) / graph_of(name, last).longest_path() for name in METHODS}
    half = {name: sum(graph_of(name, last // 2).cost) / graph_of(name, last // 2).longest_path() for name in METHODS}
    bounded = gain["articulated body"] < 1.05 * half["articulated body"]
    grows = all(gain[name] > 1.25 * half[name] for name in ("composite rigid body", "VNEB"))
    verdicts.add("2.1", "gain of processors, O(n) way", "bounded", f"{gain['articulated body']:.1f}", bounded)
    shown = ", ".join(f"{name} {gain[name]:.1f}" for name in ("composite rigid body", "VNEB"))
    verdicts.add("2.1", f"gain of processors, O(n³) ways, n = {last}", "unbounded", f"{shown}, growing", grows)
    more = min(sum(graph_of("VNEB", n).cost) / sum(graph_of("composite rigid body", n).cost) for n in sizes)
    verdicts.add("2.1", "VNEB over composite bodies, serial", "> 1", f"{more:.2f} at least", more > 1)
    verdicts.show()
    draw(sizes)
    verdicts.exit()


if __name__ == "__main__":
    main()
