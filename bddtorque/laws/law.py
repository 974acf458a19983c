"""`Law`: a real function of one to four numbers that is no sum of products, with values that are proved to a radius.

Friction with its exponential, and the interpolant of samples, are laws. A table of a law is made as that of any other
function: floats with a radius decide every entry that they can.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

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
