"""HAM figures 1 to 5, drawn from the dependency data: what waits for what, and so how many steps a loop takes (F30).

Figures 1 to 3 show the blocks F_i and B_i (outward and inward part of link i) of a 3-link arm: a solid arrow is a value
of this control iteration, which must be waited for; a dotted one is a value of the iteration before. Figures 4 and 5
show the variables of the outward part of one link.

    python experiments/hamilton_dependencies.py [--quick]
"""

from __future__ import annotations

import matplotlib
from reporting import Check, arguments, finish, save_figure, write_csv

from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_methods import BINDER_HERZOG, NEW, SERIAL, Method, Reading, dependences
from machines.hamilton.speculation_steps import blocks, levels, time_steps, variable_steps

matplotlib.use("Agg")
import matplotlib.pyplot as plt

KINDS = ["revolute"] * 3
FIGURES = ((1, "conventional", SERIAL, 6), (2, "Binder/Herzog", BINDER_HERZOG, 2), (3, "new (and Yamakita)", NEW, 1))
SYMBOLS = {"w": "ω", "wd": "ω̇", "al": "α", "ae": "a$_e$", "ac": "a$_c$", "f": "f", "t": "τ"}


def arrow(axis, start, end, current: bool, bend: float = 0.0) -> None:
    """Draw one dependence."""
    axis.annotate(
        "", end, start,
        arrowprops={
            "arrowstyle": "-|>", "color": "black" if current else "tab:gray", "lw": 1.4 if current else 1.0,
            "ls": "-" if current else ":", "shrinkA": 13, "shrinkB": 13, "connectionstyle": f"arc3,rad={bend}",
        },
    )  # fmt: skip


def node(axis, place, text: str, colour: str) -> None:
    """Draw one block or variable."""
    axis.text(*place, text, ha="center", va="center", fontsize=11, zorder=5,
              bbox={"boxstyle": "circle,pad=0.35", "fc": colour, "ec": "black"})  # fmt: skip


def draw_blocks(axis, number: int, name: str, method: Method) -> int:
    """Draw one of figures 1 to 3; return its steps."""
    step = levels(blocks(HAMILTON, method, KINDS))
    steps = max(step.values())
    lane = {("F", i): i - 1 for i in (1, 2, 3)} | {("B", i): i - 1 + (3.4 if method is NEW else 0) for i in (1, 2, 3)}
    at = {block: (lane[block], -step[block]) for block in step}
    seen = set()
    for each in dependences(HAMILTON, method, KINDS):
        source, reader = (("F" if v in HAMILTON.outward else "B", link) for v, link in (each.source, each.reader))
        key = source, reader, each.reading is Reading.CURRENT
        if source != reader and key not in seen:
            seen.add(key)
            level = at[source][1] == at[reader][1]
            bend = (0.35 if at[source][0] < at[reader][0] else -0.35) if level else 0.0
            arrow(axis, at[source], at[reader], key[2], bend if not key[2] else 0.0)
    for block, place in at.items():
        node(axis, place, f"{block[0]}$_{block[1]}$", "#cfe8ff" if block[0] == "F" else "#ffe3c2")
    axis.set_yticks([-k for k in range(1, steps + 1)], [f"step {k}" for k in range(1, steps + 1)])
    axis.set_xlim(-0.7, 6.2 if method is NEW else 2.7)
    axis.set_ylim(-6.7, -0.3)
    axis.set_title(f"Fig. {number}: {name}\n{steps} time step{'s' if steps > 1 else ''} a loop", fontsize=10)
    return steps


def draw_link(axis, number: int, name: str, method: Method) -> int:
    """Draw the outward variables of one link, figures 4 and 5; return their steps."""
    step = variable_steps(HAMILTON, method, KINDS)
    steps = max(step[variable, 2] for variable in HAMILTON.outward)
    at, taken = {}, dict.fromkeys(range(1, steps + 1), 0)
    for variable in HAMILTON.outward:
        level = step[variable, 2]
        at[variable] = (taken[level] * 1.2, -level * 1.6)
        taken[level] += 1
    for variable, place in at.items():  # the later ones from below, clear of what they wait for
        way = 0.85 if step[variable, 2] == 1 else -0.85
        arrow(axis, (place[0], place[1] + way), place, False)
    for each in dependences(HAMILTON, method, KINDS):
        inside = each.reader[1] == each.source[1] == 2 and each.reader[0] in at and each.source[0] in at
        if inside and each.reading is Reading.CURRENT:
            arrow(axis, at[each.source[0]], at[each.reader[0]], True)
    for variable, place in at.items():
        node(axis, place, f"{SYMBOLS[variable]}$_i$", "#cfe8ff")
    axis.set_yticks([-1.6 * k for k in range(1, steps + 1)], [f"step {k}" for k in range(1, steps + 1)])
    axis.set_xlim(-1.0, 5.4)
    axis.set_ylim(-4.3, -0.6)
    axis.set_title(f"Fig. {number}: outward part of link i, {name}\n{steps} step{'s' if steps > 1 else ''}; "
                   "dotted: values of the iteration before", fontsize=10)  # fmt: skip
    return steps


def main() -> None:
    arguments(__doc__)
    checks = []
    figure = plt.figure(figsize=(14, 9.5), layout="constrained")
    grid = figure.add_gridspec(2, 6, height_ratios=[1.7, 1])
    widths = (slice(0, 2), slice(2, 4), slice(4, 6))
    for (number, name, method, printed), columns in zip(FIGURES, widths, strict=True):
        axis = figure.add_subplot(grid[0, columns])
        found = draw_blocks(axis, number, name, method)
        assert found == time_steps(HAMILTON, method, KINDS)
        checks.append(Check("F30", f"figure {number}: time steps, {name}", found, printed, printed))
    for number, name, method, printed, columns in (
        (4, "Binder/Herzog", BINDER_HERZOG, 2, slice(0, 3)),
        (5, "new", NEW, 1, slice(3, 6)),
    ):
        found = draw_link(figure.add_subplot(grid[1, columns]), number, name, method)
        checks.append(Check("F30", f"figure {number}: steps of the outward part, {name}", found, printed, printed,
                            note="each variable on its own processor"))  # fmt: skip
    for axis in figure.axes:
        axis.set_xticks([])
        axis.tick_params(axis="y", length=0)
        for side in axis.spines.values():
            side.set_visible(False)
    figure.suptitle("What waits for what in a control loop of a 3-link arm (solid: current value, dotted: old value)")
    save_figure("hamilton_dependencies", figure)
    write_csv(
        "hamilton_dependencies",
        [
            {"method": method.name, "reader": f"{each.reader[0]}{each.reader[1]}",
             "source": f"{each.source[0]}{each.source[1]}", "reading": each.reading.name.lower()}
            for _, _, method, _ in FIGURES for each in dependences(HAMILTON, method, KINDS)
        ],
    )  # fmt: skip
    finish(checks)


if __name__ == "__main__":
    main()
