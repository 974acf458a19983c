"""Gravity at run time: free fall in base axes is three input words, for a base that is mounted anyhow or moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import numpy as np

from bddtorque.base.record import Record, as_record
from bddtorque.dynamics.batch import Floats
from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.run_time_input import ChainValues, RunTimeInput, above_zero, as_runtime
from bddtorque.robots.robot import Robot
from bddtorque.words.formats import Format
from bddtorque.words.interface import WordArray, word_vector

LABELS = ("gx", "gy", "gz")
EARTH = 9.81
"""m/s²: the largest free fall unless the specification says more."""


@dataclass(frozen=True)
class GravityBox(Record):
    """Free fall that is given at run time as input words, in base axes.

    Attributes
    ----------
    largest
        The largest magnitude of each component, m/s²: more than 9.81 for a base that accelerates.
    runtime
        Always True.
    """

    largest: Annotated[float, partial(above_zero, unit="m/s²")] = EARTH
    runtime: Annotated[bool, as_runtime] = True


class GravityInput(RunTimeInput):
    """The words of free fall."""

    name = "gravity"
    about = "free fall in base axes"
    is_weight = True

    def read(self, given: object, name: str) -> GravityBox:
        """Return the range of free fall."""
        box: GravityBox = as_record(GravityBox)(given, name)
        return box

    def array(self, asked: Any, robot: Robot, at_rest: bool) -> WordArray:
        """Return three words, each from −largest to largest: the highest is one unit below the end of its range."""
        bits = max((asked.bits,) if isinstance(asked.bits, int) else asked.bits)
        half = 1 << (bits - 1)
        end = float(Fraction(asked.gravity.largest) * Fraction(half, half - 1))
        words = [Format("range", bits, -end, end, name=f"{label} of gravity", unit="m/s²") for label in LABELS]
        return word_vector(self.name, LABELS, words)

    def join(self, robot: Robot, chain: Chain, numbers: Mapping[str, Any]) -> Chain:
        """Let the base accelerate against the words."""
        acceleration = np.empty(3, dtype=object)
        acceleration[:] = [-numbers[label] for label in LABELS]
        return chain._replace(base_acceleration=acceleration)

    def superpose(self, robot: Robot, chain: Chain, numbers: Mapping[str, Floats], values: ChainValues) -> Floats:
        """Add up what the motion needs, and what each component of gravity adds at rest."""
        total = values(chain._replace(base_acceleration=np.zeros(3)))
        for axis, label in zip(np.eye(3), LABELS, strict=True):
            total = total + numbers[label][:, None] * values(chain._replace(base_acceleration=-axis), moving=False)
        return total


RECORD = GravityInput()
