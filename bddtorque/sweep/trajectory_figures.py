"""Torques and errors over a trajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bddtorque.sweep.drawing import FOUND, INPUTS, PROVED
from bddtorque.sweep.figures import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def trajectory_figure(sweep: Sweep) -> Figure:
    """Return, for each joint, the true torque along the trajectory and beside it the error of the tables."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    traces = sweep.traces
    if traces is None:
        raise ValueError("a sweep along a trajectory required")
    n = len(sweep.joints)
    figure = Figure(figsize=(8.4, 1.45 * n + 1.1), layout="constrained")
    spaces = figure.subplots(n, 2, squeeze=False, sharex=True)
    for k, joint in enumerate(sweep.joints):
        torque, error = spaces[k]
        torque.plot(traces.time, traces.true[:, k] * joint.lsb, color=INPUTS, linewidth=1.0)
        torque.set_ylabel(f"{joint.joint}\n{joint.unit}", fontsize=7)
        error.plot(traces.time, traces.errors[:, k], color=FOUND, linestyle="", marker=".", markersize=1.2)
        for side in (-1, 1):
            error.axhline(side * joint.proved, color=PROVED, linestyle="--", linewidth=1.1)
        error.set_ylim(-1.25 * joint.proved, 1.25 * joint.proved)
        error.set_title(f"found ±{joint.found:.3f}, proved ±{joint.proved:.3f}", fontsize=8)
        error.set_ylabel("units")
    spaces[0, 0].set_title("true torque", fontsize=8)
    for axes in spaces[-1]:
        axes.set_xlabel("time, s" if traces.timed else "state")
    figure.align_ylabels()
    figure.suptitle(
        f"{sweep.name}, {sweep.bits}-bit torques along {sweep.along}: torque, and compiled − true", fontsize=10
    )
    return figure
