"""Forward dynamics on Fijany and Bejczy's triangular array, from the input channels to the output channels.

run = run_array(robot, q, qd, tau)
run.accelerations, run.inertia, run.bias, run.phases
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Tracer, traced_inputs
from bddtorque.robots.robot import Robot
from machines.fijany.bias_torques import BIAS_PHASES
from machines.fijany.inertia import INERTIA_PHASES, Programme
from machines.fijany.inverse_array import load_array, loaded_array, read_inputs
from machines.fijany.links import ArmConstants, arm_constants
from machines.fijany.owned_words import ArrayCosts, Path
from machines.fijany.solve import SOLVE_PHASES
from machines.fijany.triangular_array import PhaseRecord, Processor, Running, TriangularArray

PHASES_OF = {
    "input": ("input",),
    "step 1": ("(16) R(j+1,j)", "(17) R(n+1,j)", "(18) shift", "(20) P", "(21) H", "(22) K"),
    "step 2": ("(24) P(j,i)", "(25) Vd", "(26) F", "(27) N"),
    "step 3": ("(28)-(29) F, N", "(30) a"),
    "bias": tuple(name for name, _ in BIAS_PHASES),
    "solve": ("solve",),
    "output": ("output",),
}
"""The phases that the simulator runs, under the headings by which FIJ adds up costs."""


@dataclass(frozen=True)
class ArrayRun:
    """Accelerations from the array, and their cost."""

    accelerations: npt.NDArray[np.float64]  # Qdd, rad/s², (n,) or (N, n)
    inertia: npt.NDArray[np.float64]  # A(Q), kg·m², (n, n) or (N, n, n), put together from a_ji in PR_ji
    bias: npt.NDArray[np.float64]  # b, N·m, (n,) or (N, n), from column 1
    phases: dict[str, PhaseRecord]  # what was counted, by phase
    array: TriangularArray  # the array itself, as the last phase left it

    def path(self, heading: str) -> Path:
        """Return the longest paths of the phases under a heading of `PHASES_OF`, one after the other."""
        total = Path()
        for name in PHASES_OF[heading]:
            total = total.then(self.phases[name].path)
        return total

    def hops(self, heading: str) -> int:
        """Return the longest chains of hops of the phases under a heading, one after the other."""
        return sum(self.phases[name].hops for name in PHASES_OF[heading])


def run_array(
    robot: Robot | ArmConstants,
    q: Any,
    qd: Any,
    tau: Any,
    tip_wrench: Any = None,
    *,
    costs: ArrayCosts | None = None,
    barriers: bool = True,
) -> ArrayRun:
    """Return the accelerations of an arm of revolute joints as the triangular array computes them.

    Parameters
    ----------
    q, qd, tau
        rad, rad/s, N·m, (n,) or (N, n): N states go through the array side by side and count as one.
    tip_wrench
        Force (N) and moment (N·m) that the hand exerts on its surroundings, at the origin and in the axes of the tip
        frame, (6,) or (N, 6).
    costs
        Of the operations, which decide what path is the longest; one unit each and free hops if none are given.
    barriers
        Whether all wait after each phase for the slowest.
    """
    array = loaded_array(robot, q, qd, tau, tip_wrench, costs=costs, barriers=barriers)
    for name, programme in PHASES:
        array.run(name, programme)
    return _gathered(array)


def trace_array(robot: Robot) -> Graph:
    """Return the graph of what the array computes before it solves: outputs a1,1 a2,1 a2,2 ... and b1 b2 ...

    Inputs are q1.. and qd1... What several processors compute alike is one node of the graph; zeros and ones of the
    arm, which a processor multiplies like any other number, cost nothing in it.
    """
    n, tracer = robot.degrees_of_freedom, Tracer()
    q, qd = (traced_inputs(tracer, kind, n) for kind in ("q", "qd"))
    array = TriangularArray(n)
    sine, cosine = [tracer.sin(angle) for angle in q], [tracer.cos(angle) for angle in q]
    load_array(array, arm_constants(robot), sine, cosine, qd, [0.0] * n)
    for name, programme in (("input", read_inputs), *INERTIA_PHASES, *BIAS_PHASES):
        array.run(name, programme)
    outputs = [(f"a{each.row},{each.column}", each["a"].value) for each in array]
    outputs += [(f"b{row}", array[row, 1]["b"].value) for row in range(1, n + 1)]
    names, values = zip(*outputs, strict=True)
    return tracer.graph(values, names)


def write_outputs(processor: Processor) -> Running:
    """Write Qdd_j to the channel of row j, from column 1, where it is."""
    if processor.column == 1:
        processor.to_channel((processor["qdd"],))
    yield from ()


PHASES: tuple[tuple[str, Programme], ...] = (
    ("input", read_inputs),
    *INERTIA_PHASES,
    *BIAS_PHASES,
    *SOLVE_PHASES,
    ("output", write_outputs),
)
"""All that the array runs, in order."""


def _gathered(array: TriangularArray) -> ArrayRun:
    n = array.size
    rows = range(1, n + 1)
    accelerations = np.stack(np.broadcast_arrays(*(array.outputs[row][0] for row in rows)), axis=-1)
    bias = np.stack(np.broadcast_arrays(*(array[row, 1]["b"].value for row in rows)), axis=-1)
    inertia = np.empty((*accelerations.shape[:-1], n, n))
    for processor in array:
        j, i = processor.row - 1, processor.column - 1
        inertia[..., j, i] = inertia[..., i, j] = processor["a"].value
    phases = {record.name: record for record in array.records}
    return ArrayRun(accelerations, inertia, bias, phases, array)
