"""Friction of a joint as people give it: numbers, a table, a file of samples; and as a law of its velocity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError, refusals_in
from bddtorque.base.plain import choice, describe, is_list, real, table, unwrap
from bddtorque.words.bounded import ULP, Interval
from bddtorque.words.formats import Format
from bddtorque.words.friction import Friction, friction_from_table
from bddtorque.words.interpolant import Interpolant
from bddtorque.words.law_data import law_from_plain
from bddtorque.words.samples import DUPLICATES, EXTRAPOLATIONS, MERGES, Samples, law_of_one, read_samples

JointFriction = Friction | Interpolant
"""A law of one velocity, rad/s or m/s, in N·m or N."""


@dataclass(frozen=True)
class SampledFriction:
    """Samples of friction that wait for the words of their velocity: those of one word are to be averaged."""

    samples: Samples  # velocity and torque
    # duplicates, spread: as in `compile_samples`
    duplicates: str
    spread: float | None
    hold: bool  # whether the outermost values are held beyond the samples

    def merged(self, word: Format | None = None) -> Interpolant:
        """Return the interpolant of the means of all samples with the same word, or of those at the same velocity."""
        formats, merge = ((), "point") if word is None else ((word,), "word")
        return law_of_one(self.samples, formats, self.duplicates, merge, self.spread, self.hold)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data that `spec_friction` reads."""
        rows = np.column_stack((self.samples.points[:, 0], self.samples.values)).tolist()
        rules: dict[str, Any] = {"merge": "word", "duplicates": self.duplicates, "spread": self.spread}
        return {"samples": rows, **rules, "extrapolation": "hold" if self.hold else "refuse"}


def joint_friction(given: Any, where: str, directory: Path | None = None) -> JointFriction | None:
    """Return the friction of a joint of a robot: what `spec_friction` takes, but nothing that needs words."""
    law = spec_friction(given, where, directory)
    if isinstance(law, SampledFriction):
        raise BddTorqueError(
            f"{where}: merge = 'word' is only valid in a specification, which says what words are: use merge = 'point'"
        )
    return law


def spec_friction(given: Any, where: str, directory: Path | None = None) -> JointFriction | SampledFriction | None:
    """Return the friction of a joint, or None where there is none; refuse anything else, and say where.

    `given` is a law; a number (viscous friction); a table with the attributes of `Friction`; or a table with
    ``samples``, a CSV file of velocity and torque (from `directory` where it is relative) or rows of them, and perhaps
    ``merge``, ``duplicates``, ``extrapolation`` and ``spread`` as in `compile_samples`.
    """
    if isinstance(given, SampledFriction):
        return given
    if isinstance(given, Friction):
        return None if given.nothing else given
    if isinstance(given, Interpolant):
        if len(given.knots) != 1 or given.around[0]:
            raise BddTorqueError(f"{where} must be a law of one velocity, got {len(given.knots)} arguments or an angle")
        return given
    if isinstance(given, Mapping) and "kind" in given:
        full = {**dict.fromkeys(("static", "stribeck_velocity")), **given} if given["kind"] == "friction" else given
        law = law_from_plain(dict(full), where)
        if not isinstance(law, JointFriction):
            raise BddTorqueError(f"{where} must be a law of kind friction or interpolant, got {law.kind}")
        return joint_friction(law, where)
    if isinstance(given, Mapping) and "samples" in given:
        return _from_samples(given, where, directory)
    return joint_friction(friction_from_table(given, where), where)


def friction_reach(law: JointFriction, velocity: Interval) -> Interval:
    """Return a sound range of a friction over velocities."""
    low, high = velocity.low, velocity.high
    if isinstance(law, Interpolant):
        (knots,) = law.knots
        inner = [value for knot, value in zip(knots, law.values, strict=True) if low < knot < high]
        values = [*inner, *law(np.array([low, high])).tolist()]
        slack = 64 * ULP * max(map(abs, values))
        return Interval(min(values) - slack, max(values) + slack)
    forward, backward = (max(pair) for pair in zip(law.coulomb, law.static or law.coulomb, strict=True))  # type: ignore[arg-type]
    dry = Interval(-backward if low < 0 else 0.0, forward if high > 0 else 0.0)
    return velocity * law.viscous + dry


def friction_to_plain(law: JointFriction | SampledFriction) -> dict[str, Any]:
    """Return plain data that `joint_friction` reads: what says nothing is left out, as TOML has no null."""
    return {key: value for key, value in law.to_plain().items() if value is not None}


def _from_samples(given: Mapping[str, Any], where: str, directory: Path | None) -> Interpolant | SampledFriction:
    table(given, ("samples",), where, ("duplicates", "extrapolation", "merge", "spread"))
    source, spread = given["samples"], given.get("spread")
    rules = {"duplicates": DUPLICATES, "merge": MERGES, "extrapolation": EXTRAPOLATIONS}
    first = {"duplicates": "mean", "merge": "point", "extrapolation": "refuse"}
    asked = {rule: choice(given.get(rule, first[rule]), known, f"{where}, {rule}") for rule, known in rules.items()}
    if spread is not None:
        spread = real(spread, f"{where}, spread", low=0)
    rows = unwrap(source)
    if not is_list(rows) and (not isinstance(source, str | PathLike) or not str(source)):
        raise BddTorqueError(f"{where}, samples must be a CSV file or rows [velocity, torque], got {describe(source)}")
    with refusals_in(where):
        if is_list(rows):
            read = read_samples(list(rows), ("velocity", "torque"))
        else:
            read = read_samples(Path(str(source)) if directory is None else directory / str(source))
        if len(read.names) != 2:
            raise BddTorqueError(f"{read.where}, line 1: columns must be velocity and torque, got {len(read.names)}")
        law = SampledFriction(read, asked["duplicates"], spread, asked["extrapolation"] == "hold")
        return law if asked["merge"] == "word" else law.merged()
