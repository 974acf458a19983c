"""Robots from URDF. What is read, folded and refused is documented in docs/robots.md.

A file goes through a strict check (`urdf_xml`), then becomes a tree (`urdf_tree`), in which the joints that move are
chosen and all that is rigid is folded (`urdf_chain`, `tree_robot`), as for robots from anywhere else. xacro is expanded
first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf, isnan, nan
from os import PathLike
from pathlib import Path
from typing import TypeVar, Unpack
from xml.etree import ElementTree

import numpy as np

from bddtorque.base.errors import BddTorqueError, one_line, refusals_in
from bddtorque.base.files import read_whole
from bddtorque.base.plain import decimal
from bddtorque.robots.frames import Pose, rotation_quaternion, rotation_rpy, snap_rotation, unit
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.segments import Mimic, as_matrix, moved
from bddtorque.robots.tree_robot import TreeOptions, check_options, refuse_xacro_args, robot_of_tree, snap_of
from bddtorque.robots.urdf_tree import UNLIMITED, URDF_KINDS, Tree, UrdfJoint
from bddtorque.robots.urdf_xml import MOMENTS, checked_xml, resembling
from bddtorque.robots.xacro_expansion import XacroArguments, expanded_xacro
from bddtorque.words.friction import Friction

Value = TypeVar("Value")
_LARGEST = ("velocity", "effort", "acceleration", "deceleration")
NO_LIMIT = 1e5
"""rad or m: exporters write 1e16 for none."""
LARGEST_FILE = 10_000_000
"""Bytes. The largest arms in use take well below a megabyte; more is a mistake or an attack."""


def load_urdf(path: str | PathLike[str], **options: Unpack[TreeOptions]) -> Robot:
    """Return the chain or tree that a URDF file describes.

    Parameters
    ----------
    path
        A URDF file, or a xacro file, which is expanded first (this needs xacrodoc:
        ``pip install "bddtorque[xacro]"``).
    **options
        `TreeOptions`: base, tip, lock and so on.

    Returns
    -------
    Robot
        The robot, checked.

    Raises
    ------
    BddTorqueError
        The file is wrong; one line says what and where.
    """
    where = one_line(str(path))
    check_options(options)
    data = urdf_data(Path(path), where, options.pop("xacro_args", None))
    robot = from_urdf(data, where, **options)
    return replace(robot, source=f"URDF {one_line(Path(path).name)}")  # wherever the file lies, the robot is the same


def from_urdf(text: str | bytes, where: str = "URDF text", **options: Unpack[TreeOptions]) -> Robot:
    """Return the chain or tree that a URDF text describes; `where` begins every error, the rest as in `load_urdf`."""
    check_options(options)
    data = text.encode("utf-8") if isinstance(text, str) else text
    # numbers too large overflow to infinity, which is refused by name
    with refusals_in(where), np.errstate(all="ignore"):
        snap = snap_of(options, where)
        return robot_of_tree(urdf_tree(data, where, snap), f"URDF {where}", options)


def urdf_data(path: Path, where: str, xacro_args: XacroArguments | None) -> bytes:
    """Return the bytes of a URDF file; xacro is expanded."""
    data = read_whole(path, LARGEST_FILE, "a robot file")
    if where.endswith(".xacro"):
        return expanded_xacro(path, where, xacro_args)
    refuse_xacro_args({"xacro_args": xacro_args}, where)
    return data


def urdf_tree(data: bytes, where: str, snap: float, faults: list[str] | None = None) -> Tree:
    """Return what a URDF states as a tree of links and joints; `faults` as for `checked_xml`."""
    root = checked_xml(data, where, faults)
    links = _each(root, "link", partial(_link, where=where), faults)
    joints = _each(root, "joint", partial(_joint, where=where, snap=snap), faults)
    return Tree(root.attrib["name"], links, joints, where)


def _each(
    root: ElementTree.Element, tag: str, read: Callable[[ElementTree.Element], Value], faults: list[str] | None
) -> dict[str, Value]:
    """Return what is read of all elements of a kind, by name."""
    found = {}
    for element in root.iterfind(tag):
        try:
            found[element.attrib["name"]] = read(element)
        except BddTorqueError as fault:
            if faults is None:
                raise
            faults.append(str(fault))
    return found


def _link(link: ElementTree.Element, where: str) -> Link | None:
    """Return the body of a link in the link's axes, or None where it has no inertial."""
    inertial = link.find("inertial")
    if inertial is None:
        return None
    xx, xy, xz, yy, yz, zz = (_number(inertial, "inertia", moment, 0.0) for moment in MOMENTS)
    moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    name = link.attrib["name"]
    try:
        body = Link(name, _number(inertial, "mass", "value", 0.0), inertia=as_matrix(moments, f"link '{name}'"))
        return moved(body.without_noise(), _pose(inertial, 0.0))
    except BddTorqueError as error:
        raise BddTorqueError(f"{where}, {error}") from None


def _joint(joint: ElementTree.Element, where: str, snap: float) -> UrdfJoint:
    name, kind = joint.attrib["name"], joint.attrib["type"]
    axis, motion = None, URDF_KINDS[kind]() if kind in URDF_KINDS else None
    if motion is not None:
        axis = unit(np.array(_numbers(joint, "axis", "xyz", "1 0 0")), snap)
        if axis is None:
            raise BddTorqueError(f"{where}, joint '{name}': axis must have a direction, got '0 0 0'")
    mimic, follows = None, joint.find("mimic")
    if follows is not None:
        multiplier, offset = _number(joint, "mimic", "multiplier", 1.0), _number(joint, "mimic", "offset", 0.0)
        mimic = Mimic(follows.attrib["joint"], multiplier, offset)
    parent, child = (joint.find(end).attrib["link"] for end in ("parent", "child"))  # type: ignore[union-attr]
    limits, fault = _limits(joint)
    friction, ignored = _friction(joint)
    return UrdfJoint(
        name, kind, parent, child, _pose(joint, snap), axis, limits, fault, friction, mimic, motion=motion,
        ignored=ignored,
    )  # fmt: skip


def _numbers(parent: ElementTree.Element, tag: str, attribute: str, default: str) -> list[float]:
    """Return the numbers of an attribute of a child, checked before; `default` where there is none."""
    element = parent.find(tag)
    return [float(word) for word in (default if element is None else element.get(attribute, default)).split()]


def _number(parent: ElementTree.Element, tag: str, attribute: str, default: float) -> float:
    return _numbers(parent, tag, attribute, repr(default))[0]


def _pose(parent: ElementTree.Element, snap: float) -> Pose:
    """Return an ``<origin>``, the identity where there is none."""
    x, y, z, w = _numbers(parent, "origin", "quat_xyzw", "0 0 0 0")
    turned = any((x, y, z, w))  # by a quaternion, as URDF 1.1 can say
    rotation = rotation_quaternion(w, x, y, z) if turned else rotation_rpy(_numbers(parent, "origin", "rpy", "0 0 0"))
    return Pose(snap_rotation(rotation, snap), np.array(_numbers(parent, "origin", "xyz", "0 0 0")))


def _limits(joint: ElementTree.Element) -> tuple[dict[str, float], str]:
    """Return the limits, and what is wrong with them; where something is, there are none."""
    kind = joint.attrib["type"]
    lower, upper = (_number(joint, "limit", end, nan) for end in ("lower", "upper"))
    largest = {key: _number(joint, "limit", key, 0.0) for key in _LARGEST}
    for key, value in largest.items():
        if value < 0:
            return {}, f"limit: {key} must be at least 0, got {value}"
    # a joint speeds up by its acceleration and slows down by its deceleration, if that differs (URDF 1.2)
    largest["acceleration"] = max(largest["acceleration"], largest.pop("deceleration"))
    # Zero is what exporters write for unknown. Of positions too: no torque depends on their limits.
    known = {key: value or inf for key, value in largest.items()}
    unlimited = kind not in URDF_KINDS or kind == UNLIMITED
    if unlimited or isnan(lower) or isnan(upper) or lower == upper == 0.0 or min(-lower, upper) >= NO_LIMIT:
        return known, ""
    if not lower < upper:
        turns = URDF_KINDS[kind] is URDF_KINDS[UNLIMITED]
        other = f"; a joint without limits has the type '{UNLIMITED}'" if turns else ""
        return {}, f"limit: lower must be below upper, got {lower} and {upper}{other}"
    return known | {"lower": lower, "upper": upper}, ""


def _friction(joint: ElementTree.Element) -> tuple[Friction | str | None, tuple[str, ...]]:
    """Return the law of ``<dynamics>``: damping is viscous friction, friction that of Coulomb; or what is wrong.

    Attributes that vendors have of their own are ignored, as by other readers of URDF, and returned with their values;
    misspelt ones are wrong.
    """
    dynamics = joint.find("dynamics")
    said = {} if dynamics is None else {key: each for key, each in dynamics.attrib.items() if decimal(each) != 0.0}
    numbers, ignored = {"damping": 0.0, "friction": 0.0}, []
    for key, value in said.items():
        number, right = decimal(value), resembling(key, tuple(numbers))
        wrong = f"{key} must be at least 0, got {one_line(value, 40)!r}" if number is None or number < 0 else ""
        if key not in numbers:
            wrong = f"unknown attribute {key!r:.60}; did you mean '{right}'?" if right else ""
        if wrong:
            return f"{wrong} (ignore_friction=True leaves <dynamics> out)", ()
        if key in numbers:
            numbers[key] = number or 0.0
        else:
            ignored.append(f"{one_line(key, 40)}={one_line(value, 40)}")
    return Friction(numbers["damping"], numbers["friction"]) if any(numbers.values()) else None, tuple(ignored)
