"""Laws as plain data, read back by their kind."""

from __future__ import annotations

from typing import Any

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.plain import listed, of_type, real, table
from bddtorque.words.friction import Friction, friction_from_table
from bddtorque.words.interpolant import Interpolant, Nearest
from bddtorque.words.law import Law

LAWS: dict[str, type[Law]] = {law.kind: law for law in (Friction, Interpolant, Nearest)}


def law_from_plain(plain: object, where: str) -> Law:
    """Return the law that `Law.to_plain` wrote; every field is checked."""
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in LAWS:
        raise BddTorqueError(not_among(f"{where}, kind", kind, LAWS))
    given = table(plain, ("kind", *LAWS[kind].__dataclass_fields__), where)  # type: ignore[attr-defined]
    del given["kind"]
    if kind == Friction.kind:
        return friction_from_table(given, where)
    return LAWS[kind](**{name: _READERS[name](value, f"{where}, {name}") for name, value in given.items()})


def _reals(plain: object, where: str) -> tuple[float, ...]:
    return tuple(real(each, where) for each in listed(plain, where))


def _rows(plain: object, where: str) -> tuple[tuple[float, ...], ...]:
    return tuple(_reals(each, where) for each in listed(plain, where))


_READERS: dict[str, Any] = {
    "knots": _rows,
    "points": _rows,
    "values": _reals,
    "units": _reals,
    "around": lambda plain, where: tuple(of_type(each, bool, where) for each in listed(plain, where)),
    "hold": lambda plain, where: of_type(plain, bool, where),
}
