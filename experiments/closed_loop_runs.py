"""Closed-loop runs of the planar arms A and B with old data, and HAM-L figures 9 and 10 (F32, F34).

Serial until t = 1.57 s, then the method. HAM leave masses, gains and periods open; what our choice of them gave (the
arm tracks, or diverges and when, and every tracking error) is recorded, and stands beside what is found. Pictures: the
final joint, desired dotted and actual solid; tracking error over the sampling period.

    python experiments/closed_loop_runs.py [--quick]
"""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib
import numpy as np
from reporting import Check, Rule, arguments, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from machines.control.closed_loop import FAST, SLOW, Experiment, Run, Sinusoid, simulate
from machines.hamilton.speculation_methods import (
    BINDER_HERZOG,
    FIRST_ORDER,
    NEW,
    NEWBOX,
    SERIAL,
    YAMAKITA,
    Method,
    mixed,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROBOTS = {letter: bt.load_robot(f"planar3r_{letter.lower()}") for letter in "AB"}
METHODS = (SERIAL, BINDER_HERZOG, NEWBOX, NEW)
OUTPUT, OUTPUT_NEW, AHEAD = (
    BINDER_HERZOG.with_output_prediction(),
    NEW.with_output_prediction(),
    NEW.with_one_step_ahead(),
)


@dataclass(frozen=True)
class Case:
    """A run and what was recorded of it: errors per joint, "ok", "DIV" or "DIV@time"."""

    task: str
    robot: str
    method: Method
    ms: float
    recorded: str
    experiment: Experiment | None = None

    def run(self) -> Run:
        return simulate(ROBOTS[self.robot], self.method, self.ms * 1e-3, self.experiment)


def cases() -> list[Case]:
    """Return all runs, with what was recorded of them."""
    found = []
    errors_a = {
        0.5: ("6e-6 1.5e-5 1e-6", "2.6e-5 2.6e-5 6.3e-5", "2.5e-5 2.9e-5 3.3e-5", "2.6e-5 2.9e-5 3.4e-5"),
        1.0: ("1.2e-5 3.1e-5 2e-6", "5.3e-5 5.2e-5 1.3e-4", "5.0e-5 5.8e-5 6.6e-5", "5.1e-5 5.8e-5 6.7e-5"),
        1.5: ("ok", "DIV@1.94", "ok", "7.7e-5 8.7e-5 1.0e-4"),
        2.0: ("ok", "DIV@1.77", "ok", "1.0e-4 1.2e-4 1.3e-4"),
        2.5: ("ok", "DIV@1.73", "DIV@3.29", "1.3e-4 1.4e-4 1.7e-4"),
        3.0: ("ok", "DIV@1.73", "DIV@2.57", "1.5e-4 1.7e-4 2.0e-4"),
        4.0: ("ok", "DIV@1.72", "DIV@2.19", "DIV@3.42"),
    }
    for ms, row in errors_a.items():
        found += [Case("slow", "A", method, ms, each) for method, each in zip(METHODS, row, strict=True)]
    for method, text in (
        (SERIAL, "1 ok,5 ok,15 ok"), (BINDER_HERZOG, "1 ok,2 ok,3 ok,4 DIV@2.34,5 DIV@2.02,7 DIV@1.90"),
        (NEWBOX, "5 ok,7 ok,9 DIV"), (NEW, "5 ok,9 ok,12 ok,15 DIV@4.29"),
        (FIRST_ORDER, "1 DIV,2 DIV"), (OUTPUT, "2 DIV"), (OUTPUT_NEW, "3 ok,4 DIV"), (AHEAD, "12 ok,15 DIV"),
        (mixed("w", "wd", "al"), "4 ok,8 DIV"), (mixed("ae"), "12 ok,20 DIV"), (mixed("f", "t"), "20 ok"),
        (mixed("f"), "12 ok,20 ok"), (mixed("w", "wd", "al", "ae"), "20 ok"),
    ):  # fmt: skip
        found += [Case("slow", "B", method, float(e.split()[0]), e.split()[1]) for e in text.split(",")]
    found += [Case("slow", "A", method, 0.5, "DIV") for method in (FIRST_ORDER, OUTPUT)]
    fast = Experiment(FAST)
    for method, text in (
        (BINDER_HERZOG, "3 ok,4 DIV"),
        (NEWBOX, "5 ok,7 DIV"),
        (NEW, "9 ok,12 DIV"),
        (SERIAL, "12 ok"),
    ):
        found += [Case("fast", "B", method, float(e.split()[0]), e.split()[1], fast) for e in text.split(",")]
    for stiffness, damping, bh, new in ((25, 10, "6 ok,10 DIV", "22 ok"), (400, 40, "1 ok,2 DIV", "5 ok,8 DIV"),
                                        (100, 14, "4 ok,6 DIV", "10 ok,16 ok")):  # fmt: skip
        gains = Experiment(SLOW, float(stiffness), float(damping))
        for method, text in ((BINDER_HERZOG, bh), (NEW, new)):
            task = f"slow, Kp {stiffness} Kv {damping}"
            found += [Case(task, "B", method, float(e.split()[0]), e.split()[1], gains) for e in text.split(",")]
    return found


def shown(run: Run) -> str:
    """Return a run as it is recorded."""
    return " ".join(f"{x:.2g}" for x in run.rms()) if run.tracks else f"DIV@{run.diverged:.2f}"


def agrees(run: Run, recorded: str) -> bool:
    """Return whether a run is as recorded, to its digits."""
    if recorded == "ok":
        return run.tracks
    if recorded.startswith("DIV"):
        time = recorded.partition("@")[2]
        return not run.tracks and (not time or abs(run.diverged - float(time)) <= 0.5 * run.period + 0.006)
    wanted = np.array([float(x) for x in recorded.split()])
    return run.tracks and bool(np.allclose(run.rms(), wanted, rtol=0.05, atol=6e-7))


def tables(checks: list[Check]) -> list[dict[str, object]]:
    """Run all cases, one check a task, robot and method."""
    rows, groups = [], {}
    for case in cases():
        run = case.run()
        right = agrees(run, case.recorded)
        rows.append({"task": case.task, "robot": case.robot, "method": case.method.name, "T ms": case.ms,
                     "recorded": case.recorded, "found": shown(run), "agrees": "yes" if right else "NO"})  # fmt: skip
        groups.setdefault((case.task, case.robot, case.method.name), []).append(right)
    checks += [
        Check("ours", f"{task} task, robot {robot}, {method}: runs that are as recorded", sum(right), len(right))
        for (task, robot, method), right in groups.items()
    ]
    lost = {(row["task"], row["robot"], row["T ms"], row["method"]): row["found"].startswith("DIV") for row in rows}
    both = [(lost[*key, "bh"], lost[*key, "new"]) for *key, method in lost if method == "new" and (*key, "bh") in lost]
    checks.append(
        Check("F32", "of periods tried with both: only bh is lost, only new is lost",
              (both.count((True, False)), both.count((False, True))), (5, 0),
              Rule("bh is lost at rates where new is stable", lambda ours: ours[0] > 0 and ours[1] == 0))
    )  # fmt: skip
    return rows


def remarks(checks: list[Check]) -> None:
    """Try HAM's remarks on tracking when stable, and what age costs."""
    B = ROBOTS["B"]
    floating, soft = B.with_gravity((0.0, 0.0, 0.0)), Experiment(SLOW, 25.0, 10.0, duration=5.0)
    better = Rule("bh slightly better when stable", lambda ours: bool(np.all(np.less(*np.split(np.array(ours), 2)))))
    bh, new = (simulate(floating, method, 4e-3, soft).rms() for method in (BINDER_HERZOG, NEW))
    fast = [simulate(B, method, 1e-3, Experiment(FAST)).rms_norm() for method in (BINDER_HERZOG, NEW)]
    third = [simulate(B, method, 2e-3).rms()[2] for method in (BINDER_HERZOG, NEW)]
    ratio = simulate(B, AHEAD, 2e-3).rms() / simulate(B, NEW, 2e-3).rms()
    edges = [[ms for ms in (5, 7, 9, 12, 15) if simulate(B, m, ms * 1e-3).tracks][-1] for m in (NEW, YAMAKITA)]
    checks += [
        Check("HAM", "gravity off, Kp 25 Kv 10, T = 4 ms, 5 s: errors of bh, of new", [*bh, *new],
              near((2.3e-4, 1.7e-4, 3.5e-5, 3.2e-4, 2.4e-4, 2.8e-4), relative=0.03), better),
        Check("HAM", "fast task, T = 1 ms: error of bh, of new", fast, near((4.5e-3, 6.7e-3), absolute=1e-4), better),
        Check("HAM", "slow task, T = 2 ms: error of joint 3, bh and new", third, near((4.7e-4, 2.1e-4), absolute=1e-5),
              better),
        Check("ours", "one step ahead over plain new, joints 1 to 3", list(ratio),
              near((1.3, 0.25, 1.3), absolute=0.05)),
        Check("HAM", "longest of 5, 7, 9, 12, 15 ms that tracks: new, and with terms two iterations old", edges,
              [12, 7], Rule("older terms cost stability", lambda ours: ours[0] > ours[1]),
              note="which terms are older is our reading"),
    ]  # fmt: skip


def own_rates(checks: list[Check]) -> list[dict[str, object]]:
    """Run each method at the rate its cycles allow."""
    machines = ((SERIAL, 3153), (BINDER_HERZOG, 1220), (NEW, 857), (NEW, 329))
    recorded = {
        (0.4, 1, 2, 0): (3.7e-4, 5.6e-4, 1.7e-4, 6.5e-5), (0.4, 1, 2, 1): (1.1e-3, 4.3e-4, 2.9e-4, 1.1e-4),
        (0.2, 10, 2, 0): (3.4e-3, 1.1e-2, 1.2e-2, 4.4e-3), (0.2, 10, 2, 1): (1.1e-2, 1.2e-2, 1.3e-2, 4.9e-3),
        (0.05, 20, 4, 1): (2.4e-2, 3.0e-2, 3.0e-2, 8.8e-3),
    }  # fmt: skip
    rows = []
    for (size, frequency, cycle, latency), errors in recorded.items():
        experiment = Experiment(Sinusoid((size,) * 3, frequency), latency=latency)
        found = [simulate(ROBOTS["B"], m, c * cycle * 1e-6, experiment).rms_norm() for m, c in machines]
        task = f"{size} sin {frequency}t"
        rows.append({"task": task, "µs a cycle": cycle, "latency": latency}
                    | {f"{m.name} {c}": x for (m, c), x in zip(machines, found, strict=True)})  # fmt: skip
        what = f"{task}, {cycle} µs a cycle, latency {latency}: errors of serial, bh, new on 4 and on 21 processors"
        checks.append(Check("ours", what, found, near(errors, relative=0.05)))
    ratios = [rows[k]["serial 3153"] / rows[k]["new 857"] for k in (0, 2)]
    checks.append(
        Check("F34", "at own rates, latency 0: error of serial over that of new, slow task and fast task", ratios,
              near((2.15, 0.29), relative=0.03),
              Rule("below 1 and above 1", lambda ours: ours[0] < 1 < ours[1]),
              note="rate wins where hold and gravity dominate; age loses where motion is fast")
    )  # fmt: skip
    slow, fast = ([row["serial 3153"] / row[f"new {cycles}"] for cycles in (857, 329)] for row in (rows[1], rows[3]))
    checks += [
        Check("F34", "the same, latency 1: slow task, new on 4 and on 21 processors", slow,
              near((3.8, 9.9), relative=0.05), Rule("below 1", lambda ours: max(ours) < 1)),
        Check("F34", "the same, latency 1: fast task", fast, near((0.8, 2.16), relative=0.05),
              Rule("above 1", lambda ours: max(ours) > 1), note="four processors lose, 21 win"),
    ]  # fmt: skip
    return rows


def draw_final_joint(robot: str, ms: float, name: str, number: str) -> None:
    """Draw HAM-L figures 9 and 10: the final joint, desired dotted and actual solid."""
    figure, axes = plt.subplots(3, 2, figsize=(13, 8), layout="constrained", sharex="col", width_ratios=[1.6, 1])
    for (axis, close), method in zip(axes, (SERIAL, BINDER_HERZOG, NEW), strict=True):
        run = simulate(ROBOTS[robot], method, ms * 1e-3)
        t = np.linspace(0, 6, 600)
        axis.plot(t, SLOW.amplitude[2] * np.sin(t), "k:", label="desired")
        axis.plot(run.time, run.q[:, 2], "tab:blue", lw=1, label="actual")
        axis.set_ylim(-1.0, 1.0)
        axis.set_ylabel("q₃, rad")
        end = "tracks" if run.tracks else f"lost at t = {run.diverged:.2f} s"
        axis.set_title(f"{method.name}: {end}", fontsize=10, loc="left")
        near = (run.time > 1.5) & (run.time < 2.1)
        close.plot(run.time[near], run.error[near, 2], "tab:blue", lw=0.8)
        close.set_yscale("symlog", linthresh=1e-4)
        close.set_ylim(-2, 2)
        close.set_title("error of q₃ after the switch, rad", fontsize=10, loc="left")
        for each in (axis, close):
            each.axvline(1.57, color="gray", lw=0.8)
            each.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8, loc="lower left")
    axes[2, 0].set_xlabel("t, s (old data from t = 1.57 s on, gray line)")
    axes[2, 1].set_xlabel("t, s")
    figure.suptitle(f"{number}: final joint of robot {robot}, sampling period {ms:g} ms")
    save_figure(name, figure)


def draw_errors(quick: bool) -> None:
    """Draw the tracking error over the sampling period, up to where each method is lost."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    panels = (("A", SLOW, "robot A, slow task"), ("B", SLOW, "robot B, slow task"), ("B", FAST, "robot B, fast task"))
    for axis, (robot, task, title) in zip(axes, panels, strict=True):
        for method in (*METHODS, YAMAKITA):
            periods, errors = [], []
            for ms in np.geomspace(0.4, 60, 14 if quick else 40):
                run = simulate(ROBOTS[robot], method, float(ms) * 1e-3, Experiment(task))
                if not run.tracks:
                    break
                periods.append(ms)
                errors.append(run.rms_norm())
            line = axis.loglog(periods, errors, label=method.name, lw=1.5)[0]
            if periods[-1] < 50:
                axis.plot(periods[-1], errors[-1], "x", color=line.get_color(), ms=9, mew=2)
        axis.set(title=title, xlabel="sampling period, ms", ylabel="rms error after the switch, rad")
        axis.grid(alpha=0.3, which="both")
    axes[0].legend(fontsize=8)
    figure.suptitle("Tracking with old data at equal periods (cross: the last period before the arm is lost)")
    save_figure("closed_loop_errors", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    checks: list[Check] = []
    rows = tables(checks)
    show_table(rows)
    print()
    remarks(checks)
    rates = own_rates(checks)
    show_table(rates)
    print()
    write_csv("closed_loop_runs", rows)
    write_csv("closed_loop_rates", rates)
    draw_final_joint("A", 2.0, "closed_loop_final_joint_a", "HAM-L figures 9 and 10")
    draw_final_joint("B", 5.0, "closed_loop_final_joint_b", "As HAM-L figures 9 and 10")
    draw_errors(quick)
    finish(checks)


if __name__ == "__main__":
    main()
