"""`load_robot`: a built-in name, a file of TOML, URDF, xacro or MJCF, a model of MuJoCo or pinocchio."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from bddtorque.base.errors import BddTorqueError, nearest, one_line
from bddtorque.base.files import read_whole
from bddtorque.base.plain import describe
from bddtorque.robots.frames import Pose
from bddtorque.robots.mujoco_reader import from_mujoco, load_mjcf, mjcf_model, mujoco_tree
from bddtorque.robots.pinocchio_reader import from_pinocchio, pinocchio_tree
from bddtorque.robots.robot import Robot
from bddtorque.robots.segments import Mimic
from bddtorque.robots.toml_reader import from_toml, load_toml
from bddtorque.robots.tree_robot import TreeOptions, check_options
from bddtorque.robots.urdf_reader import LARGEST_FILE, load_urdf, urdf_data, urdf_tree
from bddtorque.robots.urdf_tree import Tree, UrdfJoint
from bddtorque.robots.xacro_expansion import XacroArguments

RobotLike = str | PathLike[str] | Robot | Any
"""Arguments that `load_robot` takes; any: a `mujoco.MjModel` or a `pinocchio.Model`."""
_MODELS = {("mujoco", "MjModel"): from_mujoco, ("pinocchio", "Model"): from_pinocchio}
"""Readers of other packages' objects, by package and class: who has none of them need not have these packages."""
_BUILTIN = files("bddtorque.robots") / "builtin"
_URDF_SUFFIXES, _MJCF_SUFFIXES = (".urdf", ".xml", ".xacro"), (".mjcf",)
_MUJOCO = re.compile(rb"<mujoco(?:inc\w*)?[\s/>]")


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in robots, sorted."""
    return tuple(sorted(entry.name[:-5] for entry in _BUILTIN.iterdir() if entry.name.endswith(".toml")))


def load_robot(robot: RobotLike, **urdf_options: Unpack[TreeOptions]) -> Robot:
    """Return a robot by built-in name, from a file, or from a MuJoCo or pinocchio model.

    Parameters
    ----------
    robot
        A built-in name (`bddtorque robots` lists them); a file ending in .toml, .urdf, .xacro or .xml (MJCF or URDF);
        a `mujoco.MjModel` or `pinocchio.Model`; or a `Robot`, which is returned unchanged.
    **urdf_options
        `base`, `tip`, `lock` and the other `TreeOptions`. Built-in robots and TOML files take only `frame`, a `Robot`
        takes none.

    Returns
    -------
    Robot
        The robot, checked.

    Raises
    ------
    BddTorqueError
        The name is unknown, or the file is wrong.

    Examples
    --------
    >>> import bddtorque as bt
    >>> bt.load_robot("ur5").degrees_of_freedom
    6
    """
    check_options(urdf_options)
    if isinstance(robot, Robot):
        _refuse_options(urdf_options, f"robot '{robot.name}'")
        return robot
    if not isinstance(robot, str | PathLike):
        reader = model_reader(robot)
        if reader is None:
            raise BddTorqueError(f"robot must be a name, a file or a Robot, got {describe(robot)}")
        read: Robot = reader(robot, **urdf_options)
        return read
    if isinstance(robot, str) and robot in builtin_names():
        return _builtin(robot, _only_frame(urdf_options, f"built-in robot '{robot}'"))
    path = Path(robot)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        return load_toml(path, _only_frame(urdf_options, one_line(str(path))))
    if suffix in _MJCF_SUFFIXES or (suffix == ".xml" and _is_mjcf(path)):
        return load_mjcf(path, **urdf_options)
    if suffix in _URDF_SUFFIXES:
        return load_urdf(path, **urdf_options)
    hint = (
        nearest(str(robot), builtin_names())
        or f"; known: {', '.join(builtin_names())}, or a .toml, .urdf, .xacro or .xml file"
    )
    raise BddTorqueError(f"unknown robot '{one_line(str(robot))}'{hint}")


def model_reader(robot: object) -> Callable[..., Robot] | None:
    """Return what reads an object of another package, or None for anything else."""
    kind = type(robot)
    return _MODELS.get((kind.__module__.partition(".")[0], kind.__name__))


def _is_mjcf(path: Path) -> bool:
    """Tell if an XML file is MuJoCo's, by its first element."""
    data = read_whole(path, LARGEST_FILE, "a robot file")
    found, urdf = _MUJOCO.search(data), data.find(b"<robot")
    return found is not None and not 0 <= urdf < found.start()


@cache
def _builtin(name: str, frame: str | None) -> Robot:
    return from_toml((_BUILTIN / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml", frame=frame)


def _only_frame(options: TreeOptions, where: str) -> str | None:
    """Return the one option that every file takes; refuse others."""
    _refuse_options({name: value for name, value in options.items() if name != "frame"}, where)
    return options.get("frame")


def _refuse_options(options: Mapping[str, Any], where: str) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        only = {"frame": "files and models", "xacro_args": ".xacro files"}.get(
            given[0], "URDF and MJCF files and models"
        )
        raise BddTorqueError(f"{where}: {', '.join(given)} {'is' if len(given) == 1 else 'are'} for {only} only")


def stated_tree(robot: RobotLike, xacro_args: XacroArguments | None = None, faults: list[str] | None = None) -> Tree:
    """Return the links and joints of a robot as its file or model states them: nothing folded, snapped or refused.

    Links and joints that make no sense are left out, with `faults`, to which what is wrong with them is added.
    """
    reader = model_reader(robot)
    if reader is not None:
        return mujoco_tree(robot, "MjModel", 0.0) if reader is from_mujoco else pinocchio_tree(robot, "model", 0.0)
    path = Path(robot) if isinstance(robot, str | PathLike) else Path()
    suffix, where = path.suffix.lower(), one_line(str(path))
    if suffix in _MJCF_SUFFIXES or (suffix == ".xml" and _is_mjcf(path)):
        return mujoco_tree(mjcf_model(path, where), where, 0.0)
    if suffix in _URDF_SUFFIXES:
        return urdf_tree(urdf_data(path, where, xacro_args), where, 0.0, faults)
    return _tree_of(load_robot(robot))


def _tree_of(robot: Robot) -> Tree:
    """Return a robot as a tree whose links are named after the joints that carry them."""
    members, driven = robot.members, robot.joint_names
    links = {"base": None} | {member.joint.name: member.link for member in members}
    joints = {}
    for member in members:
        joint, carrier = member.joint, members[member.parent].joint.name if member.parent >= 0 else "base"
        mimic = None
        if joint.name != driven[member.drive]:
            mimic = Mimic(driven[member.drive], member.multiplier, member.offset)
        limits = {name: getattr(joint, name) for name in ("lower", "upper", "velocity", "acceleration", "effort")}
        pose = Pose(np.array(joint.rotation), np.array(joint.translation))
        joints[joint.name] = UrdfJoint(
            joint.name, str(joint.kind), carrier, joint.name, pose, np.array([0.0, 0.0, 1.0]), limits, mimic=mimic,
            rotor_inertia=joint.rotor_inertia, motion=joint.kind,
        )  # fmt: skip
    return Tree(robot.name, links, joints, f"robot '{robot.name}'")
