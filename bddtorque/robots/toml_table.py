"""A TOML table read strictly: every key that is taken is checked, and every key that nobody took is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import measure
from bddtorque.base.plain import describe, listed, real, table

Value = TypeVar("Value")


class TomlTable:
    """A table and where it stands, e.g. ``arm.toml, joint 2 'elbow', link``; nothing is taken without a check."""

    def __init__(self, values: object, where: str) -> None:
        if not isinstance(values, dict):
            raise BddTorqueError(f"{where} must be a table, got {describe(values)}")
        self.where = where
        self._values: dict[str, Any] = values

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def only(self, *known: str) -> None:
        """Refuse keys that are not among `known`, naming the nearest one."""
        table(self._values, (), self.where, known)

    def take(self, key: str) -> Any:
        """Return what `key` holds, or refuse its absence."""
        if key not in self._values:
            raise BddTorqueError(f"{self.where}: key '{key}' is missing")
        return self._values[key]

    def read(self, key: str, reader: Callable[[Any, str], Value], default: Any = ...) -> Value:
        """Return what `key` holds, read by a function of the value and what messages call it; or the default."""
        value = self.take(key) if default is ... or key in self else default
        return reader(value, f"{self.where}: {key}")

    def exclusive(self, key: str, *others: str) -> None:
        """Refuse `key` beside any of the others."""
        for other in others:
            if key in self and other in self:
                raise BddTorqueError(f"{self.where}: '{key}' and '{other}' exclude each other; keep one")

    def numbers(self, key: str, count: int, reader: Callable[[Any, str], float] = real) -> list[float]:
        """Return a list of `count` floats, each read by `reader`."""
        what = f"{self.where}: {key}"
        return [reader(value, what) for value in listed(self.take(key), what, count)]

    def table(self, key: str) -> TomlTable:
        """Return a table within this one."""
        return TomlTable(self.take(key), f"{self.where}, {key}")

    def tables(self, key: str) -> list[TomlTable]:
        """Return an array of tables, at least one, each known by its number from 1."""
        values = self.read(key, listed)
        if not values:
            raise BddTorqueError(f"{self.where}: there must be at least one [[{key}]], got an empty list")
        return [TomlTable(value, f"{self.where}, {key} {index}") for index, value in enumerate(values, start=1)]


def angle(value: object, what: str) -> float:
    """Return an angle in rad from a number, or from text: "pi", "-pi/2", "3*pi/4", "160 deg"; nothing is evaluated."""
    return measure(value, what, "position", turns=True)
