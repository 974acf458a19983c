"""Friction of a joint as people give it: numbers, a table, a file of samples; and as a law of its velocity."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError, refusals_in
from bddtorque.base.plain import choice, describe, real, table
from bddtorque.laws.friction import Friction, friction_from_table
from bddtorque.laws.interpolant import Interpolant
from bddtorque.laws.law_data import law_from_plain
from bddtorque.laws.samples import EXTRAPOLATIONS, law_of_one, read_samples
from bddtorque.words.bounded import ULP, Interval

JointFriction = Friction | Interpolant
"""A law of one velocity, rad/s or m/s, in N·m or N."""


def joint_friction(given: Any, where: str, directory: Path | None = None) -> JointFriction | None:
    """Return the friction of a joint, or None where there is none; refuse anything else, and say where.

    `given` is a law; a number (viscous friction); a table with the attributes of `Friction`; or a table with
    ``samples``, a CSV file of velocity and torque (from `directory` where it is relative), and perhaps
    ``extrapolation`` and ``spread`` as in `compile_samples`.
    """
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


def friction_to_plain(law: JointFriction) -> dict[str, Any]:
    """Return plain data that `joint_friction` reads: what says nothing is left out, as TOML has no null."""
    return {key: value for key, value in law.to_plain().items() if value is not None}


def _from_samples(given: Mapping[str, Any], where: str, directory: Path | None) -> Interpolant:
    table(given, ("samples",), where, ("extrapolation", "spread"))
    file, extrapolation, spread = given["samples"], given.get("extrapolation", "refuse"), given.get("spread")
    if not isinstance(file, str | PathLike) or not str(file):
        raise BddTorqueError(f"{where}, samples must be a CSV file, got {describe(file)}")
    choice(extrapolation, EXTRAPOLATIONS, f"{where}, extrapolation")
    if spread is not None:
        spread = real(spread, f"{where}, spread", low=0)
    with refusals_in(where):
        read = read_samples(Path(file) if directory is None else directory / file)
        if len(read.names) != 2:
            raise BddTorqueError(f"{read.where}, line 1: columns must be velocity and torque, got {len(read.names)}")
        return law_of_one(read, spread, extrapolation == "hold")
