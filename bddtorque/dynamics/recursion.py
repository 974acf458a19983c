"""`JointRecursion`: outputs of a robot computed joint by joint, out and back, written once over any number type.

Traced numbers give the graph that is compiled, numbers with errors the proof of how far it is from the truth. A
recursion must not change when the chain is regrouped (`regroup`): whatever follows from the torques does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Array, Chain
from bddtorque.dynamics.coupling import drive_torques, member_motion
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler


@dataclass(frozen=True)
class JointRecursion:
    """A recursion over the joints of a chain.

    Attributes
    ----------
    run
        run(chain, sine, cosine, q, *rates) returns what each of the k joints, driven or following, adds to the outputs,
        (..., k): one row, or the columns of a matrix one after another, or several matrices. All arguments but the
        chain are (k,).
    rates
        The arrays of the motion that it reads besides positions, such as ``("qd", "qdd")``.
    """

    run: Callable[..., Array]
    rates: tuple[str, ...]

    def outputs(self, chain: Chain, sine: Array, cosine: Array, q: Array, rates: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the outputs, matrices row by row; `rates` are those of the driven joints."""
        moved = (member_motion(chain, numbers_of(rate)) for rate in rates)
        return list(in_order(drive_torques(chain, self.run(chain, sine, cosine, q, *moved))))


def numbers_of(values: Sequence[Any]) -> Array:
    """Return numbers of any kind, arrays of floats for one, as the items of an array."""
    numbers = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        numbers[place] = value
    return numbers


def in_order(columns: Array) -> Array:
    """Return outputs as they are listed: of (..., n) columns the rows of each matrix, one after another."""
    return np.swapaxes(np.atleast_2d(columns), -1, -2).ravel()


def run_newton_euler(chain: Chain, sine: Array, cosine: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the torques (k,) of all joints, in any numbers."""
    tau, wrench = np.zeros(len(q), dtype=object), np.zeros((len(q), WRENCH), dtype=object)
    newton_euler(chain, sine, cosine, q, qd, qdd, tau, wrench)
    return tau


TORQUES = JointRecursion(run_newton_euler, ("qd", "qdd"))
