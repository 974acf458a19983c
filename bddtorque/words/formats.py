"""`Format`: what the word of one quantity of one joint means.

Two kinds:

    angle   raw value = word · 2π / 2^bits                 a fraction of a turn; wraps and is never out of range
    range   raw value = centre + word · lsb                lsb = (high - low) / 2^bits; saturates at the ends

Words are two's complement; those of a range can be unsigned instead, from 0 on, which stands for `low`. For both kinds,
value at the joint = sign · raw value + offset, as an encoder is mounted. Centre, the raw value of the word 0, and lsb
are the float64 numbers themselves, not what they approximate, so that a word has one exact value (`argument_of`).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice, of_type, real, whole
from bddtorque.words.integer_range import word_range, wrap, wrap_or_clamp
from bddtorque.words.rounding import half_away

Kind = Literal["angle", "range"]
Words = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MIN_BITS, MAX_BITS = 2, 32
"""Word lengths a format can have. A specification asks for 24 at most; the rest is room for guard bits."""
MAX_INPUTS = 4
"""Input words of a compiled function."""
TURN = 2.0 * math.pi
"""2π as a float64, which is `TURN_REST` less than 2π."""
TURN_REST = 2.4492935982947064e-16
"""2π − TURN, to float64 precision (2π = 6.283185307179586476925286766559...)."""
MAX_TURNS = 2.0**24
"""Angles are reduced by at most so many turns: beyond, neighbouring floats differ by a visible part of a word."""
RESOLUTION = 2.0**-8
"""Parts of a unit that float64 must still resolve at the largest value of a format."""


def wrap_turn(raw: Any) -> Any:
    """Reduce angles in radians to one turn about zero, accurate for up to `MAX_TURNS` turns.

    fmod is exact, but with respect to the float TURN; each turn taken off is wrong by TURN_REST, which is put right.
    Arrays in NumPy and scalars in Numba alike.
    """
    rest = np.fmod(raw, TURN)
    rest = rest - TURN * (rest > TURN / 2) + TURN * (rest < -TURN / 2)
    turns_taken = np.rint((raw - rest) / TURN)
    return rest - turns_taken * TURN_REST


@dataclass(frozen=True)
class Format:
    """A fixed-point format.

    Attributes
    ----------
    kind
        ``"angle"`` (a fraction of a turn) or ``"range"`` (scaled to low..high).
    bits
        Word length, 2 to 32.
    low, high
        Ends of the raw value, in `unit`. For angles these are limits: values beyond them are counted but not changed.
        Infinite if there are none.
    sign, offset
        Value at the joint = sign · raw + offset; the sign is +1 or -1.
    name
        What the word holds, for messages: ``"position of joint 'elbow'"``.
    unit
        ``"rad"``, ``"N·m"``, ...
    signed
        Whether words are two's complement; else they go from 0 to 2^bits - 1.
    """

    kind: Kind
    bits: int
    low: float = -math.inf
    high: float = math.inf
    sign: int = 1
    offset: float = 0.0
    name: str = "word"
    unit: str = ""
    signed: bool = True

    def __post_init__(self) -> None:
        choice(self.kind, ("angle", "range"), f"{self.name}: kind")
        whole(of_type(self.bits, int, f"{self.name}: bits"), MIN_BITS, MAX_BITS, f"{self.name}: bits")
        if type(self.sign) is not int or self.sign not in (1, -1):
            raise BddTorqueError(f"{self.name}: sign must be 1 or -1, got {self.sign!r}")
        for field in ("low", "high", "offset"):
            number = getattr(self, field)
            if isinstance(number, bool) or not isinstance(number, int | float | np.floating):
                raise BddTorqueError(f"{self.name}: {field} must be a number, got {number!r}")
            object.__setattr__(self, field, float(number))
        of_type(self.signed, bool, f"{self.name}: signed")
        if self.kind == "angle" and not self.signed:
            raise BddTorqueError(f"{self.name}: an angle must be signed")
        if not self.low < self.high:  # refuses NaN as well
            raise BddTorqueError(f"{self.name}: low must be below high, got {self.low} and {self.high}")
        real(self.offset, f"{self.name}: offset")
        if self.kind == "range" and not math.isfinite(self.high - self.low):
            raise BddTorqueError(f"{self.name}: the range must be finite, got {self.low} to {self.high}")
        largest = abs(self.offset) if self.kind == "angle" else max(abs(self.low), abs(self.high), abs(self.offset))
        if math.ulp(largest) > RESOLUTION * self.lsb:
            raise BddTorqueError(
                f"{self.name}: one unit, {self.lsb:g} {self.unit}, must be at least {1 / RESOLUTION:g} float spacings "
                f"at {largest:g}: use fewer bits, a wider range or a smaller offset"
            )

    @property
    def lowest(self) -> int:
        """The lowest word: -2^(bits-1), or 0 if words are unsigned."""
        return word_range(self.bits, self.signed).low

    @property
    def highest(self) -> int:
        """The highest word: 2^(bits-1) - 1, or 2^bits - 1 if words are unsigned."""
        return word_range(self.bits, self.signed).high

    @cached_property
    def lsb(self) -> float:
        """One unit of the last bit, in `unit`."""
        return (TURN if self.kind == "angle" else self.high - self.low) / (1 << self.bits)

    @cached_property
    def centre(self) -> float:
        """The raw value of the word 0, in `unit`: 0 for angles."""
        if not self.signed:
            return self.low
        return 0.0 if self.kind == "angle" else self.low / 2 + self.high / 2

    @property
    def span(self) -> tuple[float, float]:
        """The smallest and largest value at the joint over all words, in `unit`, up to float rounding."""
        ends = [float(value) for value in self.dequantise([self.lowest, self.highest])]
        return min(ends), max(ends)

    def quantise(self, x: npt.ArrayLike) -> Words:
        """Return the nearest words of values at the joint; ties round away from zero.

        Angles wrap, ranges saturate.

        Parameters
        ----------
        x
            Values in `unit`, of any shape. NaN and infinity are rejected, and so are angles beyond 2^24 turns.

        Returns
        -------
        array of int64
            The words.
        """
        return self.quantise_counted(x)[0]

    def quantise_counted(self, x: npt.ArrayLike) -> tuple[Words, int]:
        """Return the words of values, and how many values were out of range.

        A value is out of range if it lies more than half a unit beyond the lowest or highest word, or, for angles,
        beyond the limits.

        Parameters
        ----------
        x
            Values in `unit`, of any shape.

        Returns
        -------
        tuple
            The words and the count.
        """
        raw = self.sign * (self._checked(x) - self.offset)
        if self.kind == "angle":
            words = wrap(np.asarray(half_away(wrap_turn(raw) / TURN * (1 << self.bits))).astype(np.int64), self.bits)
            return words, int(np.count_nonzero((raw < self.low) | (raw > self.high)))
        with np.errstate(over="ignore"):  # an infinite number of units saturates like any other
            units = (raw - self.centre) / self.lsb
        outside = (units < self.lowest - 0.5) | (units > self.highest + 0.5)
        words = np.asarray(half_away(np.clip(units, self.lowest, self.highest))).astype(np.int64)
        return words, int(np.count_nonzero(outside))

    def dequantise(self, words: npt.ArrayLike) -> Floats:
        """Return the values at the joint of words, in `unit`.

        Parameters
        ----------
        words
            Any integers. As in an evaluator, angle words are masked to `bits` and others are clamped.

        Returns
        -------
        array of float64
            The values.
        """
        held = self.held(words)
        # lsb of an angle is TURN over a power of two: one rounding, that of the product
        values: Floats = np.asarray(self.value(held), dtype=np.float64)
        return values

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON; infinite limits are None, and `signed` is there only if it is false."""
        plain = {key: None if value in (math.inf, -math.inf) else value for key, value in asdict(self).items()}
        if self.signed:
            del plain["signed"]
        return plain

    def units(self, x: Any) -> Any:
        """Return values at the joint, given in `unit`, as units of the word, without rounding or clamping."""
        return (self.sign * (x - self.offset) - self.centre) / self.lsb

    def value(self, units: Any) -> Any:
        """Return the values at the joint of units of the word, which need not be integers: the inverse of `units`."""
        return self.sign * (self.centre + units * self.lsb) + self.offset

    def held(self, words: npt.ArrayLike) -> Words:
        """Return integers as this format holds them: angle words masked to `bits`, others clamped."""
        given = np.asarray(words)
        if given.dtype.kind not in "iu":
            raise BddTorqueError(f"{self.name}: words must be integers, got {given.dtype}")
        return wrap_or_clamp(given, self.bits, wraps=self.kind == "angle", signed=self.signed)

    def _checked(self, x: npt.ArrayLike) -> Floats:
        try:
            given = np.asarray(x)
        except ValueError:  # ragged lists
            raise BddTorqueError(f"{self.name} must be an array of numbers, got {x!r:.60}") from None
        if given.dtype.kind not in "iuf":
            raise BddTorqueError(f"{self.name} must be real numbers, got {given.dtype}")
        values = given.astype(np.float64)
        bad = ~np.isfinite(values)
        if self.kind == "angle":
            bad |= np.abs(values) > MAX_TURNS * TURN
        if bad.any():
            what = "finite" if self.kind == "range" else f"finite angles of at most {MAX_TURNS:,.0f} turns"
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            at = f" at {list(index)}" if index else ""
            raise BddTorqueError(f"{self.name} must be {what}, got {values[index]}{at}")
        return values


def limits(word: Format) -> tuple[int, int]:
    """Return the first and the last word in range: of an angle, those within the limits of its joint.

    An angle is within them if any whole number of turns brings it there. Where they lie on both sides of half a turn,
    the first word is above the last.
    """
    if word.kind == "range" or word.high - word.low >= TURN:
        return word.lowest, word.highest
    first, last = math.ceil(word.low / word.lsb), math.floor(word.high / word.lsb)
    if last - first >= (1 << word.bits) - 1:
        return word.lowest, word.highest
    if first > last:  # no word at all
        return word.highest + 1, word.highest + 1
    low, high = word.held([first, last]).tolist()
    return low, high


def limit_run(word: Format) -> tuple[int, int] | None:
    """Return the first and the last word within the limits of a joint, counted on where they go beyond half a turn.

    None where they leave out no word, or all of them.
    """
    first, last = limits(word)
    if (first, last) == (word.lowest, word.highest) or first > word.highest:
        return None
    return first, last + (1 << word.bits if last < first else 0)
