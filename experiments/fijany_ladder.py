"""The inertia matrix from ONEB to VCRB: what each of FIJ's four redundancies costs, measured on traced graphs.

FIJ (section III) compares four algorithms for the inertia matrix, the original and the variant of the Newton-Euler
based one and of composite rigid bodies (ONEB, VNEB, OCRB, VCRB), in a figure that is lost (Fig. 1). Its text says that
OCRB is significantly cheaper than ONEB, that VCRB is the cheapest of all, that every redundancy removed makes the
serial algorithm cheaper, and that only the removal of the fourth makes columns depend on each other. What each
algorithm does beyond eqs. 7 to 13 is our reading (`machines/forward/inertia_ladder.py`).

    python experiments/fijany_ladder.py [--quick]
"""

from __future__ import annotations

from functools import cache

import matplotlib
from reporting import Check, Rule, arguments, finish, save_figure, show_table, write_csv

from machines.forward.forward_counts import ForwardGraph
from machines.forward.inertia_ladder import LADDER, composite_matrix, shared_by_columns, trace_inertia
from machines.forward.serial_forward import inertia_matrix
from machines.generic_arms import generic_arm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COUNTS = {
    "ONEB": (3744, 2940, 57),
    "ONEB, 2": (974, 775, 52),
    "ONEB, 1 and 2": (1172, 912, 39),
    "VNEB: 1, 2, 3": (1088, 861, 38),
    "OCRB": (467, 387, 68),
    "VCRB: 2, 3, 4": (326, 281, 55),
    "VCRB: all four": (754, 620, 31),
}
"""Of six joints: multiplications, additions, and the longest path (m = a), as recorded."""
STEPS = {  # a redundancy removed: before, after
    "second, in link axes": ("ONEB", "ONEB, 2"),
    "first, from link axes to frame n + 1": ("ONEB, 2", "ONEB, 1 and 2"),
    "third, in frame n + 1": ("ONEB, 1 and 2", "VNEB: 1, 2, 3"),
    "fourth, in frame n + 1": ("VNEB: 1, 2, 3", "VCRB: all four"),
    "first, of composite bodies": ("VCRB: 2, 3, 4", "VCRB: all four"),
}
FEWER = {
    "second, in link axes": 2,
    "first, from link axes to frame n + 1": 10,
    "third, in frame n + 1": 2,
    "fourth, in frame n + 1": 2,
    "first, of composite bodies": 28,
}
"""The first number of joints from which the removal makes the serial algorithm cheaper."""
COLOURS = dict(
    zip(LADDER, ("black", "tab:gray", "tab:cyan", "tab:orange", "tab:pink", "tab:red", "tab:purple"), strict=True)
)


@cache
def graph_of(name: str, n: int) -> ForwardGraph:
    """Return the graph of one algorithm for a generic arm in Denavit-Hartenberg frames."""
    return trace_inertia(LADDER[name], generic_arm(n))


def operations(name: str, n: int) -> float:
    """Return multiplications and additions together."""
    return sum(graph_of(name, n).cost[:2])


def first_gain(before: str, after: str, sizes: range) -> int | None:
    """Return the number of joints from which on `after` takes fewer operations, up to the largest tried."""
    dearer = [n for n in sizes if operations(after, n) >= operations(before, n)]
    first = max(dearer, default=sizes[0] - 1) + 1
    return first if first in sizes else None


def draw(sizes: range) -> None:
    """Draw operations over those of VCRB, and the longest paths."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    for name, colour in COLOURS.items():
        over = [operations(name, n) / operations("VCRB: 2, 3, 4", n) for n in sizes]
        left.semilogy(sizes, over, "o-", ms=3, color=colour, label=name)
        right.plot(sizes, [graph_of(name, n).longest_path() for n in sizes], "o-", ms=3, color=colour, label=name)
    left.set_title("operations over those of VCRB in link axes")
    right.set_title("longest path, a multiplication or an addition being one step")
    for axis in (left, right):
        axis.set_xlabel("n, joints")
        axis.grid(alpha=0.3, which="both")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=7, fontsize=8)
    save_figure("fijany_ladder", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    sizes = range(2, 9) if quick else range(2, 29)
    rows = []
    for name in LADDER:
        own = graph_of(name, 6)
        row = {"algorithm: removed": name, "m": own.cost.multiplications, "a": own.cost.additions}
        row |= {"longest path": int(own.longest_path())}
        rows.append(row | {f"m + a, n = {n}": int(operations(name, n)) for n in (2, 4, 8) if n in sizes})
    print("six joints, and operations of other arms\n")
    show_table(rows)
    write_csv("fijany_ladder", rows)
    found = {row["algorithm: removed"]: (row["m"], row["a"], row["longest path"]) for row in rows}
    checks = [Check("ours", f"{name}, six joints: m, a, longest path", found[name], COUNTS[name]) for name in LADDER]
    over = operations("ONEB", 6) / operations("OCRB", 6)
    cheapest = {n: min(LADDER, key=lambda name, n=n: operations(name, n)) for n in sizes if n <= 12}
    checks += [
        Check("FIJ section III", "ONEB over OCRB, six joints", round(over, 2), 7.83,
              Rule("significantly more", lambda ours: ours > 1.5)),
        Check("FIJ section III", "cheapest of all, up to twelve joints", set(cheapest.values()), {"VCRB: 2, 3, 4"},
              {"VCRB: 2, 3, 4"}),
    ]  # fmt: skip
    always = Rule("at every n", lambda ours: ours == sizes[0])
    for what, (before, after) in STEPS.items():
        recorded = FEWER[what] if FEWER[what] in sizes else None
        checks.append(
            Check("FIJ section III", f"fewer operations without the {what} redundancy, from n = ...",
                  first_gain(before, after, sizes), recorded, always)
        )  # fmt: skip
    arm = generic_arm(6)
    shared = [shared_by_columns(way, arm) for way in (inertia_matrix, composite_matrix)]
    checks += [
        Check("FIJ section III", "operations that columns share beyond the projection, VNEB and VCRB", shared, [0, 404],
              Rule("none, some", lambda ours: ours[0] == 0 < ours[1])),
        Check("FIJ section III", "longest path of VNEB over that of VCRB in link axes, six joints",
              graph_of("VNEB: 1, 2, 3", 6).longest_path() / graph_of("VCRB: 2, 3, 4", 6).longest_path(), 38 / 55,
              Rule("below 1", lambda ours: ours < 1)),
    ]  # fmt: skip
    draw(sizes)
    finish(checks)


if __name__ == "__main__":
    main()
