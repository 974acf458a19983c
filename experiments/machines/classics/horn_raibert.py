"""Horn and Raibert's configuration-space look-up (LAT Table 1): the closest relative of the Boolean tables.

    tau_i = Σ_j J_ij(q) q̈_j + Σ_jk C_ijk(q) q̇_j q̇_k + G_i(q)

The coefficients depend on positions alone; each is tabulated over a grid of positions and looked up at the nearest grid
point, the rest is arithmetic. Nothing is split: a coefficient of k positions at b bits has 2^(k·b) entries, which is
why six joints were out of reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.batch import Floats, like_given, states
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.terms import Term, Terms, terms_of
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.robots.parts import Joint
from bddtorque.robots.robot import Robot

MAX_ENTRIES = 1 << 22
"""Entries of one coefficient that are still built; beyond, only their number is told."""


@dataclass(frozen=True)
class CoefficientTable:
    """One coefficient over the grid of the positions it depends on: an axis of 2^b for each of `joints` (from 0)."""

    term: Term
    joints: tuple[int, ...]
    values: Floats


@dataclass(frozen=True)
class LookUp:
    """All coefficients of a robot, tabulated over positions of `position_bits` bits."""

    robot: Robot
    position_bits: int
    # bits of a stored coefficient, two's complement words scaled to its largest magnitude; None for float64
    coefficient_bits: int | None
    tables: tuple[CoefficientTable, ...]

    @property
    def entries(self) -> int:
        """The number of coefficients stored."""
        return sum(table.values.size for table in self.tables)

    @property
    def bytes(self) -> int:
        """The memory they take."""
        return -(-self.entries * (self.coefficient_bits or 64) // 8)

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Floats:
        """Return the torques, the coefficients being those of the nearest grid positions; shapes as elsewhere."""
        positions, velocities, accelerations = states(self.robot, q=q, qd=qd, qdd=qdd)
        places = [grid_index(joint, positions[:, j], self.position_bits) for j, joint in enumerate(self.robot.joints)]
        motion = {"qd": velocities, "qdd": accelerations}
        tau = np.zeros(positions.shape)
        for table in self.tables:
            coefficient = table.values[tuple(places[j] for j in table.joints)]
            for torque, names in table.term.summands():
                product = coefficient
                for name in names:
                    kind, joint = name.rstrip("0123456789"), int(name.lstrip("qd")) - 1
                    product = product * motion[kind][:, joint]
                tau[:, torque] += product
        return like_given(tau, q, qd, qdd)


def grid_positions(joint: Joint, bits: int) -> Floats:
    """Return the 2^bits grid positions: a whole turn from 0 on, or from limit to limit, in rad or m."""
    if joint.kind.turns:
        return 2 * np.pi * np.arange(1 << bits) / (1 << bits)
    if not np.isfinite([joint.lower, joint.upper]).all():
        raise BddTorqueError(f"look-up: the sliding joint '{joint.name}' must have limits")
    return np.linspace(joint.lower, joint.upper, 1 << bits)


def grid_index(joint: Joint, position: Floats, bits: int) -> npt.NDArray[np.int64]:
    """Return the nearest grid position's index for each position (N,)."""
    if joint.kind.turns:
        return np.rint(position * (1 << bits) / (2 * np.pi)).astype(np.int64) % (1 << bits)
    unit = (joint.upper - joint.lower) / ((1 << bits) - 1)
    return np.clip(np.rint((position - joint.lower) / unit), 0, (1 << bits) - 1).astype(np.int64)


def table_entries(terms: Terms, position_bits: int) -> int:
    """Return how many coefficients a look-up stores, without building it."""
    return sum(1 << (position_bits * len(term.expansion.depends_on)) for term in terms.terms)


def look_up(robot: Robot, position_bits: int, coefficient_bits: int | None = None) -> LookUp:
    """Return the tables of every non-zero coefficient of a robot."""
    return LookUp(
        robot,
        position_bits,
        coefficient_bits,
        tuple(_tabulated(robot, term, position_bits, coefficient_bits) for term in terms_of(robot).terms),
    )


def _tabulated(robot: Robot, term: Term, position_bits: int, coefficient_bits: int | None) -> CoefficientTable:
    joints = term.expansion.depends_on
    if position_bits * len(joints) > MAX_ENTRIES.bit_length() - 1:
        raise BddTorqueError(
            f"look-up of {term.name} of robot '{robot.name}': a table has at most {MAX_ENTRIES:,} entries, and "
            f"2^{position_bits * len(joints)} are needed for {len(joints)} positions of {position_bits} bits"
        )
    axes = [grid_positions(robot.joints[j], position_bits) for j in joints]
    q = np.zeros((1 << position_bits * len(joints), robot.degrees_of_freedom))
    for j, positions in zip(joints, np.meshgrid(*axes, indexing="ij"), strict=True):
        q[:, j] = positions.ravel()
    values = term.expansion(q).reshape([len(axis) for axis in axes])
    if coefficient_bits is not None:
        largest = float(np.abs(values).max())
        unit = largest / ((1 << (coefficient_bits - 1)) - 1)
        values = np.rint(values / unit) * unit
    return CoefficientTable(term, joints, values)


def arithmetic_graph(joints: int, way: Literal["every", "factored", "shared"]) -> Graph:
    """Return what is left to compute once the coefficients are looked up, for a general arm; coefficients are inputs.

    ``"every"``: each C_ijk q̇_j q̇_k by itself (2n³ + n² products, as LAT Table 1); ``"factored"``: (Σ_k C_ijk q̇_k) q̇_j;
    ``"shared"``: products of velocities formed once, C_ijk and C_ikj joined.
    """
    tracer, n = Tracer(), range(joints)
    qd, qdd = ([tracer.input(f"{kind}{j + 1}") for j in n] for kind in ("qd", "qdd"))
    outputs = []
    for i in n:
        terms: list[Number] = [tracer.input(f"J{i}_{j}") * qdd[j] for j in n]
        if way == "every":
            terms += [(tracer.input(f"C{i}_{j}_{k}") * qd[j]) * qd[k] for j in n for k in n]
        elif way == "factored":
            terms += [_total([tracer.input(f"C{i}_{j}_{k}") * qd[k] for k in n]) * qd[j] for j in n]
        else:
            terms += [tracer.input(f"C{i}_{j}_{k}") * (qd[j] * qd[k]) for j in n for k in range(j, joints)]
        outputs.append(_total([*terms, tracer.input(f"G{i}")]))
    return tracer.graph(outputs, [f"tau{i + 1}" for i in n])


def robot_arithmetic_graph(terms: Terms) -> Graph:
    """Return the same for one robot: only its non-zero terms, products of velocities shared."""
    tracer = Tracer()
    tau: list[Number] = [0.0] * terms.robot.degrees_of_freedom
    for term in terms.terms:
        for torque, names in term.summands():
            moved: Number = 1.0
            for name in names:
                moved = moved * tracer.input(name)
            tau[torque] = tau[torque] + tracer.input(term.name) * moved
    return tracer.graph(tau, [f"tau{i + 1}" for i in range(len(tau))])


def _total(numbers: Sequence[Number]) -> Number:
    total: Number = 0.0
    for number in numbers:
        total = total + number
    return total
