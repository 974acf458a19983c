"""What is known of each output bit of a diagram before anything runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import njit
from bddtorque.diagrams.bdd import Diagram


@dataclass(frozen=True)
class Paths:
    """Of each output bit of a diagram: its longest path and the input bits that it may test."""

    tests: list[int]
    supports: list[list[int]]
    """Variables: 0 is the most significant bit of the index."""

    @classmethod
    def of(cls, diagram: Diagram) -> Paths:
        """Look through a diagram."""
        longest, masks = _longest_and_masks(diagram.level, diagram.low, diagram.high)
        nodes = diagram.roots >> 1
        tests = [int(longest[node]) for node in nodes]
        supports = [[diagram.order[k] for k in range(diagram.input_bits) if masks[node] >> k & 1] for node in nodes]
        return cls(tests, supports)


@njit
def _longest_and_masks(
    level: npt.NDArray[np.int16], low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for each node, the most tests from it to the constant, and the set of levels it can reach."""
    longest = np.zeros(len(level), np.int64)
    masks = np.zeros(len(level), np.int64)
    for node in range(1, len(level)):
        left, right = low[node] >> 1, high[node] >> 1
        longest[node] = 1 + max(longest[left], longest[right])
        masks[node] = masks[left] | masks[right] | (np.int64(1) << level[node])
    return longest, masks
