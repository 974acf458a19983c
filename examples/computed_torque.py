"""Computed-torque control of the two-joint arm, in plain Python, with a compiled model read from its file.

Once, offline: compile the arm and save it. In the controller: load the file, which needs only NumPy and Numba, and
ask for the torque at each sample,

    u = q̈_d + K_v (q̇_d − q̇) + K_p (q_d − q)          τ = torque(q, q̇, u)

The arm is simulated by its float forward dynamics. It carries a mass that no controller knows of, so that feedback has
something to do. Three controllers: float; float torques, but positions and velocities as the encoders' words say; and
the compiled tables.

    python examples/computed_torque.py [--bits 12]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import bddtorque as bt

Floats = npt.NDArray[np.float64]
Torque = Callable[[Floats, Floats, Floats], Floats]
Sense = Callable[[Floats, Floats], tuple[Floats, Floats]]

PERIOD = 0.004
"""s, of the controller; the torque is held in between."""
STIFFNESS, DAMPING = 100.0, 20.0
"""K_p in 1/s² and K_v in 1/s: critically damped."""
START, GOAL = np.array([-np.pi / 2, 0.4]), np.array([-1.0, 1.0])
"""rad: almost hanging, then raised."""
UNKNOWN_MASS = 0.25
"""kg at the tip, on top of the 6.25 kg that the model has there."""


@dataclass(frozen=True)
class Tracking:
    """A run: time (K,) in s; positions and desired positions (K, n) in rad; torques (K, n) in N·m."""

    time: Floats
    q: Floats
    desired: Floats
    tau: Floats

    @property
    def rms(self) -> Floats:
        """Root mean square of the error of each joint, (n,), rad."""
        return np.sqrt(((self.desired - self.q) ** 2).mean(axis=0))

    @property
    def largest(self) -> Floats:
        """Largest error of each joint, (n,), rad."""
        return np.abs(self.desired - self.q).max(axis=0)


def desired_motion(time: float, duration: float) -> tuple[Floats, Floats, Floats]:
    """Return q, q̇ and q̈ of a move from START to GOAL along a polynomial of degree 5, at rest at both ends."""
    s = time / duration
    way = GOAL - START
    return (
        START + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
        way * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration,
        way * (60 * s - 180 * s**2 + 120 * s**3) / duration**2,
    )


def moved(robot: bt.Robot, q: Floats, qd: Floats, tau: Floats) -> tuple[Floats, Floats]:
    """Return position and velocity one period later under a constant torque (Runge-Kutta, second order: midpoint)."""
    half = PERIOD / 2
    qdd = bt.forward_dynamics(robot, q, qd, tau)
    q_half, qd_half = q + half * qd, qd + half * qdd
    return q + PERIOD * qd_half, qd + PERIOD * bt.forward_dynamics(robot, q_half, qd_half, tau)


def as_it_is(q: Floats, qd: Floats) -> tuple[Floats, Floats]:
    """Sense the state without any words."""
    return q, qd


def through_words(formats: Any) -> Sense:
    """Return what encoders of a model's formats say of a state: the values of the nearest words."""

    def sense(q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        return formats.q.dequantise(formats.q.quantise(q)), formats.qd.dequantise(formats.qd.quantise(qd))

    return sense


def track(robot: bt.Robot, sense: Sense, torque: Torque, duration: float) -> Tracking:
    """Run the loop: sense the state, find the command, ask for the torque, let the arm move."""
    q, qd = START.copy(), np.zeros(2)
    rows: list[tuple[float, Floats, Floats, Floats]] = []
    for sample in range(round(duration / PERIOD)):
        time = sample * PERIOD
        q_d, qd_d, qdd_d = desired_motion(time, duration)
        q_seen, qd_seen = sense(q, qd)
        command = qdd_d + DAMPING * (qd_d - qd_seen) + STIFFNESS * (q_d - q_seen)
        tau = torque(q_seen, qd_seen, command)
        rows.append((time, q, q_d, tau))
        q, qd = moved(robot, q, qd, tau)
    time, q_all, desired, tau_all = (np.array(column) for column in zip(*rows, strict=True))
    return Tracking(time, q_all, desired, tau_all)


def compiled_file(folder: Path, bits: int) -> Path:
    """Compile the arm into a file, once, offline."""
    path = folder / "planar2r.bdt"
    bt.compile("planar2r", bits=bits).save(path)
    return path


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Run the three controllers, print what was seen, and return it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=12, help="word length of torques and inputs (12)")
    parser.add_argument("--duration", type=float, default=2.0, help="s, of the move (2)")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        model = bt.load(compiled_file(Path(folder), given.bits))
    evaluator = model.evaluator("words", on_range="saturate")  # clamp and count, without a warning
    arm, words = model.robot.with_payload(UNKNOWN_MASS), through_words(model.formats)

    def float_torque(q: Floats, qd: Floats, qdd: Floats) -> Floats:
        return bt.inverse_dynamics(model.robot, q, qd, qdd)

    runs = {
        "float": track(arm, as_it_is, float_torque, given.duration),
        "float on words": track(arm, words, float_torque, given.duration),
        "compiled": track(arm, words, evaluator.torque, given.duration),
    }
    print(f"{model!r}\n")
    print(f"{'controller':18}{'rms error, mrad':>24}{'largest error, mrad':>24}")
    for name, run in runs.items():
        rms, largest = (" ".join(f"{1e3 * x:.3f}" for x in each) for each in (run.rms, run.largest))
        print(f"{name:18}{rms:>24}{largest:>24}")
    unit, added = model.formats.q[0].lsb, np.abs(runs["compiled"].q - runs["float"].q).max()
    print(
        f"\nThe unknown mass costs {1e3 * runs['float'].largest.max():.2g} mrad with floats already. The compiled arm "
        f"is never more than {1e3 * added:.2g} mrad\nfrom where floats would have it: {added / unit:.2g} units of its "
        f"position words ({1e3 * unit:.3g} mrad). Values out of range: {evaluator.out_of_range.sum()}."
    )
    return {"model": model, "runs": runs, "out_of_range": evaluator.out_of_range}


if __name__ == "__main__":
    main()
