"""The graph of a quantity, and how far it can be from the true function.

Gravity, bias, mass matrix and law are the torques at chosen motions: the graph of the torques with numbers, or other
numbers under trace, in the place of some inputs. What is proved of the torques is proved of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.origin import Origin, from_recursion, from_terms, rounded_up
from bddtorque.dynamics.coupling import refuse_uncompilable
from bddtorque.dynamics.exact_trace import trace_jacobian, trace_payload_torques, trace_pose
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.node_ranges import node_ranges, output_ranges
from bddtorque.dynamics.tracer import Exact, ExactTracer, Number, traced_inputs
from bddtorque.model.quantity_words import (
    difference_names,
    jacobian_labels,
    law_gains,
    payload_ranges,
    rotation_labels,
    upper_triangle,
)
from bddtorque.proof.folding import folding_errors
from bddtorque.robots.robot import Robot
from bddtorque.spec import Spec
from bddtorque.spec.quantities import PAYLOAD
from bddtorque.spec.records import PayloadBox
from bddtorque.targets import TARGETS
from bddtorque.words.argument import Argument, intervals
from bddtorque.words.bounded import Interval

Floats = npt.NDArray[np.float64]
TORQUES = ("torque", "gravity", "bias", "law")
"""Quantities that are the torques of some motion."""
STILL, UNIT = Argument("word", 2, Fraction(0)), Argument("word", 2, Fraction(0), Fraction(1))
"""Motions that are no inputs: 0, and 1."""
COVER_BITS = 24


@dataclass(frozen=True)
class QuantityOrigin:
    """A quantity as a graph to be compiled."""

    source: str  # "terms" or "recursive"
    graph: Graph  # its inputs are words of the quantity, or differences of two (`difference_names`)
    # from arguments and the largest |position| of each joint, how far what the graph was made from can be from the true
    # function, for each output
    made_errors: Callable[[Mapping[str, Argument], Sequence[float]], Floats] | None = None

    def errors(self, arguments: Mapping[str, Argument], reach: Sequence[float]) -> Floats:
        """Return, for each output, how far the graph can be from the true function, in SI units."""
        inputs = intervals(arguments)
        folded = np.array(folding_errors(self.graph, node_ranges(self.graph, inputs)))
        return rounded_up(folded if self.made_errors is None else folded + self.made_errors(arguments, reach))

    def ranges(self, arguments: Mapping[str, Argument]) -> list[Interval]:
        """Return a sound range of each output of the graph."""
        return output_ranges(self.graph, node_ranges(self.graph, intervals(arguments)))


def origins_of(spec: Spec, robot: Robot) -> list[QuantityOrigin]:
    """Return the graphs that a quantity may be compiled from: of the source asked for, or of all that make sense."""
    if isinstance(spec.payload, PayloadBox) or spec.quantity in ("kinematics", "jacobian"):
        if spec.source == "terms":
            what = "a payload at run time" if isinstance(spec.payload, PayloadBox) else f"quantity '{spec.quantity}'"
            raise BddTorqueError(f"source 'terms' cannot be used with {what}: use source 'recursive' or 'auto'")
        return [_exact_origin(spec, robot)]
    weighing = robot if spec.quantity != "mass_matrix" else robot.with_gravity((0.0, 0.0, 0.0))
    found: list[Origin] = []
    if spec.source != "recursive" and (spec.source == "terms" or TARGETS[spec.target].made_of_tables):
        with suppress(*([] if spec.source == "terms" else [BddTorqueError])):
            found.append(from_terms(weighing))
    if not found:
        found.append(from_recursion(weighing))
    return [_specialised(spec, origin) for origin in found]


def _specialised(spec: Spec, origin: Origin) -> QuantityOrigin:
    """Return a quantity from the graph of the torques."""
    n, tracer = origin.robot.degrees_of_freedom, ExactTracer()

    def torques(qd: Sequence[Number], qdd: Sequence[Number]) -> list[Number]:
        motion = {"q": traced_inputs(tracer, "q", n), "qd": qd, "qdd": qdd}
        inputs = {f"{kind}{j}": value for kind, values in motion.items() for j, value in enumerate(values, 1)}
        outputs: list[Number] = origin.graph.evaluate(inputs, tracer, Exact)
        return outputs

    outputs, names = _outputs(spec, origin.robot, tracer, torques)
    graph = tracer.graph(outputs, names)

    def made_errors(arguments: Mapping[str, Argument], reach: Sequence[float]) -> Floats:
        own = {name: each for name, each in arguments.items() if name.startswith("q") and "_" not in name}
        still = {f"{kind}{j}": STILL for kind in ("qd", "qdd") for j in range(1, n + 1)}
        if spec.quantity == "law":
            still |= {f"qdd{j}": each for j, each in enumerate(_law_accelerations(spec, origin.robot, arguments), 1)}
        if spec.quantity != "mass_matrix":
            return origin.errors({**still, **own}, reach)
        columns = [origin.errors({**still, **own, f"qdd{j}": UNIT}, reach) for j in range(1, n + 1)]
        return np.array([columns[j][i] for i, j in upper_triangle(n)])

    return QuantityOrigin(origin.source, graph, made_errors)


def _outputs(
    spec: Spec, robot: Robot, tracer: ExactTracer, torques: Callable[[Any, Any], list[Number]]
) -> tuple[list[Number], list[str]]:
    """Return a quantity under trace from the torques of motions, and names of its values."""
    n = robot.degrees_of_freedom
    still: list[Number] = [0.0] * n
    tau = [f"tau{j}" for j in range(1, n + 1)]
    match spec.quantity:
        case "gravity":
            return torques(still, still), tau
        case "bias":
            return torques(traced_inputs(tracer, "qd", n), still), tau
        case "torque":
            return torques(traced_inputs(tracer, "qd", n), traced_inputs(tracer, "qdd", n)), tau
        case "law":
            return torques(traced_inputs(tracer, "qd", n), _law(spec, robot, tracer)), tau
    columns = [torques(still, [1.0 if j == k else 0.0 for k in range(n)]) for j in range(n)]
    places = upper_triangle(n)
    return [columns[j][i] for i, j in places], [f"M{i + 1}_{j + 1}" for i, j in places]


def _law(spec: Spec, robot: Robot, tracer: ExactTracer) -> list[Number]:
    """Return the accelerations of the law: q̈_desired + kv (q̇_desired − q̇) + kp (q_desired − q)."""
    accelerations, errors = [], difference_names(robot)
    for j, (kp, kv) in enumerate(law_gains(spec, robot), 1):
        position: Any = tracer.input(f"q_error{j}")
        if f"q_error{j}" not in errors:
            position = tracer.input(f"q_desired{j}") - tracer.input(f"q{j}")
        velocity: Any = tracer.input(f"qd_desired{j}") - tracer.input(f"qd{j}")
        accelerations.append(tracer.input(f"qdd_desired{j}") + velocity * Exact(kv) + position * Exact(kp))
    return accelerations


def _law_accelerations(spec: Spec, robot: Robot, arguments: Mapping[str, Argument]) -> list[Argument]:
    """Return words that cover the accelerations of the law."""
    tracer = ExactTracer()
    n = robot.degrees_of_freedom
    graph = tracer.graph(_law(spec, robot, tracer), [f"qdd{j}" for j in range(1, n + 1)])
    reach = [each.magnitude for each in QuantityOrigin("", graph).ranges(arguments)]
    return [Argument("word", COVER_BITS, Fraction(far) / ((1 << (COVER_BITS - 1)) - 1)) for far in reach]


def _exact_origin(spec: Spec, robot: Robot) -> QuantityOrigin:
    """Return a quantity that is traced from the robot's own numbers."""
    refuse_uncompilable(robot)
    tracer, n = ExactTracer(), robot.degrees_of_freedom
    if spec.quantity == "kinematics":
        position, rotation, _, _ = trace_pose(robot, tracer)
        values: list[Any] = [*position, *(entry for row in rotation for entry in row)]
        return QuantityOrigin("recursive", tracer.graph(values, [*"xyz", *rotation_labels()]))
    if spec.quantity == "jacobian":
        rows = trace_jacobian(robot, tracer)
        return QuantityOrigin("recursive", tracer.graph([each for row in rows for each in row], jacobian_labels(n)))
    if not isinstance(spec.payload, PayloadBox):
        raise TypeError("a payload at run time is expected")
    labels = list(payload_ranges(spec, spec.payload))
    numbers = dict(zip(labels, traced_inputs(tracer, PAYLOAD, len(labels)), strict=True))

    def torques(qd: Any, qdd: Any) -> list[Number]:
        positions = traced_inputs(tracer, "q", n)
        return trace_payload_torques(robot, tracer, positions, qd, qdd, numbers, spec.quantity == "mass_matrix")

    return QuantityOrigin("recursive", tracer.graph(*_outputs(spec, robot, tracer, torques)))
