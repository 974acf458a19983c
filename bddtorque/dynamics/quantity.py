"""`Quantity`: one function of a robot, as a record. Each file of `dynamics/quantities/` defines one.

A quantity says which arrays go in and come out, and how they are computed: under trace, for compiling, and in float64,
for its true values. What arms do for it (torques, the pose and the Jacobian of the tip, energies) is written apart for
both. Everything else follows: compiling, proving, exporting, comparing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.batch import Floats, friction
from bddtorque.dynamics.coupling import angle_words
from bddtorque.dynamics.float_arm import FloatArm, columns_of
from bddtorque.dynamics.recursion import JointRecursion
from bddtorque.dynamics.traced_arm import TracedArm
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval
from bddtorque.words.interface import Derived, WordArray

Arm = TracedArm | FloatArm
"""A robot as quantities see it: numbers are traced, or arrays (N,) of N states."""
MOTION = {"q": "position", "qd": "velocity", "qdd": "acceleration"}
"""The physical kind of each array of a motion; ``q_desired`` and so on hold the same as ``q``."""
ROLES = ("desired", "reference")
"""Motions besides that of the robot."""
DESIRED, _ = (tuple(f"{array}_{role}" for array in MOTION) for role in ROLES)


def role_of(array: str) -> str:
    """Return the role of an array of a motion, such as ``"desired"`` for ``q_desired``; empty for other arrays."""
    name, _, role = array.partition("_")
    return role if name in MOTION and role in ROLES else ""


ANY = Interval(-math.inf, math.inf)


class Asked(Protocol):
    """The part of a resolved specification that records read."""

    @property
    def quantity(self) -> str:
        """The name of the quantity."""

    @property
    def payload(self) -> Any:
        """A payload, a box of payloads at run time, or None."""

    @property
    def gravity(self) -> Any:
        """Free fall in base axes, words of it at run time, or None."""

    @property
    def gains(self) -> Any:
        """The gains of a control law, or None."""

    @property
    def bits(self) -> Any:
        """Word length of the outputs: one number, or one per joint."""

    @property
    def where(self) -> str:
        """The name of the specification in messages."""

    def refusal(self, message: str, name: str) -> BddTorqueError:
        """Return an error about a key, which names its place."""


@dataclass(frozen=True)
class OutputArray:
    """An array that comes out. The ranges of its words are found from what the quantity can reach."""

    name: str
    labels: Callable[[Robot], Sequence[str]]
    units: Callable[[Robot], Sequence[str]]  # one per word; "" for a number without a unit
    shape: Callable[[Robot], tuple[int, ...]]
    per_joint: bool = False  # torques of the joints, whose ranges the specification may state
    signed: bool = True  # else its words are unsigned where no value can be negative (`Quantity.known_ranges`)


def joint_labels(robot: Robot) -> tuple[str, ...]:
    """Return the names of the driven joints."""
    return robot.joint_names


def torque_units(robot: Robot) -> list[str]:
    """Return the unit of each joint's torque or force."""
    return [joint.kind.units["torque"] for joint in robot.joints]


def joint_shape(robot: Robot) -> tuple[int, ...]:
    """Return the shape of an array with one word per driven joint."""
    return (robot.degrees_of_freedom,)


TORQUES = OutputArray("tau", joint_labels, torque_units, joint_shape, per_joint=True)


def derived_words(record: Quantity, robot: Robot, inputs: Sequence[WordArray]) -> tuple[Derived, ...]:
    """Return the words made of input words that the trace of a quantity reads."""
    arrays = {array.name: array for array in inputs}
    return (*angle_words(robot, arrays["q"]), *record.derived(robot, arrays))


class Quantity:
    """One function of a robot: a record, to be derived from."""

    name: ClassVar[str]
    about: ClassVar[str]
    """A line for people: help, headers of exported code, tables of the documentation."""
    inputs: ClassVar[tuple[str, ...]]
    """Arrays of the motion that go in: ``q``, ``qd``, ``qdd`` and those that are desired."""
    outputs: ClassVar[tuple[OutputArray, ...]] = (TORQUES,)
    accepts: ClassVar[tuple[str, ...]] = ()
    """Inputs at run time that it depends on, by the names of their records (`dynamics/run_time/`)."""
    keys: ClassVar[tuple[str, ...]] = ()
    """Keys of the specification that belong to it."""
    friction: ClassVar[bool] = False
    """True if friction is a part of it."""
    needs_tip: ClassVar[bool] = False
    """True if it is about the tip of the robot."""
    at_rest: ClassVar[bool] = False
    """True if nothing moves: of a body, only its weight matters."""
    from_torques: ClassVar[bool] = False
    """True if each output is a torque of some motion. What is proved of the torques is then proved of it."""
    weightless: ClassVar[bool] = False
    """True if gravity is left out."""
    recursion: ClassVar[JointRecursion | None] = None
    """A recursion of its own, which it is traced by from regrouped numbers, and proved by, as torques are."""
    inverse_dynamics: ClassVar[bool] = False
    """True if it is the torque as a function of position, velocity and acceleration, whose terms have names."""

    @property
    def ranges(self) -> tuple[str, ...]:
        """The ranges of joints that it needs."""
        read = {name.partition("_")[0] for name in self.inputs}
        motion = (name for array, name in MOTION.items() if array in read)
        return (*motion, *(("torque",) if any(array.per_joint for array in self.outputs) else ()))

    def check(self, asked: Asked, robot: Robot) -> None:
        """Refuse a specification that makes no sense for this quantity."""

    def derived(self, robot: Robot, arrays: Mapping[str, WordArray]) -> tuple[Derived, ...]:
        """Return words made of input words that the trace reads, besides those of all quantities."""
        return ()

    def compute(self, arm: Arm) -> list[Any]:
        """Return the outputs without friction, in the order of their labels, in SI units."""
        if self.recursion is None:
            raise NotImplementedError
        return arm.run(self.recursion)

    def values(self, arm: FloatArm) -> Floats:
        """Return the outputs (N, outputs) of N states in float64, in SI units."""
        outputs = columns_of(self.compute(arm), len(arm.q))
        return outputs + friction(arm.robot, arm.arrays["qd"]) if self.friction else outputs

    def known_ranges(self, asked: Asked, robot: Robot) -> list[Interval] | None:
        """Return what is known of each output whatever the words are; None where nothing is."""
        return None

    def labels(self, robot: Robot) -> list[str]:
        """Return the names of all output words."""
        return [label for array in self.outputs for label in array.labels(robot)]
