"""`Spec`: what to compile, as people write it in ``tables/*.toml``; immutable and checked.

Ranges are in the joint's own coordinates and units: rad, rad/s, rad/s², N·m of a revolute joint; m, m/s, m/s², N of a
prismatic one. A single number means plus or minus that number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from bddtorque.base.errors import BddTorqueError, nearest, one_line
from bddtorque.base.sizes import parse_size
from bddtorque.laws.joint_friction import JointFriction, friction_to_plain
from bddtorque.spec.parsing import (
    RANGED,
    Bits,
    Lock,
    Vector,
    as_bits,
    as_range,
    is_list,
    is_number,
    listed,
    one_of,
    ranges_of_joints,
    whole_between,
)
from bddtorque.spec.records import InputBits, JointSpec, Payload, Ranges
from bddtorque.spec.resolve import formats_of, matched, resolve
from bddtorque.spec.robot_keys import checked_robot_keys

if TYPE_CHECKING:
    from bddtorque.robots.robot import Robot
    from bddtorque.words import Formats

SMALLEST_BLOCK_BITS, LARGEST_BLOCK_BITS = 4, 28
SMALLEST_MEMORY = 2**20
SOURCES = ("auto", "terms", "recursive")
TARGETS = ("tables", "host")
ACCURACIES = ("faithful", "paper")


@dataclass(frozen=True)
class Spec:
    """A table specification.

    Attributes
    ----------
    robot : a built-in name, or the path of a TOML or URDF file
    base, tip : links of a URDF file between which the chain lies; None: as its reader finds them
    lock : joints of a URDF file to hold still, by name with their positions (rad or m), or ``"others"``
    gravity : m/s² in base axes; None: the robot's own
    payload : a `Payload`, its mass in kg, its mass with x, y and z of its centre, or a mapping; in the tip frame
    snap : rotations of a URDF file that nearly carry an axis onto another are made exact to within this
    ignore_friction, allow_massless, allow_unphysical : what else to accept of a URDF file, see docs/robots.md
    bits : word length r of the torques (and of the inputs, unless `input_bits` says otherwise), 2 to 24; or one a joint
    input_bits : word length of the inputs, or one a joint, or `InputBits`; None: as `bits`
    accuracy : ``"faithful"`` (proved below one unit of the last bit), ``"paper"`` (the paper's rule for word lengths),
        or the largest error allowed, in units (above 0.5, which the final rounding takes)
    block_bits : input bits of one table, at most; 4 to 28
    memory : budget in bytes (or text such as ``"2 GiB"``)
    source : ``"terms"``, ``"recursive"`` or ``"auto"``
    target : ``"tables"`` or ``"host"``
    ranges : ranges for all joints
    joints : what holds for one joint; all in order from base to tip, or any of them by name
    directory : where a relative robot path starts; no part of what is compiled
    where : what messages call this spec; no part of what is compiled
    bare : whether this is a robot file and no specification, so that accelerations may be assumed; no part either
    """

    robot: str
    base: str | None = None
    tip: str | None = None
    lock: Lock | Mapping[str, float] | None = None
    gravity: Vector | None = None
    payload: Payload | None = None
    snap: float | None = None
    ignore_friction: bool = False
    allow_massless: bool = False
    allow_unphysical: bool = False
    bits: Bits = 12
    input_bits: Bits | InputBits | None = None
    accuracy: str | float = "faithful"
    block_bits: int = 20
    memory: int = 2 * 2**30
    source: str = "auto"
    target: str = "tables"
    ranges: Ranges = field(default_factory=Ranges)
    joints: tuple[JointSpec, ...] = ()
    directory: Path | None = field(default=None, compare=False)
    where: str = field(default="", compare=False)
    bare: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        where = self.where or f"spec of {self.robot!r:.60}"
        if not (isinstance(self.robot, str) and self.robot):
            raise BddTorqueError(f"{where}, robot: the name or the file of a robot required, {self.robot!r:.60} given")
        for key, value in self._checked(where).items():
            object.__setattr__(self, key, value)
        names = [joint.name for joint in self.joints]
        if None in names and any(names):
            raise BddTorqueError(f"{where}: a name for every joint or for none required, {names} given")
        for name, count in Counter(names).items():
            if name is not None and count > 1:
                raise BddTorqueError(f"{where}: each joint once required, '{name}' is given twice")

    def _checked(self, where: str) -> dict[str, Any]:
        input_bits, accuracy = self.input_bits, self.accuracy
        if input_bits is not None and not isinstance(input_bits, InputBits):
            input_bits = as_bits(input_bits, f"{where}, input_bits")
        if input_bits == InputBits():  # says nothing
            input_bits = None
        if is_number(accuracy):
            if not 0.5 < accuracy < math.inf:
                why = "the final rounding alone takes half a unit"
                raise BddTorqueError(f"{where}, accuracy: more than 0.5 units required ({why}), {accuracy} given")
            accuracy = float(accuracy)
        else:
            accuracy = one_of(accuracy, ACCURACIES, f"{where}, accuracy", "a number of units above 0.5")
        memory = parse_size(self.memory, f"{where}, memory")
        if memory < SMALLEST_MEMORY:
            raise BddTorqueError(f"{where}, memory: at least 1 MiB required, {memory} bytes given")
        return {
            "where": where,
            **checked_robot_keys(self, where),
            "bits": as_bits(self.bits, f"{where}, bits"),
            "input_bits": input_bits,
            "accuracy": accuracy,
            "block_bits": whole_between(
                self.block_bits,
                SMALLEST_BLOCK_BITS,
                LARGEST_BLOCK_BITS,
                f"{where}, block_bits",
                " (a table has 2^block_bits rows)",
            ),
            "memory": memory,
            "source": one_of(self.source, SOURCES, f"{where}, source"),
            "target": one_of(self.target, TARGETS, f"{where}, target"),
            "joints": tuple(self.joints),
        }

    def with_options(self, **options: Any) -> Spec:
        """Return this spec with some values replaced; options that are None are left as they are.

        Besides the attributes of `Spec` (not `ranges` and `joints`), ``position``, ``velocity``, ``acceleration`` and
        ``torque`` are options: a positive number for every joint (plus or minus it), or a list with a number or a pair
        [low, high] for each joint. They take the place of whatever the spec says, for every joint.
        """
        given = {key: value for key, value in options.items() if value is not None}
        attributes = [each.name for each in fields(Spec) if each.compare and each.name not in ("ranges", "joints")]
        for key in given:
            if key not in (known := (*attributes, *RANGED)):
                raise BddTorqueError(
                    f"{self.where}: options {', '.join(known)} required, '{key}' given{nearest(key, known)}"
                )
        if isinstance(given.get("input_bits"), Mapping):
            given["input_bits"] = _built(InputBits, given["input_bits"], f"{self.where}, input_bits")
        ranges, joints = self.ranges, self.joints
        for quantity in (each for each in RANGED if each in given):
            where, value = f"{self.where}, {quantity}", listed(given[quantity])
            replaced = ranges_of_joints(value, where) if is_list(value) else as_range(value, where)
            ranges = replace(ranges, **{quantity: replaced})
            cleared: dict[str, Any] = {quantity: None}
            joints = tuple(replace(joint, **cleared) for joint in joints)
        attributes_given = {key: value for key, value in given.items() if key in attributes}
        if "robot" in given:  # a path given as an option starts where the user is, not where the spec lies
            attributes_given["directory"] = None
        return replace(self, **attributes_given, ranges=ranges, joints=joints)

    def resolve(self, robot: Robot) -> Spec:
        """Return this spec with nothing left open: bits, ranges and names of every joint of `robot`."""
        return resolve(self, robot)

    def formats(self, robot: Robot) -> Formats:
        """Return the words of every input and torque of `robot`; refuse where nobody gives a range."""
        return formats_of(self, robot)

    def with_friction(self, robot: Robot) -> Robot:
        """Return the robot with the friction that this spec gives its joints, if it gives any."""
        said = zip(robot.joint_names, matched(self, robot), strict=True)
        friction = {name: joint.friction for name, joint in said if joint.friction is not None}
        return robot.with_friction(friction) if friction else robot

    @property
    def robot_source(self) -> str:
        """What to load the robot from: its name, or its path (a relative one starts at the spec's own folder)."""
        if not is_path(self.robot) or self.directory is None:
            return self.robot
        return str(self.directory / self.robot)

    def to_plain(self) -> dict[str, Any]:
        """Return numbers, strings, lists and dicts only, in a fixed order; what is left open is left out."""
        plain = {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.compare}
        if isinstance(self.lock, tuple):
            plain["lock"] = dict(self.lock)
        return {key: value for key, value in plain.items() if value is not False and value not in (None, {}, [])}

    def canonical(self) -> dict[str, Any]:
        """Return `to_plain` for digests: keys sorted, and the robot by name wherever its file lies."""
        plain = self.to_plain()
        plain["robot"] = _bare_name(self.robot)
        return {key: plain[key] for key in sorted(plain)}


def spec_from_plain(plain: object, where: str = "spec", directory: Path | None = None) -> Spec:
    """Return the `Spec` that `Spec.to_plain` or `Spec.canonical` wrote; every key and value is checked."""
    table = dict(_checked_table(plain, Spec, where))
    if "robot" not in table:
        raise BddTorqueError(f"{where}: 'robot' (the name or the file of a robot) required, not given")
    if isinstance(table.get("input_bits"), Mapping):
        table["input_bits"] = _built(InputBits, table["input_bits"], f"{where}, input_bits")
    table["ranges"] = _built(Ranges, table.get("ranges", {}), f"{where}, ranges")
    joints = table.get("joints", ())
    if not is_list(joints):
        raise BddTorqueError(f"{where}, joints: a list of tables required, {joints!r:.60} given")
    table["joints"] = tuple(_built(JointSpec, each, f"{where}, joint {i}") for i, each in enumerate(joints, 1))
    return Spec(**table, where=where, directory=directory)


def _bare_name(robot: str) -> str:
    """Return a robot's name without folder and suffixes; a bare name is its own."""
    stem = PurePath(robot).stem if is_path(robot) else robot
    return stem if stem in ("", robot) else _bare_name(stem)


def is_path(robot: str) -> bool:
    """Say whether text names a file rather than something built in: it has a folder or a suffix."""
    return "/" in robot or "\\" in robot or bool(PurePath(robot).suffix)


def _plain(value: Any) -> Any:
    if isinstance(value, JointSpec | Ranges | InputBits | Payload):
        plain = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        return {key: each for key, each in plain.items() if each is not None}
    if isinstance(value, JointFriction):
        return friction_to_plain(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _built(kind: Callable[..., Any], given: object, where: str) -> Any:
    table = _checked_table(given, kind, where)
    try:
        return kind(**table)
    except BddTorqueError as problem:
        # a record says "joint, offset: ..." or "joint 'a', offset: ..."; the place in the file is known only here
        name, said = one_line(f" '{table['name']}'") if table.get("name") else "", str(problem)
        for prefix in (f"joint{name}, ", "joint, ", "ranges, ", "input_bits, "):
            said = said.removeprefix(prefix)
        raise BddTorqueError(f"{where}{name}, {said}") from None


def _checked_table(given: object, kind: Any, where: str) -> Mapping[str, Any]:
    known = [each.name for each in fields(kind) if each.compare]
    if not isinstance(given, Mapping):
        raise BddTorqueError(f"{where}: a table with {', '.join(known)} required, {given!r:.60} given")
    for key in given:
        if key not in known:
            raise BddTorqueError(f"{where}: keys {', '.join(known)} required, '{key}' given{nearest(str(key), known)}")
    return given
