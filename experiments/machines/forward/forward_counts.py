"""Serial forward dynamics traced: how many operations the O(n), O(n²) and O(n³) ways take (FIJ sections I and II).

Each way is the plain function that also runs on floats, run on traced numbers. The graphs of this package hold no
division: the reciprocal of a traced number enters as an input of its own, the number itself becomes an output, so that
what it takes stays in the graph, and each reciprocal counts as one multiplication, as FIJ counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.graph import Graph, Op
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.dynamics.tracer import Traced, Tracer, traced_inputs
from bddtorque.robots.robot import Robot
from machines.fijany.links import arm_constants
from machines.fijany.owned_words import ArrayCosts, Path
from machines.forward.articulated_body import articulated_body
from machines.forward.composite_body import composite_inertia
from machines.forward.conjugate_gradient import conjugate_gradient
from machines.forward.serial_forward import bias_vector, inertia_matrix, project, solve
from machines.serial_arm import serial_chain_of

Reciprocal = Callable[[Any], Any]
Method = Callable[[Robot, Sequence[Any], Sequence[Any], Sequence[Any], Sequence[Any], Reciprocal], list[Any]]
"""(robot, sines, cosines, qd, tau, reciprocal) to accelerations, over any number type."""


def torques(
    chain: Chain, sine: Sequence[Any], cosine: Sequence[Any], qd: Sequence[Any], qdd: Sequence[Any]
) -> list[Any]:
    """Return the torques of Newton-Euler, over any number type, (n,) N·m."""
    n = len(qd)
    tau = np.zeros(n, dtype=object)
    s, c, q, rate, acceleration = (np.array(each, dtype=object) for each in (sine, cosine, [0.0] * n, qd, qdd))
    newton_euler(chain, s, c, q, rate, acceleration, tau, np.zeros((n, WRENCH), dtype=object))
    return list(tau)


def gamma_of(
    chain: Chain, sine: Sequence[Any], cosine: Sequence[Any], qd: Sequence[Any], tau: Sequence[Any]
) -> list[Any]:
    """Return tau - b by Newton-Euler at zero acceleration: the first step of the O(n²) and O(n³) ways."""
    bias = torques(chain, sine, cosine, qd, [0.0] * len(qd))
    return [given - drift for given, drift in zip(tau, bias, strict=True)]


def by_articulated_body(
    robot: Robot,
    sine: Sequence[Any],
    cosine: Sequence[Any],
    qd: Sequence[Any],
    tau: Sequence[Any],
    one_over: Reciprocal,
) -> list[Any]:
    """O(n): articulated bodies."""
    return articulated_body(serial_chain_of(robot), sine, cosine, qd, tau, one_over)


def by_composite_body(
    robot: Robot,
    sine: Sequence[Any],
    cosine: Sequence[Any],
    qd: Sequence[Any],
    tau: Sequence[Any],
    one_over: Reciprocal,
) -> list[Any]:
    """O(n³): composite rigid bodies, then A = L D Lᵀ."""
    chain = serial_chain_of(robot)
    return solve(composite_inertia(chain, sine, cosine), gamma_of(chain, sine, cosine, qd, tau), one_over)


def by_vneb(
    robot: Robot,
    sine: Sequence[Any],
    cosine: Sequence[Any],
    qd: Sequence[Any],
    tau: Sequence[Any],
    one_over: Reciprocal,
) -> list[Any]:
    """O(n³): FIJ's own equations, made for many processors, on one."""
    arm = project(arm_constants(robot), sine, cosine)
    gamma = [given - drift for given, drift in zip(tau, bias_vector(arm, qd), strict=True)]
    return solve(inertia_matrix(arm), gamma, one_over)


def by_conjugate_gradient(
    robot: Robot,
    sine: Sequence[Any],
    cosine: Sequence[Any],
    qd: Sequence[Any],
    tau: Sequence[Any],
    one_over: Reciprocal,
) -> list[Any]:
    """O(n²): n iterations of conjugate gradients, A v by Newton-Euler at rest and without gravity."""
    chain = serial_chain_of(robot)
    still, rest = weightless(chain), [0.0] * len(qd)
    gamma = gamma_of(chain, sine, cosine, qd, tau)
    return conjugate_gradient(lambda v: torques(still, sine, cosine, rest, v), gamma, one_over)


METHODS: dict[str, Method] = {
    "articulated body": by_articulated_body,
    "conjugate gradient": by_conjugate_gradient,
    "composite rigid body": by_composite_body,
    "VNEB": by_vneb,
}


@dataclass(frozen=True)
class ForwardGraph:
    """A way of forward dynamics as a graph."""

    graph: Graph  # inputs qd1.., tau1.., sines and cosines of q1.., and the reciprocals 1/d1..; outputs qdd1.. and d1..
    reciprocals: int  # how many

    @property
    def cost(self) -> Path:
        """Multiplications, reciprocals among them, and additions; sines and cosines are given, as in FIJ."""
        counts = self.graph.counts()
        return Path(counts["products"] + self.reciprocals, counts["sums"])

    def longest_path(self, costs: ArrayCosts | None = None) -> float:
        """Return the time with a processor for every operation: a reciprocal waits for its divisor and takes its time.

        This is what no parallel version of the same operations can be faster than (FIJ section II).
        """
        unit = costs or ArrayCosts()
        time = {Op.SUM: unit.addition, Op.PRODUCT: unit.multiplication}
        divisors = {
            f"1/{name}": output >> 1
            for name, output in zip(self.graph.output_names, self.graph.outputs, strict=True)
            if name.startswith("d")
        }
        ready: list[float] = []
        for node in self.graph.nodes:
            if node.name in divisors:  # stands after its divisor: it was recorded when that was there
                ready.append(ready[divisors[node.name]] + unit.multiplication)
            else:
                start = max((ready[operand >> 1] for operand in node.operands), default=0.0)
                ready.append(start + time.get(node.op, 0.0))
        return max(ready[output >> 1] for output in self.graph.outputs)


def trace_forward(method: Method, robot: Robot) -> ForwardGraph:
    """Return the graph of one way for one robot."""
    n, tracer = robot.degrees_of_freedom, Tracer()
    q, qd, tau = (traced_inputs(tracer, kind, n) for kind in ("q", "qd", "tau"))
    divisors: dict[int, Traced] = {}

    def reciprocal(number: Any) -> Any:
        if not isinstance(number, Traced):
            return 1.0 / number
        divisors.setdefault(number.reference, number)
        return tracer.input(f"1/d{list(divisors).index(number.reference) + 1}")

    sine, cosine = [tracer.sin(angle) for angle in q], [tracer.cos(angle) for angle in q]
    accelerations = method(robot, sine, cosine, qd, tau, reciprocal)
    names = [f"qdd{j + 1}" for j in range(n)] + [f"d{k + 1}" for k in range(len(divisors))]
    return ForwardGraph(tracer.graph([*accelerations, *divisors.values()], names), len(divisors))
