"""Branch and bound: boxes of the largest bound first, until none may hold more than is aimed at, or somebody stops it.

How boxes are bounded and halved is the caller's: boxes of positions for the true torque (`torque_boxes`), boxes of
input words for the sum of a plan (`bddtorque.questions.bounding`), for which bounds are integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

POINT = -2
"""In place of the axis to halve: of a box that cannot be halved, and counts with the bound that it has."""


@dataclass(frozen=True)
class Boxes:
    """Boxes: both ends (N, axes), bounds (N,), and the axes to halve (N,)."""

    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    bound: npt.NDArray[Any]
    axis: npt.NDArray[np.int64]

    def __getitem__(self, which: Any) -> Boxes:
        return Boxes(self.low[which], self.high[which], self.bound[which], self.axis[which])

    def __add__(self, other: Boxes) -> Boxes:
        mine, its = ((each.low, each.high, each.bound, each.axis) for each in (self, other))
        return Boxes(*(np.concatenate(pair) for pair in zip(mine, its, strict=True)))

    def __len__(self) -> int:
        return len(self.bound)


class BranchAndBound:
    """Open boxes, and what bounds those that are closed: together a bound that holds at any time.

    Attributes
    ----------
    boxes
        The open boxes.
    """

    def __init__(self, boxes: Boxes) -> None:
        self.boxes = boxes
        self._closed: float = -math.inf

    @property
    def bound(self) -> Any:
        """Nothing in any box is larger."""
        return max(self._closed, self.boxes.bound.max().item()) if len(self.boxes) else self._closed

    def run(
        self,
        aim: Callable[[], float],
        batch: Callable[[int], tuple[int, int]],
        look: Callable[[Boxes], Boxes],
        goes_on: Callable[[], bool],
    ) -> bool:
        """Look at boxes until no bound is above the aim; return whether it came to that.

        Parameters
        ----------
        aim
            Gives the bound that closes a box; it may rise on the way.
        batch
            Gives, for a number of open boxes, how many to look at together, and how many before they are sorted again.
        look
            Gives what becomes of some boxes: their parts that stay open.
        goes_on
            Tells whether to go on, before each look.
        """
        while True:
            closed = (self.boxes.bound <= aim()) | (self.boxes.axis == POINT)
            if closed.any():
                self._closed = max(self._closed, self.boxes.bound[closed].max().item())
                self.boxes = self.boxes[~closed]
            if not len(self.boxes):
                return True
            # of equal bounds the first, so that the way is the same on every machine
            self.boxes = self.boxes[np.argsort(-self.boxes.bound, kind="stable")]
            count, total = batch(len(self.boxes))
            for _ in range(0, min(total, len(self.boxes)), count):
                if not goes_on():
                    return False
                parts = look(self.boxes[:count])
                # boxes go and their parts come at once: the bound holds whenever somebody stops the search
                self.boxes = self.boxes[count:] + parts
