"""`Sweep`: what a sweep found, beside what is proved; as plain data and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bddtorque.proof.proved_bound import Saturation
from bddtorque.sweeps.costs import ModelCost
from bddtorque.sweeps.term_errors import TermError
from bddtorque.sweeps.trajectories import Floats
from bddtorque.sweeps.true_torques import float_error, refutes_range

PERCENTILES = (50.0, 90.0, 99.0, 99.9)
ERRORS = ("tables", "inputs", "total")
"""The errors of `measuring`."""


@dataclass(frozen=True)
class ErrorFigures:
    """Statistics of |error| over the random states or along the trajectory, in units of the last bit.

    Attributes
    ----------
    largest, rms
        The largest and the root mean square error.
    percentiles
        The percentiles `PERCENTILES`, each at most 1.1 % too large.
    """

    largest: float
    rms: float
    percentiles: tuple[float, ...]

    def to_plain(self) -> dict[str, float]:
        """Return numbers by name."""
        named = {f"p{share:g}": value for share, value in zip(PERCENTILES, self.percentiles, strict=True)}
        return {"max": self.largest, "rms": self.rms, **named}


@dataclass(frozen=True)
class JointSweep:
    """What a sweep found for one torque.

    Attributes
    ----------
    joint, unit, bits, lsb
        Its name, N·m or N, its word length, and the value of one unit of the last bit.
    proved
        The bound of the certificate, in units.
    tables, inputs, total
        The errors of the tables, of the input words, and of both, in units.
    corner_largest
        Largest error of the tables on corner states, in units.
    search_largest
        Largest error of the tables that the search found, in units; 0 if there was no search.
    saturated
        Number of states that need a torque beyond the words.
    saturation
        What the certificate says about that: ``"cannot"``, ``"can"`` or ``"not excluded"``.
    overshoot
        How far a true torque lies beyond the end words at most, in units; 0 if none does.
    overshoot_words
        Words of q, qd, qdd of that state.
    worst
        Words of q, qd, qdd where the error of the tables was largest.
    picture
        Histogram of the signed error of the tables, in even bins from -proved to proved.
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
    saturation: Saturation
    overshoot: float
    overshoot_words: tuple[tuple[int, ...], ...]
    search_largest: float = 0.0

    @property
    def found(self) -> float:
        """Largest error of the tables on any state, in units."""
        return max(self.tables.largest, self.corner_largest, self.search_largest)

    @property
    def exceeds(self) -> bool:
        """Whether more was found than is proved, which must never happen.

        True torques in floats are themselves a little off: `float_error` is allowed for that.
        """
        return self.found > self.proved + float_error(self.bits)

    @property
    def range_refuted(self) -> bool:
        """Whether a true torque lies beyond the words, though the certificate says it cannot: never, unless a bug.

        Errors do not show that, being those of clamped torques. Within the bound it would round to an end word.
        """
        return refutes_range(self.saturation, self.overshoot, self.proved, self.bits)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data: every error in units and in `unit`."""

        def both(value: float) -> dict[str, float]:
            return {"units": value, "si": value * self.lsb}

        errors = {}
        for name in ERRORS:
            units = getattr(self, name).to_plain()
            errors[name] = {"units": units, "si": {key: value * self.lsb for key, value in units.items()}}
        return {
            "joint": self.joint,
            "unit": self.unit,
            "bits": self.bits,
            "lsb": self.lsb,
            "proved": both(self.proved),
            "found": both(self.found),
            "exceeds": self.exceeds,
            "corner_max": both(self.corner_largest),
            "search_max": both(self.search_largest),
            "saturated": self.saturated,
            "saturation": self.saturation,
            "overshoot": both(self.overshoot),
            "range_refuted": self.range_refuted,
            "worst_words": _by_name(self.worst),
            "overshoot_words": _by_name(self.overshoot_words) if self.overshoot else None,
            **errors,
        }


def _by_name(words: tuple[tuple[int, ...], ...]) -> dict[str, list[int]]:
    return {name: list(own) for name, own in zip(("q", "qd", "qdd"), words, strict=True)}


@dataclass(frozen=True)
class Traces:
    """Torques along a trajectory, for pictures: `time` (M,), true torques and errors of the tables (M, n), in units.

    `timed` says whether the time is in s, else it is the number of the state.
    """

    time: Floats
    timed: bool
    true: Floats
    errors: Floats


@dataclass(frozen=True)
class Sweep:
    """What a sweep of one model found.

    Attributes
    ----------
    robot, digest
        Name and digest of the model.
    states, corners, searched
        Number of random states (or states of the trajectory), of corner states, and of states tried by the search.
    seed
        The seed of the random numbers.
    joints
        One `JointSweep` per joint from base to tip.
    along
        The name of the trajectory, or ``""`` for random states.
    outside
        Number of positions, velocities and accelerations of the trajectory that were out of range.
    label
        The name of this model in a comparison with others.
    cost, terms, traces
        Size and speed, errors by term, torques along the trajectory; if they were asked for.
    """

    robot: str
    digest: str
    states: int
    corners: int
    seed: int
    joints: tuple[JointSweep, ...]
    searched: int = 0
    along: str = ""
    outside: int = 0
    label: str = ""
    terms: tuple[TermError, ...] = ()
    cost: ModelCost | None = field(default=None, compare=False)  # times differ from run to run
    traces: Traces | None = field(default=None, compare=False)

    @property
    def exceeding(self) -> tuple[JointSweep, ...]:
        """The torques whose error exceeds the proved bound: none, unless there is a bug."""
        return tuple(joint for joint in self.joints if joint.exceeds)

    @property
    def refuted_ranges(self) -> tuple[JointSweep, ...]:
        """The torques that leave words which the certificate says they cannot leave: none, unless there is a bug."""
        return tuple(joint for joint in self.joints if joint.range_refuted)

    @property
    def bits(self) -> str:
        """Word lengths of the torques, as people write them: ``12`` or ``12,10``."""
        bits = [joint.bits for joint in self.joints]
        return str(bits[0]) if len(set(bits)) == 1 else ",".join(map(str, bits))

    @property
    def name(self) -> str:
        """The label, or the robot's name."""
        return self.label or self.robot

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "robot": self.robot,
            "label": self.name,
            "digest": self.digest,
            "bits": [joint.bits for joint in self.joints],
            "trajectory": self.along or None,
            "states": self.states,
            "corner_states": self.corners,
            "searched_states": self.searched,
            "out_of_range": self.outside,
            "seed": self.seed,
            "exceeds": bool(self.exceeding),
            "range_refuted": bool(self.refuted_ranges),
            "cost": None if self.cost is None else self.cost.to_plain(),
            "joints": [joint.to_plain() for joint in self.joints],
            "terms": [term.to_plain() for term in self.terms],
        }


NAMES = ("max", "rms", *(f"p{share:g}" for share in PERCENTILES))
"""Columns of figures in CSV, each in units and in N·m or N."""


def to_csv(sweeps: Iterable[Sweep]) -> str:
    """Return sweeps as CSV: a row for each model, joint and kind of error, or term; what is proved beside the tables.

    The kinds are ``tables``, ``inputs``, ``total``, and ``term <name>``.
    """
    text = io.StringIO()
    columns = ["robot", "joint", "bits", "error", "states", "unit", "lsb"]
    columns += [f"{name}_units" for name in NAMES] + [f"{name}_si" for name in NAMES]
    columns += ["corner_max_units", "search_max_units", "proved_units", "proved_si"]
    columns += ["saturation", "saturated", "overshoot_units", "overshoot_si"]
    columns += ["label", "trajectory", "file_bytes", "ns_per_state", "ratio_to_float"]
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for sweep in sweeps:
        for k, joint in enumerate(sweep.joints):
            shared = _shared(sweep, joint)
            for kind in ERRORS:
                row = _in_both_units(getattr(joint, kind).to_plain(), joint.lsb)
                if kind == "tables":
                    row |= {"corner_max_units": joint.corner_largest, "search_max_units": joint.search_largest}
                    row |= {"saturation": joint.saturation, "saturated": joint.saturated}
                    row |= _in_both_units({"proved": joint.proved, "overshoot": joint.overshoot}, joint.lsb)
                writer.writerow(shared | {"error": kind} | row)
            for term in sweep.terms:
                if term.torque == k:
                    row = _in_both_units({"max": term.largest, "rms": term.rms}, joint.lsb)
                    writer.writerow(shared | {"error": f"term {term.name}"} | row)
    return text.getvalue()


def _shared(sweep: Sweep, joint: JointSweep) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(joint, name) for name in ("joint", "bits", "unit", "lsb")}
    row |= {"robot": sweep.robot, "states": sweep.states, "label": sweep.name, "trajectory": sweep.along}
    if sweep.cost is not None:
        row |= {"file_bytes": sweep.cost.file_bytes, "ns_per_state": sweep.cost.nanoseconds}
        row["ratio_to_float"] = sweep.cost.ratio
    return row


def _in_both_units(figures: dict[str, float], lsb: float) -> dict[str, Any]:
    units = {f"{name}_units": value for name, value in figures.items()}
    return units | {f"{name}_si": value * lsb for name, value in figures.items()}
