"""Robots from TOML: standard DH rows, or explicit transforms. The schema is documented in docs/robots.md."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError, one_line, refusals_in, unknown
from bddtorque.base.files import read_text
from bddtorque.base.measures import measure
from bddtorque.base.plain import Matrix, choice, describe, matrix, name_of, of_type, real, vector
from bddtorque.base.toml_text import toml_values
from bddtorque.robots.frames import Array, Pose, identity, rotation_rpy, rotation_x, rotation_z, unit
from bddtorque.robots.joint_kinds import JOINT_KINDS, JointKind, joint_kind
from bddtorque.robots.parts import PHYSICAL_TOLERANCE, STANDARD_GRAVITY, ZERO, Joint, Link, rotation_matrix
from bddtorque.robots.robot import Robot
from bddtorque.robots.segments import Mimic, Segment, build_robot, moved
from bddtorque.robots.toml_table import TomlTable, angle
from bddtorque.robots.tree_order import BASE
from bddtorque.words.joint_friction import joint_friction

_ROBOT_KEYS = ("name", "source", "gravity", "allow_unphysical", "joint", "tip", "payload")
_JOINT_KEYS = (
    "name", "type", "dh", "origin", "axis", "link", "limits", "rotor_inertia", "motor_inertia", "gear_ratio",
    "friction", "parent", "mimic",
)  # fmt: skip
_LINK_KEYS = ("name", "mass", "centre_of_mass", "inertia")
LARGEST_TOML = 1_000_000
"""Bytes; the robots built in take a few thousand."""
_LIMIT_KEYS = ("position", "velocity", "acceleration", "effort")


def load_toml(path: str | PathLike[str], frame: str | None = None) -> Robot:
    """Return the robot that a TOML file describes.

    Parameters
    ----------
    path
        A file in the schema of docs/robots.md.
    frame
        The link that is the tip; None: as the file says.

    Returns
    -------
    Robot
        The robot, checked.

    Raises
    ------
    BddTorqueError
        The file is wrong; one line says what and where.
    """
    return from_toml(read_text(path, LARGEST_TOML, "a robot file"), one_line(str(path)), Path(path).parent, frame)


def from_toml(text: str, where: str = "TOML text", directory: Path | None = None, frame: str | None = None) -> Robot:
    """Return the robot that a TOML text describes.

    `where` begins every error; files of samples are found from `directory`; `frame` is as in `load_toml`.
    """
    values = toml_values(text, where)
    # numbers too large overflow to infinity, which is refused by name
    with refusals_in(where), np.errstate(all="ignore"):
        return _robot(TomlTable(values, where), directory, frame)


def _robot(table: TomlTable, directory: Path | None, frame: str | None) -> Robot:
    table.only(*_ROBOT_KEYS)
    joints = table.tables("joint")
    forms = {"dh" in joint for joint in joints}
    if len(forms) > 1:
        raise BddTorqueError(f"{table.where}: either all joints have 'dh' or none, here some have it")
    segments, tail = list[Segment](), identity()
    tails = {BASE: tail}
    for index, joint in enumerate(joints, start=1):
        name = joint.read("name", name_of, f"joint{index}")
        joint.where = f"{joint.where} '{name}'"  # known from here on by number and name
        parent = _parent(joint, tails, segments[-1].joint.name if segments else BASE)
        segment, tail = _segment(name, joint, parent, tails[parent], directory)
        segments.append(segment)
        tails[name] = tail
    tip_parent = None
    if frame is not None:
        tip_parent = _carrier(segments, frame, table.where)
        tip = tails[tip_parent]
    elif "tip" in table:
        given = table.table("tip")
        if "parent" in given:
            tip_parent = _parent(given, tails, BASE)
        tip = (tail if tip_parent is None else tails[tip_parent]) @ _pose(given, "parent")
    else:
        tip = tail
    return build_robot(
        table.read("name", name_of),
        segments,
        tip,
        tip_parent=tip_parent,
        gravity=table.read("gravity", vector, STANDARD_GRAVITY),
        payload=_body(table.table("payload"), "payload") if "payload" in table else None,
        source=table.read("source", lambda given, where: of_type(given, str, where), ""),
        allow_unphysical=table.read("allow_unphysical", lambda given, where: of_type(given, bool, where), False),
    )


def _parent(joint: TomlTable, known: Collection[str], before: str) -> str:
    """Return the joint that carries another: the one named, which stands above it, or the one before."""
    if "parent" not in joint:
        return before
    name = joint.read("parent", name_of)
    if name == "base" and name not in known:
        return BASE
    if name not in known:
        named = [*(each for each in known if each != BASE), "base"]
        raise BddTorqueError(
            f"{joint.where}: parent: {unknown('joint', name, named)} (a parent must come before its children)"
        )
    return name


def _carrier(segments: list[Segment], link: str, where: str) -> str:
    """Return the joint that carries a link."""
    carriers = {segment.body.name: segment.joint.name for segment in segments}
    if link not in carriers:
        raise BddTorqueError(f"{where}: frame: {unknown('link', link, carriers)}")
    return carriers[link]


def _mimic(joint: TomlTable) -> Mimic | None:
    if "mimic" not in joint:
        return None
    table = joint.table("mimic")
    table.only("joint", "multiplier", "offset")
    return Mimic(table.read("joint", name_of), table.read("multiplier", real, 1.0), table.read("offset", angle, 0.0))


def _segment(name: str, joint: TomlTable, parent: str, tail: Pose, directory: Path | None) -> tuple[Segment, Pose]:
    """Return a segment, and the link's frame in the segment's (the tail), where the next one starts."""
    kind = _kind(joint)
    origin, axis, tail = _dh_row(joint, kind, tail) if "dh" in joint else _explicit(joint)
    body = moved(_body(joint.table("link"), f"{name} link"), tail)
    friction = None
    if "friction" in joint:
        friction = joint_friction(joint.take("friction"), f"{joint.where}, friction", directory)
    limits = _limits(joint, kind)
    moving = Joint(name, kind, rotor_inertia=_rotor(joint), friction=friction, parent=parent, **limits)
    return Segment(moving, origin, axis, body, _mimic(joint)), tail


def _kind(joint: TomlTable) -> JointKind:
    """Return the kind of a joint, with the keys that joints of its kind have."""
    name = joint.read("type", lambda given, where: choice(given, tuple(JOINT_KINDS), where))
    keys = tuple(JOINT_KINDS[name].readers())
    joint.only(*_JOINT_KEYS, *keys)
    return joint_kind(name, joint.where, {key: joint.take(key) for key in keys})


def _dh_row(joint: TomlTable, kind: JointKind, tail: Pose) -> tuple[Pose, Array, Pose]:
    """Return origin and axis of a standard DH row, and O_i in its frame.

    The row is Rz(theta)·Tz(d)·Tx(a)·Rx(alpha). What does not move, whichever of theta and d that is, and the offset
    of what does, go before the joint: they commute with the motion, and offsets nearer to the base cost less.
    """
    joint.exclusive("dh", "origin", "axis")
    row = joint.table("dh")
    row.only("a", "alpha", "d", "theta")
    theta = row.read("theta", angle, 0.0 if kind.turns else ...)
    d = row.read("d", real, ... if kind.turns else 0.0)
    before = Pose(rotation_z(theta), np.array([0.0, 0.0, d]))
    after = Pose(rotation_x(row.read("alpha", angle)), np.array([row.read("a", real), 0.0, 0.0]))
    return tail @ before, np.array([0.0, 0.0, 1.0]), after


def _explicit(joint: TomlTable) -> tuple[Pose, Array, Pose]:
    """Return origin and axis of a joint given by them; the link's frame is the segment's."""
    origin = _pose(joint.table("origin")) if "origin" in joint else identity()
    axis = unit(np.array(joint.read("axis", vector, (0.0, 0.0, 1.0))), 0.0)
    if axis is None:
        raise BddTorqueError(f"{joint.where}: axis must have a direction, got [0, 0, 0]")
    return origin, axis, identity()


def _pose(table: TomlTable, *more: str) -> Pose:
    table.only("xyz", "rpy", "rotation", *more)
    table.exclusive("rpy", "rotation")
    rotation = np.eye(3)
    if "rpy" in table:
        rotation = rotation_rpy(table.numbers("rpy", 3, angle))
    elif "rotation" in table:
        rotation = np.array(rotation_matrix(table.take("rotation"), table.where))
    return Pose(rotation, np.array(table.read("xyz", vector, ZERO)))


def _body(table: TomlTable, name: str) -> Link:
    table.only(*_LINK_KEYS)
    # All three are required: a default would be a torque that nobody asked for.
    mass, centre, inertia = table.read("mass", real), table.read("centre_of_mass", vector), _inertia(table)
    return Link(table.read("name", name_of, name), mass, centre, inertia)


def _inertia(table: TomlTable) -> Matrix:
    """Return an inertia given as three principal moments or as a matrix; six numbers have no agreed order."""
    given = table.take("inertia")
    if isinstance(given, list) and len(given) == 3 and isinstance(given[0], list):
        rows = np.array(inertia := table.read("inertia", matrix))
        if np.abs(rows - rows.T).max() > PHYSICAL_TOLERANCE * np.abs(rows).max():  # whatever else is allowed
            raise BddTorqueError(f"{table.where}: inertia must be symmetric, got {rows.tolist()}")
        return inertia
    if not isinstance(given, list) or len(given) != 3:
        raise BddTorqueError(f"{table.where}: inertia must be [Ixx, Iyy, Izz] or 3 rows of 3, got {describe(given)}")
    x, y, z = table.numbers("inertia", 3)
    return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)


def _limits(joint: TomlTable, kind: JointKind) -> dict[str, Any]:
    if "limits" not in joint:
        return {}
    table = joint.table("limits")
    table.only(*_LIMIT_KEYS)
    read = partial(measure, turns=kind.turns)
    limits: dict[str, Any] = {
        key: table.read(key, partial(read, quantity="torque" if key == "effort" else key))
        for key in _LIMIT_KEYS[1:]
        if key in table
    }
    if "position" in table:
        limits["lower"], limits["upper"] = table.numbers("position", 2, partial(read, quantity="position"))
    return limits


def _rotor(joint: TomlTable) -> float:
    """Return the drive's inertia at the joint: as given, or the motor's times the gear ratio squared."""
    joint.exclusive("rotor_inertia", "motor_inertia", "gear_ratio")
    if "motor_inertia" in joint or "gear_ratio" in joint:
        motor, ratio = joint.read("motor_inertia", real), joint.read("gear_ratio", real)
        return real(motor, f"{joint.where}: motor_inertia", low=0) * ratio * ratio
    return joint.read("rotor_inertia", real, 0.0)
