"""LAT Table 1: what inverse dynamics costs, printed beside evaluated beside measured (F13 to F15).

The printed formulas are evaluated exactly; our own programs are traced and their operations counted: Newton-Euler as
Lathrop writes it for any arm (every constant an input), both his forms, and what is left once the tracer knows an arm.

    python experiments/lathrop_table_1.py [--quick]
"""

from __future__ import annotations

from matplotlib.figure import Figure
from reporting import Check, arguments, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.dynamics.term_trace import shortened, trace_terms
from bddtorque.evaluate.scheduling import longest_path
from machines.classics.horn_raibert import arithmetic_graph
from machines.classics.serial_costs import LUH_LIN_CONCURRENCY, TABLE_1, priced_newton_euler
from machines.graph_tasks import tasks_of_graph
from machines.lathrop.linear import linear_recursion
from machines.lathrop.logarithmic import logarithmic_recursion, trace_lathrop
from machines.lathrop.operation_counts import general_graph

ROWS = {row.method: row for row in TABLE_1}
FLOPS = {"sum": 1.0, "product": 1.0}


def printed() -> list[dict[str, object]]:
    rows = []
    for row in TABLE_1:
        multiplications, additions = row.at(6)
        rows.append(
            {
                "method": row.method,
                "mults_printed": row.printed[0],
                "mults_evaluated": str(multiplications),
                "adds_printed": row.printed[1],
                "adds_evaluated": str(additions),
                "agrees": (multiplications, additions) == row.printed,
            }
        )
    return rows


def general(most: int) -> list[dict[str, object]]:
    """Return our counts for any arm of n turning joints beside the printed formula of Newton-Euler."""
    rows = []
    for n in range(1, most + 1):
        linear, tree = (general_graph((True,) * n, form) for form in (linear_recursion, logarithmic_recursion))
        formula = ROWS["Luh-Walker-Paul Newton-Euler"].at(n)
        rows.append(
            {
                "n": n,
                "printed_m": float(formula[0]),
                "linear_m": linear.counts()["products"],
                "log_m": tree.counts()["products"],
                "printed_a": float(formula[1]),
                "linear_a": linear.counts()["sums"],
                "log_a": tree.counts()["sums"],
                "look_up_m": arithmetic_graph(n, "every").counts()["products"],
                "look_up_a": arithmetic_graph(n, "every").counts()["sums"],
                "look_up_shared_m": arithmetic_graph(n, "shared").counts()["products"],
            }
        )
    return rows


def customised(names: tuple[str, ...]) -> list[dict[str, object]]:
    """Return what one arm takes once its constants are known, and the longest path of each graph, m = a = 1."""
    rows = []
    for name in names:
        robot = bt.load_robot(name)
        graphs = {
            "Lathrop linear": trace_lathrop(robot),
            "Lathrop logarithmic": trace_lathrop(robot, logarithmic_recursion),
            "regrouped Newton-Euler": bt.trace_torques(robot),
        }
        if name != "panda":  # its 114,934 harmonics are no way to compute torques
            graphs["separate terms"] = trace_terms(shortened(bt.terms_of(robot)))
        for way, graph in graphs.items():
            counts = graph.counts()
            rows.append(
                {
                    "arm": name,
                    "way": way,
                    "products": counts["products"],
                    "sums": counts["sums"],
                    "sine_cosines": counts["sine_cosines"],
                    "longest_path": longest_path(tasks_of_graph(graph, FLOPS)),
                }
            )
    return rows


def draw(rows: list[dict[str, object]], arms: list[dict[str, object]]) -> None:
    figure = Figure(figsize=(13, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    n = [row["n"] for row in rows]
    for key, label, style in (
        ("printed", "Newton-Euler as printed: 150n−48, 131n−48", "k:"),
        ("linear", "Lathrop linear, counted, any arm", "C0o-"),
        ("log", "Lathrop logarithmic on one processor, counted", "C1s-"),
        ("look_up", "Horn-Raibert, every term, counted", "C2^-"),
    ):
        left.plot(n, [row[f"{key}_m"] + row[f"{key}_a"] for row in rows], style, markersize=4, label=label)
    left.set_xlabel("joints, all turning")
    left.set_ylabel("multiplications and additions")
    left.set_title("Serial cost for any arm")
    left.grid(alpha=0.3)
    left.legend(fontsize=8)
    names = list(dict.fromkeys(row["arm"] for row in arms))
    ways = list(dict.fromkeys(row["way"] for row in arms))
    for k, way in enumerate(ways):
        mine = {row["arm"]: row["products"] + row["sums"] for row in arms if row["way"] == way}
        places = [names.index(name) + 0.2 * k - 0.3 for name in mine]
        right.bar(places, list(mine.values()), width=0.19, label=way)
    right.set_yscale("log")
    right.set_xticks(range(len(names)), names, rotation=20)
    right.set_title("Serial cost once the arm is known")
    right.grid(axis="y", alpha=0.3, which="both")
    right.legend(fontsize=8)
    save_figure("lathrop_table_1", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    table = printed()
    show_table(table)
    write_csv("lathrop_table_1", table)
    counts = general(7 if quick else 12)
    print()
    show_table(counts)
    write_csv("lathrop_counts", counts)
    names = ("planar2r", "planar3r_a", "scara", "stanford", "puma560", "ur5") + (() if quick else ("panda",))
    arms = customised(names)
    print()
    show_table(arms)
    write_csv("lathrop_counts_of_arms", arms)
    draw(counts, arms)
    ends, one = priced_newton_euler(0), priced_newton_euler(1)
    priced = (one[0] - ends[0], one[1] - ends[1]), ends
    six, serial, lin = counts[5], ROWS["Luh-Walker-Paul Newton-Euler"], ROWS["Luh-Lin, scheduled"]
    finish(
        [
            Check("LAT Table 1", "rows whose values for six joints are not their formula's",
                  [row["method"] for row in table if not row["agrees"]], ["Uicker/Kahn", "Luh-Lin, scheduled"], []),
            Check("F13", "Newton-Euler, six joints, m and a: the formula", serial.at(6), (852, 738), serial.printed),
            Check("F13", "Newton-Euler, n and constant, m and a: vector operations charged whole", priced,
                  ((153, 131), (-48, -48)), ((150, 131), (-48, -48)), "3m a joint, one product with a vector",
                  "F = m r̈, or the products of the torque, are left out there"),
            Check("F13", "Newton-Euler, six joints, m and a: traced", (six["linear_m"], six["linear_a"]), (665, 513),
                  serial.printed, "ours shares what is computed twice"),
            Check("F14", "Uicker/Kahn, six joints, m: the formula", ROWS["Uicker/Kahn"].at(6)[0], 67143, 66271,
                  note="a misprint there or in the formula"),
            Check("F15", "Luh-Lin, six joints, m and a: the formula", lin.at(6), (324, 282), lin.printed),
            Check("F15", "Luh-Lin, six joints, m and a: Newton-Euler over 2.64",
                  tuple(round(float(each) / LUH_LIN_CONCURRENCY) for each in serial.at(6)), (323, 280), lin.printed),
            Check("LAT Table 1", "Horn-Raibert, six joints, m and a: traced", (six["look_up_m"], six["look_up_a"]),
                  (468, 252), (468, 264), note="the equation has 2n additions less than the printed formula"),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
