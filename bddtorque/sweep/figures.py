"""`Sweep`: what a sweep found, beside what is proved; as plain data and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

PERCENTILES = (50.0, 90.0, 99.0, 99.9)


@dataclass(frozen=True)
class ErrorFigures:
    """Figures of |error| over the random states, in units of the last bit.

    Attributes
    ----------
    largest, rms
    percentiles : at `PERCENTILES`, each at most 1.1 % too large
    """

    largest: float
    rms: float
    percentiles: tuple[float, ...]

    def scaled(self, factor: float) -> ErrorFigures:
        """Return the same figures in another unit."""
        return ErrorFigures(self.largest * factor, self.rms * factor, tuple(each * factor for each in self.percentiles))

    def to_plain(self) -> dict[str, float]:
        """Return numbers by name."""
        named = {f"p{share:g}": value for share, value in zip(PERCENTILES, self.percentiles, strict=True)}
        return {"max": self.largest, "rms": self.rms, **named}


@dataclass(frozen=True)
class JointSweep:
    """What was found of one torque.

    Attributes
    ----------
    joint, unit, bits, lsb : its name, N·m or N, its word length, and the value of one unit of the last bit
    proved : the bound of the certificate, in units
    tables, inputs, total : the errors of `measuring`, in units
    corner_largest : largest error of the tables on corner states, in units
    saturated : how many states need a torque beyond the words
    worst : words of q, qd, qdd where the error of the tables was largest
    picture : counts of the signed error of the tables in even bins from -proved to proved
    """

    joint: str
    unit: str
    bits: int
    lsb: float
    proved: float
    tables: ErrorFigures
    inputs: ErrorFigures
    total: ErrorFigures
    corner_largest: float
    saturated: int
    worst: tuple[tuple[int, ...], ...]
    picture: tuple[int, ...]

    @property
    def found(self) -> float:
        """Largest error of the tables on any state, in units."""
        return max(self.tables.largest, self.corner_largest)

    @property
    def exceeds(self) -> bool:
        """Whether more was found than proved, which must never be.

        Float Newton-Euler is itself off by a few parts in 2^52 of the torques it adds up: 2^(bits - 40) units are
        allowed for that.
        """
        return self.found > self.proved + 2.0 ** (self.bits - 40)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data: every error in units and in `unit`."""
        errors = {}
        for name in ("tables", "inputs", "total"):
            figures: ErrorFigures = getattr(self, name)
            errors[name] = {"units": figures.to_plain(), "si": figures.scaled(self.lsb).to_plain()}
        return {
            "joint": self.joint,
            "unit": self.unit,
            "bits": self.bits,
            "lsb": self.lsb,
            "proved": {"units": self.proved, "si": self.proved * self.lsb},
            "found": {"units": self.found, "si": self.found * self.lsb},
            "exceeds": self.exceeds,
            "corner_max": {"units": self.corner_largest, "si": self.corner_largest * self.lsb},
            "saturated": self.saturated,
            "worst_words": {name: list(words) for name, words in zip(("q", "qd", "qdd"), self.worst, strict=True)},
            **errors,
        }


@dataclass(frozen=True)
class Sweep:
    """What a sweep of one model found.

    Attributes
    ----------
    robot, digest : of the model
    states, corners : how many random and corner states
    seed : of the random numbers
    joints : from base to tip
    """

    robot: str
    digest: str
    states: int
    corners: int
    seed: int
    joints: tuple[JointSweep, ...]

    @property
    def exceeding(self) -> tuple[JointSweep, ...]:
        """The torques of which more was found than proved: none, or there is a bug."""
        return tuple(joint for joint in self.joints if joint.exceeds)

    @property
    def bits(self) -> str:
        """Word lengths of the torques, as people write them: ``12`` or ``12,10``."""
        bits = [joint.bits for joint in self.joints]
        return str(bits[0]) if len(set(bits)) == 1 else ",".join(map(str, bits))

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "robot": self.robot,
            "digest": self.digest,
            "bits": [joint.bits for joint in self.joints],
            "states": self.states,
            "corner_states": self.corners,
            "seed": self.seed,
            "exceeds": bool(self.exceeding),
            "joints": [joint.to_plain() for joint in self.joints],
        }


def to_csv(sweeps: Iterable[Sweep]) -> str:
    """Return sweeps as CSV: a row for each model, joint and kind of error; what is proved stands beside the tables."""
    names = ["max", "rms", *(f"p{share:g}" for share in PERCENTILES)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["robot", "joint", "bits", "error", "states", "unit", "lsb"]
        + [f"{name}_units" for name in names]
        + [f"{name}_si" for name in names]
        + ["corner_max_units", "proved_units", "proved_si"]
    )
    for sweep in sweeps:
        for joint in sweep.joints:
            for kind in ("tables", "inputs", "total"):
                figures: ErrorFigures = getattr(joint, kind)
                row: list[Any] = [sweep.robot, joint.joint, joint.bits, kind, sweep.states, joint.unit, joint.lsb]
                row += [*figures.to_plain().values(), *figures.scaled(joint.lsb).to_plain().values()]
                row += [joint.corner_largest, joint.proved, joint.proved * joint.lsb] if kind == "tables" else [""] * 3
                writer.writerow(row)
    return text.getvalue()
