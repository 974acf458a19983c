"""A x = gamma by conjugate gradients: A is only ever multiplied by a vector, and at most n times (Walker and Orin)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def conjugate_gradient(
    times_matrix: Callable[[list[Any]], Sequence[Any]],
    gamma: Sequence[Any],
    reciprocal: Callable[[Any], Any],
    iterations: int | None = None,
) -> list[Any]:
    """Return x after so many iterations (n, if none are given: exact but for rounding), starting from zero.

    `times_matrix(v)` returns A v, A symmetric and positive definite; `reciprocal(d)` returns 1/d.
    """
    steps = len(gamma) if iterations is None else iterations
    x: list[Any] = [0.0] * len(gamma)
    residual, direction = list(gamma), list(gamma)
    square = inner(residual, residual)
    for step in range(steps):
        image = times_matrix(direction)
        length = square * reciprocal(inner(direction, image))
        x = [a + length * b for a, b in zip(x, direction, strict=True)]
        if step + 1 < steps:
            residual = [a - length * b for a, b in zip(residual, image, strict=True)]
            before, square = square, inner(residual, residual)
            ratio = square * reciprocal(before)
            direction = [a + ratio * b for a, b in zip(residual, direction, strict=True)]
    return x


def inner(u: Sequence[Any], v: Sequence[Any]) -> Any:
    """Return u · v for vectors of any length."""
    total = u[0] * v[0]
    for a, b in zip(u[1:], v[1:], strict=True):
        total = total + a * b
    return total
