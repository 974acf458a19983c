"""Drives of joints: what encoder counts, motor currents and driver counts are at the joint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import real
from bddtorque.base.record import Reader, Record
from bddtorque.spec.field_values import as_not_negative
from bddtorque.words.formats import Format

TURN = 2 * math.pi


def _positive(unit: str) -> Reader:
    def read(given: object, name: str) -> float:
        number = real(given, name)
        if number <= 0:
            raise BddTorqueError(f"{name} must be above 0{unit}, got {number:g}")
        return number

    return read


@dataclass(frozen=True)
class Drive(Record):
    """The drive of one joint. Its direction is the `sign` of the joint."""

    gear: Annotated[float, _positive("")] = 1.0  # turns of the motor for one turn of the joint, or for one metre
    # counts for one turn of the motor; None where its words are of no interest
    encoder: Annotated[float | None, _positive(" counts per turn of the motor")] = None
    # counts per second that one unit of a velocity word is, where the range of the velocity is "drive"
    velocity: Annotated[float, _positive(" counts per second")] = 1.0
    torque_constant: Annotated[float | None, _positive(" N·m/A")] = None  # N·m/A of the motor
    # a that one count of the driver is; None: currents are in mA
    current: Annotated[float | None, _positive(" A per count")] = None
    # kg·m² of the rotor, at the motor; gear² times that takes the place of the robot's own at the joint
    rotor_inertia: Annotated[float | None, as_not_negative] = None

    def reflected_inertia(self, turns: bool) -> float | None:
        """Return the inertia of the rotor at the joint, kg·m² or kg."""
        if self.rotor_inertia is None:
            return None
        return self.rotor_inertia * (self.gear if turns else TURN * self.gear) ** 2

    def counts(self, turns: bool) -> float | None:
        """Return encoder counts per rad of the joint, or per m."""
        return None if self.encoder is None else self.encoder * self.gear / (TURN if turns else 1.0)

    def effort(self, turns: bool) -> tuple[str, float] | None:
        """Return the unit of the motor's effort, ``"mA"`` or ``"count"``, and how many of it are 1 N·m or N."""
        if self.torque_constant is None:
            return None
        amperes = 1 / (self.torque_constant * (self.gear if turns else TURN * self.gear))
        return ("mA", 1000 * amperes) if self.current is None else ("count", amperes / self.current)

    def range(self, quantity: str, bits: int, turns: bool, where: str) -> tuple[float, float]:
        """Return the range of words that are counts of the drive: of the encoder per second, or of the driver."""
        if quantity == "velocity":
            counts = self.counts(turns)
            if counts is None:
                raise BddTorqueError(f"{where}: velocity = 'drive' needs the encoder of its drive, in counts per turn")
            unit = self.velocity / counts
        else:
            effort = self.effort(turns)
            if effort is None:
                raise BddTorqueError(f"{where}: torque = 'drive' needs the torque_constant of its drive, in N·m/A")
            unit = 1 / effort[1]
        high = unit * (1 << (bits - 1))
        return -high, high


@dataclass(frozen=True)
class DriveWords:
    """Words of one joint from counts of its drive, and currents from words."""

    joint: str  # its name
    drive: Drive  # what is known of the drive
    turns: bool  # whether its position is an angle
    formats: dict[str, Format]  # of its words, by array: "q", "qd", "tau"; those that the model has

    def position_words(self, counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the nearest position words of encoder counts: a turn of the joint is gear · encoder of them."""
        word, per = self._format("q"), self._counts()
        given = np.asarray(counts, dtype=np.float64)
        if word.kind == "angle":
            given = np.remainder(given, per * TURN)
        return word.quantise(word.sign * given / per + word.offset)

    def velocity_words(self, counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the nearest velocity words of encoder counts per second."""
        word = self._format("qd")
        return word.quantise(word.sign * np.asarray(counts, dtype=np.float64) / self._counts())

    def efforts(self, words: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return torque words in the unit of the motor's effort: mA, or counts of the driver."""
        effort, word = self.drive.effort(self.turns), self._format("tau")
        if effort is None:
            raise BddTorqueError(f"joint '{self.joint}': its drive has no torque_constant")
        return np.asarray(word.sign * word.dequantise(words) * effort[1], dtype=np.float64)

    def _counts(self) -> float:
        counts = self.drive.counts(self.turns)
        if counts is None:
            raise BddTorqueError(f"joint '{self.joint}': its drive has no encoder")
        return counts

    def _format(self, array: str) -> Format:
        if array not in self.formats:
            raise BddTorqueError(f"joint '{self.joint}': the model has no words {array}")
        return self.formats[array]

    def to_plain(self) -> dict[str, Any]:
        """Return what one unit of each word is in counts, mA or counts of the driver."""
        counts, effort = self.drive.counts(self.turns), self.drive.effort(self.turns)
        plain: dict[str, Any] = {"joint": self.joint}
        for array, unit in (("q", "count"), ("qd", "count/s")):
            if counts is not None and array in self.formats:
                plain[array] = {"unit": unit, "lsb": self.formats[array].lsb * counts}
        if effort is not None and "tau" in self.formats:
            plain["tau"] = {"unit": effort[0], "lsb": self.formats["tau"].lsb * effort[1]}
        return plain
