"""A processor fails in the middle of a control loop (HAM-L section 6, F35): what is computed again, what that costs.

Every processor of HAM Tables 5 to 7 is killed at every row, failures being looked for at the end of the loop or at
every synchronisation; the machine runs with the garbage, recovers, and its torques are compared with the healthy ones.

    python experiments/hamilton_faults.py [--quick]
"""

from __future__ import annotations

import matplotlib
import numpy as np
from reporting import Check, Rule, arguments, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.evaluate.scheduling import list_schedule
from machines.hamilton.faults import Fault, FaultyLoop, closure
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_costs import place_costs
from machines.hamilton.speculation_methods import NEW
from machines.hamilton.timetables import (
    conventional_on_three,
    name_of,
    new_on_four,
    processor_a_link,
    tasks_of,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

KINDS = ["revolute"] * 3
TABLES = (conventional_on_three(), processor_a_link(), new_on_four())
RECORDED = {  # own variables, others, by method and processor
    "conventional": ((8, "ac1 ac2 ac3 ae1 ae2 ae3 f2 f3 t2 t3"), (5, "ac2 ac3 f1 f3 t1 t3"),
                     (8, "ae1 ae2 ae3 al1 al2 al3 wd2 wd3 f1 f2 t1 t2")),
    "bh": ((7, ""),) * 3,
    "new": ((7, ""), (5, ""), (5, ""), (4, "")),
}  # fmt: skip


PRINTED = {("conventional", 2): 5} | {(method, k): 0 for method, many in (("bh", 3), ("new", 4)) for k in range(many)}
"""Numbers of others that HAM-L lists, where it does, by method and processor."""


def recompute_sets() -> list[Check]:
    """Compare what must be computed again with what HAM-L lists."""
    checks = []
    for table in TABLES:
        for processor, (count, others) in enumerate(RECORDED[table.name]):
            own = table.work_of(processor)
            again = closure(HAMILTON, table.method, KINDS, own)
            beyond = sorted(name_of(place).replace(" ", "") for place in again if place not in own)
            failed = f"{table.name}, processor {processor + 1} fails"
            checks.append(Check("F35", f"{failed}: its own variables", len(own), count))
            checks.append(Check("F35", f"{failed}: which others", beyond, sorted(others.split())))
            if (table.name, processor) in PRINTED:
                listed = PRINTED[table.name, processor]
                checks.append(Check("F35", f"{failed}: how many others", len(beyond), len(others.split()), listed))
    return checks


def inject(checks: list[Check], states: int) -> list[dict[str, object]]:
    """Kill every processor at every row; return what each case cost, the mean over random states."""
    robot = bt.load_robot("planar3r_b")
    costs = place_costs(HAMILTON, KINDS, shared=False)
    random = np.random.default_rng(6)
    rows, cases, restored = [], 0, 0
    for table in TABLES:
        for detection in ("loop", "synchronisation"):
            for processor in range(table.processors):
                for row in range(len(table.rows)):
                    worst = 0.0
                    for _ in range(states):
                        q, qd, qdd = random.normal(size=(3, 4, 3))
                        loop = FaultyLoop(robot, table, costs, int(random.integers(2**31)))
                        loop.start(q[:3], qd[:3], qdd[:3])
                        recovery = loop.run(q[3], qd[3], qdd[3], Fault(processor, row), detection)
                        cases += 1
                        restored += recovery.store_restored and np.array_equal(recovery.tau, recovery.healthy)
                        worst = max(worst, float(np.abs(recovery.unseen - recovery.healthy).max()))
                    rows.append(
                        {
                            "method": table.name,
                            "detection": detection,
                            "processor": processor + 1,
                            "row": row + 1,
                            "checks": recovery.checks,
                            "again": len(recovery.own) + len(recovery.others),
                            "cycles again": recovery.operations.cycles(),
                            "healthy loop": recovery.healthy_cycles,
                            "loop with fault": recovery.cycles,
                            "torque error unseen, N·m": round(worst, 3),
                        }
                    )
    checks.append(
        Check("F35", "faults after which every variable is right again", restored, cases, Rule("all", cases.__eq__))
    )
    return rows


def summary(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return, for each method and way of detection, the range of what recovery took over processors and rows."""
    found = []
    for method, detection in dict.fromkeys((row["method"], row["detection"]) for row in rows):
        some = [row for row in rows if (row["method"], row["detection"]) == (method, detection)]
        again, longer = [row["again"] for row in some], [row["loop with fault"] / row["healthy loop"] for row in some]
        found.append(
            {
                "method": method,
                "failures looked for": f"at the end of the {detection}"
                if detection == "loop"
                else "at every synchronisation",
                "checks a loop": some[0]["checks"],
                "computed again": f"{min(again)} to {max(again)}",
                "healthy loop, cycles": some[0]["healthy loop"],
                "loop with fault": f"{min(row['loop with fault'] for row in some):.0f} to "
                f"{max(row['loop with fault'] for row in some):.0f}",
                "times longer": f"{min(longer):.2f} to {max(longer):.2f}",
            }
        )
    return found


def degraded() -> list[Check]:
    """Compare the loops that follow, on the processors that are left."""
    shared, alone = (place_costs(HAMILTON, KINDS, shared=each) for each in (True, False))
    links = [sum(shared[v, link].cycles() for v in HAMILTON.variables) for link in (1, 2, 3)]
    tasks = tasks_of(HAMILTON, NEW, KINDS, alone)
    doubled = Rule("nearly twice 1220", lambda ours: all(1.5 * 1220 < each < 2 * 1220 for each in ours))
    return [
        Check("HAM section 6", "cycles of bh on two processors, link 3 on processor 1 or 2",
              (links[0] + links[2], links[1] + links[2]), (1933, 2254), doubled),
        Check("ours", "cycles of new on three processors, and the least possible",
              (list_schedule(tasks, 3, "longest_task").makespan, sum(task.duration for task in tasks) / 3),
              (1367, 1355)),
    ]  # fmt: skip


def draw(rows: list[dict[str, object]]) -> None:
    """Draw loop length with a fault, over the row in which it happens."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained", sharey=True)
    for axis, table in zip(axes, TABLES, strict=True):
        for processor in range(1, table.processors + 1):
            for detection, style in (("loop", "-"), ("synchronisation", "--")):
                some = [
                    r
                    for r in rows
                    if (r["method"], r["detection"], r["processor"]) == (table.name, detection, processor)
                ]
                if detection == "loop" or table.name == "conventional":
                    label = f"P{processor}" + (", found at the end" if detection == "loop" else ", found at once")
                    axis.plot([r["row"] for r in some], [r["loop with fault"] for r in some], style, marker="o", ms=3,
                              color=f"C{processor - 1}", label=label)  # fmt: skip
        axis.axhline(rows[[r["method"] for r in rows].index(table.name)]["healthy loop"], color="gray", lw=1)
        axis.set_title(
            {"conventional": "conventional (Table 5)", "bh": "Binder/Herzog (Table 6)", "new": "new (Table 7)"}[
                table.name
            ]
        )
        axis.set_xlabel("row of the timetable in which the processor fails")
        axis.set_xticks(range(1, len(table.rows) + 1))
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7, ncols=2, loc="lower left", handlelength=4)
    axes[0].set_ylabel("cycles of the loop, recovery included")
    axes[0].set_ylim(0, None)
    figure.suptitle("A processor fails: length of that control loop (gray: healthy loop; Table 3 costs)")
    save_figure("hamilton_faults", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    checks = recompute_sets()
    rows = inject(checks, 1 if quick else 5)
    show_table(summary(rows))
    print()
    write_csv("hamilton_faults", rows)
    draw(rows)
    finish(checks + degraded())


if __name__ == "__main__":
    main()
