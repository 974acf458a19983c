"""Origin of the compiled function: a graph, and how far it can be from the true function.

Torques are traced in two ways, as separate terms or as the recursion, and proved once. A quantity whose outputs are
torques of some motions is made from one of these graphs, and what is proved of the torques is proved of it. Anything
else is traced from the robot's own numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.coupling import refuse_uncompilable
from bddtorque.dynamics.graph import Graph, Node, Op
from bddtorque.dynamics.node_ranges import folding_errors, output_ranges
from bddtorque.dynamics.quantity import MOTION
from bddtorque.dynamics.recursion import TORQUES, JointRecursion
from bddtorque.dynamics.regroup import regrouped
from bddtorque.dynamics.robot_trace import trace_chain
from bddtorque.dynamics.term_trace import traced_terms
from bddtorque.dynamics.traced_arm import TracedArm, TracedMotion
from bddtorque.dynamics.tracer import Number, Traced
from bddtorque.model.model import Model
from bddtorque.plan.blocks import LawBlock
from bddtorque.proof.recursion_truth import recursion_errors
from bddtorque.proof.term_truth import term_errors
from bddtorque.robots.robot import Robot
from bddtorque.spec import Spec
from bddtorque.targets import TARGETS
from bddtorque.targets.target import LawTerm
from bddtorque.words.argument import Argument, intervals
from bddtorque.words.bounded import Interval
from bddtorque.words.interface import Interface, WordArray
from bddtorque.words.interpolant import Interpolant
from bddtorque.words.samples import check_reach

Floats = npt.NDArray[np.float64]
HOPELESS = 10
"""Operations of separate terms for each one of the recursion that no plan makes up for: the terms of a UR5
have 3 and are taken, those of a PUMA 560 have 6 and are not, those of a Z1 have 42 and take half a minute to plan."""
FEW_JOINTS = 3
"""With more, the separate terms of an arm take a processor longer than the recursion."""


@dataclass(frozen=True)
class Origin:
    """A quantity as a graph to be compiled."""

    source: str  # "terms" or "recursive"
    graph: Graph  # its inputs are words of the quantity, or derived from them
    # from the ranges of inputs and the largest |position| of each joint: how far each output can be from the true one
    find_errors: Callable[[Mapping[str, Interval], Sequence[float]], Floats]

    def errors(self, inputs: Mapping[str, Interval], reach: Sequence[float]) -> Floats:
        """Return how far each output can be from the true function, in SI units; plans must leave room for it.

        `inputs` are the ranges of words that are not angles, `reach` the largest |position| of each joint. Errors are
        rounded up to four bits: plans and certificates must not depend on the last digit of a library's sine.
        """
        mantissa, exponent = np.frexp(self.find_errors(inputs, reach))
        return np.ldexp(np.ceil(mantissa * 16), exponent - 4)  # type: ignore[no-any-return]

    def ranges(self, arguments: Mapping[str, Argument]) -> list[Interval]:
        """Return a sound range of each output of the graph."""
        return output_ranges(self.graph, intervals(arguments))


def from_terms(robot: Robot, by_powers: bool = False) -> Origin:
    """Return the torques as sums of separate terms; refused, with the counts, where there are too many harmonics."""
    terms, graph = traced_terms(robot, by_powers)

    def find_errors(inputs: Mapping[str, Interval], reach: Sequence[float]) -> Floats:
        folded = folding_errors(graph, inputs)
        return np.asarray(term_errors(robot, terms, reach, _magnitudes(inputs)) + np.array(folded))

    return Origin("terms", graph, find_errors)


@lru_cache(maxsize=2)  # what the torques range over is found from it a moment before they are planned
def from_recursion(robot: Robot, recursion: JointRecursion = TORQUES, names: tuple[str, ...] = ()) -> Origin:
    """Return the torques as Newton-Euler computes them, one graph for all, regrouped for the fewest operations.

    Or the outputs of another recursion, of these names.
    """
    refuse_uncompilable(robot)
    graph = trace_chain(*regrouped(chain_of(robot)), recursion, names)

    def find_errors(inputs: Mapping[str, Interval], reach: Sequence[float]) -> Floats:
        return recursion_errors(robot, reach, _magnitudes(inputs), recursion)

    return Origin("recursive", graph, find_errors)


def _magnitudes(inputs: Mapping[str, Interval]) -> dict[str, float]:
    return {name: interval.magnitude for name, interval in inputs.items()}


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
        if record.recursion is not None and not spec.run_time:
            return [from_recursion(robot, record.recursion, tuple(_names(spec, robot)))]
        return [from_robot(spec, robot, tuple(inputs))]
    weighing = robot.with_gravity((0.0, 0.0, 0.0)) if record.weightless else robot
    torques = _torque_origins(spec, weighing)
    return torques if record.inverse_dynamics else [_from_torques(spec, weighing, torques[0])]


def _torque_origins(spec: Spec, robot: Robot) -> list[Origin]:
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


def worth_planning(origins: Sequence[Origin]) -> Sequence[Origin]:
    """Return origins without separate terms that have many times the operations of the recursion beside them."""
    first, last = (sum(each.graph.counts().values()) for each in (origins[0], origins[-1]))
    return origins[-1:] if first > HOPELESS * last else origins


def _from_torques(spec: Spec, robot: Robot, torques: Origin) -> Origin:
    """Return a quantity whose outputs are torques of some motions."""
    arm = TracedArm(robot, spec, torques.graph)
    outputs = spec.record.compute(arm)
    graph = arm.tracer.graph(outputs, _names(spec, robot))
    motion_names = [f"{kind}{j}" for kind in MOTION for j in range(1, robot.degrees_of_freedom + 1)]

    def find_errors(inputs: Mapping[str, Interval], reach: Sequence[float]) -> Floats:
        known: dict[object, float] = {}
        for motion in arm.motions:
            given = {**inputs, **_motion_ranges(arm, motion, inputs)}
            own = torques.errors({name: given[name] for name in motion_names if name in given}, reach)
            for torque, error in zip(motion.torques, own.tolist(), strict=True):
                known[_key(torque)] = max(known.get(_key(torque), 0.0), error)
        made = np.array([known[_key(output)] for output in outputs])
        return np.asarray(folding_errors(graph, inputs) + made)

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
    graph = arm.tracer.graph(spec.record.compute(arm), _names(spec, robot))
    return Origin("recursive", graph, lambda inputs, _: np.array(folding_errors(graph, inputs)))


def _names(spec: Spec, robot: Robot) -> list[str]:
    """Return the names of the outputs in graphs and plans: their labels; those of joints are numbered."""
    names = []
    for array in spec.record.outputs:
        own = list(array.labels(robot))
        names += [f"{array.name}{j}" for j in range(1, len(own) + 1)] if array.per_joint else own
    return names


def joint_frictions(robot: Robot, spec: Spec, formats: Interface) -> list[LawTerm]:
    """Return the friction of the joints that have any, of their velocities."""
    terms = []
    for j, joint in enumerate(robot.joints if spec.record.friction else ()):
        if joint.friction is not None:
            name = f"qd{j + 1}"
            if isinstance(joint.friction, Interpolant) and not joint.friction.hold:
                (knots,) = joint.friction.knots
                check_reach(knots[0], knots[-1], formats.words[name], "velocity", f"friction of joint '{joint.name}'")
            terms.append(LawTerm(j, joint.friction, (name,)))
    return terms


class TrueGraph(NamedTuple):
    """A function as a graph over the values of its words, and of words derived from these, and laws to add."""

    graph: Graph
    laws: tuple[LawTerm, ...]


def true_graph(model: Model, laws_alone: bool = True) -> TrueGraph | None:
    """Return what was compiled, for estimates, reports and float baselines; of a robot the recursion.

    None where only the function itself knows its values, and where the recursion cannot be traced. A function that is a
    law and nothing else has a graph of zeros if `laws_alone`, else none.
    """
    known, blocks = model.provenance, model.plan.blocks
    if known.robot is not None and known.spec is not None:
        try:
            origin = origins_of(replace(known.spec, source="recursive"), known.robot, model.formats.inputs)[0]
        except BddTorqueError:
            return None
        return TrueGraph(origin.graph, tuple(joint_frictions(known.robot, known.spec, model.formats)))
    if known.graph is not None:
        return TrueGraph(known.graph, ())
    if laws_alone and len(blocks) == 1 and isinstance(blocks[0], LawBlock):
        nothing = Graph((Node(Op.CONSTANT),), (0,), ("nothing",))
        return TrueGraph(nothing, (LawTerm(0, blocks[0].law, tuple(model.formats.word_names)),))
    return None
