"""From the driven joints of a robot to all its joints and back: followers move with the joints that lead them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Array, Chain


def member_positions(chain: Chain, q: Array) -> Array:
    """Return the positions (..., k) of all joints from those of the driven ones, (..., n)."""
    return q[..., chain.drive] * chain.multiplier + chain.offset if chain.coupled else q


def member_motion(chain: Chain, rate: Array) -> Array:
    """Return velocities or accelerations (..., k) of all joints from those of the driven ones, (..., n)."""
    return rate[..., chain.drive] * chain.multiplier if chain.coupled else rate


def drive_torques(chain: Chain, tau: Array) -> Array:
    """Return the torques (..., n) of the drives from those of all joints, (..., k): followers load their leaders."""
    if not chain.coupled:
        return tau
    drives: Any = np.zeros((*tau.shape[:-1], chain.driven), dtype=tau.dtype)
    for i, (drive, multiplier) in enumerate(zip(chain.drive.tolist(), chain.multiplier.tolist(), strict=True)):
        drives[..., drive] = drives[..., drive] + tau[..., i] * multiplier
    return drives  # type: ignore[no-any-return]
