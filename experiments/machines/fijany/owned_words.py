"""The numbers of a processor array: each owned by one processor, every operation on it counted there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bddtorque.base.errors import BddTorqueError

if TYPE_CHECKING:
    from machines.fijany.triangular_array import Processor

Number = Any
"""A `Word`, or a plain float: a constant of the programme, known when it was written."""


class ArrayError(BddTorqueError):
    """A programme did what the array cannot do: read from afar, or wait for what nobody sends."""


@dataclass(frozen=True)
class ArrayCosts:
    """The time of one multiplication, addition and hop, in any unit."""

    multiplication: float = 1.0
    addition: float = 1.0
    hop: float = 0.0


class Path(NamedTuple):
    """Operations on a longest path: multiplications (divisions among them), additions, hops."""

    multiplications: int = 0
    additions: int = 0
    hops: int = 0

    def time(self, costs: ArrayCosts) -> float:
        """Return how long the path takes."""
        return self.multiplications * costs.multiplication + self.additions * costs.addition + self.hops * costs.hop

    def then(self, other: Path) -> Path:
        """Return this path and the other after it."""
        return Path(
            self.multiplications + other.multiplications, self.additions + other.additions, self.hops + other.hops
        )


class Word:
    """A number in the memory of one processor; every operation on it is counted there.

    `value` is a float, an array of floats (many states at once) or a traced number. An operation with a plain constant
    0, and a product with ±1, is no operation: nobody programmes it. A word that happens to be 0 is multiplied like any
    other, so that counts do not depend on the arm. Signs are free.
    """

    __array_ufunc__ = None  # NumPy scalars leave arithmetic with words to us
    __slots__ = ("owner", "value")

    def __init__(self, value: Any, owner: Processor) -> None:
        self.value = value
        self.owner = owner

    def _operand(self, other: Number) -> Any:
        """Return the value of the other operand, having made sure that the owner of both is at work."""
        owner = self.owner
        if not owner.running:
            raise ArrayError(
                f"arithmetic on a word of {owner.name}: only its own program may do it, but another one is running"
            )
        if not isinstance(other, Word):
            return float(other)
        if other.owner is not owner:
            raise ArrayError(
                f"arithmetic: both words must be of one processor, got words of {owner.name} and {other.owner.name}"
            )
        return other.value

    def __neg__(self) -> Word:
        return Word(-self.value, self.owner)

    def __add__(self, other: Number) -> Word:
        value = self._operand(other)
        if not isinstance(other, Word) and value == 0:
            return self
        self.owner.additions += 1
        return Word(self.value + value, self.owner)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Word:
        return self.__add__(-other)

    def __rsub__(self, other: Number) -> Word:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Number) -> Number:
        value = self._operand(other)
        if not isinstance(other, Word):
            if value == 0:
                return 0.0
            if value in (1.0, -1.0):
                return self if value > 0 else -self
        self.owner.multiplications += 1
        return Word(self.value * value, self.owner)

    __rmul__ = __mul__

    def __truediv__(self, other: Word) -> Word:
        value = self._operand(other)
        self.owner.multiplications += 1
        return Word(self.value / value, self.owner)
