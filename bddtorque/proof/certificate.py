"""The certificate: what is proved of every torque word, for every input word there is.

The *true torque* is the real-number function of the robot's parameters as stored in float64, at the exact values of the
input words, π exact. For each torque the certificate bounds |compiled − clamp(true)|, clamp being to the lowest and the
highest word of the format, in units of the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.html_table import html_table
from bddtorque.base.plain import listed, of_type, real, table, whole

Saturation = Literal["cannot", "can", "not excluded"]
SATURATIONS = ("cannot", "can", "not excluded")


NAME_WIDTH = 24
"""Characters that the names of rows take."""


@dataclass(frozen=True)
class Parts:
    """Where the error of one torque can come from, in units of its last bit; all rounded up.

    Attributes
    ----------
    dropped : terms too small to matter that were left out
    constants : constants rounded to the grid of the words
    tables : tables of real functions, rounded to nearest; the largest error of every entry was found, not estimated
    products : products of words, rounded by a shift
    sums : sums inside the cascade, exact and rounded once each
    final_rounding : to the word of the torque
    arithmetic : what float64 and the Fourier step behind the tables can err
    """

    dropped: float
    constants: float
    tables: float
    products: float
    sums: float
    final_rounding: float
    arithmetic: float

    @property
    def total(self) -> float:
        """The sum of all parts, rounded up."""
        return math.fsum(getattr(self, field.name) for field in fields(self)) * (1 + 1e-15)

    def to_plain(self) -> dict[str, float]:
        """Return plain data for JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Bounded:
    """One word with a proved bound: of a torque, or of a function."""

    unit: str
    lsb: float
    low: float
    high: float
    saturation: Saturation
    witness: tuple[Any, ...] | None

    @property
    def bound(self) -> float:
        """The bound on the error, in units of the last bit."""
        raise NotImplementedError

    @property
    def bound_si(self) -> float:
        """The bound on the error, in `unit`."""
        return self.bound * self.lsb * (1 + 1e-15)

    @property
    def faithful(self) -> bool:
        """Whether every word is less than one unit from what it stands for."""
        return self.bound < 1.0

    def about_saturation(self) -> str:
        """Return a clause: whether the word can saturate, and a range in which it could not."""
        reach = f"{self.low:.5g} to {self.high:.5g} {self.unit}".rstrip()
        if self.saturation == "cannot":
            return f"cannot saturate (proved: within {reach})"
        if self.saturation == "can":
            return f"CAN saturate (witness words {self.witness}); a range of {reach} would do"
        return f"saturation not excluded; a range of {reach} would do"


@dataclass(frozen=True)
class TorqueBound(Bounded):
    """What is proved of one torque.

    Attributes
    ----------
    joint : name
    unit : N·m or N
    lsb : one unit of the last bit, in `unit`
    parts : the bound by parts, in units of the last bit
    low, high : a sound range of the compiled torque before it is clamped, in `unit`
    saturation : whether any input can need more than the format holds: ``"cannot"`` (proved), ``"can"`` (see
        `witness`), ``"not excluded"``
    witness : q, qd and qdd words of a state that saturates, or None
    """

    joint: str
    unit: str
    lsb: float
    parts: Parts
    low: float
    high: float
    saturation: Saturation
    witness: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def bound(self) -> float:
        """The proved bound on the error, in units of the last bit."""
        return self.parts.total


@dataclass(frozen=True)
class Certificate:
    """The bounds of all torques, from base to tip."""

    torques: tuple[TorqueBound, ...]

    @property
    def faithful(self) -> bool:
        """Whether every torque is faithful: proved below one unit of its last bit."""
        return all(torque.faithful for torque in self.torques)

    @property
    def bounds(self) -> tuple[float, ...]:
        """The proved bound of each torque, in units of its last bit."""
        return tuple(torque.bound for torque in self.torques)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "torques": [
                {
                    "joint": torque.joint,
                    "unit": torque.unit,
                    "lsb": torque.lsb,
                    "bound": torque.bound,
                    "parts": torque.parts.to_plain(),
                    "low": torque.low,
                    "high": torque.high,
                    "saturation": torque.saturation,
                    "witness": None if torque.witness is None else [list(words) for words in torque.witness],
                }
                for torque in self.torques
            ]
        }

    def __str__(self) -> str:
        lines = ["Proved for every input word: |compiled - true torque|, in units of the last bit", ""]
        for torques in _side_by_side(self.torques):
            lines += [*_columns(torques), ""]
        lines += [f"  {torque.joint}: {torque.about_saturation()}" for torque in self.torques]
        return "\n".join(lines)

    def __repr__(self) -> str:
        bounds = ", ".join(f"{torque.joint} {torque.bound:.3f}" for torque in self.torques)
        return f"<bddtorque certificate, {'faithful' if self.faithful else 'NOT faithful'}: {bounds} units>"

    def _repr_html_(self) -> str:
        rows = [
            (field.name.replace("_", " "), *(f"{getattr(torque.parts, field.name):.3g}" for torque in self.torques))
            for field in fields(Parts)
        ]
        rows.append(("bound, units of the last bit", *(f"{torque.bound:.4f}" for torque in self.torques)))
        rows.append(("bound", *(f"{torque.bound_si:.4g} {torque.unit}" for torque in self.torques)))
        rows.append(("faithful", *("yes" if torque.faithful else "NO" for torque in self.torques)))
        return html_table(
            "Proved for every input word: |compiled − true torque|, in units of the last bit",
            ("", *(torque.joint for torque in self.torques)),
            rows,
            [f"{torque.joint}: {torque.about_saturation()}" for torque in self.torques],
        )


def _side_by_side(torques: Sequence[TorqueBound]) -> list[list[TorqueBound]]:
    """Return the torques in groups whose columns fit a terminal of 80."""
    groups: list[list[TorqueBound]] = []
    left = 0
    for torque in torques:
        if not groups or _width(torque) > left:
            groups.append([])
            left = 80 - 2 - NAME_WIDTH
        groups[-1].append(torque)
        left -= _width(torque)
    return groups


def _width(torque: TorqueBound) -> int:
    return max(12, len(torque.joint[:30]) + 2)


def _columns(torques: Sequence[TorqueBound]) -> list[str]:
    """Return the bounds of some torques by parts, a column each."""
    rows = {
        "": [torque.joint[:30] for torque in torques],
        **{
            field.name.replace("_", " "): [f"{getattr(torque.parts, field.name):.4g}" for torque in torques]
            for field in fields(Parts)
        },
        "bound": [f"{torque.bound:.4f}" for torque in torques],
        "bound in N·m or N": [f"{torque.bound_si:.4g}" for torque in torques],
        "faithful": ["yes" if torque.faithful else "NO" for torque in torques],
    }
    lines = []
    for name, cells in rows.items():
        aligned = (f"{cell:>{_width(torque)}}" for cell, torque in zip(cells, torques, strict=True))
        lines.append(f"  {name:{NAME_WIDTH}}{''.join(aligned)}")
    return lines


def certificate_from_plain(plain: object, where: str = "certificate") -> Certificate:
    """Return the certificate that `Certificate.to_plain` wrote; every field is checked."""
    given = table(plain, ("torques",), where)
    torques = enumerate(listed(given["torques"], where), 1)
    return Certificate(tuple(_torque(each, f"{where}, torque {k}") for k, each in torques))


def parts_from_plain(plain: object, where: str) -> Parts:
    """Return the parts that `Parts.to_plain` wrote; every field is checked."""
    given = table(plain, tuple(field.name for field in fields(Parts)), f"{where}, parts")
    return Parts(**{name: real(value, f"{where}, {name}") for name, value in given.items()})


def _torque(plain: object, where: str) -> TorqueBound:
    keys = ("joint", "unit", "lsb", "bound", "parts", "low", "high", "saturation", "witness")
    given = table(plain, keys, where)
    if given["saturation"] not in SATURATIONS:
        raise BddTorqueError(f"{where}: saturation {', '.join(SATURATIONS)} required")
    witness = given["witness"]
    if witness is not None:
        witness = tuple(
            tuple(whole(word, -(2**31), 2**31, where) for word in listed(words, where))
            for words in listed(witness, where, 3)
        )
    torque = TorqueBound(
        of_type(given["joint"], str, where),
        of_type(given["unit"], str, where),
        real(given["lsb"], where),
        parts_from_plain(given["parts"], where),
        real(given["low"], where),
        real(given["high"], where),
        given["saturation"],
        witness,
    )
    if real(given["bound"], where) != torque.bound:
        raise BddTorqueError(f"{where}: a bound that is the sum of its parts required, {given['bound']} given")
    return torque
