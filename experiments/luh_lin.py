"""Luh and Lin (LAT section 3.3): Newton-Euler on the Stanford arm, one processor a joint, by branch and bound.

Their concurrency was 2.64. Subtasks are whole variables (w_i, wd_i, ...) or single vector operations, counted for any
arm or for this one; each is bound to its joint's processor, or free to go to any of six.

    python experiments/luh_lin.py [--quick]
"""

from __future__ import annotations

from itertools import product

from matplotlib.figure import Figure
from reporting import Check, Rule, arguments, below, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.evaluate.scheduling import list_schedule, longest_path
from machines.classics.branch_and_bound import Search, branch_and_bound
from machines.classics.luh_lin import joint_tasks
from machines.classics.serial_costs import LUH_LIN_CONCURRENCY
from machines.gantt import draw_gantt
from machines.lathrop.vector_program import Times

RECORDED = {
    False: {"variable": (2.18, 2.57), "operation": (3.39, 3.93)},
    True: {"variable": (2.20, 2.50), "operation": (3.49, 3.89)},
}
"""Concurrency found, least and most, by `--quick` and subtask."""
STATED = Rule(f"{LUH_LIN_CONCURRENCY}", lambda ours: ours[0] <= LUH_LIN_CONCURRENCY <= ours[1])
COLOURS = {
    "w": "#6baed6", "wd": "#9ecae1", "pdd": "#74c476", "rdd": "#a1d99b", "F": "#c7e9c0", "N": "#bcbddc", "f": "#fd8d3c",
    "n": "#fdae6b", "tau": "#d9d9d9",
}  # fmt: skip


def main() -> None:
    quick = arguments(__doc__).quick
    robot, rows = bt.load_robot("stanford"), []
    found: dict[tuple[str, str, bool, float], Search] = {}
    ratios = (Times(1, 1),) if quick else (Times(1, 1), Times(2, 1), Times(1, 2))
    for count, grain, bound, times in product(
        ("general", "customised"), ("variable", "operation"), (True, False), ratios
    ):
        tasks = joint_tasks(robot, times, grain, count, bound)
        search = branch_and_bound(tasks, 6, most_nodes=500 if quick else 5000)
        search.schedule.check(tasks)
        found[count, grain, bound, times.multiplication / times.addition] = search
        rows.append(
            {
                "counted": count,
                "subtask": grain,
                "bound to joints": bound,
                "m:a": f"{times.multiplication:g}:{times.addition:g}",
                "tasks": len(tasks),
                "work": search.schedule.work,
                "longest path": longest_path(tasks),
                "list schedule": list_schedule(tasks, 6).makespan,
                "best found": search.schedule.makespan,
                "lower bound": search.lower_bound,
                "proved best": search.optimal,
                "concurrency": round(search.schedule.concurrency, 2),
            }
        )
    show_table(rows)
    write_csv("luh_lin", rows)
    figure = Figure(figsize=(14, 7.2), layout="constrained")
    for axis, count in zip(figure.subplots(2, 1), ("general", "customised"), strict=True):
        schedule = found[count, "variable", True, 1.0].schedule
        least = schedule.makespan / 45
        wide = {each.task for each in schedule.placements if each.end - each.start > least}
        draw_gantt(
            axis,
            schedule,
            lambda name, wide=wide: name if name in wide else "",
            lambda name: COLOURS.get(name.split("[")[0], "white"),
            [f"joint {i + 1}" for i in range(6)],
            6.5,
        )
        arm = "any arm with these joints" if count == "general" else "the Stanford arm's own zeros known"
        axis.set_title(
            f"{arm}: {schedule.work:g} operations in {schedule.makespan:g}, concurrency {schedule.concurrency:.2f}"
        )
        axis.set_xlabel("time, m = a = 1")
    figure.suptitle(
        "Newton-Euler on the Stanford arm, one processor a joint, best schedule (Luh and Lin: concurrency 2.64)"
    )
    save_figure("luh_lin", figure)
    checks = []
    for grain, recorded in RECORDED[quick].items():
        mine = [search.schedule.concurrency for key, search in found.items() if key[1] == grain and key[2]]
        checks.append(
            Check("LAT section 3.3", f"concurrency, one processor a joint, {grain}s as subtasks: least, most",
                  (min(mine), max(mine)), near(recorded, absolute=0.005), STATED,
                  note="LAT does not say which subtasks they had")
        )  # fmt: skip
    bound, free = (
        [each.schedule.makespan for key, each in found.items() if key[1] == "variable" and key[2] is way]
        for way in (True, False)
    )
    slower = max(one / other for one, other in zip(bound, free, strict=True))
    checks.append(Check("ours", "price of binding tasks to joints", slower, below(1.1)))
    finish(checks)


if __name__ == "__main__":
    main()
