"""The rotation rule: in c·x + s·y with c² + s² = 1, x and y count as √(X² + Y²), not as X + Y.

This is the inequality of Cauchy and Schwarz. It holds for magnitudes and for errors alike, and along a chain of joints
it is worth half a bit per joint. Every pass that bounds sums uses the records of this file: ranges of graphs
(`bddtorque.dynamics.node_ranges`), proved errors (`bddtorque.words.error_bound`, `bddtorque.plan.bound`), the sizes of
words (`bddtorque.targets.sizing`), and ranges over boxes (`bddtorque.questions.box_ranges`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bddtorque.words.bounded import ROUND_UP

Errors = dict[str, float]
"""Bounds of errors, by where they arose; what is not listed is 0."""


class SineOf(NamedTuple):
    """Identity of the sine or cosine of an angle."""

    angle: Hashable
    cosine: bool

    def completes(self, other: SineOf) -> bool:
        """Return whether the squares of both add up to 1."""
        return self.angle == other.angle and self.cosine != other.cosine


@dataclass(frozen=True, slots=True)
class Turned:
    """A product with a sine or cosine: at most |sine or cosine|·magnitude, off by |sine or cosine|·errors + rest.

    Magnitudes are floats, or arrays of them over boxes. Errors are by part, or 0 where nobody asks for them.
    """

    sine: SineOf
    magnitude: Any
    errors: Any = 0.0
    rest: Any = 0.0


def rotated(x: Any, y: Any) -> Any:
    """Return √(x² + y²) of two magnitudes: floats, arrays, or errors part by part; the caller rounds it up."""
    if isinstance(x, dict):
        return {part: rotated(x.get(part, 0.0), y.get(part, 0.0)) for part in {**x, **y}}
    return np.hypot(x, y) if isinstance(x, np.ndarray) else math.hypot(x, y)


def rotations(left: Iterable[Turned], right: Iterable[Turned]) -> Iterator[tuple[Turned, Turned]]:
    """Yield the ways to read a sum as a rotated coordinate, from the ways to read its summands as turned products."""
    return ((x, y) for x in left for y in right if x.sine.completes(y.sine))


def accumulate(total: Errors, errors: Errors, weight: float = 1.0) -> Errors:
    """Return the sum of a total and weight·errors, part by part, rounded up."""
    added = {part: (total.get(part, 0.0) + weight * error) * ROUND_UP for part, error in errors.items()}
    return {**total, **added}
