"""The truth that compiled words are compared with, in float64 with a proved radius: torques, terms, functions, blocks.

Everything is evaluated on grids: words of each input along an axis of its own, so that what depends on few words is
computed for these alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.coupling import member_motion
from bddtorque.dynamics.matrices import weightless
from bddtorque.plan.blocks import LawBlock
from bddtorque.proof.bounded_chain import bounded_chain, bounded_torques
from bddtorque.questions.subject_kinds import Integers
from bddtorque.words.bounded import ROUND_UP, ULP, Bounded, BoundedArithmetic, Turn

if TYPE_CHECKING:
    from bddtorque.model.model import Model
    from bddtorque.robots.robot import Robot
    from bddtorque.words.formats import Format

Words = Mapping[str, Integers]


def is_torque_of_motion(model: Model) -> bool:
    """Whether outputs are the torques of a motion, velocities and accelerations that are no inputs being 0."""
    quantity = model.provenance.quantity
    if quantity is None or model.spec.run_time or not quantity.from_torques or quantity.weightless:
        return False
    return set(quantity.inputs) <= {"q", "qd", "qdd"}


def rubs(model: Model) -> bool:
    """Whether friction is part of the torques."""
    quantity = model.provenance.quantity
    return quantity is not None and quantity.friction


def true_torque(model: Model, place: int, words: Words) -> Bounded:
    """Return one true torque, N·m or N, for input words by name, of shapes that go together."""
    robot = model.robot
    state = _State(model, words)
    found: Bounded = state.torques(bounded_chain(robot), state.moving("qd"), state.moving("qdd"))[place]
    return found + _friction(robot, place, state.given[f"qd{place + 1}"]) if rubs(model) else found


def true_terms(model: Model, place: int, motions: tuple[tuple[str, ...], ...], words: Words) -> Bounded:
    """Return the sum of some terms of one true torque, each by what its coefficient is multiplied with."""
    chain = bounded_chain(model.robot)
    floating, state = weightless(chain), _State(model, words)
    rest = state.moving("qd", ())
    total = Bounded(np.float64(0.0))
    for motion in motions:
        if not motion:
            found = state.torques(chain, rest, rest)[place]
        elif motion[0].startswith("qdd"):
            found = state.torques(floating, rest, state.moving("qdd", motion))[place]
        elif len(motion) == 1:
            found = _friction(model.robot, place, state.given[motion[0]])
        else:
            found = state.torques(floating, state.moving("qd", motion), rest)[place]
            if motion[0] != motion[1]:  # the centripetal terms of both are another term
                for name in motion:
                    found = found - state.torques(floating, state.moving("qd", (name,)), rest)[place]
        total = total + found
    return total


class _State:
    """The values of input words: angles stay exact, everything else has a radius."""

    def __init__(self, model: Model, words: Words) -> None:
        self.count = len(model.robot.joints)
        rest = np.zeros(1, dtype=np.int64)  # what is not given does not matter, and may be anything
        arguments = model.formats.arguments.items()
        self.given: dict[str, Any] = {name: argument.bounded(words.get(name, rest)) for name, argument in arguments}
        members = model.robot.members
        self.sine, self.cosine, self.q = (np.zeros(len(members), dtype=object) for _ in range(3))
        arithmetic = BoundedArithmetic()
        for i, member in enumerate(members):
            position = self.given[f"q{member.drive + 1}"]
            if isinstance(position, Turn):
                position = position * member.multiplier + Turn(0, 0, Fraction(member.offset))
                self.sine[i], self.cosine[i] = arithmetic.sin(position), arithmetic.cos(position)
            else:
                self.q[i] = position * member.multiplier + member.offset if model.robot.followers else position

    def moving(self, quantity: str, names: Collection[str] | None = None) -> Any:
        """Return velocities or accelerations (n,): all of them, or those named, the others at rest."""
        found = np.zeros(self.count, dtype=object)
        for j, name in enumerate(f"{quantity}{j + 1}" for j in range(self.count)):
            if name in self.given and (names is None or name in names):
                found[j] = self.given[name]
        return found

    def torques(self, chain: Chain, qd: Any, qdd: Any) -> list[Bounded]:
        """Return the torques of a chain."""
        qd, qdd = member_motion(chain, qd), member_motion(chain, qdd)
        return bounded_torques(chain, self.sine, self.cosine, self.q, qd, qdd)


def _friction(robot: Robot, place: int, velocity: Bounded) -> Any:
    law = robot.joints[place].friction
    if law is None:
        return 0.0
    shape = np.shape(velocity.value)
    flat = Bounded(np.reshape(velocity.value, -1), np.broadcast_to(velocity.radius, shape).reshape(-1))
    found = law.bounded([flat])
    return Bounded(np.reshape(found.value, shape), np.broadcast_to(found.radius, found.value.shape).reshape(shape))


def true_function(model: Model, words: Words) -> Bounded | None:
    """Return a compiled function's true value, or None where the file does not hold the function itself."""
    if model.graph is None:
        block = model.plan.blocks[0] if len(model.plan.blocks) == 1 else None
        if not isinstance(block, LawBlock):
            return None
        return block.value([words[name] for name in tuple(model.formats.words)])
    inputs = {name: argument.bounded(words[name]) for name, argument in model.formats.arguments.items()}
    found = model.graph.evaluate(inputs, BoundedArithmetic())[0]
    return found if isinstance(found, Bounded) else Bounded(np.float64(found))


def in_units(value: Bounded, word: Format) -> Bounded:
    """Return values as units of a word, neither rounded nor clamped."""
    slack = 4 * ULP * (np.abs(value.value) + abs(word.offset) + abs(word.centre)) / word.lsb
    return Bounded(word.units(value.value), (np.abs(value.radius) / word.lsb + slack) * ROUND_UP)
