"""`FloatArm`: a robot at N states in float64, as quantities see it when their true values are asked for.

Nothing of it is shared with what is traced but the recursion itself, which pinocchio is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from bddtorque.dynamics.batch import Floats, torques
from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.coupling import member_positions
from bddtorque.dynamics.recursion import JointRecursion, numbers_of
from bddtorque.dynamics.run_time_input import RunTimeInput
from bddtorque.dynamics.tip import link_frames, tip_jacobian, tip_pose
from bddtorque.robots.robot import Robot
from bddtorque.words.portable import sine_cosine

GivenNumbers = tuple[RunTimeInput, Mapping[str, Floats]]


@dataclass(frozen=True)
class FloatArm:
    """A robot at N states; a number is a float for all of them, or an array (N,)."""

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
    def still(self) -> list[Any]:
        """No motion."""
        return [0.0] * self.q.shape[1]

    def input(self, array: str) -> list[Any]:
        """Return the numbers of an array of the motion, one per joint."""
        return list(self.arrays[array].T)

    def word(self, name: str) -> Any:
        """Return the value of an input word, or of one that is derived from them, by its name."""
        array = name.rstrip("0123456789")
        return self.derived[name] if name in self.derived else self.arrays[array][:, int(name[len(array) :]) - 1]

    def torques(self, qd: Sequence[Any], qdd: Sequence[Any], weightless: bool = False) -> list[Any]:
        """Return the torques of a motion, without friction."""
        turned, still = sine_cosine(self.q), np.zeros_like(self.q)
        moving_at = columns_of(qd, len(self.q)), columns_of(qdd, len(self.q))

        def of_chain(chain: Chain, moving: bool) -> Floats:
            return torques(chain, self.q, *(moving_at if moving else (still, still)), turned)

        return list(self._superposed(of_chain, weightless).T)

    def run(self, recursion: JointRecursion) -> list[Any]:
        """Return the outputs of a recursion, of the arrays of the motion that it reads."""

        def of_chain(chain: Chain, moving: bool) -> Floats:
            positions = member_positions(chain, self.q)
            sine, cosine, q = (numbers_of(list(each.T)) for each in (*sine_cosine(positions), positions))
            rates = [self.input(name) if moving else self.still for name in recursion.rates]
            return columns_of(recursion.outputs(chain, sine, cosine, q, rates), len(positions))

        return list(self._superposed(of_chain, False).T)

    def pose(self) -> tuple[Floats, Floats]:
        """Return position (3, N) and rotation (3, 3, N) of the tip, in base axes."""
        position, rotation, _ = tip_pose(self.robot, self.q)
        return position.T, rotation.transpose(1, 2, 0)

    def jacobian(self) -> Floats:
        """Return the Jacobian (6, n, N) of the tip, in base axes."""
        return tip_jacobian(self.robot, self.q).transpose(1, 2, 0)

    def potential(self) -> Floats:
        """Return the potential energy (N,): 0 with all masses at the origin of the base."""
        frames = link_frames(self.robot, self.q)

        def of_chain(chain: Chain, moving: bool) -> Floats:
            moments = np.zeros((len(self.q), 3))
            for body, (origin, rotation) in zip(chain.body, frames, strict=True):
                moments += body[3, 3] * origin + rotation @ body[:3, 3]
            return moments @ chain.base_acceleration[:, None]

        return self._superposed(of_chain, False)[:, 0]

    def _superposed(self, of_chain: Callable[[Chain, bool], Floats], weightless: bool) -> Floats:
        """Return what is linear in the numbers given at run time, from its values for chains without them."""

        def value(chain: Chain, given: Sequence[GivenNumbers], moving: bool) -> Floats:
            if not given:
                return of_chain(chain, moving)
            (record, numbers), *rest = given
            return record.superpose(self.robot, chain, numbers, partial(value, given=rest, moving=moving))

        chain = chain_of(self.robot)
        if weightless:
            chain = chain._replace(base_acceleration=np.zeros(3))
        return value(chain, [each for each in self.run_time if not (weightless and each[0].is_weight)], True)


def columns_of(numbers: Sequence[Any], count: int) -> Floats:
    """Return numbers, each a float or an array (N,), as the columns of an array (N, numbers) in memory order."""
    return np.ascontiguousarray(np.stack([np.broadcast_to(each, count) for each in numbers], axis=1))
