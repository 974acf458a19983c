"""What can be compiled of a robot: the arrays of words that go in and come out, and the ranges that must be known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """One of the functions of a robot."""

    about: str  # what it is, for the header of exported code and for people
    # inputs, outputs: names of its arrays, in order
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def ranges(self) -> tuple[str, ...]:
        """The ranges of joints that it needs."""
        read = {name.partition("_")[0] for name in self.inputs}
        motion = (name for array, name in MOTION.items() if array in read)
        return (*motion, *(("torque",) if "tau" in self.outputs else ()))


MOTION = {"q": "position", "qd": "velocity", "qdd": "acceleration"}
"""What the arrays of a motion hold; ``q_desired`` and so on hold the same as ``q``."""
DESIRED = tuple(f"{array}_desired" for array in MOTION)

QUANTITIES = {
    "torque": Quantity("the inverse dynamics of a robot arm", tuple(MOTION), ("tau",)),
    "gravity": Quantity("the torques that hold a robot arm against gravity", ("q",), ("tau",)),
    "bias": Quantity("the Coriolis, centripetal, gravity and friction torques of a robot arm", ("q", "qd"), ("tau",)),
    "mass_matrix": Quantity("the mass matrix of a robot arm", ("q",), ("mass",)),
    "kinematics": Quantity("the pose of the tip of a robot arm", ("q",), ("position", "rotation")),
    "jacobian": Quantity("the Jacobian of the tip of a robot arm", ("q",), ("jacobian",)),
    "law": Quantity("the computed-torque law of a robot arm", ("q", "qd", *DESIRED), ("tau",)),
}
"""By name. ``"torque"`` is what is compiled unless another is asked for."""
PAYLOAD = "payload"
"""The array of the words of a payload that is given at run time; it comes last."""
