"""`load_robot`: a built-in name, a TOML file or a URDF file, whichever it is."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.robots.robot import Robot
from bddtorque.robots.robot_files import shown
from bddtorque.robots.toml_reader import from_toml, load_toml
from bddtorque.robots.urdf_reader import load_urdf

_BUILTIN = files("bddtorque.robots") / "builtin"
_URDF_SUFFIXES = (".urdf", ".xml", ".xacro")  # the reader says what to do with xacro


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in robots, sorted."""
    return tuple(sorted(entry.name[:-5] for entry in _BUILTIN.iterdir() if entry.name.endswith(".toml")))


def load_robot(robot: str | PathLike[str] | Robot, **urdf_options: Any) -> Robot:
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
        One line that says what was required, what was given, and where.
    """
    if isinstance(robot, Robot):
        _refuse_options(urdf_options, f"robot '{robot.name}'")
        return robot
    if not isinstance(robot, str | PathLike):
        raise BddTorqueError(f"a robot's name, a file or a Robot required, {shown(repr(robot), 60)} given")
    if isinstance(robot, str) and robot in builtin_names():
        _refuse_options(urdf_options, f"built-in robot '{robot}'")
        return _builtin(robot)
    path = Path(robot)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        _refuse_options(urdf_options, shown(path))
        return load_toml(path)
    if suffix in _URDF_SUFFIXES:
        return load_urdf(path, **_known_options(urdf_options, shown(path)))
    names = ", ".join(builtin_names())
    raise BddTorqueError(
        f"unknown robot '{shown(robot)}'{nearest(str(robot), builtin_names())}; "
        f"a .toml or .urdf file required, or one of {names}"
    )


@cache
def _builtin(name: str) -> Robot:
    return from_toml((_BUILTIN / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")


def _refuse_options(options: dict[str, Any], where: str) -> None:
    if options:
        verb = "is" if len(options) == 1 else "are"
        raise BddTorqueError(f"{where}: {', '.join(options)} {verb} for URDF files only")


def _known_options(options: dict[str, Any], where: str) -> dict[str, Any]:
    parameters = signature(load_urdf).parameters.values()
    known = [parameter.name for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise BddTorqueError(
                f"{where}: unknown option '{option}'{nearest(option, known)}; known options: {', '.join(known)}"
            )
    return options
