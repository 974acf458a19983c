"""`Law`: a real function of one to four numbers that is no sum of products, with values that are proved to a radius.

Friction with its exponential, and the interpolant of samples, are laws. A table of a law is made as that of any other
function: floats with a radius decide every entry that they can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.bounded import Bounded


class Law(Protocol):
    """What a table is made of; frozen, hashable, and plain data in files."""

    @property
    def kind(self) -> str:
        """The name of the law in files."""
        ...

    @property
    def transcendental(self) -> bool:
        """Whether float64 may differ from one machine to the next: then `exact` decides what lies close to a tie."""
        ...

    def bounded(self, values: Sequence[Bounded]) -> Bounded:
        """Return the law at arrays of arguments that are known to a radius, one array an argument, of one shape."""
        ...

    def exact(self, values: Sequence[Fraction]) -> Any:
        """Return the law at rational arguments, as an mpmath number in the precision that is set."""
        ...

    def formula(self) -> str:
        """Return the law in a few words, over x0, x1, ..."""
        ...

    def to_plain(self) -> dict[str, Any]:
        """Return plain data that `law_from_plain` reads."""
        ...


def law_from_plain(plain: object, where: str) -> Law:
    """Return the law that `Law.to_plain` wrote; every field is checked."""
    from bddtorque.laws.friction import friction_from_plain  # noqa: PLC0415 - the laws know this protocol
    from bddtorque.laws.interpolant import interpolant_from_plain, nearest_from_plain  # noqa: PLC0415

    readers: dict[str, Callable[[object, str], Law]] = {
        "friction": friction_from_plain,
        "interpolant": interpolant_from_plain,
        "nearest": nearest_from_plain,
    }
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in readers:
        raise BddTorqueError(f"{where}: a law of kind {', '.join(readers)} required, {kind!r:.40} given")
    return readers[kind](plain, where)
