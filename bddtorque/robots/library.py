"""`load_robot`: a built-in name, a TOML file or a URDF file, whichever it is."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Unpack

from bddtorque.base.errors import BddTorqueError, nearest, one_line
from bddtorque.base.plain import describe
from bddtorque.robots.robot import Robot
from bddtorque.robots.toml_reader import from_toml, load_toml
from bddtorque.robots.urdf_reader import UrdfOptions, check_options, load_urdf

RobotLike = str | PathLike[str] | Robot
"""What `load_robot` takes."""
_BUILTIN = files("bddtorque.robots") / "builtin"
_URDF_SUFFIXES = (".urdf", ".xml", ".xacro")  # the reader says what to do with xacro


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in robots, sorted."""
    return tuple(sorted(entry.name[:-5] for entry in _BUILTIN.iterdir() if entry.name.endswith(".toml")))


def load_robot(robot: RobotLike, **urdf_options: Unpack[UrdfOptions]) -> Robot:
    """Return a robot by the name of a built-in one, or from a TOML or URDF file.

    Parameters
    ----------
    robot : str, path or Robot
        A name from `builtin_names()`, a file ending in .toml or .urdf, or a `Robot`, which is returned as it is.
    **urdf_options
        `base`, `tip`, `lock` and the other options of `load_urdf`; only for URDF files.

    Raises
    ------
    BddTorqueError
        One line that says what was expected, what was found, and where.
    """
    check_options(urdf_options)
    if isinstance(robot, Robot):
        _refuse_options(urdf_options, f"robot '{robot.name}'")
        return robot
    if not isinstance(robot, str | PathLike):
        raise BddTorqueError(f"robot must be a name, a file or a Robot, got {describe(robot)}")
    if isinstance(robot, str) and robot in builtin_names():
        _refuse_options(urdf_options, f"built-in robot '{robot}'")
        return _builtin(robot)
    path = Path(robot)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        _refuse_options(urdf_options, one_line(str(path)))
        return load_toml(path)
    if suffix in _URDF_SUFFIXES:
        return load_urdf(path, **urdf_options)
    hint = nearest(str(robot), builtin_names()) or f"; known: {', '.join(builtin_names())}, or a .toml or .urdf file"
    raise BddTorqueError(f"unknown robot '{one_line(str(robot))}'{hint}")


@cache
def _builtin(name: str) -> Robot:
    return from_toml((_BUILTIN / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")


def _refuse_options(options: UrdfOptions, where: str) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise BddTorqueError(f"{where}: {', '.join(given)} {'is' if len(given) == 1 else 'are'} for URDF files only")
