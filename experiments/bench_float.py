"""Time of one state of inverse dynamics in float64, on one core, for every built-in arm.

    python experiments/bench_float.py [--quick] [--states 20000] [--rounds 9]

Three roads to the same torques: the generic recursion over a batch (`bt.inverse_dynamics`), the traced graph as
straight-line code in Numba, and pinocchio's `rnea` called from Python state by state (which includes what a call
costs). Rounds are interleaved, so that a busy machine slows all alike; the median of the rounds is printed.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import pinocchio as pin
from graph_source import numba_rows
from oracle import configuration, pinocchio_model, random_states
from reporting import TIMED, Check, at_most, below, finish, parser, show_table, write_csv

import bddtorque as bt
from bddtorque.dynamics.robot_trace import trace_torques

ARMS = ("planar2r", "planar3r_a", "planar3r_b", "scara", "stanford", "puma560", "ur5", "panda")
GOALS = {"ur5": 1000.0}  # ns a state for the generic batch


def roads(robot: bt.Robot, states: int) -> tuple[dict[str, tuple[Callable[[], object], int]], float]:
    """Return what to run with how many states each run computes, all compiled, and how far their torques are apart."""
    q, qd, qdd = random_states(robot, states)
    names = [f"{kind}{i + 1}" for kind in ("q", "qd", "qdd") for i in range(robot.degrees_of_freedom)]
    rows, traced = np.hstack([q, qd, qdd]), np.empty_like(q)
    run = numba_rows(trace_torques(robot), names)
    run(rows, traced)
    generic = bt.inverse_dynamics(robot, q, qd, qdd)
    model = pinocchio_model(robot)
    data, few = model.createData(), min(states, 2000)
    configurations = [configuration(model, row) for row in q[:few]]
    torques = np.array([pin.rnea(model, data, *state).copy() for state in zip(configurations, qd, qdd, strict=False)])
    scale = np.abs(generic).max(axis=0)
    apart = max(float((np.abs(each - generic[: len(each)]) / scale).max()) for each in (traced, torques))

    def rnea() -> None:
        for state in zip(configurations, qd, qdd, strict=False):
            pin.rnea(model, data, *state)

    runs = {
        "generic": (lambda: bt.inverse_dynamics(robot, q, qd, qdd), states),
        "traced": (lambda: run(rows, traced), states),
        "pinocchio": (rnea, few),
    }
    return runs, apart


def measured(runs: dict[str, tuple[Callable[[], object], int]], rounds: int) -> dict[str, float]:
    """Return the median time of each road, ns a state."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, (run, states) in runs.items():
            start = time.perf_counter_ns()
            run()
            times[name].append((time.perf_counter_ns() - start) / states)
    return {name: statistics.median(found) for name, found in times.items()}


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    line = parser(__doc__)
    line.add_argument("--states", type=int)
    line.add_argument("--rounds", type=int)
    options = line.parse_args()
    options.states = options.states or (2_000 if options.quick else 20_000)
    options.rounds = options.rounds or (3 if options.quick else 9)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("bddtorque", "numpy", "numba", "pin"))
    print(f"{processor()}, one core; CPython {platform.python_version()}, {versions}")
    print(f"{options.states:,} states, median of {options.rounds} interleaved rounds; ns a state\n")
    rows, checks = [], []
    for name in ARMS[:2] if options.quick else ARMS:
        robot = bt.load_robot(name)
        runs, apart = roads(robot, options.states)
        found = measured(runs, options.rounds)
        rows.append({"arm": name, **{f"{road}_ns": round(took, 1) for road, took in found.items()}})
        checks.append(Check("ours", f"{name}: largest difference of their torques", apart, below(1e-10)))
        if name in GOALS:
            what = f"{name}: ns a state of the generic batch"
            checks.append(Check("ours", what, found["generic"], TIMED, goal=at_most(GOALS[name])))
    show_table(rows)
    write_csv("bench_float", rows)
    finish(checks)


if __name__ == "__main__":
    main()
