"""HAM Tables 2 to 7 and figures 6 to 8: operation counts, cycles, speed-ups, schedules (F26 to F30).

Counts come from the equations and the price of each vector operation, cycles from schedules; the printed figures stand
beside them. The picture shows the schedules of HAM figures 6 to 8 and Tables 5 to 7, and list scheduling on any number
of processors.

    python experiments/hamilton_tables.py [--quick]
"""

from __future__ import annotations

import matplotlib
import numpy as np
from reporting import Check, arguments, at_most, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.evaluate.scheduling import Schedule, list_schedule, longest_path
from machines.gantt import draw_gantt
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_costs import place_costs, total
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import (
    BINDER_HERZOG,
    FIRST_ORDER,
    METHODS,
    NEW,
    NEWBOX,
    SERIAL,
    iterations_to_exact,
)
from machines.hamilton.speculation_steps import time_steps
from machines.hamilton.timetables import (
    conventional_on_three,
    new_on_four,
    processor_a_link,
    single_processor,
    tasks_of,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

N = 3
KINDS = ["revolute"] * N
PRINTED = {  # term: (multiplications and additions for i = 1, 1 < i < n, i = n) of Table 2, of Table 3
    "w": ("12 21 21 6 15 15", "12 21 21 6 15 15"),
    "wd": ("14 32 32 10 27 27", "14 53 53 10 39 39"),
    "al": ("9 18 18 8 17 17", "35 44 44 24 33 33"),
    "ae": ("27 36 36 18 27 27", "27 36 36 18 27 27"),
    "ac": ("27 27 27 18 21 21", "27 36 36 18 27 27"),
    "f": ("15 15 6 12 12 3", "15 15 6 12 12 3"),
    "t": ("42 42 24 33 33 16", "51 51 24 39 39 16"),
}
LISTED = {1: 4065, 2: 2043, 3: 1367, 4: 1036, 5: 827, 6: 715, 7: 602, 8: 546, 10: 437, 12: 361, 14: 329, 21: 329}
"""List scheduling by longest task, cycles by processors."""
COLOURS = {
    "w": "#8dd3c7",
    "wd": "#ffed6f",
    "al": "#bebada",
    "ae": "#fb8072",
    "ac": "#80b1d3",
    "f": "#fdb462",
    "t": "#b3de69",
}


def count_tables(checks: list[Check]) -> list[dict[str, object]]:
    """Compare every entry of Tables 2 and 3."""
    rows = []
    for number, shared in ((2, True), (3, False)):
        costs = place_costs(HAMILTON, KINDS, shared=shared)
        right = 0
        for variable in HAMILTON.variables:
            found = [costs[variable, link] for link in (1, 2, 3)]
            counts = [each.multiplications for each in found] + [each.additions for each in found]
            printed = [int(each) for each in PRINTED[variable][number - 2].split()]
            right += sum(a == b for a, b in zip(counts, printed, strict=True))
            rows.append(
                {"table": number, "term": variable}
                | {f"{kind}, {which}": count for (kind, which), count in zip(
                    ((kind, which) for kind in ("m", "a") for which in ("i=1", "1<i<n", "i=n")), counts, strict=True)}
                | {"as printed": "yes" if counts == printed else "NO"}
            )  # fmt: skip
        checks.append(Check("F26", f"entries of Table {number} that are right", right, 42, 42))
    return rows


def cycles(checks: list[Check]) -> dict[str, Schedule]:
    """Compare cycles and speed-ups; return the schedules."""
    shared, alone = (place_costs(HAMILTON, KINDS, shared=each) for each in (True, False))
    tasks = tasks_of(HAMILTON, NEW, KINDS, alone)
    schedules = {
        "Fig. 6: serial, one processor": single_processor().schedule(shared),
        "Table 5: conventional, three processors, synchronised after every row": conventional_on_three().schedule(
            alone
        ),
        "Fig. 7 and Table 6: Binder/Herzog, a processor a link": processor_a_link().schedule(shared),
        "Fig. 8 and Table 7 (corrected): new, four processors": new_on_four().schedule(shared),
        "new, 14 processors (as fast as 21), nothing shared": list_schedule(tasks, 14, "longest_task"),
    }
    serial, _, bh, four, _ = (schedule.makespan for schedule in schedules.values())
    every = list_schedule(tasks, 7 * N, "longest_task").makespan
    count = total(shared.values())
    checks.append(Check("F27", "serial: m and a", (count.multiplications, count.additions), (501, 383), (501, 383)))
    shortest = min(task.duration for task in tasks)
    checks += [
        Check("F27", what, found, printed, printed)
        for what, printed, found in (
            ("cycles, serial", 3153, serial), ("cycles, Binder/Herzog", 1220, bh),
            ("cycles, new on 21 processors", 329, every), ("cycles, new on 4 processors", 857, four),
            ("cycles of the shortest variable (f_3)", 33, shortest),
        )
    ]  # fmt: skip
    checks += [
        Check("F28", f"speed-up of {what}", round(found, 2), printed, printed)
        for what, printed, found in (
            ("Binder/Herzog over serial", 2.58, serial / bh), ("new, 21 processors, over serial", 9.58, serial / every),
            ("new, 21 processors, over Binder/Herzog", 3.71, bh / every),
            ("new, 4 processors, over serial", 3.68, serial / four),
            ("new, 4 processors, over Binder/Herzog", 1.42, bh / four),
        )
    ]  # fmt: skip
    listed = [list_schedule(tasks, P, "longest_task").makespan for P in LISTED]
    checks.append(Check("ours", f"list scheduling on {', '.join(map(str, LISTED))} processors", listed,
                        list(LISTED.values())))  # fmt: skip
    return schedules


def ages(checks: list[Check], most: int) -> list[dict[str, object]]:
    """Compare time steps, and iterations to exactness: from the data, and measured on a frozen state."""
    steps = [time_steps(HAMILTON, method, KINDS) for method in (SERIAL, BINDER_HERZOG, NEW)]
    checks.append(Check("F30", "time steps a loop: serial, bh, new", steps, [6, 2, 1], [6, 2, 1]))
    rows = []
    for n in range(1, most + 1):
        row: dict[str, object] = {"links": n}
        for method in METHODS:
            row[method.name] = iterations_to_exact(HAMILTON, method, ["revolute"] * n)
        rows.append(row)
    for method, formula in (
        (BINDER_HERZOG, lambda n: 2 * n - 1),
        (NEWBOX, lambda n: 2 * n + 1),
        (NEW, lambda n: 2 * n + 2),
    ):
        checks.append(
            Check("F29", f"iterations to the exact torque, {method.name}, 1 to {most} links",
                  [row[method.name] for row in rows], [formula(n) for n in range(1, most + 1)])
        )  # fmt: skip
    robot = bt.load_robot("puma560")
    random = np.random.default_rng(1)
    for method in (BINDER_HERZOG, NEWBOX, NEW, FIRST_ORDER):
        machine = SpeculativeMachine(robot, method, HAMILTON)
        q, qd, qdd = random.normal(size=(3, 4, 6))
        machine.start(q[:3], qd[:3], qdd[:3])
        tau = machine.step(*(np.repeat(each[3:], 30, axis=0) for each in (q, qd, qdd)))
        wrong = np.abs(tau - bt.inverse_dynamics(robot, q[3], qd[3], qdd[3])).max(axis=1) > 1e-9
        found = int(np.flatnonzero(wrong).max()) + 2
        most_expected = iterations_to_exact(HAMILTON, method, ["revolute"] * 6)
        checks.append(Check("F29", f"the same, measured on the PUMA 560, {method.name}", found, at_most(most_expected)))
    return rows


def draw(schedules: dict[str, Schedule]) -> None:
    """Draw the schedules, and list scheduling over the number of processors."""
    figure = plt.figure(figsize=(15, 11.5), layout="constrained")
    heights = [0.8 * schedule.processors + 1.8 for schedule in schedules.values()]
    grid = figure.add_gridspec(len(schedules), 2, height_ratios=heights, width_ratios=[3, 1.15])
    longest = max(schedule.makespan for schedule in schedules.values())
    for row, (title, schedule) in enumerate(schedules.items()):
        axis = figure.add_subplot(grid[row, 0])
        wide = {each.task for each in schedule.placements if each.end - each.start > 0.016 * longest}
        draw_gantt(
            axis, schedule,
            label=lambda task, wide=wide: task.replace(" ", "") if task in wide else "",
            colour=lambda task: COLOURS[task.split()[0]],
            processor_names=[f"P{k + 1}" for k in range(schedule.processors)], font_size=7,
        )  # fmt: skip
        axis.set_xlim(0, longest)
        axis.set_xlabel("cycles" if row == len(schedules) - 1 else "")
        axis.set_title(f"{title}: {schedule.makespan:.0f} cycles", fontsize=10, loc="left")
        if schedule.processors > 10:
            axis.tick_params(axis="y", labelsize=6)
    alone, shared = (place_costs(HAMILTON, KINDS, shared=each) for each in (False, True))
    axis = figure.add_subplot(grid[:4, 1])
    P = np.arange(1, 22)
    for method, colour in ((NEW, "tab:blue"), (BINDER_HERZOG, "tab:orange"), (SERIAL, "tab:red")):
        tasks = tasks_of(HAMILTON, method, KINDS, alone)
        spans = [list_schedule(tasks, int(p)).makespan for p in P]
        axis.plot(P, spans, "o-", ms=3, color=colour, label=f"{method.name} (critical path {longest_path(tasks):.0f})")
    four, one = new_on_four().schedule(shared).makespan, single_processor().schedule(shared).makespan
    axis.plot(
        [1, 3, 4],
        [one, processor_a_link().schedule(shared).makespan, four],
        "k*",
        ms=9,
        label="Table 2 costs: products shared",
    )
    axis.set_yscale("log")
    axis.set_yticks([300, 500, 1000, 2000, 4000], ["300", "500", "1000", "2000", "4000"])
    axis.minorticks_off()
    axis.set_xticks(range(1, 22, 2))
    axis.set_xlabel("processors")
    axis.set_title("cycles a loop by list scheduling,\nTable 3 costs", fontsize=10)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.suptitle(
        "Hamilton, Walker and Bennett: schedules of the 3-link arm (4 cycles a multiplication, 3 an addition)"
    )
    save_figure("hamilton_schedules", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    checks: list[Check] = []
    rows = count_tables(checks)
    show_table(rows)
    write_csv("hamilton_tables", rows)
    print()
    schedules = cycles(checks)
    older = ages(checks, 4 if quick else 6)
    print("iterations until the torque is exact, by links and method")
    show_table(older)
    write_csv("hamilton_ages", older)
    traced = trace_torques(bt.load_robot("planar3r_b")).counts()
    sparse = f"{traced['products']} products, {traced['sums']} sums"
    print(f"\nThe same arm traced, where zeros cost nothing: {sparse} (serial above: 501 and 383)\n")
    draw(schedules)
    finish(checks)


if __name__ == "__main__":
    main()
