"""Laws as plain data, read back by their kind."""

from __future__ import annotations

from collections.abc import Callable

from bddtorque.base.errors import BddTorqueError
from bddtorque.laws.friction import friction_from_plain
from bddtorque.laws.interpolant import interpolant_from_plain, nearest_from_plain
from bddtorque.laws.law import Law

READERS: dict[str, Callable[[object, str], Law]] = {
    "friction": friction_from_plain,
    "interpolant": interpolant_from_plain,
    "nearest": nearest_from_plain,
}


def law_from_plain(plain: object, where: str) -> Law:
    """Return the law that `Law.to_plain` wrote; every field is checked."""
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in READERS:
        raise BddTorqueError(f"{where}: a law must be of kind {', '.join(READERS)}, got {kind!r:.40}")
    return READERS[kind](plain, where)
