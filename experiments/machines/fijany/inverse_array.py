"""Inverse dynamics on Fijany and Bejczy's triangular array: A·q̈ + b from the channels to the channels.

FIJ has forward dynamics only. The same inertia matrix and bias serve for torques if, instead of solving, the array
multiplies. The flow is ours, nearest neighbours only:

- q̈_j enters with the angles in row j, goes right along the row to the diagonal, turns and goes down column j;
- PR_ji, j > i, forms a_ji q̈_j, which goes up column i to the diagonal, all that it meets being added, and a_ji q̈_i;
- from the diagonal on, the sum goes left along row j to column 1, where b_j is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots.robot import Robot
from machines.fijany.bias_torques import BIAS_PHASES
from machines.fijany.inertia import INERTIA_PHASES, load_constants
from machines.fijany.links import ArmConstants, arm_constants
from machines.fijany.owned_words import ArrayCosts, Path
from machines.fijany.triangular_array import Processor, Running, TriangularArray


@dataclass(frozen=True)
class ArrayTorques:
    """Torques from the array, and their cost."""

    torques: npt.NDArray[np.float64]  # N·m, (n,) or (N, n)
    path: Path  # the longest path of operations and hops from the first word in to the last word out
    array: TriangularArray  # the array itself, as it was left


def loaded_array(
    robot: Robot | ArmConstants,
    q: Any,
    qd: Any,
    tau: Any,
    tip_wrench: Any = None,
    *,
    costs: ArrayCosts | None = None,
    barriers: bool = True,
) -> TriangularArray:
    """Return the array before its first phase: constants in memory, the state on the channels."""
    arm = arm_constants(robot) if isinstance(robot, Robot) else robot
    n = len(arm.links)
    states = {name: np.asarray(value, dtype=np.float64) for name, value in (("q", q), ("qd", qd), ("tau", tau))}
    for name, value in states.items():
        if value.shape[-1:] != (n,):
            raise BddTorqueError(f"{name}: expected {n} numbers per state, got shape {value.shape}")
    columns = [[each[..., row] for row in range(n)] for each in states.values()]
    wrench: list[Any] = []
    if tip_wrench is not None:
        given = np.asarray(tip_wrench, dtype=np.float64)
        if given.shape[-1:] != (6,):
            raise BddTorqueError(f"tip wrench: expected 6 numbers per state, got shape {given.shape}")
        wrench = [given[..., k] for k in range(6)]
    array = TriangularArray(n, costs, barriers=barriers)
    angles, rates, torques = columns
    load_array(array, arm, [np.sin(each) for each in angles], [np.cos(each) for each in angles], rates, torques, wrench)
    return array


def load_array(
    array: TriangularArray,
    arm: ArmConstants,
    sine: Sequence[Any],
    cosine: Sequence[Any],
    rates: Sequence[Any],
    torques: Sequence[Any],
    wrench: Sequence[Any] = (),
) -> None:
    """Put the constants into memory, and what goes in on the channels."""
    for row, values in enumerate(zip(sine, cosine, rates, torques, strict=True), start=1):
        array.inputs[row] += values
    array.inputs[array.size] += wrench
    for processor in array:
        load_constants(processor, arm.links[processor.row - 1])
    array[1, 1]["gravity'"] = tuple(map(array[1, 1].word, arm.base_acceleration))


def read_inputs(processor: Processor) -> Running:
    """Read the channel of row j; the sine and cosine of q_j go right along the row, which all hold them in FIJ."""
    if processor.column == 1:
        sine, cosine, rate, torque, *tip = processor.from_channel()
        processor["qd"], processor["tau"] = rate, torque
        if tip:
            processor["tip"] = tuple(tip)
    else:
        sine, cosine = yield processor.left
    if processor.column < processor.row:
        processor.send(processor.right, (sine, cosine))
    processor["sine"], processor["cosine"] = sine, cosine


def multiply_matrix(processor: Processor) -> Running:
    """Form tau_j = Σ_i a_ji q̈_i + b_j in PR_j1; q̈_j is where the input left it, under the name of the torque."""
    on_diagonal, last = processor.row == processor.column, processor.row == processor.size
    if processor.column == 1:
        own = processor["tau"]
    else:
        (own,) = yield processor.left
    if on_diagonal:
        of_column = own
    else:
        processor.send(processor.right, (own,))
        (of_column,) = yield processor.above
    if not last:
        processor.send(processor.below, (of_column,))
    total = processor["a"] * of_column
    upward = total if on_diagonal else processor["a"] * own
    if not last:
        (more,) = yield processor.below
        upward = upward + more
    if on_diagonal:
        total = upward
    else:
        processor.send(processor.above, (upward,))
        (more,) = yield processor.right
        total = total + more
    if processor.column > 1:
        processor.send(processor.left, (total,))
    else:
        processor.to_channel((total + processor["b"],))


def array_torques(
    robot: Robot, q: Any, qd: Any, qdd: Any, *, costs: ArrayCosts | None = None, barriers: bool = False
) -> ArrayTorques:
    """Return the torques of an arm of revolute joints as the triangular array computes them, rotors included.

    Parameters
    ----------
    q, qd, qdd
        rad, rad/s, rad/s², (n,) or (N, n): N states go through the array side by side and count as one.
    costs
        Of the operations, which decide what path is the longest; one unit each and free hops if none are given.
    barriers
        Whether all wait after each phase for the slowest; if not, the array is data-driven.
    """
    array = loaded_array(robot, q, qd, qdd, costs=costs, barriers=barriers)
    for name, programme in (("input", read_inputs), *INERTIA_PHASES, *BIAS_PHASES, ("A qdd + b", multiply_matrix)):
        array.run(name, programme)
    path = Path()
    for record in array.records if barriers else array.records[-1:]:  # without barriers, paths run from the start
        path = path.then(record.path)
    columns = [array.outputs[row][0] for row in range(1, array.size + 1)]
    return ArrayTorques(np.stack(np.broadcast_arrays(*columns), axis=-1), path, array)
