"""Serial forward dynamics in O(n), O(n²) and O(n³): operations measured on traced graphs, and where they cross.

FIJ (section I, after Featherstone) says that composite rigid bodies with an explicit solution are best below n = 12,
that VNEB, made for many processors, is not efficient on one (section III), and that the O(n) way can be speeded up by a
constant factor only, however many processors there are (section II).

    python experiments/forward_dynamics_crossing.py [--quick]
"""

from __future__ import annotations

from functools import cache

import matplotlib
from reporting import Check, Rule, above, arguments, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from machines.fijany.array_costs import PRINTED
from machines.fijany.owned_words import ArrayCosts
from machines.forward.forward_counts import METHODS, ForwardGraph, trace_forward
from machines.generic_arms import generic_arm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ARMS = ("planar2r", "planar3r_a", "puma560", "ur5", "panda")
WEIGHTS = {"m = a": ArrayCosts(1, 1), "m = 2a": ArrayCosts(2, 1), "m only": ArrayCosts(1, 0)}
FOUND = {"m = a": 9, "m = 2a": 9, "m only": 8}
"""Joints at which composite bodies lost their lead when this was written: a change of either algorithm shows."""
QUOTED = 20
"""The same against the articulated body as FIJ quotes it, for every weight."""
GAINS = {
    False: {"articulated body": (11.90, 12.07), "conjugate gradient": (9.31, 9.55),
            "composite rigid body": (23.55, 34.37), "VNEB": (53.99, 71.44)},
    True: {"articulated body": (11.56, 11.92), "conjugate gradient": (8.86, 9.34),
           "composite rigid body": (17.96, 24.30), "VNEB": (42.28, 55.37)},
}  # fmt: skip
"""Gain of unlimited processors at half the joints and at all, by `--quick`."""
COLOURS = dict(zip(METHODS, ("tab:blue", "tab:green", "tab:red", "tab:orange"), strict=True))


@cache
def graph_of(name: str, n: int) -> ForwardGraph:
    """Return the graph of one way for a generic arm in Denavit-Hartenberg frames."""
    return trace_forward(METHODS[name], generic_arm(n))


def quoted(n: int, costs: ArrayCosts) -> float:
    """Return the time of the articulated body as FIJ quotes it."""
    return PRINTED["articulated body"].at(n).time(costs)


def crossing(costs: ArrayCosts, sizes: range) -> dict[str, int | None]:
    """Return the first n at which composite bodies cost more than the articulated body: as traced, as quoted."""
    composite = {n: graph_of("composite rigid body", n).cost.time(costs) for n in sizes}
    traced = {n: graph_of("articulated body", n).cost.time(costs) for n in sizes}
    return {
        "as traced": next((n for n in sizes if composite[n] > traced[n]), None),
        "as quoted": next((n for n in sizes if composite[n] > quoted(n, costs)), None),
    }


def gain(name: str, n: int) -> float:
    """Return how much faster unlimited processors make one way."""
    return sum(graph_of(name, n).cost) / graph_of(name, n).longest_path()


def draw(sizes: range) -> None:
    """Draw operations per joint, and the gain that unlimited processors would give."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
    for name, colour in COLOURS.items():
        costs = [sum(graph_of(name, n).cost) for n in sizes]
        left.plot(sizes, [cost / n for cost, n in zip(costs, sizes, strict=True)], "o-", ms=3, color=colour, label=name)
        right.plot(sizes, [gain(name, n) for n in sizes], "o-", ms=3, color=colour, label=name)
    left.plot(
        sizes, [quoted(n, ArrayCosts()) / n for n in sizes], "k--", lw=1, label="articulated body as FIJ quotes it"
    )
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
    quick = arguments(__doc__).quick
    sizes = range(2, 17) if quick else range(2, 31)
    rows = []
    for n in sizes:
        row: dict[str, object] = {"n": n}
        for name in METHODS:
            cost = graph_of(name, n).cost
            row |= {f"{name} m": cost.multiplications, f"{name} a": cost.additions}
        best = min(METHODS, key=lambda name, n=n: sum(graph_of(name, n).cost))
        rows.append(row | {"quoted m + a": int(quoted(n, ArrayCosts())), "fewest": best})
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
    checks = []
    for label, costs in WEIGHTS.items():
        found, what = (
            crossing(costs, sizes),
            f"composite bodies cost more than the articulated body from n = ..., {label}",
        )
        checks.append(Check("FIJ section I", f"{what}, as traced", found["as traced"], FOUND[label], 12))
        if not quick:
            checks.append(Check("FIJ section I", f"{what}, as quoted", found["as quoted"], QUOTED, 12))
    eight, nine = (graph_of("articulated body", n).cost for n in (8, 9))
    slope = tuple(int(nine[k] - eight[k]) for k in (0, 1))
    checks.append(Check("FIJ section I", "articulated body, m and a of a joint more", slope, (212, 204), (380, 302),
                        "ours is a program of its own, written with care"))  # fmt: skip
    last = sizes[-1]
    grows = Rule("unbounded", lambda ours: ours[1] > 1.25 * ours[0])
    for name, recorded in GAINS[quick].items():
        bounded = name == "articulated body"
        serial = name == "conjugate gradient"
        checks.append(
            Check("FIJ section II", f"gain of unlimited processors, {name}, n = {last // 2} and {last}",
                  (gain(name, last // 2), gain(name, last)), near(recorded, absolute=0.006),
                  Rule("bounded", lambda ours: ours[1] < 1.05 * ours[0]) if bounded else grows,
                  "A·v runs through the serial recursion here" if serial else "")
        )  # fmt: skip
    more = min(sum(graph_of("VNEB", n).cost) / sum(graph_of("composite rigid body", n).cost) for n in sizes)
    checks.append(Check("FIJ section III", "VNEB over composite bodies, serial, at least", more,
                        near(1.86 if quick else 1.76, absolute=0.005), above(1)))  # fmt: skip
    draw(sizes)
    finish(checks)


if __name__ == "__main__":
    main()
