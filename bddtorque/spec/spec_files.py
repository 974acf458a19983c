"""Specifications in files: found by name, read, written; and the robot of a specification.

`spec_and_robot` takes whatever names what is to be compiled, and tells all that had to be assumed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line, unknown
from bddtorque.base.files import read_text, write_whole
from bddtorque.base.plain import describe
from bddtorque.base.toml_text import toml_values
from bddtorque.robots import load_robot
from bddtorque.robots.library import RobotLike, model_reader
from bddtorque.robots.robot import Robot
from bddtorque.robots.tree_robot import TreeOptions
from bddtorque.spec.records import Payload
from bddtorque.spec.resolve import assume_missing, placeholder_notes
from bddtorque.spec.spec import Spec, is_path, spec_from_plain
from bddtorque.words.joint_friction import spec_friction

RobotOrSpec = str | PathLike[str] | Spec | Robot | Any
"""Anything that can be compiled, also a `mujoco.MjModel` or a `pinocchio.Model`."""
ROBOT_SUFFIXES = (".urdf", ".xml", ".xacro", ".mjcf")
"""Files that describe a robot and can never be a specification."""
LARGEST_FILE = 1_000_000
"""Bytes; a specification takes a few hundred."""


def tables_directory() -> Path | None:
    """Return the folder of the specifications that come with the package, or None where there is none.

    A wheel carries the top-level folder ``tables/`` as ``bddtorque/tables``; in a checkout it lies beside the package.
    """
    package = Path(str(resources.files("bddtorque")))
    if (package / "tables").is_dir():
        return package / "tables"
    # beside an installed package there may lie another one called `tables` (PyTables): only a checkout has the project
    checkout = package.parent
    return checkout / "tables" if (checkout / "pyproject.toml").is_file() and (checkout / "tables").is_dir() else None


def spec_names() -> tuple[str, ...]:
    """Return the names of the specifications that come with the package."""
    directory = tables_directory()
    return tuple(sorted(path.stem for path in directory.glob("*.toml"))) if directory else ()


def load_spec(name_or_path: str | PathLike[str]) -> Spec:
    """Return a specification by name or from a file.

    Parameters
    ----------
    name_or_path
        The name of a spec that comes with the package (``"planar2r"``), or a path: a spec in TOML, or a robot file
        (TOML, URDF, xacro or MJCF), for which everything but the robot keeps its default.

    Returns
    -------
    Spec
        The specification, checked.

    Raises
    ------
    BddTorqueError
        The name is unknown, or the file is wrong.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, str) and not is_path(text):
        directory = tables_directory()
        if directory is None or text not in spec_names():
            problem = unknown("robot or specification", text, spec_names())
            raise BddTorqueError(f"{problem} (a file has a suffix, as in '{text:.60}.toml')")
        return load_spec(directory / f"{text}.toml")
    path = Path(name_or_path)
    if path.suffix.lower() in ROBOT_SUFFIXES:
        return Spec(robot=path.name, directory=path.parent, where=text, bare=True)
    values = toml_values(read_text(path, LARGEST_FILE, "a specification"), text)
    if "robot" not in values and "name" in values:  # a robot names itself, a spec names its robot
        return Spec(robot=path.name, directory=path.parent, where=text, bare=True)
    return _from_values(values, text, path.parent)


def from_toml(text: str, where: str = "spec", directory: Path | None = None) -> Spec:
    """Return the specification that a TOML text holds.

    `where` begins every error; a relative path of a robot starts at `directory`.
    """
    return _from_values(toml_values(text, where), where, directory)


def save_spec(spec: Spec, path: str | PathLike[str], notes: Iterable[str] = ()) -> None:
    """Write a specification as TOML; a robot's path is written relative to the new file's folder.

    Parameters
    ----------
    spec
        The specification.
    path
        The file; an existing one is replaced.
    notes
        Comment lines for the start of the file.
    """
    target = Path(path)
    if is_path(spec.robot) and not Path(spec.robot).is_absolute():
        relative = os.path.relpath(spec.robot_location, target.parent)
        spec = replace(spec, robot=Path(relative).as_posix(), directory=target.parent)
    comments = "".join(f"# {one_line(note)}\n" for note in notes)
    write_whole(target, f"{comments}{spec}".encode())


def _from_values(values: dict[str, Any], where: str, directory: Path | None) -> Spec:
    return spec_from_plain(_with_samples(values, where, directory), where, directory, joints="joint")


def _with_samples(plain: dict[str, Any], where: str, directory: Path | None) -> dict[str, Any]:
    """Return a specification with the samples that its joints name read, so that it needs no other file."""
    joints = plain.get("joint")
    for k, joint in enumerate(joints if isinstance(joints, list) else [], 1):
        given = joint.get("friction") if isinstance(joint, dict) else None
        if isinstance(given, dict) and "samples" in given:
            name = f" '{joint['name']}'" if "name" in joint else ""
            joint["friction"] = spec_friction(given, f"{where}, joint {k}{name}, friction", directory)
    return plain


def spec_and_robot(robot_or_spec: RobotOrSpec, options: Mapping[str, Any]) -> tuple[Spec, Robot, tuple[str, ...]]:
    """Return the specification with the options in it, its robot, and what to tell the user of both.

    A robot without a specification (a robot file, a `Robot`) has its accelerations assumed where it gives none.
    """
    given: RobotLike | None = None
    if isinstance(robot_or_spec, Robot):
        given, spec = robot_or_spec, Spec(robot=robot_or_spec.name or "robot", bare=True)
    elif isinstance(robot_or_spec, Spec):
        spec = robot_or_spec
    elif model_reader(robot_or_spec) is not None:
        given, spec = robot_or_spec, Spec(robot=type(robot_or_spec).__name__, bare=True)
    elif isinstance(robot_or_spec, str | PathLike):
        spec = load_spec(robot_or_spec)
    else:
        raise BddTorqueError(
            f"what to compile must be a name, a file, a Spec or a Robot, got {describe(robot_or_spec)}"
        )
    spec = spec.with_options(**options)
    robot = robot_of(spec, given)
    notes = list(placeholder_notes(spec, robot))
    if spec.bare:
        spec, assumed = assume_missing(spec, robot)
        notes += [
            "without a specification: joints that turn are binary angles over a full turn; ranges that no option gives "
            "are the robot's limits, those of torques what this motion can need",
            *assumed,
        ]
    if spec.ignore_friction:
        notes.append("friction in the robot's file is left out of the torques (ignore_friction)")
    return spec, robot, tuple(notes)


def robot_of(spec: Spec, given: RobotLike | None = None) -> Robot:
    """Return the robot of a specification: its chain, under its gravity, with its payload.

    `given` takes the place of the robot that the specification names.
    """
    options = _urdf_options(spec)
    location = spec.robot_location if given is None else given
    read_with_options = model_reader(location) or (
        isinstance(location, str) and location.lower().endswith(ROBOT_SUFFIXES)
    )
    if isinstance(spec.gravity, tuple) and read_with_options:
        options["gravity"] = spec.gravity  # the reader need not find out, then, where the base lies in its file
    try:
        return as_specified(spec, load_robot(location, **options))
    except BddTorqueError as problem:
        # a name, a file or a spec that does not stand in the message already
        said = str(problem)
        raise BddTorqueError(said if spec.where in said or spec.robot in said else f"{spec.where}: {said}") from None


def as_specified(spec: Spec, robot: Robot) -> Robot:
    """Return a robot with the gravity, payload, rotors and friction that a specification gives it, if it gives them."""
    if isinstance(spec.gravity, tuple):
        robot = robot.with_gravity(spec.gravity)
    if isinstance(spec.payload, Payload):
        inertia = {} if spec.payload.inertia is None else {"inertia": spec.payload.inertia}
        robot = robot.with_payload(spec.payload.mass, spec.payload.centre_of_mass, **inertia)
    return spec.with_friction(spec.with_drives(robot))


def _urdf_options(spec: Spec) -> TreeOptions:
    """Return what a specification asks of the reader of URDF files; gravity is for every robot."""
    options = {name: getattr(spec, name) for name in TreeOptions.__annotations__ if name != "gravity"}
    for table in ("lock", "xacro_args"):
        if isinstance(options[table], tuple):
            options[table] = dict(options[table])
    return {name: value for name, value in options.items() if value is not None and value is not False}  # type: ignore[return-value]
