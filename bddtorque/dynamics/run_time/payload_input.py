"""A payload at run time: its mass, first moments and inertia are input words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import Range, as_range
from bddtorque.base.plain import Matrix, Vector, describe, is_list, real, unwrap
from bddtorque.base.record import Record, as_record
from bddtorque.dynamics.batch import Floats
from bddtorque.dynamics.chain import Chain, transform
from bddtorque.dynamics.exact_trace import PAYLOAD_LABELS, STATIC_LABELS, carried_body, payload_body
from bddtorque.dynamics.run_time_input import ChainValues, RunTimeInput, above_zero, as_runtime
from bddtorque.robots.robot import Robot
from bddtorque.words.formats import Format
from bddtorque.words.interface import WordArray, word_vector

UNITS = {"m": "kg·m", "I": "kg·m²"}
"""Of a number other than the mass, by the first letter of its label."""
ROUNDING = 1e-9
"""Relative; more than the numbers of a payload at the edge of its box lose in float64."""


def _as_mass_range(given: object, name: str) -> Range:
    low, high = as_range(given, name) if is_list(unwrap(given)) else (0.0, above_zero(given, name, "kg"))
    if low < 0:
        raise BddTorqueError(f"{name} must not be below 0 kg, got {low:g}")
    return low, high


def _as_coordinate(given: object, name: str) -> Range:
    """Return the range of a coordinate, or a number that it always is as both ends."""
    given = unwrap(given)
    if not is_list(given) or (len(given) == 2 and given[0] == given[1]):
        number = real(given[0] if is_list(given) else given, name)
        return number, number
    return as_range(given, name)


def _as_box(given: object, name: str) -> tuple[Range, Range, Range]:
    given = unwrap(given)
    if not is_list(given) or len(given) != 3:
        what = "3 ranges in m, of x, y and z in the tip frame, such as [[-0.1, 0.1], [-0.1, 0.1], [0, 0.2]]"
        raise BddTorqueError(f"{name} must be {what}, got {describe(given)}")
    x, y, z = (_as_coordinate(each, name) for each in given)
    return x, y, z


@dataclass(frozen=True)
class PayloadBox(Record):
    """A set of payloads, one of which is given at run time as input words, in the axes of the tip frame.

    Attributes
    ----------
    mass
        Range of the mass, kg.
    centre_of_mass
        Ranges of x, y and z, m.
    inertia
        The largest moment about the origin of the tip frame, kg·m²; None: that of the largest mass at the farthest
        corner.
    runtime
        Always True.
    """

    mass: Annotated[Range, _as_mass_range] = (0.0, 0.0)
    centre_of_mass: Annotated[tuple[Range, Range, Range], _as_box] = ((0.0, 0.0),) * 3
    inertia: Annotated[float | None, partial(real, low=0.0)] = None
    runtime: Annotated[bool, as_runtime] = True


class PayloadInput(RunTimeInput):
    """The words of a payload: mass, m·c and the inertia about the origin, in the tip frame."""

    name = "payload"
    about = "mass, first moments and inertia of a payload, in the tip frame"

    def read(self, given: object, name: str) -> PayloadBox:
        """Return the box of payloads."""
        box: PayloadBox = as_record(PayloadBox)(given, name)
        if box.mass[1] <= 0:
            raise BddTorqueError(f"{name}, mass must be a range in kg such as [0, 5], got {box.mass[1]:g}")
        return box

    def check(self, asked: Any, robot: Robot) -> None:
        """Refuse a robot without a tip, or with a payload of its own."""
        robot.tip_member("a payload at run time")
        if robot.payload is not None:
            said = f"robot '{robot.name}' has a payload of its own: it cannot have another at run time"
            raise asked.refusal(said, "payload")

    def array(self, asked: Any, robot: Robot, at_rest: bool) -> WordArray:
        """Return the words: the ends of each range are words themselves, up to the last bit of a float."""
        bits = max((asked.bits,) if isinstance(asked.bits, int) else asked.bits)
        words = {}
        for label, (low, high) in payload_ranges(asked.payload, at_rest).items():
            end = float(Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(1 << bits, (1 << bits) - 1))
            unit = "kg" if label == "mass" else UNITS[label[0]]
            words[label] = Format("range", bits, low, end, name=f"{label} of the payload", unit=unit)
        return word_vector(self.name, tuple(words), tuple(words.values()))

    def join(self, robot: Robot, chain: Chain, numbers: Mapping[str, Any]) -> Chain:
        """Join the payload to the link that carries the tip."""
        body, place = chain.body.copy(), robot.tip_member("a payload")
        body[place] = body[place] + carried_body(robot, payload_body(numbers))
        return chain._replace(body=body)

    def superpose(self, robot: Robot, chain: Chain, numbers: Mapping[str, Floats], values: ChainValues) -> Floats:
        """Add up what each number of a payload adds."""
        T = transform(robot.tip.rotation, robot.tip.translation)
        alone = chain._replace(body=np.zeros_like(chain.body), rotor=np.zeros_like(chain.rotor))
        total = values(chain)
        for label, number in numbers.items():
            body = alone.body.copy()
            body[robot.tip_member("a payload")] = T @ payload_body({label: 1.0}).astype(np.float64) @ T.T
            total = total + number[:, None] * values(alone._replace(body=body))
        return total


def payload_ranges(box: PayloadBox, at_rest: bool) -> dict[str, tuple[float, float]]:
    """Return the ranges of the numbers of a payload, by label; those that are always 0, or do not matter, are left out.

    First moments and inertias are those of every mass and every centre in the box. Each end is the float nearest to
    the exact number: digests and the independent checker rely on it.
    """
    masses = [Fraction(mass) for mass in box.mass]
    centres = [[Fraction(end) for end in ends] for ends in box.centre_of_mass]
    moments = [[mass * end for mass in masses for end in ends] for ends in centres]
    farthest = sum(max(end**2 for end in ends) for ends in centres)
    inertia = masses[1] * farthest if box.inertia is None else Fraction(box.inertia)
    ranges = [(masses[0], masses[1]), *((min(ends), max(ends)) for ends in moments)]
    ranges += [(Fraction(0) if a == b else -inertia, inertia) for a in range(3) for b in range(a, 3)]
    known = {label: (float(low), float(high)) for label, (low, high) in zip(PAYLOAD_LABELS, ranges, strict=True)}
    used = STATIC_LABELS if at_rest else PAYLOAD_LABELS
    return {label: known[label] for label in used if known[label][0] < known[label][1]}


def payload_values(
    words: WordArray, at_rest: bool, mass: float, centre_of_mass: Vector, inertia: Matrix | None
) -> Floats:
    """Return the numbers of a payload that words stand for; `inertia` is about its centre of mass, None: a point.

    Refuse payloads outside of the box that was compiled: their words would be clamped.
    """
    c = np.array(centre_of_mass)
    around = np.zeros((3, 3)) if inertia is None else np.array(inertia)
    around = around + mass * (c @ c * np.eye(3) - np.outer(c, c))
    numbers = dict(zip(PAYLOAD_LABELS, [mass, *(mass * c).tolist(), *around[np.triu_indices(3)].tolist()], strict=True))
    for label in STATIC_LABELS if at_rest else PAYLOAD_LABELS:
        low, high = words[label].span if label in words.labels else (0.0, 0.0)
        room = ROUNDING * max(abs(low), abs(high), 1.0)
        if not low - room <= numbers[label] <= high + room:
            unit = "kg" if label == "mass" else UNITS[label[0]]
            raise BddTorqueError(
                f"payload: {label} must be between {low:g} and {high:g} {unit}, as compiled, got {numbers[label]:g}: "
                "compile a payload box that holds it"
            )
    return np.array([numbers[label] for label in words.labels])


RECORD = PayloadInput()
