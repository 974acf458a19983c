"""Ends of words from what an output can reach; torque ranges that are far wider are told of."""

from __future__ import annotations

import math

from bddtorque.proof.certificate import Certificate
from bddtorque.words.interface import Interface

WIDE = 4.0
"""A range that is more than so many times the largest torque wastes two bits: people are told."""
DIGITS = 2
"""Significant digits of a range that is found."""


def with_room(torque: float, bits: int) -> float:
    """Return the end of a range whose highest word, less a unit for the error, is still above a torque."""
    return torque / (1 - 3 * 2.0**-bits)


def round_up(number: float) -> float:
    """Return the next number of `DIGITS` significant digits; 1 for a torque that is always zero."""
    if number == 0:
        return 1.0
    if not math.isfinite(number):
        raise OverflowError("a torque is beyond all floats")
    exponent = math.floor(math.log10(number)) - DIGITS + 1
    digits = math.ceil(number / 10.0**exponent)
    rounded = float(f"{digits}e{exponent}")
    return rounded if rounded >= number else float(f"{digits + 1}e{exponent}")


def range_notes(formats: Interface, certificate: Certificate) -> list[str]:
    """Return one line on torque ranges that are far larger than what can occur, or nothing."""
    highs = [max(abs(word.low), abs(word.high)) for word in formats.tau]
    # what the certificate holds counts the error of the words too, and theirs is large where the range is
    if all(
        high <= WIDE * (each.largest - each.bound_si) for high, each in zip(highs, certificate.torques, strict=True)
    ):
        return []
    ranges = certificate.ranges
    wide = [j for j, (high, known) in enumerate(zip(highs, ranges, strict=True)) if high > WIDE * known.at_most > 0]
    if not wide:
        return []
    ratios = sorted(highs[j] / ranges[j].at_most for j in wide)
    first, last = (f"{ratio:,.3g}" if ratio < 1000 else f"{ratio:,.0f}" for ratio in (ratios[0], ratios[-1]))
    if len(wide) == 1:
        j, unit = wide[0], ranges[wide[0]].unit
        said = f"joint '{ranges[j].joint}': torque range ±{highs[j]:g} {unit} is {first} times what the arm "
        said += f"can need (±{ranges[j].at_most:.2g} {unit})"
    else:
        names = ", ".join(f"'{ranges[j].joint}'" for j in wide)
        said = f"joints {names}: torque ranges are {first} to {last} times what the arm can need"
    return [f'{said}: use torque = "auto"']
