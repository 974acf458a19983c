"""The values of a specification: each is read from what people write by a function of it and its name, or refused.

Ranges are written the same in TOML, in Python and on the command line. A number is plus or minus it, a pair [low, high]
is one range; either stands for one joint, or for all of them. Ranges of several joints are named,
{shoulder = 100, elbow = [-5, 20]}, or listed from base to tip, [[-100, 100], [-5, 20]]. Two numbers are always low and
high.

At a shell they are ``12``, ``12,10`` (a list), ``-1:2`` (low and high), ``kp=100,80,kv=20`` (a table), ``true``;
anything else is text. The functions at the end return from it what the readers take.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeGuard

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.measures import Range, as_range, check_unit, measure, parse_size
from bddtorque.base.plain import (
    Vector,
    argument_texts,
    choice,
    decimal,
    describe,
    is_list,
    of_type,
    real,
    unwrap,
    vector,
    whole,
)
from bddtorque.base.record import Reader
from bddtorque.spec.chips import chip_named, chip_names

Bits = int | tuple[int, ...]
Lock = str | tuple[tuple[str, float], ...]
"""``"others"``, or joints by name with their positions, sorted."""
XacroArgs = tuple[tuple[str, str], ...]
"""Arguments of a xacro file by name, sorted."""
JointRange = Range | str
"""Range of one joint: low and high, or a word of `TORQUE_WORDS`."""
NamedRanges = tuple[tuple[str, JointRange], ...]
"""By the name of a joint, sorted."""
ManyRanges = JointRange | tuple[JointRange, ...] | NamedRanges
"""One for all joints, one per joint from base to tip, or some by name."""

RANGED = ("position", "velocity", "acceleration", "torque")
"""The quantities that have a range."""
DRIVE = "drive"
"""Words are counts of the joint's drive: of a torque or a velocity."""
TORQUE_WORDS = ("auto", "limits", DRIVE)
"""Torques that the robot can need over its motion, the effort limits of the robot, and counts of the drive."""
TARGETS = ("tables", "integer", "float")
SMALLEST_BITS, LARGEST_BITS = 2, 24
LARGEST_SNAP = 1e-3
SMALLEST_MEMORY, SMALLEST_FLASH = 2**20, 2**8


def as_bits(given: object, name: str) -> Bits:
    """Return a word length, or a tuple of them, each from 2 to 24."""
    given = unwrap(given)
    if is_list(given) and given:
        return tuple(whole(each, SMALLEST_BITS, LARGEST_BITS, name) for each in given)
    return whole(given, SMALLEST_BITS, LARGEST_BITS, name)


def as_accuracy(given: object, name: str) -> str | float:
    """Return ``"faithful"``, ``"paper"``, or a number of units above 0.5."""
    if isinstance(given, str):
        if given not in ("faithful", "paper"):
            raise BddTorqueError(not_among(name, given, ("faithful", "paper"), "a number of units above 0.5"))
        return given
    units = real(given, name)
    if units <= 0.5:
        raise BddTorqueError(f"{name} must be above 0.5 units, which the final rounding takes, got {units:g}")
    return units


def as_memory(given: Any, name: str) -> int:
    """Return a number of bytes, at least 1 MiB."""
    memory = parse_size(given, name)
    if memory < SMALLEST_MEMORY:
        raise BddTorqueError(f"{name} must be at least 1 MiB, got {memory} bytes")
    return memory


def as_flash(given: Any, name: str) -> int:
    """Return a number of bytes, at least 256: less holds no function."""
    flash = parse_size(given, name)
    if flash < SMALLEST_FLASH:
        raise BddTorqueError(f"{name} must be at least {SMALLEST_FLASH} bytes, got {flash}")
    return flash


def as_text(what: str) -> Reader:
    """Return the reader of text that is not empty; `what` says what is wanted."""

    def read(given: object, name: str) -> str:
        if isinstance(given, str) and given:
            return given
        raise BddTorqueError(f"{name} must be {what}, got {describe(given)}")

    return read


class ChoiceReader:
    """The reader of one of some words, which commands list and complete."""

    def __init__(self, find_known: Callable[[], Collection[str]]) -> None:
        self.find_known = find_known

    @property
    def known(self) -> tuple[str, ...]:
        """The words."""
        return tuple(self.find_known())

    def __call__(self, given: object, name: str) -> str:
        """Return one of the words, or refuse what is given."""
        return choice(given, self.known, name)


def as_choice(*known: str) -> ChoiceReader:
    """Return the reader of one of some words."""
    return ChoiceReader(lambda: known)


as_target = as_choice(*TARGETS)
as_products = as_choice("auto", "blocks", "squares", "partial")


class ChipReader(ChoiceReader):
    """The reader of a processor that costs are known of, by its own name or that of a microcontroller."""

    def __call__(self, given: object, name: str) -> str:
        """Return the name of the processor."""
        return chip_named(super().__call__(given, name)).name


as_chip = ChipReader(chip_names)


def as_whole(low: int, high: int, why: str = "") -> Reader:
    """Return the reader of an integer from low to high; `why` says where such limits come from."""
    return lambda given, name: whole(given, low, high, name, why)


def as_vector(what: str) -> Reader:
    """Return the reader of three finite numbers; `what` says what they are."""
    return lambda given, name: vector(given, name, what)


def as_flag(given: object, name: str) -> bool:
    """Return a truth value."""
    return of_type(given, bool, name)


def as_snap(given: object, name: str) -> float:
    """Return a tolerance from 0 to `LARGEST_SNAP`."""
    snap = real(given, name)
    if not 0 <= snap <= LARGEST_SNAP:
        raise BddTorqueError(f"{name} must be between 0 and {LARGEST_SNAP}, got {describe(given)}")
    return snap


def as_position(given: object, name: str) -> float:
    """Return a position in rad or m, from a number or text with a unit."""
    return measure(given, name, "position")


def as_sign(given: object, name: str) -> int:
    """Return 1 or -1."""
    if isinstance(given, bool) or given not in (1, -1):
        raise BddTorqueError(f"{name} must be 1 or -1, got {describe(given)}")
    return 1 if given == 1 else -1


def as_lock(given: object, name: str) -> Lock | None:
    """Return ``"others"``, or the joints of a table with their positions, sorted by name; None if there are none."""
    if isinstance(given, str) and given == "others":
        return given
    pairs: Collection[Any] = list(given.items()) if isinstance(given, Mapping) else given  # type: ignore[assignment]
    if not is_list(pairs) or not all(is_list(pair) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        raise BddTorqueError(f"{name} must be 'others', or joints by name with their positions, got {describe(given)}")
    positions = {joint: as_position(position, f"{name} of joint '{joint:.60}'") for joint, position in pairs}
    return tuple(sorted(positions.items())) or None


def as_xacro_args(given: object, name: str) -> XacroArgs | None:
    """Return the arguments of a xacro file with the text of their values, sorted by name; None if there are none."""
    pairs = dict(given) if is_list(given) else given
    return tuple(sorted(argument_texts(pairs, name).items())) or None


def as_not_negative(given: object, name: str) -> float:
    """Return a finite number of at least 0."""
    return real(given, name, low=0.0)


def as_gain(given: object, name: str) -> float | tuple[float, ...]:
    """Return a gain of at least 0, or one per joint."""
    given = unwrap(given)
    if is_list(given) and given:
        return tuple(real(each, name, low=0.0) for each in given)
    return real(given, name, low=0.0)


def as_inertia(given: object, name: str) -> tuple[Vector, Vector, Vector]:
    """Return three principal moments, or 3 rows of 3, as 3 rows."""
    given, what = unwrap(given), "[Ixx, Iyy, Izz] or 3 rows of 3, in kg·m²"
    if is_list(given) and len(given) == 3 and all(is_list(row) for row in given):
        x, y, z = (vector(row, name, what) for row in given)
        return x, y, z
    a, b, c = vector(given, name, what)
    return (a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c)


def as_joint_range(quantity: str) -> Reader:
    """Return the reader of the range of one joint."""

    def read(given: object, name: str) -> JointRange:
        if given == DRIVE and quantity in ("velocity", "torque"):
            return DRIVE
        if quantity == "torque" and isinstance(given, str) and given.isalpha():
            if given not in TORQUE_WORDS:
                raise BddTorqueError(not_among(name, given, TORQUE_WORDS, "a range"))
            return given
        return as_range(given, name, quantity)

    return read


def as_ranges(quantity: str) -> Reader:
    """Return the reader of one range for all joints, of one per joint, or of some by name."""
    read_one = as_joint_range(quantity)

    def read(given: object, name: str) -> ManyRanges:
        given = unwrap(given)
        if is_named(given):
            given = dict(given)
        if isinstance(given, Mapping):
            if not given or not all(isinstance(joint, str) for joint in given):
                raise BddTorqueError(f"{name} must name its joints, as in {{shoulder = 1.5}}, got {describe(given)}")
            return tuple((joint, read_one(given[joint], f"{name} of joint '{joint:.60}'")) for joint in sorted(given))
        if not is_list(given) or (len(given) == 2 and not any(is_list(end) or end in TORQUE_WORDS for end in given)):
            try:
                return read_one(given, name)  # type: ignore[no-any-return]
            except BddTorqueError as problem:
                raise BddTorqueError(f"{problem}{_as_listed(given)}") from None
        if not given:
            raise BddTorqueError(f"{name} must have one entry per joint, got []")
        return tuple(read_one(each, f"{name} of joint {i} (one entry per joint)") for i, each in enumerate(given, 1))

    return read


def _as_listed(given: object) -> str:
    """Return how to write two numbers if they were meant for two joints; nothing where they cannot be."""
    if is_list(given) and all(isinstance(end, int | float) and end > 0 for end in given):
        return f"; for ±{given[0]:g} and ±{given[1]:g} write {_both(given)}, or name the joints"
    return ""


def _both(ends: object) -> str:
    return f"[{', '.join(f'[{-end:g}, {end:g}]' for end in ends)}]"  # type: ignore[attr-defined]


def is_named(given: object) -> TypeGuard[NamedRanges]:
    """Say whether ranges are those of joints by name."""
    return is_list(given) and bool(given) and all(is_list(each) and each and isinstance(each[0], str) for each in given)


def check_clear(given: Range, joints: int, quantity: str, at: str) -> None:
    """Refuse two numbers for a robot of two joints that could as well be a number for each; `at` ends the message."""
    low, high = given
    if joints == 2 and low > 0:
        raise BddTorqueError(
            f"{quantity} = [{low:g}, {high:g}] could mean {low:g} to {high:g} for both joints, or ±{low:g} and "
            f"±{high:g}: write [[{low:g}, {high:g}], [{low:g}, {high:g}]] or {_both(given)}, or name the joints{at}",
            option="" if at else quantity,
        )


def range_in_si(given: Range, quantity: str, joint: str, turns: bool, at: str) -> Range:
    """Return a range as plain numbers; refuse a unit of the other kind of joint."""
    for end in given:
        check_unit(end, quantity, joint, turns, at)
    return float(given[0]), float(given[1])


Parse = Callable[[Any, str], Any]
"""Takes the text of an option (all texts of one that can be repeated) and its name, and returns a value."""


def parse_value(text: str, name: str) -> Any:
    """Return a value, low and high, a list of these, or a table where names stand before ``=``."""
    if "=" in text:
        return parse_table([text], name)
    return _single([_range(part) for part in text.split(",")])


def parse_values(texts: Sequence[str], name: str) -> Any:
    """Return what an option says that is given once for all, or several times by name."""
    return parse_value(texts[0], name) if len(texts) == 1 else parse_table(texts, name)


def parse_table(texts: Sequence[str], name: str) -> dict[str, Any]:
    """Return values by name; what stands after a comma without a name belongs to the name before."""
    values: dict[str, list[Any]] = {}
    for text in texts:
        key = ""
        for part in text.split(","):
            own, equals, value = part.rpartition("=")
            if equals:
                key = _new(own.strip(), values, texts, name)
            if not key:
                raise _unnamed(texts, name)
            values.setdefault(key, []).append(_range(value))
    return {key: _single(listed) for key, listed in values.items()}


def parse_lock(texts: Sequence[str], name: str) -> Any:
    """Return ``others``, or joints with their positions; commas belong to the names of joints."""
    if list(texts) == ["others"]:
        return texts[0]
    values: dict[str, Any] = {}
    for text in texts:
        joint, _, position = text.rpartition("=")
        values[_new(joint, values, texts, f"{name} must be others, or JOINT=POSITION in rad or m, each joint once")] = (
            _number(position)
        )
    return values


def parse_arguments(texts: Sequence[str], name: str) -> dict[str, str]:
    """Return text by name; a value may have any text."""
    values: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        values[_new(key if equals else "", values, texts, name)] = value
    return values


def parse_ranges(quantity: str) -> Parse:
    """Return the parser of a range for all joints, ``1.5`` or ``-1:2``, one per joint, or some by name."""

    def parse(text: str, name: str) -> Any:
        parts = text.split(",")
        if any("=" in part for part in parts):
            return as_ranges(quantity)(parse_table([text], name), name)
        return _single([as_joint_range(quantity)(_range(part), name) for part in parts])

    return parse


def _new(key: str, values: dict[str, Any], texts: Sequence[str], name: str) -> str:
    if not key or key in values:
        raise _unnamed(texts, name)
    return key


def _unnamed(texts: Sequence[str], name: str) -> BddTorqueError:
    expected = name if " " in name else f"{name} must be NAME=VALUE, each name once"
    return BddTorqueError(f"{expected}, got {', '.join(texts)!r:.60}", option=name.partition(" ")[0])


def _range(text: str) -> Any:
    return _single([_number(end.strip()) for end in text.split(":")])


def _number(text: str) -> Any:
    """Return a number or a truth value; text that is neither as it is, for it may have a unit."""
    if text in ("true", "false"):
        return text == "true"
    number = decimal(text)
    return (
        int(text) if number is not None and text.removeprefix("-").isdecimal() else text if number is None else number
    )


def _single(values: list[Any]) -> Any:
    return values if len(values) > 1 else values[0]
