"""Energies of an arm, from which the laws of mechanics are checked; not from the recursion that is tested."""

from __future__ import annotations

import numpy as np

import bddtorque as bt
from bddtorque.dynamics.chain import chain_of


def kinetic_energy(robot: bt.Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return ½ q̇ᵀ J(q) q̇ in J, one number per state; (n,) or (N, n)."""
    return np.einsum("...i,...ij,...j->...", qd, bt.mass_matrix(robot, q), qd) / 2


def potential_energy(robot: bt.Robot, q: np.ndarray) -> np.ndarray:
    """Return the potential energy in J, one number per state; zero with all mass at the origin of the base."""
    rows, chain = np.atleast_2d(q), chain_of(robot)
    moments = np.zeros((len(rows), 3))  # Σ m_i c_i in base axes
    R, p = np.broadcast_to(np.eye(3), (len(rows), 3, 3)), np.zeros((len(rows), 3))
    for i in range(rows.shape[1]):
        p = p + R @ chain.translation[i]
        R = R @ chain.rotation[i]
        if chain.turns[i]:
            R = R @ _about_z(rows[:, i])
        else:
            p = p + R[:, :, 2] * rows[:, i, None]
        moments += R @ chain.body[i][:3, 3] + chain.body[i][3, 3] * p
    energy = moments @ chain.base_acceleration
    return energy if np.ndim(q) == 2 else energy[0]


def _about_z(angles: np.ndarray) -> np.ndarray:
    turns = np.zeros((len(angles), 3, 3))
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(angles)
    turns[:, 1, 0] = np.sin(angles)
    turns[:, 0, 1] = -turns[:, 1, 0]
    turns[:, 2, 2] = 1.0
    return turns
