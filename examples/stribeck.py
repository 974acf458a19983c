"""Friction added to an arm: planar2r with a Stribeck curve in the shoulder and measured friction in the elbow.

The friction of a joint is a function of the word of its velocity, so it is one more table, added to the sum of the
torque. The certificate covers it: "true torque" means rigid body and friction together.

    python examples/stribeck.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import bddtorque as bt
from bddtorque.spec import load_spec

SPEC = """
robot = "planar2r"
bits = 8

[ranges]
velocity = 1.0
acceleration = 1.0

[[joint]]
name = "shoulder"
torque = 200.0
friction = { viscous = 6.0, coulomb = 8.0, static = 12.0, stribeck_velocity = 0.05 }

[[joint]]
name = "elbow"
torque = 100.0
friction = { samples = "elbow.csv" }
"""


def write_measurement(path: Path) -> None:
    """Write what a friction test of the elbow might give: a sweep of velocities, each measured twice."""
    rng = np.random.default_rng(1)
    velocity = np.repeat(np.linspace(-1.0, 1.0, 41), 2)
    torque = 3.0 * np.tanh(velocity / 0.08) + 1.5 * velocity + rng.normal(0.0, 0.05, len(velocity))
    rows = [f"{v:.4f},{t:.5f}" for v, t in zip(velocity, torque, strict=True)]
    path.write_text("\n".join(["velocity,torque", *rows]) + "\n", encoding="utf-8")


def main(folder: Path) -> bt.Model:
    """Compile the arm with its friction, show what is proved, and compare friction with and without."""
    write_measurement(folder / "elbow.csv")
    (folder / "rubbing2r.toml").write_text(SPEC, encoding="utf-8")
    model = bt.compile(load_spec(folder / "rubbing2r.toml"))
    print(model.certificate)
    smooth = bt.load_robot("planar2r")
    print("\nshoulder velocity   rigid body   with friction   compiled (N·m), the arm stretched out, no acceleration")
    for velocity in (-0.5, -0.02, 0.0, 0.02, 0.5):
        state = [0.0, 0.0], [velocity, 0.0], [0.0, 0.0]
        words = [fmt.quantise(x) for fmt, x in zip(model.formats.inputs, state, strict=True)]
        at = [fmt.dequantise(x) for fmt, x in zip(model.formats.inputs, words, strict=True)]
        rigid, true = bt.inverse_dynamics(smooth, *at)[0], bt.inverse_dynamics(model.robot, *at)[0]
        compiled = model.formats.tau.dequantise(model.torque_words(*words))[0]
        print(f"{velocity:17.2f}   {rigid:10.2f}   {true:13.2f}   {compiled:8.2f}")
    return model


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
