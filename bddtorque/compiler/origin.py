"""Origin of the compiled function: a graph, and how far it can be from the true function.

Torques are traced in two ways, as separate terms or as the recursion, and proved once. A quantity whose outputs are
torques of some motions is made from one of these graphs, and what is proved of the torques is proved of it. Anything
else is traced from the robot's own numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.coupling import refuse_uncompilable
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.node_ranges import folding_errors, output_ranges
from bddtorque.dynamics.quantity import MOTION
from bddtorque.dynamics.regroup import Regrouped, regrouped
from bddtorque.dynamics.robot_trace import trace_chain
from bddtorque.dynamics.term_trace import traced_terms
from bddtorque.dynamics.terms import Terms
from bddtorque.dynamics.traced_arm import TracedArm, TracedMotion
from bddtorque.dynamics.tracer import Number, Traced
from bddtorque.proof.recursion_truth import recursion_errors
from bddtorque.proof.term_truth import term_errors
from bddtorque.robots.robot import Robot
from bddtorque.spec import Spec
from bddtorque.targets import TARGETS
from bddtorque.words.argument import Argument, intervals
from bddtorque.words.bounded import Interval
from bddtorque.words.interface import WordArray

Floats = npt.NDArray[np.float64]
FEW_JOINTS = 3
"""With more, the separate terms of an arm take a processor longer than the recursion."""


@dataclass(frozen=True)
class TorqueGraph:
    """A robot's torques as a graph, and what it was made from."""

    robot: Robot
    source: str  # "terms" or "recursive"
    graph: Graph  # inputs q1.., qd1.., qdd1..; outputs tau1..
    made_from: Terms | Regrouped  # the expansion in harmonics, or the regrouped chain

    def errors(self, inputs: Mapping[str, Interval], reach: Sequence[float]) -> Floats:
        """Return, for each torque, how far the graph can be from the true torque, N·m or N, shape (n,).

        `inputs` are the ranges of q1.. (of joints that slide), qd1.. and qdd1.., `reach` the largest |position| of each
        joint. The plan must leave room for it, and the certificate states it.
        """
        motion = {name: each.magnitude for name, each in inputs.items()}
        if isinstance(self.made_from, Regrouped):
            return round_up_to_four_bits(recursion_errors(self.robot, reach, motion))
        folded = folding_errors(self.graph, inputs)
        return round_up_to_four_bits(term_errors(self.robot, self.made_from, reach, motion) + np.array(folded))


def round_up_to_four_bits(errors: Floats) -> Floats:
    """Return errors in four bits: plans and certificates must not depend on the last digit of a library's sine."""
    mantissa, exponent = np.frexp(errors)
    return np.ldexp(np.ceil(mantissa * 16), exponent - 4)  # type: ignore[no-any-return]


def from_terms(robot: Robot, by_powers: bool = False) -> TorqueGraph:
    """Return the torques as sums of separate terms; refused, with the counts, where there are too many harmonics."""
    terms, graph = traced_terms(robot, by_powers)
    return TorqueGraph(robot, "terms", graph, terms)


@lru_cache(maxsize=2)  # what the torques range over is found from it a moment before they are planned
def from_recursion(robot: Robot) -> TorqueGraph:
    """Return the torques as Newton-Euler computes them, one graph for all, regrouped for the fewest operations."""
    refuse_uncompilable(robot)
    made_from = regrouped(chain_of(robot))
    return TorqueGraph(robot, "recursive", trace_chain(*made_from), made_from)


@dataclass(frozen=True)
class Origin:
    """A quantity as a graph to be compiled."""

    source: str  # "terms" or "recursive"
    graph: Graph  # its inputs are words of the quantity, or derived from them
    # from the ranges of inputs and the largest |position| of each joint: how far each output can be from the true one
    find_errors: Callable[[Mapping[str, Interval], Sequence[float]], Floats]

    def errors(self, arguments: Mapping[str, Argument], reach: Sequence[float]) -> Floats:
        """Return, for each output, how far the graph can be from the true function, in SI units."""
        return self.find_errors(intervals(arguments), reach)

    def ranges(self, arguments: Mapping[str, Argument]) -> list[Interval]:
        """Return a sound range of each output of the graph."""
        return output_ranges(self.graph, intervals(arguments))


def origins_of(spec: Spec, robot: Robot, inputs: Sequence[WordArray] = ()) -> list[Origin]:
    """Return the graphs that a quantity may be compiled from: of the source asked for, or of all that make sense.

    `inputs` are the arrays of the quantity; only what is given at run time is read of them.
    """
    record = spec.record
    if spec.run_time or not record.from_torques:
        if spec.source == "terms":
            given = [f"{each.name} at run time" for each in spec.run_time]
            what = given[0] if given else f"quantity '{record.name}'"
            said = f"source 'terms' cannot be used with {what}: use source 'recursive' or 'auto'"
            raise BddTorqueError(said, option="source")
        return [from_robot(spec, robot, tuple(inputs))]
    weighing = robot.with_gravity((0.0, 0.0, 0.0)) if record.weightless else robot
    found = _torque_graphs(spec, weighing)
    if record.inverse_dynamics:
        return [Origin(each.source, each.graph, each.errors) for each in found]
    return [_from_torques(spec, each) for each in found[:1]]


def _torque_graphs(spec: Spec, robot: Robot) -> list[TorqueGraph]:
    """Return the source asked for; else, for tables, the terms if there are few harmonics.

    With more than a few joints the recursion of the torques is planned too. For other targets it comes first.
    """
    if spec.source != "auto":
        return [from_terms(robot) if spec.source == "terms" else from_recursion(robot)]
    few, target = robot.degrees_of_freedom <= FEW_JOINTS, TARGETS[spec.target]
    if not target.made_of_tables:
        terms = few and target.compares_terms and not robot.coupled
        return [from_recursion(robot), *([from_terms(robot)] if terms else [])]
    with suppress(BddTorqueError):
        return [from_terms(robot), *([] if few else [from_recursion(robot)])]
    return [from_recursion(robot)]


def _from_torques(spec: Spec, torques: TorqueGraph) -> Origin:
    """Return a quantity whose outputs are torques of some motions."""
    arm = TracedArm(torques.robot, spec, torques.graph)
    outputs = spec.record.trace(arm)
    graph = arm.tracer.graph(outputs, _names(spec, torques.robot))
    motion_names = [f"{kind}{j}" for kind in MOTION for j in range(1, arm.joints + 1)]

    def find_errors(inputs: Mapping[str, Interval], reach: Sequence[float]) -> Floats:
        known: dict[object, float] = {}
        for motion in arm.motions:
            given = {**inputs, **_motion_ranges(arm, motion, inputs)}
            own = torques.errors({name: given[name] for name in motion_names if name in given}, reach)
            for torque, error in zip(motion.torques, own.tolist(), strict=True):
                known[_key(torque)] = max(known.get(_key(torque), 0.0), error)
        made = np.array([known[_key(output)] for output in outputs])
        folded = np.array(folding_errors(graph, inputs))
        return round_up_to_four_bits(folded + made)

    return Origin(torques.source, graph, find_errors)


def _key(number: Number) -> object:
    return number.reference if isinstance(number, Traced) else float(number)


def _motion_ranges(arm: TracedArm, motion: TracedMotion, inputs: Mapping[str, Interval]) -> dict[str, Interval]:
    """Return the ranges of the velocities and accelerations of a motion."""
    numbers = {f"{kind}{j}": each for kind in ("qd", "qdd") for j, each in enumerate(getattr(motion, kind), 1)}
    graph = arm.tracer.graph(list(numbers.values()), list(numbers))
    return dict(zip(numbers, output_ranges(graph, inputs), strict=True))


@lru_cache(maxsize=4)
def from_robot(spec: Spec, robot: Robot, inputs: tuple[WordArray, ...]) -> Origin:
    """Return a quantity that is traced from the robot's own numbers, each rounded once."""
    refuse_uncompilable(robot)
    labels = {array.name: array.labels for array in inputs}
    arm = TracedArm(robot, spec, run_time=[(each, labels[each.name]) for each in spec.run_time])
    graph = arm.tracer.graph(spec.record.trace(arm), _names(spec, robot))

    def find_errors(inputs: Mapping[str, Interval], reach: Sequence[float]) -> Floats:
        return round_up_to_four_bits(np.array(folding_errors(graph, inputs)))

    return Origin("recursive", graph, find_errors)


def _names(spec: Spec, robot: Robot) -> list[str]:
    """Return the names of the outputs in graphs and plans: their labels; those of joints are numbered."""
    names = []
    for array in spec.record.outputs:
        own = list(array.labels(robot))
        names += [f"{array.name}{j}" for j in range(1, len(own) + 1)] if array.per_joint else own
    return names
