"""Longest paths of Lathrop's machines beside his formulas, 1 to 69 joints (F05 to F08, F10); his Fig. 4 drawn.

m is a multiplication, a an addition; paths are found for five ratios of the two, on the programs that also compute the
torques.

    python experiments/lathrop_timing.py [--quick]
"""

from __future__ import annotations

from math import ceil, log2

from matplotlib.figure import Figure
from reporting import Check, arguments, finish, save_figure, show_table, write_csv

from bddtorque.evaluate.scheduling import Placement, Schedule
from machines.gantt import draw_gantt
from machines.lathrop.linear_program import linear_program
from machines.lathrop.logarithmic_program import logarithmic_program
from machines.lathrop.summation_orders import best_summation
from machines.lathrop.vector_program import Program, Times, availability, duration

RATIOS = (Times(1, 1), Times(2, 1), Times(1, 2), Times(5, 1), Times(1, 5))


def printed_logarithmic(n: int, times: Times) -> float:
    L = ceil(log2(n + 1))
    return times.sum(2 * L + 5, 6 * L + 10)  # eq. (2) = (17)


def exact_logarithmic(n: int, times: Times) -> float:
    tiers = ceil(log2(n + 1)) + ceil(log2(n))
    return times.sum(tiers + 5, 3 * tiers + 10)


def always(program: Program, formula: object, best: bool = False) -> bool:
    """Return whether the longest path is what a formula of the times says, at every ratio."""
    return all(
        duration(best_summation(program, times) if best else program, times) == formula(times) for times in RATIOS
    )


def row(n: int) -> dict[str, object]:
    """Return the paths of n joints, m = a = 1, beside the formulas, and whether they agree at every ratio."""
    flops, turning = Times(), [True] * n
    linear, end_to_end = linear_program(turning), linear_program(turning, end_to_end=True)
    tree, undistributed = logarithmic_program(turning), logarithmic_program(turning, distributed=False)
    return {
        "n": n,
        "linear": duration(linear, flops),
        "eq_1": flops.sum(2 * n + 3, 6 * n + 7),
        "end_to_end": duration(end_to_end, flops),
        "eq_5": flops.sum(2 * n + 5, 6 * n + 9),
        "best_order": duration(best_summation(linear, flops), flops),
        "logarithmic": duration(tree, flops),
        "eq_17": printed_logarithmic(n, flops),
        "exact_form": exact_logarithmic(n, flops),
        "undistributed": duration(undistributed, flops),
        "linear_agrees": always(linear, lambda times: times.sum(2 * n + 3, 6 * n + 7))
        and always(end_to_end, lambda times: times.sum(2 * n + 5, 6 * n + 9)),
        "eq_17_agrees": always(tree, lambda times: printed_logarithmic(n, times)),
        "exact_agrees": always(tree, lambda times: exact_logarithmic(n, times)),
    }


def table_4() -> list[dict[str, object]]:
    """Return when each operation of a node in the middle of the wave is done, counted from what the wave brings.

    Outward from w of the link before, inward from f of the link after, in multiplications and additions; the same
    whichever of the two is much slower, so that the path is one.
    """
    n, i = 12, 6
    program = linear_program([True] * n)
    ready = {times: availability(best_summation(program, times), times) for times in (Times(1000, 1), Times(1, 1000))}
    printed = {times: availability(program, times) for times in ready}
    rows = []
    for operation in program:
        if operation.place not in (f"outward {i}", f"inward {i}"):
            continue
        outward = operation.place.startswith("outward")
        source = printed if outward else ready
        start = f"w[{i - 1}]" if outward else f"f[{i + 1}]"
        if not all(operation.result in source[times] for times in source):
            continue  # a partial sum that the best order does not form
        after = {times: source[times][operation.result] - source[times][start] for times in source}
        slow, fast = after[Times(1000, 1)], after[Times(1, 1000)]
        one_path = slow >= 0 and (slow // 1000, slow % 1000) == (fast % 1000, fast // 1000)
        rows.append(
            {
                "node": "outward" if outward else "inward",
                "operation": operation.step,
                "primitive": operation.primitive.name.replace("MTV", "MV"),
                "of": operation.group,
                "done after": f"{slow // 1000:g}m+{slow % 1000:g}a" if one_path else "ahead of the wave",
            }
        )
    return rows


def staggers(n: int) -> dict[str, set[float]]:
    """Return by how much wd and pdd lag w, and n lags f, at every link but the last, m = a = 1."""
    program = linear_program([True] * n)
    printed, best = availability(program, Times()), availability(best_summation(program, Times()), Times())
    found = {}
    for late, early, ready in (("wd", "w", printed), ("pdd", "w", printed), ("n", "f", best)):
        found[f"{late} after {early}"] = {ready[f"{late}[{i}]"] - ready[f"{early}[{i}]"] for i in range(1, n)}
    return found


def draw_times(rows: list[dict[str, object]]) -> None:
    figure = Figure(figsize=(9, 5), layout="constrained")
    axis = figure.subplots()
    n = [each["n"] for each in rows]
    axis.plot(n, [each["end_to_end"] for each in rows], color="tab:red", label="linear, end to end: eq. (5)")
    axis.plot(n, [each["linear"] for each in rows], color="tab:orange", label="linear, inputs free: eq. (1)")
    tree = [each["logarithmic"] for each in rows]
    axis.plot(
        n, [each["undistributed"] for each in rows], "--", color="tab:green", label="logarithmic, V not distributed"
    )
    axis.plot(n, tree, "o-", markersize=3, color="tab:blue", label="logarithmic, longest path")
    axis.plot(n, [each["eq_17"] for each in rows], "x", markersize=4, color="black", label="logarithmic, eq. (17)")
    axis.axhline(4, color="tab:purple", linewidth=1, label="systolic: one result every 1m + 3a")
    axis.set_yscale("log", base=2)
    axis.set_xlabel("joints")
    axis.set_ylabel("time, multiplications and additions (m = a = 1)")
    axis.set_title("Time to the torques of one state, a processor for every vector operation")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    save_figure("lathrop_timing", figure)


def draw_timeline() -> None:
    """Draw LAT Fig. 4: when w and wd are computed on an arm of four joints."""
    times = Times()
    program = [each for each in linear_program([True] * 4) if each.group in ("w", "wd")]
    ends = availability(tuple(program), times)
    lanes = {(group, i): k for k, (i, group) in enumerate((i, group) for i in range(1, 5) for group in ("w", "wd"))}
    placements = []
    for each in program:
        lane, end = lanes[each.group, int(each.place.split()[1])], ends[each.result]
        placements.append(Placement(each.result, lane, end - times.of(each.primitive), end))
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    axis = figure.subplots()
    shade = {"T2": "#c6dbef", "w": "#6baed6", "T4": "#fdd0a2", "T5": "#fdae6b", "T6": "#fd8d3c", "wd": "#e6550d"}
    names = [f"{group} of link {i}" for group, i in lanes]
    draw_gantt(axis, Schedule(tuple(placements), len(lanes)), str, lambda name: shade[name.split("[")[0]], names, 8)
    axis.set_xticks(range(int(max(ends.values())) + 1))
    axis.grid(axis="x", alpha=0.25)
    axis.set_axisbelow(True)
    axis.set_xlabel("time (m = a = 1): each link follows the one before by 1m + 3a = 4, wd follows w by VC + VA = 3")
    axis.set_title("LAT Fig. 4: the waves of w and wd through four links")
    save_figure("lathrop_figure_4", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    rows = [row(n) for n in ((*range(1, 12), 16) if quick else range(1, 70))]
    show_table([each for each in rows if each["n"] < 10 or each["n"] in (12, 16, 31, 32, 33, 64, 69)])
    write_csv("lathrop_timing", rows)
    draw_times(rows)
    draw_timeline()
    print("\nLAT Table 4: operations of a node, counted from the arrival of w (outward) or of f (inward)")
    operations = table_4()
    show_table(operations)
    write_csv("lathrop_table_4", operations)
    lags, six = staggers(9), next(each for each in rows if each["n"] == 6)
    powers = [each for each in rows if not each["n"] & (each["n"] - 1)]
    others = [each for each in rows if each not in powers]
    finish(
        [
            Check("F05", "linear, six joints, flops by eq. (1) and (5)", (six["linear"], six["end_to_end"]), (58, 62),
                  (58, 62)),
            Check("F06", "sizes at which eq. (1) or (5) fails, any m : a",
                  [each["n"] for each in rows if not each["linear_agrees"]], [], []),
            Check("ours", "linear, best order of summation: additions less, n from 2 on",
                  {each["linear"] - each["best_order"] for each in rows if each["n"] > 1}, {1}),
            Check("F07", "logarithmic, six joints, flops", six["logarithmic"], 39, 39),
            Check("F08", "sizes at which eq. (17) fails, n not a power of two",
                  [each["n"] for each in others if not each["eq_17_agrees"]], [], []),
            Check("F08", "eq. (17) less the path, n a power of two",
                  {each["eq_17"] - each["logarithmic"] for each in powers}, {4}, {0}, note="1m + 3a too much"),
            Check("ours", "sizes at which (L1+L2)(1m+3a) + 5m+10a fails",
                  [each["n"] for each in rows if not each["exact_agrees"]], []),
            Check("ours", "V not distributed over the moment: additions more than ⌈log2 n⌉",
                  {each["undistributed"] - each["logarithmic"] - ceil(log2(each["n"])) for each in rows}, {0}),
            Check("F10", "wd after w, flops (VC+VA)", lags["wd after w"], {3}, {3}),
            Check("F10", "pdd after w, flops (2VC+3VA)", lags["pdd after w"], {7}, {7}),
            Check("F10", "n after f, flops (VC+VA)", lags["n after f"], {3}, {3},
                  note="summed in the best order; as printed 1a more"),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
