"""Ways to the inertia matrix from the original Newton-Euler based one to composite bodies (FIJ section III.A and B).

FIJ names four redundancies of the original algorithm (ONEB), n applications of Newton-Euler, one per column, and what
removes each: (1) a better frame to project the equations on, (2) Newton-Euler optimised for a unit acceleration of one
joint and everything else at rest, (3) a more efficient variant of that, (4) a recursion in two dimensions. Its own VNEB
is what removing the first three gives; the fourth leads to composite bodies, in the original form (OCRB, centres of
mass and moments about them) or as a variant (VCRB, moments about the joints). FIJ prints (7) to (13) of VNEB only;
the others are our reading of its descriptions:

    ONEB              Luh, Walker and Paul's recursion, in link axes; it does not know that q̇ and gravity are zero
    ONEB, 2           the same, rates and gravity known to be zero, and only the links and elements that are needed
    ONEB, 1 and 2     the same on the axes of frame n + 1, where all columns share what is projected
    VNEB: 1, 2, 3     moments about the joints instead of the centres of mass
    OCRB              composite bodies in link axes, centres of mass and moments about them
    VCRB: 2, 3, 4     composite bodies in link axes, moments about the joints (`composite_body`)
    VCRB: all four    the same on the axes of frame n + 1

Each is a plain function over any number type: floats, or traced numbers, whose graph is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bddtorque.dynamics.graph import Op
from bddtorque.dynamics.tracer import Tracer, traced_inputs
from bddtorque.robots.robot import Robot
from machines.fijany.links import ArmConstants, arm_constants
from machines.forward.composite_body import composite_inertia
from machines.forward.forward_counts import ForwardGraph
from machines.forward.link_axes import matrix_to_parent, plus, position, vector_to_parent
from machines.forward.serial_forward import ProjectedArm, inertia_matrix, project
from machines.lathrop.arm import BaseMotion, arm_state, distal_arm
from machines.lathrop.linear import linear_recursion
from machines.serial_arm import serial_chain_of
from machines.vectors import ZERO, Rows, Triple, add, cross, dot, float_rows, matrix_times, rows, scaled

ColumnMotion = Callable[[int], tuple[Sequence[Any], Sequence[Any], Triple]]
"""Column to q̇, q̈ and the acceleration of the base: zeros and a one, perhaps not known to be such."""
Way = Callable[[Robot, Sequence[Any], Sequence[Any], ColumnMotion], list[list[Any]]]
"""(robot, sines, cosines, motion) to the n rows of A(Q), kg·m², rotors on the diagonal."""


def still(n: int) -> ColumnMotion:
    """Return the motion of a unit acceleration of one joint, in plain numbers."""
    return lambda i: ([0.0] * n, [float(j == i) for j in range(n)], ZERO)


def original_neb(robot: Robot, sine: Sequence[Any], cosine: Sequence[Any], motion: ColumnMotion) -> list[list[Any]]:
    """ONEB: every element of every column, symmetric or not."""
    arm, n = distal_arm(robot), robot.degrees_of_freedom
    columns = []
    for i in range(n):
        qd, qdd, base = motion(i)
        state = arm_state(arm, sine, cosine, [0.0] * n, qd, qdd, BaseMotion(acceleration=base))
        columns.append(linear_recursion(state).tau)
    return [[columns[i][j] + (arm.rotor[i] if i == j else 0.0) for i in range(n)] for j in range(n)]


def optimised_neb(robot: Robot, sine: Sequence[Any], cosine: Sequence[Any], _: ColumnMotion) -> list[list[Any]]:
    """ONEB without its second redundancy: what is zero is known to be, and one half of the matrix is taken."""
    n = robot.degrees_of_freedom
    return _symmetric(original_neb(robot, sine, cosine, still(n)))


def centred_neb(robot: Robot, sine: Sequence[Any], cosine: Sequence[Any], _: ColumnMotion) -> list[list[Any]]:
    """ONEB without its first two redundancies: forces at centres of mass, on the axes of frame n + 1."""
    arm = project(_about_centres(arm_constants(robot)), sine, cosine)
    links, n = arm.links, len(arm.links)
    A: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        dw, dV = links[i].Z, ZERO
        forces, moments = [], []
        for j in range(i, n):
            if j > i:
                dV = add(dV, cross(dw, links[j - 1].P))
            forces.append(scaled(links[j].mass, add(dV, cross(dw, links[j].H))))  # H and K: centre, moments about it
            moments.append(add(matrix_times(links[j].K, dw), cross(links[j].H, forces[-1])))
        F = N = ZERO
        for j in range(n - 1, i - 1, -1):
            N = add(add(moments[j - i], N), cross(links[j].P, F))
            F = add(forces[j - i], F)
            A[j][i] = A[i][j] = dot(links[j].Z, N) + (links[j].rotor if i == j else 0.0)
    return A


def vneb(robot: Robot, sine: Sequence[Any], cosine: Sequence[Any], _: ColumnMotion) -> list[list[Any]]:
    """VNEB, FIJ eqs. 7 to 13."""
    return inertia_matrix(project(arm_constants(robot), sine, cosine))


def original_crb(robot: Robot, sine: Sequence[Any], cosine: Sequence[Any], _: ColumnMotion) -> list[list[Any]]:
    """OCRB: mass, centre of mass and moments about it of all links from i outwards (Walker and Orin), in link axes."""
    chain, n = serial_chain_of(robot), robot.degrees_of_freedom
    A: list[list[Any]] = [[0.0] * n for _ in range(n)]
    mass, centre, J = 0.0, ZERO, rows(((0.0,) * 3,) * 3)
    for i in range(n - 1, -1, -1):
        body = chain.body[i]
        own_mass = float(body[3, 3])
        own = body[:3, 3] * _inverse(own_mass)
        P = body[:3, :3] - own_mass * np.outer(own, own)
        own_centre: Triple = (float(own[0]), float(own[1]), float(own[2]))
        total = mass + own_mass
        both = scaled(_inverse(total), add(scaled(mass, centre), scaled(own_mass, own_centre)))
        J = plus(plus(J, _moved(mass, add(centre, scaled(-1.0, both)))), float_rows(np.trace(P) * np.eye(3) - P))
        J = plus(J, _moved(own_mass, add(own_centre, scaled(-1.0, both))))
        mass, centre = total, both
        f: Triple = (-mass * centre[1], mass * centre[0], 0.0)  # M z × c
        m = add((J[0][2], J[1][2], J[2][2]), cross(centre, f))  # J z + c × f
        A[i][i] = m[2] + float(chain.rotor[i])
        for j in range(i, 0, -1):
            f = vector_to_parent(chain, j, sine[j], cosine[j], f)
            m = add(vector_to_parent(chain, j, sine[j], cosine[j], m), cross(position(chain, j), f))
            A[i][j - 1] = A[j - 1][i] = m[2]
        if i > 0:
            centre = add(vector_to_parent(chain, i, sine[i], cosine[i], centre), position(chain, i))
            J = matrix_to_parent(chain, i, sine[i], cosine[i], J)
    return A


def variant_crb(robot: Robot, sine: Sequence[Any], cosine: Sequence[Any], _: ColumnMotion) -> list[list[Any]]:
    """VCRB in link axes."""
    return composite_inertia(serial_chain_of(robot), sine, cosine)


def projected_crb(robot: Robot, sine: Sequence[Any], cosine: Sequence[Any], _: ColumnMotion) -> list[list[Any]]:
    """VCRB on the axes of frame n + 1."""
    return composite_matrix(project(arm_constants(robot), sine, cosine))


def composite_matrix(arm: ProjectedArm) -> list[list[Any]]:
    """Return A(Q) by composite bodies of links that are in the axes of one frame."""
    links, n = arm.links, len(arm.links)
    A: list[list[Any]] = [[0.0] * n for _ in range(n)]
    mass, H, K = 0.0, ZERO, rows(((0.0,) * 3,) * 3)
    for i in range(n - 1, -1, -1):
        P = links[i].P
        u = add(H, scaled(mass / 2, P))
        turned = rows([[u[r] * P[c] + P[r] * u[c] for c in range(3)] for r in range(3)])
        trace = turned[0][0] + turned[1][1] + turned[2][2]
        moved = [[(trace if r == c else 0.0) - turned[r][c] for c in range(3)] for r in range(3)]
        K = plus(links[i].K, plus(K, rows(moved)))
        H = add(links[i].H, add(H, scaled(mass, P)))
        mass = mass + links[i].mass
        F, N = cross(links[i].Z, H), matrix_times(K, links[i].Z)
        A[i][i] = dot(links[i].Z, N) + links[i].rotor
        for j in range(i - 1, -1, -1):
            N = add(N, cross(links[j].P, F))
            A[i][j] = A[j][i] = dot(links[j].Z, N)
    return A


LADDER: dict[str, Way] = {
    "ONEB": original_neb,
    "ONEB, 2": optimised_neb,
    "ONEB, 1 and 2": centred_neb,
    "VNEB: 1, 2, 3": vneb,
    "OCRB": original_crb,
    "VCRB: 2, 3, 4": variant_crb,
    "VCRB: all four": projected_crb,
}
"""By name, with the redundancies that are removed."""


def trace_inertia(way: Way, robot: Robot) -> ForwardGraph:
    """Return the graph of the inertia matrix of a robot; sines and cosines are given, and count for nothing."""
    n, tracer = robot.degrees_of_freedom, Tracer()
    q = traced_inputs(tracer, "q", n)
    sine, cosine = [tracer.sin(angle) for angle in q], [tracer.cos(angle) for angle in q]

    def unknown(i: int) -> tuple[Sequence[Any], Sequence[Any], Triple]:
        qd, qdd = (traced_inputs(tracer, f"{kind}_{i + 1}_", n) for kind in ("qd", "qdd"))
        x, y, z = traced_inputs(tracer, f"g_{i + 1}_", 3)
        return qd, qdd, (x, y, z)

    A = way(robot, sine, cosine, unknown)
    names = [f"a{j + 1}_{i + 1}" for j in range(n) for i in range(n)]
    return ForwardGraph(tracer.graph([element for row in A for element in row], names), 0)


def shared_by_columns(matrix_of: Callable[[ProjectedArm], list[list[Any]]], robot: Robot) -> int:
    """Return how many operations serve several columns once the links are projected: none if columns are independent.

    Column i holds the elements from the diagonal down.
    """
    n, tracer = robot.degrees_of_freedom, Tracer()
    sine, cosine = (traced_inputs(tracer, kind, n) for kind in ("s", "c"))
    arm = project(arm_constants(robot), sine, cosine)
    begun = len(tracer.nodes)
    A = matrix_of(arm)
    readers: Counter[int] = Counter()
    for i in range(n):
        waiting = [A[j][i].reference >> 1 for j in range(i, n) if not isinstance(A[j][i], float)]
        seen: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node >= begun and node not in seen:
                seen.add(node)
                waiting += [operand >> 1 for operand in tracer.nodes[node].operands]
        readers.update(node for node in seen if tracer.nodes[node].op in (Op.SUM, Op.PRODUCT))
    return sum(count > 1 for count in readers.values())


def _symmetric(A: list[list[Any]]) -> list[list[Any]]:
    """Return the lower triangle of a symmetric matrix in both."""
    return [[A[max(i, j)][min(i, j)] for i in range(len(A))] for j in range(len(A))]


def _about_centres(arm: ArmConstants) -> ArmConstants:
    """Return the links with the centre of mass in place of the first moment, and moments about that."""
    links = []
    for link in arm.links:
        centre = scaled(_inverse(link.mass), link.first_moment)
        moved = np.array(_moved(link.mass, centre), dtype=float)
        links.append(replace(link, first_moment=centre, second_moment=float_rows(np.array(link.second_moment) - moved)))
    return replace(arm, links=tuple(links))


def _inverse(mass: float) -> float:
    """Return 1/M; a body without mass may have its centre anywhere."""
    return 1.0 / mass if mass else 0.0


def _moved(mass: Any, to: Triple) -> Rows:
    """Return M (c·c − c cᵀ): what a body's moments grow by, from its centre to a point c away."""
    x, y, z = to
    mx, my, mz = scaled(mass, to)
    return rows(
        [
            [my * y + mz * z, -(mx * y), -(mx * z)],
            [-(mx * y), mx * x + mz * z, -(my * z)],
            [-(mx * z), -(my * z), mx * x + my * y],
        ]
    )
