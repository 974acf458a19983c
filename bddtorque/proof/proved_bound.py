"""Proof of one output: its bound, the parts of it, whether it can saturate, and the range that a torque needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Literal

Saturation = Literal["cannot", "can", "not excluded"]
SATURATIONS = ("cannot", "can", "not excluded")
ROBOT = "robot"
KEYS = (
    "name", "unit", "lsb", "bound", "relative_to", "parts", "assumed", "spread", "low", "high", "saturation", "witness",
)  # fmt: skip
"""Keys of an output in a file and in `--json`."""
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
        Extremes of the torque, whatever the input words are.
    within_limits
        Extremes with all joints within their limits; None if all words are.
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


@dataclass(frozen=True)
class Parts:
    """Error of one output by where it can come from, in units of its last bit; all rounded up.

    Attributes
    ----------
    dropped
        Terms that were left out because they are too small to matter.
    constants
        Constants rounded to the grid of the words.
    tables
        Table entries rounded to nearest; the largest error over all entries is computed, not estimated. For the
        target ``"float"``: the sines.
    products
        Products of words, rounded by a shift.
    sums
        Sums inside the plan, exact and rounded once each.
    final_rounding
        Rounding to the output word.
    arithmetic
        Errors of float64 and of the Fourier step behind the tables. For the target ``"float"``: also the errors of
        its own operations.
    """

    dropped: float
    constants: float
    tables: float
    products: float
    sums: float
    final_rounding: float
    arithmetic: float

    @property
    def total(self) -> float:
        """The sum of all parts, rounded up."""
        return math.fsum(getattr(self, part.name) for part in fields(self)) * (1 + 1e-15)

    def to_plain(self) -> dict[str, float]:
        """Return plain data for JSON."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


@dataclass(frozen=True)
class ProvedBound:
    """Proved bound of one output: a torque, or the value of a function.

    Attributes
    ----------
    name
        Name of the joint, or of the output word.
    unit
        N·m, N, or the unit of the function's output.
    lsb
        The value of one unit of the last bit, in `unit`.
    parts
        The bound by parts, in units of the last bit.
    low, high
        A sound range of the compiled value before it is clamped, in `unit`.
    saturation
        Answer to whether any input needs more than the format holds: ``"cannot"`` (proved), ``"can"`` (see `witness`),
        or ``"not excluded"``.
    witness
        Input words that saturate, array by array, or None.
    relative_to
        Truth of the value: ``"robot"`` (a quantity of it), or a key of `RELATIVE_TO`.
    assumed
        Your stated error of a function's own values, in units; not proved.
    spread
        Largest distance of samples of the same words from their mean, in `unit`; not part of the bound.
    effort
        The unit of the motor's effort (``"mA"`` or ``"count"``) and how many of it make one `unit`; None if the spec
        has no drive. It follows from the spec and is not part of what is proved.
    """

    name: str
    unit: str
    lsb: float
    parts: Parts
    low: float
    high: float
    saturation: Saturation
    witness: tuple[tuple[int, ...], ...] | None = None
    relative_to: str = ROBOT
    assumed: float = 0.0
    spread: float = 0.0
    effort: tuple[str, float] | None = field(default=None, compare=False)

    @property
    def bound_drive(self) -> float | None:
        """The bound in the unit of the motor's effort, mA or driver counts; None if that is unknown."""
        return None if self.effort is None else self.bound_si * self.effort[1] * (1 + 1e-15)

    @property
    def joint(self) -> str:
        """The name; that of the joint, if this is a torque."""
        return self.name

    @property
    def bound(self) -> float:
        """The bound on the error, in units of the last bit: what is proved plus what was assumed."""
        total = self.parts.total
        return total if self.relative_to == ROBOT else (total + self.assumed) * (1 + 1e-15)

    @property
    def bound_si(self) -> float:
        """The bound on the error, in `unit`."""
        return self.bound * self.lsb * (1 + 1e-15)

    @property
    def largest(self) -> float:
        """The largest magnitude of the value that is not excluded, in `unit`."""
        return max(abs(self.low), abs(self.high))

    @property
    def faithful(self) -> bool:
        """True if every word is less than one unit from the true value."""
        return self.bound < 1.0

    def about_saturation(self, known: TorqueRange | None = None) -> str:
        """Return a clause that says whether the word can saturate, and a range in which it could not."""
        low, high = self.low, self.high
        if known is not None:  # the words may be off by their bound
            low, high = max(low, known.extent.low - self.bound_si), min(high, known.extent.high + self.bound_si)
        reach = f"{low:.5g} to {high:.5g} {self.unit}".rstrip()
        if self.saturation == "cannot":
            return f"cannot saturate (proved: within {reach})"
        if self.saturation == "can":
            return f"CAN saturate (witness words {self.witness}); a range of {reach} would be wide enough"
        return f"saturation not excluded; a range of {reach} would be wide enough"

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = {key: getattr(self, key) for key in KEYS}
        plain["parts"] = self.parts.to_plain()
        if self.witness is not None:
            plain["witness"] = [list(words) for words in self.witness]
        return plain
