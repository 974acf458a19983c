"""Forward dynamics by FIJ's equations on one processor, over any number type.

The inertia matrix by the variant of the Newton-Euler based algorithm (VNEB, FIJ eqs. 7 to 13 as corrected in
docs/papers_misprints.md), the bias, and the square-root-free Cholesky factors A = L D Lᵀ. All vectors are in the axes
of frame n + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from machines.fijany.links import ArmConstants, joint_rotation
from machines.vectors import (
    IDENTITY,
    ZERO,
    Rows,
    Triple,
    add,
    cross,
    dot,
    matrix_product,
    matrix_times,
    scaled,
    transposed,
)


@dataclass(frozen=True)
class ProjectedLink:
    """Link j in the axes of frame n + 1: Z(j), P(j+1, j), H(j), K(j), and the constants M(j), rotor."""

    Z: Triple
    P: Triple
    H: Triple
    K: Rows
    mass: Any
    rotor: Any


@dataclass(frozen=True)
class ProjectedArm:
    """All links in the axes of frame n + 1, and minus gravity in the same axes."""

    links: tuple[ProjectedLink, ...]
    base_acceleration: Triple


def project(arm: ArmConstants, sine: Sequence[Any], cosine: Sequence[Any]) -> ProjectedArm:
    """Return the arm at the joint angles of which sines and cosines are given (n,), in the axes of frame n + 1."""
    links: list[ProjectedLink] = []
    R = IDENTITY  # R(n+1, j+1)
    for j in range(len(arm.links) - 1, -1, -1):
        link = arm.links[j]
        P, H = matrix_times(R, link.position), matrix_times(R, link.first_moment)
        K = matrix_product(matrix_product(R, link.second_moment), transposed(R))
        R = matrix_product(R, joint_rotation(link.rotation, sine[j], cosine[j]))
        Z = (R[0][2], R[1][2], R[2][2])
        links.append(ProjectedLink(Z, P, H, K, link.mass, link.rotor))
    return ProjectedArm(tuple(reversed(links)), matrix_times(R, arm.base_acceleration))


def inertia_matrix(arm: ProjectedArm) -> list[list[Any]]:
    """Return A(Q), kg·m², n rows of n, by VNEB; rotors on the diagonal."""
    links, n = arm.links, len(arm.links)
    A: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        dw, dV = links[i].Z, ZERO  # (7): the same for all links outside joint i
        forces, moments = [], []
        for j in range(i, n):
            if j > i:
                dV = add(dV, cross(dw, links[j - 1].P))  # (8)
            forces.append(add(scaled(links[j].mass, dV), cross(dw, links[j].H)))  # (9)
            moments.append(add(matrix_times(links[j].K, dw), cross(links[j].H, dV)))  # (10)
        F = N = ZERO
        for j in range(n - 1, i - 1, -1):
            N = add(add(moments[j - i], N), cross(links[j].P, F))  # (12), with F of the links outside j
            F = add(forces[j - i], F)  # (11)
            A[j][i] = A[i][j] = dot(links[j].Z, N) + (links[j].rotor if i == j else 0.0)  # (13)
    return A


def bias_vector(arm: ProjectedArm, qd: Sequence[Any], tip_force: Triple = ZERO, tip_moment: Triple = ZERO) -> list[Any]:
    """Return b, the torques at zero acceleration, N·m (n,).

    The wrench is what the hand exerts on its surroundings, N and N·m at O_{n+1} in the axes of frame n + 1.
    """
    n = len(arm.links)
    w = dw = ZERO
    dV = arm.base_acceleration
    forces, moments = [], []
    for link, rate in zip(arm.links, qd, strict=True):
        turn = scaled(rate, link.Z)
        dw = add(dw, cross(w, turn))
        w = add(w, turn)
        forces.append(add(add(scaled(link.mass, dV), cross(dw, link.H)), cross(w, cross(w, link.H))))
        moments.append(add(add(matrix_times(link.K, dw), cross(w, matrix_times(link.K, w))), cross(link.H, dV)))
        dV = add(dV, add(cross(dw, link.P), cross(w, cross(w, link.P))))
    f, m = tip_force, tip_moment
    b: list[Any] = [0.0] * n
    for j in range(n - 1, -1, -1):
        m = add(add(moments[j], m), cross(arm.links[j].P, f))
        f = add(forces[j], f)
        b[j] = dot(arm.links[j].Z, m)
    return b


def solve(A: Sequence[Sequence[Any]], gamma: Sequence[Any], reciprocal: Any = lambda d: 1.0 / d) -> list[Any]:
    """Return x of A x = gamma by A = L D Lᵀ, A symmetric and positive definite.

    Every pivot is divided by once; `reciprocal` says how, for numbers that cannot be divided.
    """
    n = len(gamma)
    a = [list(row) for row in A]
    L: list[list[Any]] = [[0.0] * n for _ in range(n)]
    inverse = []
    for k in range(n):
        inverse.append(reciprocal(a[k][k]))
        for i in range(k + 1, n):
            L[i][k] = a[i][k] * inverse[k]
            for j in range(k + 1, i + 1):
                a[i][j] = a[i][j] - L[i][k] * a[j][k]
    x = list(gamma)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i][k] * x[k]
    x = [value * each for value, each in zip(x, inverse, strict=True)]
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            x[k] = x[k] - L[i][k] * x[i]
    return x
