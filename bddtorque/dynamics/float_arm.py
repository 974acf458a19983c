"""`FloatArm`: a robot at N states in float64, as quantities see it when their true values are asked for.

Nothing of it is shared with what is traced but the recursion itself, which pinocchio is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.batch import friction, torques
from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.run_time_input import RunTimeInput
from bddtorque.dynamics.tip import link_frames
from bddtorque.robots.robot import Robot
from bddtorque.words.portable import sine_cosine

Floats = npt.NDArray[np.float64]
GivenNumbers = tuple[RunTimeInput, Mapping[str, Floats]]


@dataclass(frozen=True)
class FloatArm:
    """A robot at N states."""

    robot: Robot
    asked: Any  # the specification
    arrays: Mapping[str, Floats]  # (N, words) by name: q, qd, ...
    run_time: Sequence[GivenNumbers] = ()  # what is given at run time, each with its numbers (N,) by label
    derived: Mapping[str, Floats] = field(default_factory=dict)  # values (N,) of derived words

    @property
    def q(self) -> Floats:
        """Positions (N, n)."""
        return self.arrays["q"]

    @property
    def still(self) -> Floats:
        """No motion, (N, n)."""
        return np.zeros_like(self.q)

    def torques(self, qd: Floats, qdd: Floats, without_weight: bool = False) -> Floats:
        """Return the torques (N, n) of a motion, without friction."""
        turned = sine_cosine(self.q)

        def of_chain(chain: Chain, moving: bool) -> Floats:
            return torques(chain, self.q, *((qd, qdd) if moving else (self.still, self.still)), turned)

        return self._superposed(of_chain, without_weight)

    def coriolis(self) -> Floats:
        """Return the Coriolis matrix (N, n, n) of Christoffel's symbols.

        With c(q̇) = C(q, q̇) q̇, a quadratic form, its column j is ¼ (c(q̇ + e) − c(q̇ − e)), e being the velocity 1 of
        joint j.
        """
        columns = []
        for unit in np.eye(self.q.shape[1]):
            ahead, behind = (
                self.torques(self.arrays["qd"] + each, self.still, without_weight=True) for each in (unit, -unit)
            )
            columns.append((ahead - behind) / 4)
        return np.stack(columns, axis=2)

    def potential(self) -> Floats:
        """Return the potential energy (N,): 0 with all masses at the origin of the base."""
        frames = link_frames(self.robot, self.q)

        def of_chain(chain: Chain, moving: bool) -> Floats:
            moments = np.zeros((len(self.q), 3))
            for body, (origin, rotation) in zip(chain.body, frames, strict=True):
                moments += body[3, 3] * origin + rotation @ body[:3, 3]
            return moments @ chain.base_acceleration[:, None]

        return self._superposed(of_chain, False)[:, 0]

    def friction(self, qd: Floats) -> Floats:
        """Return the friction of every joint (N, n)."""
        return friction(self.robot, qd)

    def _superposed(self, of_chain: Callable[[Chain, bool], Floats], without_weight: bool) -> Floats:
        """Return what is linear in the numbers given at run time, from its values for chains without them."""

        def value(chain: Chain, given: Sequence[GivenNumbers], moving: bool) -> Floats:
            if not given:
                return of_chain(chain, moving)
            (record, numbers), *rest = given
            return record.superpose(self.robot, chain, numbers, partial(value, given=rest, moving=moving))

        chain = chain_of(self.robot)
        used = [each for each in self.run_time if not (without_weight and each[0].is_weight)]
        return value(weightless(chain) if without_weight else chain, used, True)
