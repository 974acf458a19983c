"""Gravity compensation of a UR5 that people can push by hand, with a payload that is only known at run time.

The gravity torques are compiled once, over words of the positions and of the payload's mass and first moments. The
result is one file, proved for every payload in the box. In the loop, `model.value` rounds positions to words and
returns the torques of these words. The arm is simulated by its float forward dynamics with damping in its joints. It
carries 2.5 kg and starts at rest.

Three controllers try to hold it; none of them uses velocities. Without compensation the arm falls. Compensated as if it
were empty, it sinks under the load. Told of the load, it stays.

    python examples/gravity_compensation.py [--bits 14]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

import bddtorque as bt

Floats = npt.NDArray[np.float64]
BOX = {"mass": [0, 5], "com": [[-0.1, 0.1], [-0.1, 0.1], [0.0, 0.2]], "runtime": True}
LOAD, PLACE = 2.5, (0.02, 0.05, 0.1)
"""kg, and m in the tip frame."""
START = np.array([0.2, -1.1, 1.4, -0.6, 0.3, 0.0])
DAMPING = np.array([30.0, 30.0, 20.0, 3.0, 3.0, 3.0])
"""N·m·s/rad, of the gears."""
PERIOD, DURATION = 0.002, 1.0
"""s."""


def compile_gravity(bits: int) -> bt.Model:
    """Return the gravity torques of the UR5 for every payload in the box."""
    return bt.compile("ur5", quantity="gravity", payload=BOX, torque="auto", bits=bits, target="integer")


def hold(robot: bt.Robot, torque: Callable[[Floats], Floats]) -> float:
    """Return how far any joint has moved, in rad, after the arm was held by `torque` of its positions."""
    q, qd = START.copy(), np.zeros(6)
    for _ in range(round(DURATION / PERIOD)):
        qdd = bt.forward_dynamics(robot, q, qd, torque(q) - DAMPING * qd)
        qd = qd + PERIOD * qdd
        q = q + PERIOD * qd
    return float(np.abs(q - START).max())


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Hold the arm three ways, and return how far it moved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=14, help="word length of torques and inputs (14)")
    bits = parser.parse_args(arguments).bits
    model = compile_gravity(bits)
    print(model)
    print("payload words:", ", ".join(model.formats["payload"].labels))
    empty, loaded = model.payload(0.0), model.payload(LOAD, PLACE)
    robot = bt.load_robot("ur5").with_payload(LOAD, PLACE)
    moved = {
        "no compensation": hold(robot, lambda q: np.zeros(6)),
        "empty arm": hold(robot, lambda q: model.value(q, payload=empty)),
        "with its load": hold(robot, lambda q: model.value(q, payload=loaded)),
    }
    for name, far in moved.items():
        print(f"{name:16} moved {1e3 * far:8.2f} mrad in {DURATION:g} s")
    return moved


if __name__ == "__main__":
    main()
