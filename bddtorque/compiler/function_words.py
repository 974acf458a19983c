"""The words of a function, as people give them: bits, a range or an angle, and a unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import as_range
from bddtorque.base.plain import is_whole
from bddtorque.words.formats import MAX_INPUTS, Format

DEFAULT_BITS = 12
FLOAT_BITS = 42
"""Bits of a float that words may resolve: what varies by less than their last unit is taken for constant."""
_HOW = "bits, (bits, range) or (bits, range, unit), the range a positive number, (low, high) or 'angle'"


@dataclass(frozen=True)
class RequestedWord:
    """A word as it was asked for: its format, or one whose range is still to be found."""

    name: str
    bits: int
    ends: tuple[float, float] | str | None  # (low, high), "angle", or None: to be found from the values
    unit: str = ""
    given: Format | None = None

    def format(self, low: float = math.nan, high: float = math.nan) -> Format:
        """Return the format; `low` and `high` are the ends of the values where no range was asked for.

        Values on both sides of zero get a range about zero, so that zero is a word; else the lowest and the highest
        word stand for the ends. A constant gets a range about it.
        """
        if self.given is not None:
            return self.given
        if self.ends == "angle":
            return Format("angle", self.bits, name=self.name, unit=self.unit or "rad")
        if isinstance(self.ends, tuple):
            low, high = self.ends
        elif high - low < max(abs(low), abs(high)) * 2.0 ** (self.bits - FLOAT_BITS) or low == high:
            low, high = low - max(abs(low), 1.0), high + max(abs(high), 1.0)
        elif low < 0 < high:
            half = 1 << (self.bits - 1)
            reach = max(-low, high * half / (half - 1))
            low, high = -reach, reach
        else:
            high = high + (high - low) / ((1 << self.bits) - 1)
        return Format("range", self.bits, low, high, name=self.name, unit=self.unit)


def asked_inputs(inputs: Any, where: str) -> tuple[RequestedWord, ...]:
    """Return the input words from a mapping of names, or a list of formats or words without names (x1, x2, ...)."""
    if isinstance(inputs, Format) or is_whole(inputs) or (isinstance(inputs, tuple) and inputs and is_whole(inputs[0])):
        inputs = [inputs]  # one word by itself
    if isinstance(inputs, Mapping):
        asked = tuple(asked_word(str(name), given, f"{where}, input {name!r:.40}") for name, given in inputs.items())
    elif isinstance(inputs, Sequence) and not isinstance(inputs, str):
        asked = tuple(asked_word(f"x{k}", given, f"{where}, input {k}") for k, given in enumerate(inputs, 1))
    else:
        raise BddTorqueError(f"{where}: inputs must be given by name, or as a list, got {inputs!r:.60}")
    if not 1 <= len(asked) <= MAX_INPUTS:
        raise BddTorqueError(f"{where} must have 1 to {MAX_INPUTS} input words, got {len(asked)}")
    names = [each.name for each in asked]
    if len(set(names)) < len(names):
        raise BddTorqueError(f"{where}: input words must have different names, got {', '.join(names)}")
    return asked


def asked_output(output: Any, where: str) -> RequestedWord:
    """Return the output word from ``(12, 5.0)``, ``{"torque": (12, 5.0, "N·m")}``, bits or a format."""
    if isinstance(output, Mapping):
        if len(output) != 1:
            raise BddTorqueError(f"{where} must have one output word, got {len(output)}")
        ((name, given),) = output.items()
        asked = asked_word(str(name), given, f"{where}, output {name!r:.40}")
    else:
        asked = asked_word("y", output, f"{where}, output")
    if asked.ends == "angle" or (asked.given is not None and asked.given.kind == "angle"):
        raise BddTorqueError(f"{where}, output must have a range: an angle would wrap")
    return asked


def asked_word(name: str, given: Any, where: str) -> RequestedWord:
    """Return one word as it was asked for."""
    if not name or not name.isprintable() or name != name.strip() or len(name) > 60:
        raise BddTorqueError(
            f"{where}: a name must be printable, without spaces at its ends and of at most 60 characters, "
            f"got {name!r:.80}"
        )
    if isinstance(given, Format):
        named = given if given.name != "word" else replace(given, name=name)
        return RequestedWord(name, given.bits, None, given.unit, named)
    if is_whole(given):
        given = (given,)
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= 3 or not is_whole(given[0]):
        raise BddTorqueError(f"{where} must be {_HOW}, got {given!r:.60}")
    ends = given[1] if len(given) > 1 else None
    unit = given[2] if len(given) > 2 else ""
    if not isinstance(unit, str):
        raise BddTorqueError(f"{where}: a unit must be text, got {unit!r:.40}")
    if ends is not None and ends != "angle":
        ends = as_range(ends, where)
    asked = RequestedWord(name, int(given[0]), ends, unit)
    if not 2 <= asked.bits <= 24:
        raise BddTorqueError(f"{where}: bits must be between 2 and 24, got {asked.bits}")
    return asked
