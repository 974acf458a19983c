"""The certificate against what was proved: every figure follows, and is the one that the rules give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .bounds import OutputBound
from .enclosures import HALF
from .findings import require
from .formats import Format, WordArray
from .ieee import up
from .ranges import Span
from .reading import Reader, fields_of, list_of, optional, real, several, text, whole

MAX_DUST = 0.01 * (1 + 1e-6)
"""Units that plans in floats may leave out, by docs/certificate.md."""
DUSTIER = 64
"""Times the distance from the truth, as proved here, that it may be said to come to; up to 9 were found."""
PARTS = ("dropped", "constants", "tables", "products", "sums", "final_rounding", "arithmetic")
READERS: dict[str, Reader] = {
    "name": text, "unit": text, "lsb": real, "bound": real, "relative_to": text,
    "parts": lambda plain, where: fields_of(plain, dict.fromkeys(PARTS, real), where), "assumed": real, "spread": real,
    "low": real, "high": real, "saturation": text, "witness": optional(list_of),
}  # fmt: skip
"""The keys of one output."""
ROBOT, FUNCTIONS = "robot", ("traced", "law", "samples", "float")
"""Names of the truths that words of a robot, and of a function, are compared with."""
SATURATIONS = ("cannot", "can", "not excluded")
NEAR = 1e-5
"""Relative, and in units: how far a figure may stand above what the rules give; tables are rounded up to 2⁻²⁰ units."""
ROUNDINGS = ("tables", "products", "sums", "final_rounding")
LARGER = 1024
"""Times our own rounding of floats that another's may be."""
ROOM = 1e-9
"""Relative: how far the ends of a range may be apart, for floats that were rounded otherwise."""
ROUNDED = 1e-14
"""Relative: more than a few float operations lose."""


@dataclass(frozen=True)
class Stated:
    """One output of a certificate, as it is stated; `assumed` and `spread` are 0 for a robot."""

    name: str
    unit: str
    lsb: float
    bound: float
    relative_to: str
    parts: dict[str, float]
    assumed: float
    spread: float
    low: float
    high: float
    saturation: str
    witness: list[Any] | None

    @property
    def total(self) -> float:
        """The sum of all parts, rounded up: a bound that is proved."""
        return math.fsum(self.parts.values()) * (1 + 1e-15)


def outputs_stated(plain: Any) -> list[Stated]:
    """Return what a certificate states, output by output."""
    return list(fields_of(plain, {"outputs": several(_stated)}, "certificate")["outputs"])


def _stated(plain: Any, where: str) -> Stated:
    stated = Stated(**fields_of(plain, READERS, where))
    require(min(stated.parts.values()) >= 0, f"{where}: expected parts of at least 0")
    require(stated.saturation in SATURATIONS, f"{where}: expected a known word on saturation")
    require(stated.relative_to in (ROBOT, *FUNCTIONS), f"{where}: expected what it is relative to")
    require(min(stated.assumed, stated.spread) >= 0, f"{where}: expected errors of at least 0")
    of_robot = stated.relative_to == ROBOT
    nothing = not of_robot or (stated.assumed, stated.spread) == (0, 0)
    require(nothing, f"{where}: expected nothing to be assumed of a robot")
    total = stated.total if of_robot else (stated.total + stated.assumed) * (1 + 1e-15)
    require(stated.bound == total, f"{where}: expected a bound that is the sum of its parts, got {stated.bound}")
    return stated


@dataclass(frozen=True)
class Claim:
    """One output of a certificate as it is stated, beside what was found of it by the rules, and its word."""

    stated: Stated
    found: OutputBound
    word: Format

    @property
    def where(self) -> str:
        """The place in the file, for messages."""
        return f"certificate, '{self.stated.name:.40}'"

    @property
    def allowed_difference(self) -> float:
        """The distance of the plan without roundings from the truth, by what is stated, in units, at most.

        Where it is a sum of parts, the bound has more room than the sum is rounded by.
        """
        stated, proved = self.stated, self.found.proved
        if proved is not None:  # what the roundings of floats leave of the bound, rounded down
            return -up(Fraction(stated.assumed) + Fraction(proved) - Fraction(stated.bound))
        return math.fsum(stated.parts[part] for part in ("dropped", "constants", "arithmetic"))

    def check_difference(self, difference: float, step: str = "dynamics") -> None:
        """Refuse a plan that is further from the truth than rounded constants, dropped terms and floats account for."""
        allowed = self.allowed_difference
        require(
            difference <= allowed,
            f"{self.where}: the cascade without roundings must be within {allowed:.4g} units of the truth (what the "
            f"bound leaves for that), but only {difference:.4g} is proved",
            step,
        )

    def most_arithmetic(self, noise: float, points: float, skew: float, summed: float = 0.0) -> float:
        """Return what the arithmetic of a function may be said to come to, in units.

        docs/certificate.md has as many times the rounding of floats on a grid as there are points on it, or less. Ours
        may be smaller than another's, and is none where constants cancel: the result is taken to be rounded. `skew` is
        how far the robot's rotations can be taken to be from true ones, over all terms of a torque: it counts as many
        times. `summed` is the size of the numbers that the output is summed from, where that may matter.
        """
        size = abs(self.found.low) + abs(self.found.high) + abs(float(self.word.middle)) / self.word.lsb + 1 + summed
        return LARGER * points * (noise + HALF * size) + (6.4e-12 + points * skew) * size

    def check_parts(self, arithmetic: float, difference: float) -> None:
        """Refuse parts that do not follow from the tables and the plan, or that are not what the rules give.

        `arithmetic` is what that of the function itself may come to, beside that of floats; `difference` is how far the
        plan without roundings can be from the truth.
        """
        floats = self.found.proved is not None
        for part in PARTS:
            stated, proved, where = self.stated.parts[part], self.found.parts.get(part, 0.0), f"{self.where}, {part}"
            # floats: their sum is what must follow (`allowed_difference`); how it is split may hang on the last digit
            least = proved * (1 - NEAR) - NEAR if floats else proved
            require(least <= stated, f"{where}: expected at least {proved!r}, got {stated!r}")
            most = proved * (1 + NEAR) + (arithmetic if part == "arithmetic" else NEAR)
            if part == "dropped" and floats:  # what is not in the plan; `check_difference` counts it
                most += min(MAX_DUST, DUSTIER * difference)
            expected = f"expected {proved:.6g} by the rules and at most {most:.6g}"
            require(stated <= most, f"{where}: {expected}, got {stated:.6g}")

    def least_arithmetic(self, difference: float) -> float:
        """Return what `arithmetic` must come to at least: what the other parts leave of the distance from the truth.

        Constants as they were before they were rounded are not in the file, so that this part cannot be computed apart:
        it is refused below this (`check_difference`), or beside the bound of all roundings of floats, and above what
        floats can err.
        """
        floats, parts = self.found.proved is not None, self.stated.parts
        others = [part for part in PARTS if part != "arithmetic"] if floats else ("dropped", "constants")
        return max(0.0, (self.found.proved or 0.0) + difference - math.fsum(parts[part] for part in others))

    def compared(self, difference: float) -> str:
        """Return what a file states of an output, in units, beside what was proved of it here.

        The bound that was proved has nothing of the certificate in it but what is assumed.
        """
        stated, proved = self.stated, self.found.proved
        rounding = math.fsum(self.found.parts[part] for part in ROUNDINGS) if proved is None else proved
        own = (rounding + difference + stated.assumed) * (1 + 1e-14)
        said = f"{stated.name}: bound {stated.bound:.6f} units in the file, {own:.6f} proved here"
        if stated.parts["arithmetic"]:
            least = self.least_arithmetic(difference)
            said += f"; arithmetic {stated.parts['arithmetic']:.3g} in the file, {least:.3g} needed"
        if stated.parts["dropped"] and proved is not None:
            said += f"; dropped {stated.parts['dropped']:.3g} in the file, at most {difference:.3g} found"
        return said + (f"; {stated.assumed:.4g} of the bound is assumed" if stated.assumed else "")

    @property
    def near(self) -> OutputBound:
        """The range that is stated where it goes less far than that of the rules, by more than floats round."""
        stated, found, word = self.stated, self.found, self.word
        ends = sorted((word.sign * (end - word.offset) - word.centre) / word.lsb for end in (stated.low, stated.high))
        slack = ROOM * (abs(ends[0]) + abs(ends[1]) + abs(word.centre / word.lsb) + 1)
        low, high = ends[0] + stated.total, ends[1] - stated.total
        low = found.low if abs(low - found.low) <= slack else low
        return replace(found, low=low, high=found.high if abs(high - found.high) <= slack else high)

    @property
    def closer_range(self) -> Span | None:
        """The range of the true value, in units, for the range that is stated to hold; None where rules give that.

        Rules may give one of its ends: then that end is no matter.
        """
        near, found = self.near, self.found
        if (near.low, near.high) == (found.low, found.high):
            return None
        error = math.fsum(units for part, units in self.stated.parts.items() if part != "final_rounding")
        error += ROUNDED * (error + abs(near.low) + abs(near.high) + abs(self.word.centre / self.word.lsb))
        low = -math.inf if near.low == found.low else near.low + error
        return low, math.inf if near.high == found.high else near.high - error

    def check_range(self, truth: Span | None = None) -> None:
        """Refuse a range of the output that does not follow, or that goes further than the rules have it.

        `truth` is a range of the true value in units, where the range that is stated goes less far.
        """
        near, found, asked = self.near, self.found, self.closer_range
        ends = (
            ("low", near.low, found.low, near.low < found.low),
            ("high", near.high, found.high, near.high > found.high),
        )
        for name, stated, end, wider in ends:
            expected = f"expected a range of {found.low!r} to {found.high!r} units, and the bound"
            holds = not wider and (stated == end or truth is not None)
            require(holds, f"{self.where}, {name}: {expected}, got {stated!r}")
        require(
            asked is None or truth is None or (asked[0] <= truth[0] and truth[1] <= asked[1]),
            f"{self.where}: expected a range that holds every value: {truth} units is proved, {asked} is needed",
        )

    def check_saturation(self, reach: OutputBound, direct: bool) -> None:
        """Refuse what is said on saturation if a range excludes it; one table of all inputs knows what it does."""
        # no sum leaves the word when it is rounded
        inside = math.floor(reach.low + 0.5) >= self.word.lowest and math.floor(reach.high + 0.5) <= self.word.highest
        said, where = self.stated.saturation, f"{self.where}, saturation"
        expected = ("cannot",) if inside else ("can",) if direct else ("can", "not excluded")
        require(said in expected, f"{where}: expected {' or '.join(expected)}, got {said}")
        witness = (said == "can") == (self.stated.witness is not None)
        require(witness, f"{where}: expected a witness where it can saturate, and nowhere else")

    def witness_words(self, arrays: Sequence[WordArray]) -> list[int]:
        """Return the input words of a witness, which has a list for every array."""
        words = []
        for row, array in zip(list_of(self.stated.witness, self.where, len(arrays)), arrays, strict=True):
            for plain, word in zip(list_of(row, self.where, len(array.words)), array.words, strict=True):
                words.append(whole(plain, word.lowest, word.highest, self.where))
        return words
