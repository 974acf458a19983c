"""What is to be compiled: a specification and its robot, from whatever names them, with all that had to be assumed."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import describe
from bddtorque.robots import load_robot
from bddtorque.robots.library import RobotLike, model_reader
from bddtorque.robots.robot import Robot
from bddtorque.robots.tree_robot import TreeOptions
from bddtorque.spec import Spec, assume_missing, load_spec
from bddtorque.spec.records import Payload
from bddtorque.spec.resolve import placeholder_notes
from bddtorque.spec.spec_files import ROBOT_SUFFIXES

Source = str | PathLike[str] | Spec | Robot | Any
"""What can be compiled; any: a `mujoco.MjModel` or a `pinocchio.Model`."""


def spec_and_robot(source: Source, options: Mapping[str, Any]) -> tuple[Spec, Robot, tuple[str, ...]]:
    """Return the specification with the options in it, its robot, and what to tell the user of both.

    A robot without a specification (a robot file, a `Robot`) has its accelerations assumed where it gives none.
    """
    given: RobotLike | None = None
    if isinstance(source, Robot):
        given, spec = source, Spec(robot=source.name or "robot", bare=True)
    elif isinstance(source, Spec):
        spec = source
    elif model_reader(source) is not None:
        given, spec = source, Spec(robot=type(source).__name__, bare=True)
    elif isinstance(source, str | PathLike):
        spec = load_spec(source)
    else:
        raise BddTorqueError(f"what to compile must be a name, a file, a Spec or a Robot, got {describe(source)}")
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
    source = spec.robot_source if given is None else given
    read_with_options = model_reader(source) or (isinstance(source, str) and source.lower().endswith(ROBOT_SUFFIXES))
    if isinstance(spec.gravity, tuple) and read_with_options:
        options["gravity"] = spec.gravity  # the reader need not find out, then, where the base lies in its file
    try:
        return as_specified(spec, load_robot(source, **options))
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
