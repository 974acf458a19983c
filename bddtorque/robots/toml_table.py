"""A TOML table read strictly: every key that is taken is checked, and every key that nobody took is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.robots.robot import Matrix, Vector, matrix, vector
from bddtorque.robots.robot_files import plain_name, shown

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_OF_PI = re.compile(rf"([+-]?)\s*(?:({_NUMBER})\s*\*\s*)?pi\s*(?:/\s*({_NUMBER}))?", re.ASCII)
_DEGREES = re.compile(rf"([+-]?)\s*({_NUMBER})\s*deg", re.ASCII)


class Table:
    """A table and where it stands, e.g. ``arm.toml, joint 2 'elbow', link``; nothing is taken without a check."""

    def __init__(self, values: object, where: str) -> None:
        if not isinstance(values, dict):
            raise BddTorqueError(f"{where}: a table required, {_kind(values)} given")
        self.where = where
        self._values: dict[str, Any] = dict(values)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def only(self, *known: str) -> None:
        """Refuse keys that are not among `known`, naming the nearest one."""
        for key in self._values:
            if key not in known:
                keys = ", ".join(known)
                raise BddTorqueError(
                    f"{self.where}: unknown key {shown(repr(key), 60)}{nearest(key, known)}; known keys: {keys}"
                )

    def take(self, key: str) -> Any:
        """Return what `key` holds, or refuse its absence."""
        if key not in self._values:
            raise BddTorqueError(f"{self.where}: key '{key}' required, not given")
        return self._values[key]

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string."""
        value = self.take(key) if default is None or key in self else default
        if not isinstance(value, str):
            raise BddTorqueError(f"{self.where}: {key}: a string required, {_kind(value)} given")
        return value

    def name(self, key: str, default: str | None = None) -> str:
        """Return a string fit to name something."""
        value = self.take(key) if default is None or key in self else default
        return plain_name(value, f"{self.where}: {key}")

    def choice(self, key: str, known: Iterable[str]) -> str:
        """Return one of the strings `known`."""
        value, known = self.text(key), tuple(known)
        if value not in known:
            options = " or ".join(f"'{option}'" for option in known)
            raise BddTorqueError(f"{self.where}: {key}: {options} required, {shown(repr(value), 60)} given")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false; false where it is not given."""
        value = self.take(key) if key in self else False
        if not isinstance(value, bool):
            raise BddTorqueError(f"{self.where}: {key}: true or false required, {_kind(value)} given")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """Return a finite float."""
        if default is not None and key not in self:
            return default
        return number(self.take(key), f"{self.where}: {key}")

    def angle(self, key: str, default: float | None = None) -> float:
        """Return an angle in rad, given as a number or as text such as "-pi/2" or "160 deg"."""
        if default is not None and key not in self:
            return default
        return angle(self.take(key), f"{self.where}: {key}")

    def numbers(self, key: str, count: int, angles: bool = False) -> list[float]:
        """Return a list of `count` floats, or of `count` angles in rad."""
        what = f"{self.where}: {key}"
        read = angle if angles else number
        return [read(value, what) for value in _listed(self.take(key), count, what)]

    def vector(self, key: str) -> Vector:
        """Return three floats."""
        return vector(self.numbers(key, 3), f"{self.where}: {key}")

    def matrix(self, key: str) -> Matrix:
        """Return three rows of three floats."""
        what = f"{self.where}: {key}"
        rows = _listed(self.take(key), 3, what)
        return matrix([[number(value, what) for value in _listed(row, 3, what)] for row in rows], what)

    def table(self, key: str) -> Table:
        """Return a table within this one."""
        return Table(self.take(key), f"{self.where}, {key}")

    def tables(self, key: str) -> list[Table]:
        """Return an array of tables, at least one, each known by its number from 1."""
        values = self.take(key)
        if not isinstance(values, list) or not values:
            raise BddTorqueError(f"{self.where}: one or more [[{key}]] required, {_kind(values)} given")
        return [Table(value, f"{self.where}, {key} {index}") for index, value in enumerate(values, start=1)]


def number(value: object, what: str) -> float:
    """Return a TOML integer or float as a finite float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BddTorqueError(f"{what}: a number required, {_kind(value)} given")
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if not math.isfinite(converted):
        raise BddTorqueError(f"{what}: a finite number required, {converted} given")
    return converted


def angle(value: object, what: str) -> float:
    """Return an angle in rad from a number, or from text: "pi", "-pi/2", "3*pi/4", "160 deg"; nothing is evaluated."""
    if not isinstance(value, str):
        return number(value, what)
    if match := _OF_PI.fullmatch(value.strip()):
        sign, factor, divisor = match.groups(default="1")
        if float(divisor) != 0.0:
            result = float(factor) * math.pi / float(divisor)
            return number(-result if sign == "-" else result, what)
    elif match := _DEGREES.fullmatch(value.strip()):
        sign, degrees = match.groups()
        # 90 deg must be the float that "pi/2" is, so π comes in once and last
        result = float(degrees) / 180.0 * math.pi
        return number(-result if sign == "-" else result, what)
    raise BddTorqueError(
        f'{what}: an angle such as 1.5, "pi/2", "-3*pi/4" or "90 deg" required, {shown(repr(value), 60)} given'
    )


def _listed(value: object, count: int, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise BddTorqueError(f"{what}: a list of {count} required, {_kind(value)} given")
    if len(value) != count:
        raise BddTorqueError(f"{what}: a list of {count} required, a list of {len(value)} given")
    return value


def _kind(value: object) -> str:
    """Say what a value is, in the words of TOML."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return shown(repr(value), 60)
