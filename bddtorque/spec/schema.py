"""The TOML schema of a specification, checked by msgspec; docs/spec.md explains it to people."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bddtorque.base.errors import BddTorqueError, nearest

Number = int | float
RangeValue = Number | list[Any]  # what is in the list is checked, with a better message, by as_range
BitsValue = int | list[int]


class InputBitsTable(Struct, forbid_unknown_fields=True):
    """``[input_bits]``: word lengths by quantity."""

    position: BitsValue | UnsetType = UNSET
    velocity: BitsValue | UnsetType = UNSET
    acceleration: BitsValue | UnsetType = UNSET


class RangesTable(Struct, forbid_unknown_fields=True):
    """``[ranges]``: a number, a pair, or a list of these with at least one pair, one a joint."""

    position: RangeValue | UnsetType = UNSET
    velocity: RangeValue | UnsetType = UNSET
    acceleration: RangeValue | UnsetType = UNSET
    torque: RangeValue | UnsetType = UNSET


class JointTable(Struct, forbid_unknown_fields=True):
    """``[[joint]]``: one joint."""

    name: str | UnsetType = UNSET
    position: RangeValue | UnsetType = UNSET
    velocity: RangeValue | UnsetType = UNSET
    acceleration: RangeValue | UnsetType = UNSET
    torque: RangeValue | UnsetType = UNSET
    offset: Number | UnsetType = UNSET
    sign: int | UnsetType = UNSET
    friction: Number | dict[str, Any] | UnsetType = UNSET


class PayloadTable(Struct, forbid_unknown_fields=True):
    """``[payload]``: a body at the tip."""

    mass: Number | UnsetType = UNSET
    centre_of_mass: list[Any] | UnsetType = UNSET
    inertia: list[Any] | UnsetType = UNSET


class SpecTable(Struct, forbid_unknown_fields=True):
    """A whole file."""

    robot: str
    base: str | UnsetType = UNSET
    tip: str | UnsetType = UNSET
    lock: str | dict[str, Any] | UnsetType = UNSET
    gravity: list[Any] | UnsetType = UNSET
    payload: Number | list[Any] | PayloadTable | UnsetType = UNSET
    snap: Number | UnsetType = UNSET
    ignore_friction: bool | UnsetType = UNSET
    allow_massless: bool | UnsetType = UNSET
    allow_unphysical: bool | UnsetType = UNSET
    bits: BitsValue | UnsetType = UNSET
    input_bits: int | list[int] | InputBitsTable | UnsetType = UNSET
    accuracy: str | Number | UnsetType = UNSET
    block_bits: int | UnsetType = UNSET
    memory: int | str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    target: str | UnsetType = UNSET
    ranges: RangesTable | UnsetType = UNSET
    joint: list[JointTable] | UnsetType = UNSET


_TABLES = {
    "$": SpecTable,
    "$.input_bits": InputBitsTable,
    "$.ranges": RangesTable,
    "$.payload": PayloadTable,
    "$.joint[...]": JointTable,
}
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}


def checked_table(values: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the values of a TOML file with every key known and every type right, ``joint`` renamed ``joints``."""
    try:
        table = msgspec.convert(values, SpecTable, strict=True)
    except msgspec.ValidationError as problem:
        raise BddTorqueError(f"{where}: {_in_our_words(str(problem), values)}") from None
    plain: dict[str, Any] = msgspec.to_builtins(table)
    if "joint" in plain:
        plain["joints"] = plain.pop("joint")
    return plain


def _in_our_words(message: str, values: dict[str, Any]) -> str:
    """Turn msgspec's message round: where, what was required, what was given."""
    problem, _, path = message.partition(" - at `")
    path = path.rstrip("`") or "$"
    place = path.removeprefix("$").removeprefix(".").replace(".", ", ")
    place = re.sub(
        r"^joint\[(\d+)\]", lambda index: f"joint {int(index[1]) + 1}", place
    )  # "joint[0]" is people's "joint 1"
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", problem, re.DOTALL):
        known = _TABLES[re.sub(r"\[\d+\]", "[...]", path)].__struct_fields__
        key = unknown[1]
        here = f"{place}: " if place else ""
        return f"{here}keys {', '.join(known)} required, {key!r:.60} given{nearest(key, known)}"
    if missing := re.fullmatch(r"Object missing required field `(.*)`", problem):
        return f"'{missing[1]}' required, not given (keys given: {', '.join(values) or 'none'})"
    if wrong := re.fullmatch(r"Expected `(.*)`, got `(.*)`", problem):
        kinds = [each for each in wrong[1].split(" | ") if each != "int" or "float" not in wrong[1]]
        required = " or ".join(_TYPES.get(each, each) for each in kinds)
        return f"{place or 'the file'}: {required} required, {_TYPES.get(wrong[2], wrong[2])} given"
    return f"{place}: {problem}" if place else problem
