"""Robots from URDF. What is read, folded and refused is documented in docs/robots.md.

A file goes through a strict check (`urdf_xml`), then through the URDF library, then becomes a tree (`urdf_tree`) in
which a chain is chosen and all that is rigid is folded (`urdf_chain`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots.frames import Pose, identity, snap_rotation, times, unit
from bddtorque.robots.robot import STANDARD_GRAVITY, Link, Robot, Vector, vector
from bddtorque.robots.robot_files import read_bytes, shown
from bddtorque.robots.segments import Limits, as_matrix, build_robot, moved
from bddtorque.robots.urdf_chain import Choice, Lock, choose, pose_in_root, segments
from bddtorque.robots.urdf_tree import MOVING, Mimic, Tree, UrdfJoint
from bddtorque.robots.urdf_xml import checked_xml, decimal

LARGEST_SNAP = 1e-3


def load_urdf(
    path: str | PathLike[str],
    *,
    base: str | None = None,
    tip: str | None = None,
    lock: Lock = None,
    gravity: Sequence[float] | None = None,
    snap: float = 1e-9,
    ignore_friction: bool = False,
    allow_massless: bool = False,
    allow_unphysical: bool = False,
) -> Robot:
    """Return the serial chain that a URDF file describes.

    Parameters
    ----------
    path : str or path
        A URDF file; xacro files must be expanded first.
    base, tip : str, optional
        Links between which the chain lies. `base` is held still; it is the root of the tree unless given. `tip` is
        found unless given, if there is only one chain.
    lock : dict or "others", optional
        Joints to hold still, by name, with their positions in rad or m; their bodies are folded there. "others" holds
        every joint off the chain at zero. Joints that mimic a locked one follow it.
    gravity : sequence of 3 floats, optional
        m/s² in the axes of `base`. Else 9.81 along -z of the root.
    snap : float
        Rotations that carry a coordinate axis onto another to within this are made exact; 0 leaves all as they are.
    ignore_friction : bool
        Accept ``<dynamics>`` with damping or friction and leave it out of the torques.
    allow_massless : bool
        Accept moving bodies without an inertial, or with one of zero.
    allow_unphysical : bool
        Accept inertias that no rigid body has.

    Raises
    ------
    BddTorqueError
        One line that says what was required, what was given, and where.
    """
    where = shown(path)
    if where.endswith(".xacro"):
        raise BddTorqueError(f"{where}: URDF required, xacro given; run `xacro {where} > robot.urdf` and load that")
    robot = from_urdf(
        read_bytes(path),
        where,
        base=base,
        tip=tip,
        lock=lock,
        gravity=gravity,
        snap=snap,
        ignore_friction=ignore_friction,
        allow_massless=allow_massless,
        allow_unphysical=allow_unphysical,
    )
    return replace(robot, source=f"URDF {shown(Path(path).name)}")  # wherever the file lies, the robot is the same


def from_urdf(
    text: str | bytes,
    where: str = "URDF text",
    *,
    base: str | None = None,
    tip: str | None = None,
    lock: Lock = None,
    gravity: Sequence[float] | None = None,
    snap: float = 1e-9,
    ignore_friction: bool = False,
    allow_massless: bool = False,
    allow_unphysical: bool = False,
) -> Robot:
    """Return the serial chain that a URDF text describes; `where` begins every error, the rest as in `load_urdf`."""
    if not isinstance(snap, int | float) or not 0.0 <= snap <= LARGEST_SNAP:
        raise BddTorqueError(f"{where}: snap from 0 to {LARGEST_SNAP} required, {snap!r} given")
    data = text.encode("utf-8") if isinstance(text, str) else text
    with np.errstate(all="ignore"):  # numbers too large overflow to infinity, which is refused by name
        tree = _tree(checked_xml(data, where), where, snap)
        base = tree.root if base is None else tree.link(base, "base")
        choice = choose(tree, base, None if tip is None else tree.link(tip, "tip"), lock)
        try:
            found, tip_pose = segments(choice, allow_massless=allow_massless, ignore_friction=ignore_friction)
            if not allow_unphysical:
                _refuse_unphysical_parts(tree, choice.chain[0].child)
            return build_robot(
                tree.name,
                found,
                tip_pose,
                _gravity(choice, base, gravity, snap),
                source=f"URDF {where}",
                allow_unphysical=allow_unphysical,
                snap=snap,
            )
        except BddTorqueError as error:
            message = str(error)
            # What the model itself refuses names link and joint, but cannot know the file.
            raise BddTorqueError(message if message.startswith(where) else f"{where}: {message}") from None


def _tree(root: ElementTree.Element, where: str, snap: float) -> Tree:
    """Read the checked elements with the URDF library and keep what matters here."""
    try:
        from yourdfpy import URDF  # noqa: PLC0415 (an extra, and slow to import: only when a URDF is read)
    except ImportError:
        raise BddTorqueError(
            f"{where}: the package yourdfpy required to read URDF, not installed; run: pip install 'bddtorque[urdf]'"
        ) from None
    file = BytesIO(ElementTree.tostring(root, encoding="utf-8"))
    try:
        robot = URDF.load(file, build_scene_graph=False, load_meshes=False).robot
    except Exception as problem:  # it has no exception of its own; what it is given was checked
        raise BddTorqueError(f"{where}: a file that yourdfpy reads required, {shown(repr(problem))}") from None
    for kind, found in (("link", robot.links), ("joint", robot.joints)):
        if [each.name for each in found] != [element.get("name") for element in root.iter(kind)]:
            raise BddTorqueError(f"{where}: every {kind} read by yourdfpy required, it found others")
    # The library does not know this attribute, which came later to URDF.
    accelerations = {
        element.get("name"): decimal(limit.get("acceleration", ""))
        for element in root.iter("joint")
        for limit in element.iter("limit")
    }
    extras = {element.get("name"): _friction(element) for element in root.iter("joint")}
    links = {link.name: _link(link, where) for link in robot.links}
    joints = {
        joint.name: _joint(joint, where, snap, accelerations.get(joint.name), extras[joint.name])
        for joint in robot.joints
    }
    return Tree(robot.name, links, joints, where)


def _link(link: Any, where: str) -> Link | None:
    """Return the body of a link in the link's axes, or None where it has no inertial."""
    if link.inertial is None:
        return None
    try:
        body = Link(link.name, link.inertial.mass, inertia=as_matrix(link.inertial.inertia, f"link '{link.name}'"))
        return moved(body, _pose(link.inertial.origin, 0.0))
    except BddTorqueError as error:
        raise BddTorqueError(f"{where}, {error}") from None


def _joint(
    joint: Any, where: str, snap: float, acceleration: float | None, friction: tuple[tuple[str, str], ...]
) -> UrdfJoint:
    here = f"{where}, joint '{joint.name}'"
    axis = None
    if joint.type in MOVING:
        axis = unit(np.array(joint.axis, dtype=np.float64), snap)
        if axis is None:
            raise BddTorqueError(f"{here}: axis: a direction required, zero given")
    mimic = None
    if joint.mimic is not None:
        mimic = Mimic(joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
    origin = _pose(joint.origin, snap)
    limits, fault = _limits(joint, acceleration)
    return UrdfJoint(joint.name, joint.type, joint.parent, joint.child, origin, axis, limits, fault, friction, mimic)


def _pose(origin: Any, snap: float) -> Pose:
    """Return an ``<origin>``, the identity where there is none."""
    if origin is None:
        return identity()
    homogeneous = np.array(origin, dtype=np.float64)
    return Pose(snap_rotation(homogeneous[:3, :3], snap), homogeneous[:3, 3])


def _limits(joint: Any, acceleration: float | None) -> tuple[Limits, str]:
    """Return the limits, and what is wrong with them; where something is, there are none."""
    limit = joint.limit
    positions = joint.type in ("revolute", "prismatic")
    other = " (a joint without is of type 'continuous')" if joint.type == "revolute" else ""
    if limit is None or (positions and (limit.lower is None or limit.upper is None)):
        fault = f"a <limit> with lower and upper required, not given{other}" if positions else ""
        return Limits(), fault
    largest = {"velocity": limit.velocity, "effort": limit.effort, "acceleration": acceleration}
    for key, value in largest.items():
        if value is not None and value < 0:
            return Limits(), f"limit: {key} at least 0 required, {value} given"
    # Zero is what exporters write for unknown.
    known = {key: value if value else inf for key, value in largest.items()}
    if not positions:
        return Limits(**known), ""
    if not limit.lower < limit.upper:
        return Limits(), f"limit: lower below upper required{other}, {limit.lower} and {limit.upper} given"
    return Limits(limit.lower, limit.upper, **known), ""


def _friction(joint: ElementTree.Element) -> tuple[tuple[str, str], ...]:
    """Return what ``<dynamics>`` says that is not zero, whatever its name: vendors have their own."""
    dynamics = joint.find("dynamics")
    attributes = {} if dynamics is None else dynamics.attrib
    return tuple((shown(key, 40), shown(value, 40)) for key, value in attributes.items() if decimal(value) != 0.0)


def _gravity(choice: Choice, base: str, given: Sequence[float] | None, snap: float) -> Vector:
    """Return gravity in base axes: as given, or that of the root turned into them."""
    tree = choice.tree
    if given is not None:
        return vector(given, f"{tree.where}: gravity")
    pose = pose_in_root(choice, base)
    if isinstance(pose, str):
        raise BddTorqueError(
            f"{tree.where}: gravity in the axes of base '{base}' required, as joint '{pose}' between it and root "
            f"'{tree.root}' moves; give gravity, or lock the joint"
        )
    turned = times(snap_rotation(pose.rotation, snap).T, np.array(STANDARD_GRAVITY))
    return vector((turned + 0.0).tolist(), "gravity")  # + 0.0: no negative zeros


def _refuse_unphysical_parts(tree: Tree, first_moving: str) -> None:
    """Refuse an impossible inertia of any moving link, which folding into a heavier body would hide."""
    for name in tree.below(first_moving):
        body = tree.links[name]
        missing = body.why_unphysical() if body is not None else None
        if missing:
            raise BddTorqueError(
                f"{tree.where}, link '{name}': {missing} required (allow_unphysical accepts it as it is)"
            )
