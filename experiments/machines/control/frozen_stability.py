"""Stability of computed-torque control with old data at a frozen configuration.

At rest at q, without gravity, a method is linear: the torque at sample k is Σ_d M_d u(k−d), with Σ_d M_d = M(q). A unit
command at k = 0 alone gives the columns of M_0, M_1, ... With that the loop

    ë = −M⁻¹ Σ_d M_d u(k−d) ,    u = K_p e + K_v ė ,    u held over a sample

is a linear recursion from sample to sample, stable while its spectral radius is below one. With K_p = ω², K_v = 2ω only
the product ωT matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.robots.robot import Robot
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_equations import Recursion
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import Method, iterations_to_exact

Floats = npt.NDArray[np.float64]


def impulse_responses(robot: Robot, method: Method, q: Any, recursion: Recursion = HAMILTON) -> Floats:
    """Return M_0, M_1, ..., shape (D, n, n), kg·m²: the torques d samples after a unit acceleration command."""
    n = robot.degrees_of_freedom
    kinds = [joint.kind.name for joint in robot.joints]
    length = iterations_to_exact(recursion, method, kinds)
    floating = robot.with_gravity((0.0, 0.0, 0.0))
    responses = np.empty((length, n, n))
    position, rest = np.tile(np.asarray(q, dtype=np.float64), (length, 1)), np.zeros((length, n))
    for j in range(n):
        machine = SpeculativeMachine(floating, method, recursion)
        machine.start(position[:3], rest[:3], rest[:3])
        impulse = np.zeros((length, n))
        impulse[0, j] = 1.0
        responses[:, :, j] = machine.step(position, rest, impulse)
    return responses


def loop_matrix(responses: Floats, period: float, stiffness: float, damping: float, latency: int = 0) -> Floats:
    """Return the matrix of one sample of the loop, on (e, ė, u(k−1), u(k−2), ...)."""
    n = responses.shape[1]
    gains = np.linalg.solve(responses.sum(axis=0), responses.transpose(1, 0, 2).reshape(n, -1))
    gains = np.hstack([np.zeros((n, latency * n)), gains])  # M⁻¹ M_d, each `latency` samples later
    past = gains.shape[1] // n - 1
    size = (2 + past) * n
    command = np.zeros((n, size))
    command[:, :n], command[:, n : 2 * n] = stiffness * np.eye(n), damping * np.eye(n)
    acceleration = -gains[:, :n] @ command
    acceleration[:, 2 * n :] -= gains[:, n:]
    matrix = np.zeros((size, size))
    matrix[: 2 * n, : 2 * n] = np.block([[np.eye(n), period * np.eye(n)], [np.zeros((n, n)), np.eye(n)]])
    matrix[:n] += period**2 / 2 * acceleration
    matrix[n : 2 * n] += period * acceleration
    if past:
        matrix[2 * n : 3 * n] = command
        matrix[3 * n :, 2 * n : -n] = np.eye((past - 1) * n)
    return matrix


def spectral_radius(matrix: Floats) -> float:
    """Return the largest magnitude of an eigenvalue."""
    return float(np.abs(np.linalg.eigvals(matrix)).max())


@dataclass(frozen=True)
class Mode:
    """The eigenvalue of largest magnitude, and its position errors (n,), scaled so that the largest is 1."""

    root: complex
    shape: npt.NDArray[np.complex128]


def leading_mode(matrix: Floats, n: int) -> Mode:
    """Return the mode that grows fastest, or decays slowest."""
    roots, vectors = np.linalg.eig(matrix)
    which = int(np.abs(roots).argmax())
    errors = vectors[:n, which]
    return Mode(complex(roots[which]), errors / errors[np.abs(errors).argmax()])


def critical_product(responses: Floats, latency: int = 0, largest: float = 2.0, steps_per_decade: int = 200) -> float:
    """Return the smallest ωT at which the loop with K_p = ω², K_v = 2ω is unstable; `largest` if none is below it.

    Found by a scan in even ratios from 1e-4, since stability may be lost and regained, then by bisection.
    """

    def unstable(product: float) -> bool:
        return spectral_radius(loop_matrix(responses, product, 1.0, 2.0, latency)) > 1.0

    products = 10.0 ** np.arange(-4.0, np.log10(largest), 1.0 / steps_per_decade)
    for stable, product in pairwise(products):
        if unstable(float(product)):
            low, high = float(stable), float(product)
            while high - low > 1e-7 * high:
                middle = (low + high) / 2
                low, high = (low, middle) if unstable(middle) else (middle, high)
            return high
    return largest


def alternating_limit(responses: Floats) -> float:
    """Return 1/λ_max of M⁻¹ Σ_d (−1)^d M_d, the ωT above which errors that flip sign each sample grow (or inf).

    That is the stability limit wherever such a mode is the first to go unstable.
    """
    signs = (-1.0) ** np.arange(len(responses))
    flipped = np.linalg.solve(responses.sum(axis=0), np.tensordot(signs, responses, axes=1))
    largest = float(np.linalg.eigvals(flipped).real.max())
    return 1.0 / largest if largest > 0 else float("inf")
