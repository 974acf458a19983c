"""Records of a specification: dataclasses that say in the type of each field how it is read from what people write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import bddtorque.spec.field_values as fv
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import Range
from bddtorque.base.plain import Vector, describe, is_list, real, unwrap, vector
from bddtorque.base.record import Record, ShellOption, as_record
from bddtorque.dynamics.run_time import RUN_TIME
from bddtorque.spec.drives import Drive
from bddtorque.words.friction import Friction
from bddtorque.words.joint_friction import JointFriction, SampledFriction, friction_to_plain, spec_friction


def _as_friction(given: Any, name: str) -> JointFriction | SampledFriction:
    return spec_friction(given, name) or Friction()  # one that says there is none takes that of the robot away


def _as_mass(given: object, name: str) -> float:
    mass = real(given, name)
    if mass <= 0:
        raise BddTorqueError(f"{name} must be above 0 kg, got {mass:g}")
    return mass


@dataclass(frozen=True)
class JointSpec(Record):
    """Settings of one joint in a specification.

    Attributes
    ----------
    name
        The joint's name in the robot; None if the joints are listed in order from base to tip.
    position, velocity, acceleration
        (low, high) at the joint; None: as the rest of the spec or the robot says.
    torque
        The same; or ``"auto"``, what the robot can need over its motion (the default), or ``"limits"``, the robot's
        effort limit. Torque and velocity may be ``"drive"``: their words are counts of the drive.
    offset, sign
        Joint position = sign · encoder position + offset (rad or m); the sign applies to all four quantities.
    friction
        The friction of the joint; None: the robot's own.
    drive
        Motor, gear, encoder and driver.
    """

    name: Annotated[str | None, fv.as_text("the name of a joint")] = None
    position: Annotated[Range | None, fv.as_joint_range("position")] = None
    velocity: Annotated[Range | None, fv.as_joint_range("velocity")] = None
    acceleration: Annotated[Range | None, fv.as_joint_range("acceleration")] = None
    torque: Annotated[fv.JointRange | None, fv.as_joint_range("torque")] = None
    offset: Annotated[float, fv.as_position] = 0.0
    sign: Annotated[int, fv.as_sign] = 1
    friction: Annotated[JointFriction | SampledFriction | None, _as_friction] = None
    drive: Annotated[Drive | None, as_record(Drive)] = None

    def to_plain(self) -> dict[str, Any]:
        """Return plain data; unset values are left out, also in the friction, since TOML has no null."""
        friction = {} if self.friction is None else {"friction": friction_to_plain(self.friction)}
        return super().to_plain() | friction


def _range_option(quantity: str, about: str, flag: str) -> ShellOption:
    return ShellOption(about, "RANGE", fv.parse_ranges(quantity), flags=(flag,))


@dataclass(frozen=True)
class Ranges(Record):
    """Ranges for joints that have none of their own: one (low, high) for all, one per joint, or some by name.

    None means the robot's limits; for the torque it means ``"auto"``, what the robot can need.
    """

    position: Annotated[
        fv.ManyRanges | None, fv.as_ranges("position"), _range_option("position", "Position range (rad, m).", "--q-max")
    ] = None
    velocity: Annotated[
        fv.ManyRanges | None,
        fv.as_ranges("velocity"),
        _range_option("velocity", "Velocity range (rad/s, m/s).", "--qd-max"),
    ] = None
    acceleration: Annotated[
        fv.ManyRanges | None,
        fv.as_ranges("acceleration"),
        _range_option("acceleration", "Acceleration range (rad/s², m/s²).", "--qdd-max"),
    ] = None
    torque: Annotated[
        fv.ManyRanges | None,
        fv.as_ranges("torque"),
        _range_option(
            "torque",
            "Torque range (N·m, N): auto (what the robot can need), limits (its effort limits), or RANGE.",
            "--tau-max",
        ),
    ] = None

    def to_plain(self) -> dict[str, Any]:
        """Return plain data, ranges by name as tables."""
        return {name: dict(value) if fv.is_named(value) else value for name, value in super().to_plain().items()}


@dataclass(frozen=True)
class InputBits(Record):
    """Word lengths of the inputs, each for all joints or one per joint; None: `Spec.bits`."""

    position: Annotated[fv.Bits | None, fv.as_bits] = None
    velocity: Annotated[fv.Bits | None, fv.as_bits] = None
    acceleration: Annotated[fv.Bits | None, fv.as_bits] = None


@dataclass(frozen=True)
class Payload(Record):
    """A body at the tip, in the axes of the tip frame.

    Attributes
    ----------
    mass
        Mass in kg.
    centre_of_mass
        x, y and z in m; by default the origin of the tip frame.
    inertia
        kg·m² about the centre of mass: three principal moments or 3 rows of 3; None: a point mass.
    """

    mass: Annotated[float, _as_mass] = 0.0
    centre_of_mass: Annotated[Vector, fv.as_vector("x, y and z in m")] = (0.0, 0.0, 0.0)
    inertia: Annotated[tuple[Vector, Vector, Vector] | None, fv.as_inertia] = None


@dataclass(frozen=True)
class Gains(Record):
    """The gains of a control law, in kv (q̇_desired − q̇) + kp (q_desired − q).

    Attributes
    ----------
    kp
        Position gain, for all joints or one per joint: in 1/s², for `pd_gravity` in N·m/rad (N/m).
    kv
        Velocity gain, likewise: in 1/s, for `pd_gravity` in N·m·s/rad (N·s/m).
    """

    kp: Annotated[float | tuple[float, ...], fv.as_gain] = 0.0
    kv: Annotated[float | tuple[float, ...], fv.as_gain] = 0.0


def is_run_time(given: object) -> bool:
    """Tell if a value asks for input words: the text ``"runtime"``, or a table or record with ``runtime``."""
    asked = given.get("runtime") if isinstance(given, Mapping) else getattr(given, "runtime", None)
    return given == "runtime" or asked is not None


def as_gravity(given: object, name: str) -> Any:
    """Return free fall from x, y and z, or what is given at run time."""
    given = unwrap(given)
    if is_run_time(given):
        return RUN_TIME["gravity"].read({"runtime": True} if isinstance(given, str) else given, name)
    return vector(given, name, "x, y and z in m/s², in base axes, or 'runtime'")


def as_payload(given: object, name: str) -> Any:
    """Return a payload from a mass, a mass with the centre's x, y and z, or a table; of a box, with ``runtime``."""
    given = unwrap(given)
    if isinstance(given, Mapping) and "com" in given and "centre_of_mass" not in given:
        given = {"centre_of_mass" if key == "com" else key: value for key, value in given.items()}
    if is_run_time(given):
        return RUN_TIME["payload"].read(given, name)
    if is_list(given) and len(given) == 4:
        given = {"mass": given[0], "centre_of_mass": list(given[1:])}
    elif isinstance(given, int | float):
        given = {"mass": given}
    elif not isinstance(given, Payload | Mapping):
        what = "a mass in kg, or mass, x, y and z of its centre in m, or a table with mass, centre_of_mass, inertia"
        raise BddTorqueError(f"{name} must be {what}, got {describe(given)}")
    payload: Payload = as_record(Payload)(given, name)
    return payload


def as_input_bits(given: object, name: str) -> fv.Bits | InputBits | None:
    """Return word lengths for all inputs, or by quantity; None where nothing is said."""
    if not isinstance(given, InputBits | Mapping):
        return fv.as_bits(given, name)
    bits: InputBits = as_record(InputBits)(given, name)
    return None if bits == InputBits() else bits


def as_joints(given: object, name: str) -> tuple[JointSpec, ...]:
    """Return what is said of joints: all in order without names, or any of them by name."""
    if not is_list(given):
        raise BddTorqueError(f"{name} must be a list of tables, got {describe(given)}")
    joints = []
    for i, each in enumerate(given, 1):
        own = each.get("name") if isinstance(each, Mapping) else None
        joints.append(as_record(JointSpec)(each, f"joint {i} '{own}'" if isinstance(own, str) else f"joint {i}"))
    names = [joint.name for joint in joints]
    if None in names and any(names):
        raise BddTorqueError(f"{name} must all have a name, or none of them, got {names}")
    for k, own in enumerate(names):
        if own is not None and own in names[:k]:
            raise BddTorqueError(f"{name}: '{own}' occurs twice; keep one of them")
    return tuple(joints)


def joints_with(
    joints: tuple[JointSpec, ...], quantity: str, ranges: dict[str, fv.JointRange], where: str
) -> tuple[JointSpec, ...]:
    """Return what is said of joints with the ranges of some, by name, replaced; `where` names the spec of `joints`."""
    names = [joint.name for joint in joints]
    if None in names:
        raise BddTorqueError(
            f"{quantity} cannot be given by name where the joints have none ({where}): give all, [[low, high], ...]"
        )
    changed: dict[str, Any] = {name: {quantity: value} for name, value in ranges.items()}
    kept = (replace(joint, **changed.pop(str(joint.name), {})) for joint in joints)
    return (*kept, *(JointSpec(name, **said) for name, said in changed.items()))
