"""Torques that come late: m samples of pipeline latency (Nigam and Lee), and the systolic pipeline's own latency.

A pipeline gives a torque set every interval, computed from a state m intervals old. The serial loop at a
fixed period with growing latency; then the machines at their own rates, periods and latencies measured on their
schedules and on the simulated systolic pipeline, on the same cycles.

    python experiments/closed_loop_latency.py [--quick]
"""

from __future__ import annotations

import math
from itertools import pairwise

import matplotlib
from reporting import Check, Rule, arguments, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from machines.control.closed_loop import FAST, SLOW, Experiment, Sinusoid, simulate
from machines.control.frozen_stability import critical_product, impulse_responses
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_costs import place_costs
from machines.hamilton.speculation_methods import BINDER_HERZOG, NEW, SERIAL, Method
from machines.hamilton.timetables import new_on_four, processor_a_link, single_processor
from machines.lathrop.linear_program import linear_program
from machines.lathrop.logarithmic_program import logarithmic_program
from machines.lathrop.systolic import pipeline
from machines.lathrop.vector_program import Times

matplotlib.use("Agg")
import matplotlib.pyplot as plt

KINDS = ["revolute"] * 3
BENT = (0.5, 0.4, 0.3)
CYCLE = 2e-6
"""s a processor cycle; a multiplication takes 4, an addition 3."""
TASKS = {"0.4 sin t": Sinusoid((0.4, 0.4, 0.4)), "0.2 sin 10t": FAST}


def machines() -> list[tuple[str, Method, float, int]]:
    """Return (name, method, interval in cycles, latency in samples) of each machine, all measured."""
    shared = place_costs(HAMILTON, KINDS, shared=True)
    alone = place_costs(HAMILTON, KINDS, shared=False)
    found = [
        ("serial, 1 processor", SERIAL, single_processor().schedule(shared).makespan, 1),
        ("bh, 3 processors", BINDER_HERZOG, processor_a_link().schedule(shared).makespan, 1),
        ("new, 4 processors", NEW, new_on_four().schedule(shared).makespan, 1),
        ("new, 21 processors", NEW, float(max(cost.cycles() for cost in alone.values())), 1),
    ]
    times = Times(4, 3)
    for name, program in (("linear", linear_program), ("logarithmic", logarithmic_program)):
        machine = pipeline(program([True] * 3, end_to_end=True), times)
        interval = times.sum(1, 3)
        late = math.ceil(machine.latency() / interval)
        found.append((f"Lathrop {name}, systolic", SERIAL, float(interval), late))
        found.append((f"Lathrop {name}, no pipelining", SERIAL, float(machine.latency()), 1))
    return found


def growing(robot: bt.Robot, checks: list[Check], most: int) -> list[dict[str, object]]:
    """Return errors and verdicts of the serial loop at 2 ms with latencies of 0 to `most` samples."""
    responses = impulse_responses(robot, SERIAL, BENT)
    rows = []
    for m in range(most + 1):
        run = simulate(robot, SERIAL, 2e-3, Experiment(SLOW, latency=m))
        limit = critical_product(responses, m, steps_per_decade=60)
        rows.append({"latency, samples": m, "critical ωT": limit, "limit of T at ω = 10, ms": 100 * limit,
                     "rms error at T = 2 ms": run.rms_norm() if run.tracks else math.nan,
                     "at 2 ms": "tracks" if run.tracks else f"lost at {run.diverged:.2f} s"})  # fmt: skip
    first_lost = next((int(row["latency, samples"]) for row in rows if row["at 2 ms"] != "tracks"), most + 1)
    predicted = next((int(row["latency, samples"]) for row in rows if row["critical ωT"] < 10 * 2e-3), most + 1)
    if most >= 40:
        late = Rule("oscillates if late enough", lambda ours: ours[1] <= most)
        checks.append(Check("Nigam and Lee", "samples of latency from which serial control at 2 ms is lost: linear "
                            "limit, simulated", (predicted, first_lost), (32, 35), late))  # fmt: skip
    limits = [float(row["critical ωT"]) for row in rows]
    rises = sum(later > earlier for earlier, later in pairwise(limits))
    checks.append(Check("ours", "samples of latency that raise the limit", rises, 0))
    return rows


def at_own_rates(robot: bt.Robot, checks: list[Check], duration: float) -> list[dict[str, object]]:
    """Run every machine at its own interval and latency."""
    rows = []
    for name, method, interval, latency in machines():
        period = interval * CYCLE
        row: dict[str, object] = {"machine": name, "interval, cycles": interval, "T ms": period * 1e3,
                                  "latency, samples": latency, "torque age ms": period * latency * 1e3}  # fmt: skip
        for task, motion in TASKS.items():
            run = simulate(robot, method, period, Experiment(motion, duration=duration, latency=latency))
            row[task] = run.rms_norm() if run.tracks else math.nan
        rows.append(row)
    by_name = {row["machine"]: row for row in rows}
    systolic, plain = by_name["Lathrop linear, systolic"], by_name["Lathrop linear, no pipelining"]
    checks.append(Check("LAT eq. (5)", "cycles between torques of the linear pipeline (1m + 3a)",
                        systolic["interval, cycles"], 13, 13))  # fmt: skip
    checks.append(Check("LAT eq. (5)", "cycles of the linear form, n = 3 (11m + 27a)", plain["interval, cycles"],
                        125, 125))  # fmt: skip
    for task in TASKS:
        best = min(rows, key=lambda row, task=task: row[task])["machine"]
        checks.append(Check("ours", f"least error at own rates, {task}", best, "Lathrop logarithmic, systolic"))
        checks.append(
            Check("ours", f"error of the linear machine without pipelining over with, {task}",
                  float(plain[task]) / float(systolic[task]), near(1.37, absolute=0.02),
                  note="the torque is as old either way; only the hold is shorter")
        )  # fmt: skip
    return rows


def draw(late: list[dict[str, object]], rows: list[dict[str, object]]) -> None:
    """Draw limits and errors over latency, and errors over the age of the torque."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(13.5, 4.9), layout="constrained")
    m = [row["latency, samples"] for row in late]
    left.semilogy(m, [row["limit of T at ω = 10, ms"] for row in late], "o-", ms=3, label="limit of T at ω = 10, ms")
    left.semilogy(m, [1e3 * float(row["rms error at T = 2 ms"]) for row in late], "s-", ms=3,
                  label="rms error at T = 2 ms, mrad (ends where the arm is lost)")  # fmt: skip
    left.axhline(2.0, color="gray", lw=1)
    left.set(xlabel="latency of the torque, samples", title="serial computed torque, robot B, slow task")
    left.legend(fontsize=8)
    for k, task in enumerate(TASKS):
        right.barh([line + 0.2 - 0.4 * k for line in range(len(rows))], [row[task] for row in rows], 0.4, label=task)
    names = [
        f"{row['machine']}\nT {float(row['T ms']):.3g} ms, torque {float(row['torque age ms']):.3g} ms old"
        for row in rows
    ]
    right.set_yticks(range(len(rows)), names, fontsize=7.5)
    right.invert_yaxis()
    right.set(xscale="log", xlabel="rms error, rad", title="machines at their own rates")
    right.legend(fontsize=8)
    for axis in (left, right):
        axis.grid(alpha=0.3, which="both")
    figure.suptitle(f"Late torques on robot B ({CYCLE * 1e6:.0f} µs a cycle, 4 cycles a multiplication, 3 an addition)")
    save_figure("closed_loop_latency", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    checks: list[Check] = []
    robot = bt.load_robot("planar3r_b")
    late = growing(robot, checks, 16 if quick else 40)
    show_table(late[:: 2 if quick else 4])
    print()
    rows = at_own_rates(robot, checks, 2.2 if quick else 6.0)
    show_table(rows)
    print()
    write_csv("closed_loop_latency", late)
    write_csv("closed_loop_own_rates", rows)
    draw(late, rows)
    finish(checks)


if __name__ == "__main__":
    main()
