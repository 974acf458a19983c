"""The truth that compiled words are compared with, in float64 with a proved radius: outputs of every model, and terms.

A robot's truth is its quantity traced from the robot's own numbers; a function's is its graph, or its law. Everything
is evaluated on grids: words of each input along an axis of its own, so that what depends on few words is computed for
these alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bddtorque.compiler.origin import from_robot
from bddtorque.dynamics.graph import kept
from bddtorque.plan.blocks import LawBlock
from bddtorque.questions.subject_kinds import Integers
from bddtorque.words.bounded import ROUND_UP, ULP, Bounded, BoundedArithmetic
from bddtorque.words.integer_range import wrap

if TYPE_CHECKING:
    from bddtorque.dynamics.graph import Graph
    from bddtorque.model.model import Model
    from bddtorque.robots.robot import Robot
    from bddtorque.words.formats import Format

Words = Mapping[str, Integers]


def true_output(model: Model, place: int, words: Words) -> Bounded | None:
    """Return one true output, in its unit, for input words by name, of shapes that go together.

    None where the file does not hold the function itself.
    """
    quantity, block = model.provenance.quantity, model.plan.blocks[0] if len(model.plan.blocks) == 1 else None
    if quantity is not None:
        found = _true_quantity(model, model.robot, place, _values(model, words))
        return found + _friction(model, place, words) if quantity.friction else found
    if model.provenance.graph is not None:
        return _evaluate(model.provenance.graph, place, _values(model, words))
    return block.value([words[name] for name in model.formats.words]) if isinstance(block, LawBlock) else None


def true_terms(model: Model, place: int, motions: tuple[tuple[str, ...], ...], words: Words) -> Bounded:
    """Return the sum of some terms of one true torque, each by what its coefficient is multiplied with."""
    weightless = model.robot.with_gravity((0.0, 0.0, 0.0))
    values = _values(model, words)

    def torque(robot: Robot, moving: Collection[str]) -> Bounded:
        """Return the torque of some velocities and accelerations, the others being 0."""
        still = {name: 0.0 for name in values if name.startswith("qd") and name not in moving}
        return _true_quantity(model, robot, place, {**values, **still})

    total = Bounded(np.float64(0.0))
    for motion in motions:
        if not motion:
            found = torque(model.robot, ())
        elif len(motion) == 1 and not motion[0].startswith("qdd"):
            found = _friction(model, place, words)
        else:
            found = torque(weightless, motion)
            if len(set(motion)) > 1:  # the centripetal terms of both are another term
                for name in motion:
                    found = found - torque(weightless, (name,))
        total = total + found
    return total


def _values(model: Model, words: Words) -> dict[str, Any]:
    """Return the values of input words and of words derived from them: angles stay exact, all else has a radius."""
    rest = np.zeros(1, dtype=np.int64)  # what is not given does not matter, and may be anything
    given = {name: words.get(name, rest) for name in model.formats.words}
    for word in model.formats.derived:
        total = sum(factor * given[name] for name, factor in word.parts)
        given[word.name] = wrap(total, word.argument.bits)
    return {name: argument.bounded(given[name]) for name, argument in model.formats.arguments.items()}


def _true_quantity(model: Model, robot: Robot, place: int, values: Mapping[str, Any]) -> Bounded:
    """Return an output of the robot's quantity without friction: its trace, and what rounding constants can lose."""
    origin = from_robot(model.spec, robot, model.formats.inputs)
    found = _evaluate(origin.graph, place, values)
    return Bounded(found.value, found.radius + origin.errors(model.formats.arguments, ())[place])


def _evaluate(graph: Graph, place: int, values: Mapping[str, Any]) -> Bounded:
    own = kept(graph.nodes, graph.outputs[place : place + 1], graph.output_names[place : place + 1])
    (found,) = own.evaluate(values, BoundedArithmetic())
    return found if isinstance(found, Bounded) else Bounded(np.float64(found))


def _friction(model: Model, place: int, words: Words) -> Bounded:
    """Return the friction of a joint."""
    law, velocity = model.robot.joints[place].friction, _values(model, words)[f"qd{place + 1}"]
    if law is None:
        return Bounded(np.float64(0.0))
    shape = np.shape(velocity.value)
    flat = Bounded(np.reshape(velocity.value, -1), np.broadcast_to(velocity.radius, shape).reshape(-1))
    found = law.bounded([flat])
    return Bounded(np.reshape(found.value, shape), np.broadcast_to(found.radius, found.value.shape).reshape(shape))


def in_units(value: Bounded, word: Format) -> Bounded:
    """Return values as units of a word, neither rounded nor clamped."""
    slack = 4 * ULP * (np.abs(value.value) + abs(word.offset) + abs(word.centre)) / word.lsb
    return Bounded(word.units(value.value), (np.abs(value.radius) / word.lsb + slack) * ROUND_UP)
