"""Speed-up of the triangular array over the serial articulated body, n = 2 to 1000, printed and found (F21 to F23).

Printed and corrected totals are FIJ's; the measured ones are formulas fitted to the simulated array (n = 4 to 32) and
to traced graphs of the articulated body, both exact where they were fitted, and tried once more at n = 64.

    python experiments/fijany_speed_up.py [--quick]
"""

from __future__ import annotations

import matplotlib
from reporting import Check, Rule, arguments, finish, near, save_figure, show_table, write_csv

from machines.fijany.array_costs import (
    PRINTED,
    SUM_OF_PARTS,
    CostFormula,
    fitted,
    heading_costs,
    measured_costs,
    speed_up,
)
from machines.fijany.owned_words import ArrayCosts, Path
from machines.forward.forward_counts import METHODS, trace_forward
from machines.generic_arms import generic_arm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SHOWN = (2, 3, 4, 5, 6, 7, 8, 10, 12, 20, 50, 100, 200, 500, 1000)


def array_formula(sizes: tuple[int, ...], hop: float) -> CostFormula:
    """Return the time of the whole array, phase after phase, in units of one operation, a hop taking `hop` of them."""
    costs = ArrayCosts(hop=hop)
    times = {n: sum(record.path.time(costs) for record in measured_costs(n, costs).phases.values()) for n in sizes}
    return fitted({n: Path(round(time)) for n, time in times.items()})


def serial_formula(sizes: tuple[int, ...]) -> CostFormula:
    """Return the cost of the articulated body as traced."""
    return fitted({n: trace_forward(METHODS["articulated body"], generic_arm(n)).cost for n in sizes})


def checks_of(ways: dict[str, tuple[CostFormula, CostFormula]], quick: bool) -> list[Check]:
    """Set what the paper states beside what is found."""
    quoted, printed = ways["printed total (238m)"]
    parts = ways["sum of the printed parts (248m)"]
    simulated = quoted.at(6).time(ArrayCosts()) / heading_costs(measured_costs(6))["total"].time(ArrayCosts())
    six = Rule("6", lambda ours: round(ours) == 6)
    checks = [
        Check("F21", "multiplications of the total, its printed parts added up", SUM_OF_PARTS.constant.multiplications,
              248, printed.constant.multiplications),
        Check("F22", "speed-up at n = 6, printed total", round(speed_up(quoted, printed, 6), 2), 5.46, six),
        Check("F22", "speed-up at n = 6, sum of the parts", round(speed_up(*parts, 6), 2), 5.38, six),
        Check("F22", "speed-up at n = 6, array as simulated", round(simulated, 2), 6.24, six,
              "ours spares the second projection of inertias"),
        Check("F23", "asymptotic speed-up", speed_up(quoted, printed, 10**9), near(136.4, absolute=0.01),
              near(682 / 5, absolute=0.01)),
        Check("ours", "first n beyond a speed-up of 100: printed total, sum of the parts",
              [next((n for n in range(2, 5000) if speed_up(*pair, n) > 100), 0) for pair in ((quoted, printed), parts)],
              [672, 678]),
    ]  # fmt: skip
    if not quick:
        said = ways["array as simulated"][1].at(64).time(ArrayCosts())
        found = heading_costs(measured_costs(64))["total"].time(ArrayCosts())
        checks.append(Check("ours", "formula fitted to n <= 32, tried at n = 64", found, said))
    return checks


def draw(ways: dict[str, tuple[CostFormula, CostFormula]]) -> None:
    """Draw all speed-ups over n."""
    figure, axis = plt.subplots(figsize=(9, 5.5), layout="constrained")
    sizes = range(2, 1001)
    styles = ("k--", "k-", "tab:red", "tab:blue", "tab:green", "tab:orange")
    for (name, pair), style in zip(ways.items(), styles, strict=True):
        kind = {"color": style} if style.startswith("tab") else {}
        shape = () if kind else (style,)
        axis.plot(sizes, [speed_up(*pair, n) for n in sizes], *shape, lw=1.3, label=name, **kind)
    axis.axhline(682 / 5, color="grey", lw=0.8, ls=":")
    axis.text(2.1, 682 / 5 * 1.04, "682/5 = 136.4, the limit by print", fontsize=8, color="grey")
    axis.plot([6], [6], "x", color="black", ms=8)
    axis.annotate("FIJ's text: 6 at n = 6", (6, 6), (2.3, 17), fontsize=8, arrowprops={"arrowstyle": "-", "lw": 0.6})
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("n, joints")
    axis.set_ylabel("speed-up over the serial articulated body")
    axis.set_title("Triangular array of n(n+1)/2 processors: speed-up, multiplication = addition")
    axis.grid(alpha=0.3, which="both")
    axis.legend(fontsize=8, loc="lower right")
    save_figure("fijany_speed_up", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    sizes = (4, 8, 16) if quick else (4, 8, 16, 32)
    quoted, traced = PRINTED["articulated body"], serial_formula((4, 6, 9, 13, 20))
    array, with_hops = array_formula(sizes, 0.0), array_formula(sizes, 1.0)
    ways = {
        "printed total (238m)": (quoted, PRINTED["total"]),
        "sum of the printed parts (248m)": (quoted, SUM_OF_PARTS),
        "array as simulated": (quoted, array),
        "array as simulated, articulated body as traced": (traced, array),
        "array as simulated, a hop = an operation": (quoted, with_hops),
        "the same, articulated body as traced": (traced, with_hops),
    }
    print(f"articulated body, quoted: {quoted}; as traced: {traced}")
    print(f"array in operations: printed {PRINTED['total']}; simulated, all operations as m: {array}")
    print(f"with a hop as dear as an operation: {with_hops}\n")
    letters = dict(zip(ways, "ABCDEF", strict=True))
    for name, letter in letters.items():
        print(f"{letter}: {name}")
    show_table([{"n": n} | {letters[name]: round(speed_up(*pair, n), 2) for name, pair in ways.items()} for n in SHOWN])
    print()
    write_csv(
        "fijany_speed_up",
        [{"n": n} | {name: round(speed_up(*pair, n), 4) for name, pair in ways.items()} for n in range(2, 1001)],
    )
    draw(ways)
    finish(checks_of(ways, quick))


if __name__ == "__main__":
    main()
