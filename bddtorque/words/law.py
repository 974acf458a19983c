"""`Law`: a real function of one to four numbers that is no sum of products, with values that are proved to a radius.

Friction with its exponential, and the interpolant of samples, are laws. A table of a law is made as that of any other
function: floats with a radius decide every entry that they can.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from bddtorque.base.plain import plain_of
from bddtorque.words.bounded import Bounded


class Law(ABC):
    """Function that a table is made of; frozen, hashable, and plain data in files."""

    kind: ClassVar[str]  # the name of the law in files

    @property
    def real_valued(self) -> bool:
        """True if words are those of the real function: then `exact` decides what lies close to a tie or a jump."""
        return False

    def __call__(self, *values: Any) -> Any:
        """Return the law at arrays of one shape, in float64."""
        return self.bounded([Bounded(np.asarray(each, dtype=np.float64)) for each in values]).value

    @abstractmethod
    def bounded(self, values: Sequence[Bounded]) -> Bounded:
        """Return the law at arrays of arguments that are known to a radius, one array per argument, of one shape."""

    def exact(self, values: Sequence[Fraction]) -> Any:
        """Return the law at rational arguments, as an mpmath number in the precision that is set."""
        raise NotImplementedError(f"{self.kind}: decided by its floats")

    @abstractmethod
    def formula(self) -> str:
        """Return the law in a few words, over x0, x1, ..."""

    def to_plain(self) -> dict[str, Any]:
        """Return plain data that `law_from_plain` reads: the kind, and the fields of the dataclass in their order."""
        return {"kind": self.kind, **{each.name: plain_of(getattr(self, each.name)) for each in fields(self)}}  # type: ignore[arg-type]
