"""`RunTimeInput`: what a robot can be given at run time besides its motion, as a record.

Each file of `dynamics/run_time/` defines one. The key of the specification that switches it on has the record's name:
``payload = { mass = [0, 5], runtime = true }``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import describe, real
from bddtorque.dynamics.batch import Floats
from bddtorque.dynamics.chain import Chain
from bddtorque.robots.robot import Robot
from bddtorque.words.interface import WordArray

ChainValues = Callable[..., Floats]
"""values(chain) -> (N, k): torques or energies of the states at hand; with ``moving=False`` as if all were at rest."""


def as_runtime(given: object, name: str) -> bool:
    """Return True, the only value that the key ``runtime`` has."""
    if given is not True:
        raise BddTorqueError(f"{name} must be true or left out, got {describe(given)}")
    return True


def above_zero(given: object, name: str, unit: str) -> float:
    """Return a finite number above 0."""
    number = real(given, name)
    if number <= 0:
        raise BddTorqueError(f"{name} must be above 0 {unit}, got {number:g}")
    return number


class RunTimeInput:
    """An input at run time: a record, to be derived from."""

    name: ClassVar[str]
    """The name of its array of words, and of its key in the specification."""
    about: ClassVar[str]
    """A line for people."""
    is_weight: ClassVar[bool] = False
    """True if it takes the place of the robot's own gravity."""

    def read(self, given: object, name: str) -> Any:
        """Return what the key says, from a table that has ``runtime = true``; refuse anything else."""
        raise NotImplementedError

    def present(self, asked: Any) -> bool:
        """Tell if a specification asks for it."""
        return getattr(getattr(asked, self.name), "runtime", False) is True

    def check(self, asked: Any, robot: Robot) -> None:
        """Refuse a robot that it makes no sense for."""

    def array(self, asked: Any, robot: Robot, at_rest: bool) -> WordArray:
        """Return its words; `at_rest`: only those that matter where nothing moves."""
        raise NotImplementedError

    def join(self, robot: Robot, chain: Chain, numbers: Mapping[str, Any]) -> Chain:
        """Return the exact numbers of a robot, with these among them, by the labels of the words."""
        raise NotImplementedError

    def superpose(self, robot: Robot, chain: Chain, numbers: Mapping[str, Floats], values: ChainValues) -> Floats:
        """Return torques or energies with numbers (N,) by label, which they are linear in, from those of chains."""
        raise NotImplementedError
