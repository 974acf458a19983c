"""Worth of the words of a torque: range, largest torque there can be, and the bits that say something."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

State = tuple[int, ...]
"""Input words: q, qd and qdd of all joints, one after another."""


@dataclass(frozen=True)
class Extent:
    """Bounds of the smallest and the largest value of a torque, N·m or N.

    Attributes
    ----------
    low, high
        No torque is below, or above: proved.
    low_reached, high_reached
        The smallest and the largest one that a search found.
    low_state, high_state
        Where it found them.
    """

    low: float
    low_reached: float
    high_reached: float
    high: float
    low_state: State = field(default=(), repr=False)
    high_state: State = field(default=(), repr=False)

    @property
    def reached(self) -> float:
        """The largest magnitude that a search found."""
        return max(-self.low_reached, self.high_reached)

    @property
    def at_most(self) -> float:
        """The largest magnitude that is not excluded by proof."""
        return max(-self.low, self.high)

    def __str__(self) -> str:
        return f"{self.reached:.4g} to {self.at_most:.4g}"


@dataclass(frozen=True)
class TorqueRange:
    """Range of one torque, as far as it is known.

    Attributes
    ----------
    joint, unit
        Its name; N·m or N.
    low, high
        The range of its words, at the joint.
    bound
        The proved error of its words, in `unit`.
    extent
        How large the torque can be, whatever the input words are.
    within_limits
        How large it can be with all joints within their limits; None if all words are.
    """

    joint: str
    unit: str
    low: float
    high: float
    bound: float
    extent: Extent
    within_limits: Extent | None = None

    @property
    def reached(self) -> float:
        """The largest magnitude that a search found."""
        return self.extent.reached

    @property
    def at_most(self) -> float:
        """The largest magnitude that is not excluded by proof."""
        return self.extent.at_most

    @property
    def effective_bits(self) -> float:
        """log2(largest torque / bound), the largest being what was reached; 0 where the error is larger."""
        return effective_bits(self.reached, self.bound)

    def shown_range(self) -> str:
        """Return the range as ``±100`` or ``-5 to 20``."""
        return f"±{self.high:.6g}" if self.low == -self.high else f"{self.low:.6g} to {self.high:.6g}"

    def to_plain(self) -> dict[str, Any]:
        """Return the figures by name."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in ("joint", "unit", "low", "high")}
        plain |= {"reached": self.reached, "at_most": self.at_most, "bound": self.bound}
        if self.within_limits is not None:
            limited = self.within_limits
            plain["within_limits"] = {"reached": limited.reached, "at_most": limited.at_most}
        return {**plain, "effective_bits": self.effective_bits}


def effective_bits(largest: float, bound: float) -> float:
    """Return log2(largest value / bound of its error): the bits of a word that say something; 0 if none do."""
    return max(0.0, math.log2(largest / bound)) if largest > 0 and bound > 0 else 0.0
