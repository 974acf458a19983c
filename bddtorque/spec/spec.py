"""`Spec`: what to compile, as people write it in ``tables/*.toml``; immutable and checked.

Ranges are in the joint's own coordinates and units: rad, rad/s, rad/s², N·m of a joint that turns; m, m/s, m/s², N of
one that slides. How they are written is told in `field_values`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import bddtorque.spec.field_values as fv
from bddtorque.base.errors import BddTorqueError, refusals_about, unknown
from bddtorque.base.measures import format_size
from bddtorque.base.plain import Vector, describe
from bddtorque.base.record import Record, ShellOption, as_record
from bddtorque.base.toml_text import is_toml_table, toml_key, toml_value
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.dynamics.quantity import Quantity
from bddtorque.dynamics.run_time import RUN_TIME
from bddtorque.dynamics.run_time.gravity_input import GravityBox
from bddtorque.dynamics.run_time.payload_input import PayloadBox
from bddtorque.dynamics.run_time_input import RunTimeInput
from bddtorque.spec.records import (
    Gains,
    InputBits,
    JointSpec,
    Payload,
    Ranges,
    as_gravity,
    as_input_bits,
    as_joints,
    as_payload,
    joints_with,
)
from bddtorque.spec.resolve import interface_of, joints_said, matched, resolve
from bddtorque.words.joint_friction import SampledFriction

if TYPE_CHECKING:
    from bddtorque.robots.robot import Robot
    from bddtorque.spec.compile_options import CompileOptions
    from bddtorque.words.interface import Interface


_robot = partial(ShellOption, of_robot=True)


@dataclass(frozen=True)
class Spec(Record):
    """A specification: what to compile, over which ranges, with which word lengths.

    Attributes
    ----------
    robot
        A built-in name, or the path of a TOML, URDF, xacro or MJCF file.
    base, tip
        First and last link of the chain in a URDF or MJCF file; None: as its reader finds them.
    frame
        The link that is the tip: whose pose and Jacobian are compiled, and that carries a payload; None: the end of a
        chain.
    lock
        Joints of a URDF file to hold still, by name with their positions (rad or m), or ``"others"``.
    gravity
        Free fall in base axes, m/s²; None: the robot's own. ``"runtime"`` or a `GravityBox`: three input words.
    payload
        A `Payload`, its mass in kg, its mass with x, y and z of its centre, or a mapping; in the tip frame. With
        ``runtime = true`` a `PayloadBox`: its numbers become input words.
    snap
        Rotations of a URDF file that carry an axis onto another to within this are made exact.
    ignore_friction, allow_massless, allow_unphysical
        What else to accept in a URDF file.
    xacro_args
        Arguments of a xacro file by name: text, numbers, true or false; those not given have their defaults.
    quantity
        What to compile of the robot: ``"torque"``, ``"gravity"``, ... (`bddtorque.dynamics.quantities`).
    gains
        For control laws: ``kp`` and ``kv``, each for all joints or one per joint, in 1/s² and 1/s for
        ``"computed_torque"``, in N·m/rad and N·m·s/rad (N/m and N·s/m) for ``"pd_gravity"``.
    bits
        Word length r of the torques (and of the inputs, unless `input_bits` says otherwise), 2 to 24, or one per joint.
    input_bits
        Word length of the inputs, or one per joint, or `InputBits`; None: as `bits`.
    accuracy
        ``"faithful"`` (proved below one unit of the last bit), ``"paper"`` (the paper's rule for word lengths), or the
        largest allowed error in units (above 0.5, which the final rounding takes).
    block_bits
        Most input bits of one table; 4 to 28.
    products
        How tables multiply two words: ``"blocks"`` (one table of both), ``"squares"`` (quarter squares), ``"partial"``
        (partial products), or ``"auto"``; for target ``"tables"`` only.
    memory
        Memory budget in bytes, or text such as ``"2 GiB"``.
    source
        ``"terms"``, ``"recursive"`` or ``"auto"``.
    target
        ``"tables"``, ``"integer"`` or ``"float"``.
    precision
        For the target ``"float"``: ``"single"``, ``"double"``, or ``"auto"``: single if that meets `accuracy`.
    chip
        For the target ``"integer"``: the processor whose costs the planner minimises (``"cortex-m0"``, ``"avr"``, ...;
        those of `bddtorque.spec.chips`); ``"generic32"`` by default.
    flash
        Most bytes of a microcontroller's flash that exported C may take, tables and code (or text such as ``"16 kB"``);
        None: as much as is fastest.
    ranges
        Ranges for all joints.
    joints
        Settings for single joints: all in order from base to tip, or any of them by name.
    directory
        Where a relative robot path starts; not part of what is compiled.
    where
        What messages call this spec; not part of what is compiled.
    overridden
        Keys that an option replaced, so that messages do not look for them in `where`; not part of what is compiled.
    bare
        Whether this is a robot file without a specification, so that accelerations may be assumed; not part of what is
        compiled.
    """

    robot: Annotated[str, fv.as_text("the name or the file of a robot")]
    base: Annotated[
        str | None, fv.as_text("the name of a link"), _robot("URDF, MJCF: the link that is fixed.", "LINK")
    ] = None
    tip: Annotated[
        str | None,
        fv.as_text("the name of a link"),
        _robot("URDF, MJCF: the last link of a chain; all joints move without it.", "LINK"),
    ] = None
    frame: Annotated[
        str | None,
        fv.as_text("the name of a link"),
        _robot("The link that is the tip: for its pose and Jacobian, and to carry a payload.", "LINK"),
    ] = None
    lock: Annotated[
        fv.Lock | Mapping[str, float] | None,
        fv.as_lock,
        _robot(
            "URDF: lock a joint at a position in rad or m (may be repeated), or others: all not on the way to --tip.",
            "JOINT=POSITION",
            fv.parse_lock,
            repeats=True,
        ),
    ] = None
    gravity: Annotated[
        Vector | GravityBox | None,
        as_gravity,
        _robot(
            "Gravity in base axes (m/s²), such as 0,0,-9.81; or runtime: three input words.",
            "X,Y,Z|runtime",
            fv.parse_value,
        ),
    ] = None
    payload: Annotated[
        Payload | PayloadBox | None,
        as_payload,
        _robot(
            "A point mass (kg) at the tip, and its place (m) in the tip frame; or as input words, in ranges: "
            "mass=0:5,runtime=true (centre_of_mass=-0.1:0.1,0,0:0.2).",
            "MASS[,X,Y,Z]|TABLE",
            fv.parse_value,
        ),
    ] = None
    snap: Annotated[
        float | None,
        fv.as_snap,
        _robot("URDF: round rotations that are this close to exact ones.", "X", fv.parse_value),
    ] = None
    ignore_friction: Annotated[bool, fv.as_flag, _robot("URDF: ignore friction and damping (<dynamics>).")] = False
    allow_massless: Annotated[bool, fv.as_flag, _robot("URDF: accept moving links without mass.")] = False
    allow_unphysical: Annotated[bool, fv.as_flag, _robot("URDF: accept inertias that no real body can have.")] = False
    xacro_args: Annotated[
        fv.XacroArgs | Mapping[str, str | float | bool] | None,
        fv.as_xacro_args,
        _robot(
            "xacro: the value of an argument (may be repeated).",
            "NAME=VALUE",
            fv.parse_arguments,
            repeats=True,
            flags=("--xacro-arg",),
        ),
    ] = None
    quantity: Annotated[str, fv.as_choice(*QUANTITIES), ShellOption("What to compile of the robot", "NAME")] = "torque"
    gains: Annotated[
        Gains | None,
        as_record(Gains),
        ShellOption(
            "kp= and kv=, each one or one per joint; for --quantity computed_torque (1/s², 1/s) and "
            "pd_gravity (N·m/rad, N·m·s/rad).",
            "NAME=GAIN",
            fv.parse_table,
            repeats=True,
        ),
    ] = None
    bits: Annotated[
        fv.Bits,
        fv.as_bits,
        ShellOption("Output word length: 12, or one per joint such as 12,10.", "BITS", fv.parse_value),
    ] = 12
    input_bits: Annotated[
        fv.Bits | InputBits | None,
        as_input_bits,
        ShellOption(
            "Input word length: 12, 12,10 (one per joint), or position=14 (repeat for velocity=, acceleration=). "
            "Same as --bits if omitted.",
            "BITS",
            fv.parse_values,
            repeats=True,
        ),
    ] = None
    accuracy: Annotated[
        str | float,
        fv.as_accuracy,
        ShellOption(
            "faithful (below one unit of the last bit), paper, or a number of units above 0.5.", "GOAL", fv.parse_value
        ),
    ] = "faithful"
    block_bits: Annotated[
        int,
        fv.as_whole(4, 28, " (a table has 2^block_bits rows)"),
        ShellOption("Largest number of input bits of one table.", "N", fv.parse_value),
    ] = 20
    products: Annotated[str, fv.as_products, ShellOption("How tables multiply two words", "NAME")] = "auto"
    memory: Annotated[int, fv.as_memory, ShellOption("Memory budget, such as 2GiB or 500MB.", "SIZE")] = 2 * 2**30
    source: Annotated[str, fv.as_choice("auto", "terms", "recursive"), ShellOption("Form of the dynamics", "NAME")] = (
        "auto"
    )
    target: Annotated[str, fv.as_target, ShellOption("Arithmetic", "NAME")] = "tables"
    precision: Annotated[
        str | None, fv.as_choice("auto", "single", "double"), ShellOption("For --target float", "NAME")
    ] = None
    chip: Annotated[str | None, fv.as_chip, ShellOption("Processor to plan for, for --target integer", "NAME")] = None
    flash: Annotated[
        int | None, fv.as_flash, ShellOption("Flash that exported C may take, tables and code, such as 16kB.", "SIZE")
    ] = None
    ranges: Annotated[Ranges, as_record(Ranges)] = field(default_factory=Ranges)
    joints: Annotated[tuple[JointSpec, ...], as_joints] = ()
    directory: Path | None = field(default=None, compare=False)
    where: str = field(default="", compare=False)
    overridden: frozenset[str] = field(default=frozenset(), compare=False)
    bare: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "where", self.where or f"spec of '{self.robot:.60}'")

    def at(self, name: str) -> str:
        """Return the place of a key as the end of a message, `` (arm.toml, key 'bits')``; empty for an option."""
        return "" if name in self.overridden else f" ({self.where}, key '{name}')"

    def refusal(self, message: str, name: str) -> BddTorqueError:
        """Return an error about a key, which names the key in the file or is about the option that replaced it."""
        return BddTorqueError(f"{message}{self.at(name)}", option=name if name in self.overridden else "")

    def with_options(self, **options: Unpack[CompileOptions]) -> Spec:
        """Return a copy with some values replaced.

        Parameters
        ----------
        **options
            See `CompileOptions`; None leaves a value unchanged.
        """
        given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        for name in given:
            if name not in option_names():
                raise BddTorqueError(unknown("option", name, option_names()))
        ranges, joints = self.ranges, self.joints
        for quantity in fv.RANGED:
            if quantity in given:
                with refusals_about(quantity):
                    replaced = fv.as_ranges(quantity)(given.pop(quantity), quantity)
                    if fv.is_named(replaced):
                        joints = joints_with(joints, quantity, dict(replaced), self.where)
                        continue
                cleared: dict[str, Any] = {quantity: None}
                ranges = replace(ranges, **{quantity: replaced})
                joints = tuple(replace(joint, **cleared) for joint in joints)
        if "robot" in given:  # a path given as an option starts where the user is, not where the spec lies
            given["directory"] = None
        overridden = self.overridden | {name for name, value in options.items() if value is not None}
        return replace(self, **given, ranges=ranges, joints=joints, overridden=overridden)

    def resolve(self, robot: Robot) -> Spec:
        """Return a copy with bits, ranges and names filled in for every joint of `robot`."""
        return resolve(self, robot)

    def formats(self, robot: Robot) -> Interface:
        """Return the words of every input and torque of `robot`; raise if a range is unknown."""
        return interface_of(resolve(self, robot), robot)

    @property
    def record(self) -> Quantity:
        """The record of the quantity."""
        return QUANTITIES[self.quantity]

    @property
    def run_time(self) -> tuple[RunTimeInput, ...]:
        """The inputs at run time besides the motion."""
        return tuple(each for each in RUN_TIME.values() if each.present(self))

    @property
    def is_torque(self) -> bool:
        """True if the quantity is the torque as a function of position, velocity and acceleration alone."""
        return self.record.inverse_dynamics and not self.run_time

    def with_friction(self, robot: Robot) -> Robot:
        """Return the robot with the friction that this spec gives to its joints, if any."""
        waiting = any(isinstance(joint.friction, SampledFriction) for joint in self.joints)
        said = zip(robot.joint_names, (joints_said if waiting else matched)(self, robot), strict=True)
        friction = {name: joint.friction for name, joint in said if joint.friction is not None}
        return robot.with_friction(friction) if friction else robot

    def with_drives(self, robot: Robot) -> Robot:
        """Return the robot with the rotor inertias of the drives that this spec gives to its joints, if any."""
        joints = list(robot.joints)
        for place, said in enumerate(matched(self, robot)):
            inertia = None if said.drive is None else said.drive.reflected_inertia(joints[place].kind.turns)
            if inertia is not None:
                joints[place] = replace(joints[place], rotor_inertia=inertia)
        return robot if joints == list(robot.joints) else replace(robot, joints=tuple(joints))

    @property
    def robot_location(self) -> str:
        """Name of the robot, or its path (a relative one starts at the spec's own folder)."""
        if not is_path(self.robot) or self.directory is None:
            return self.robot
        return str(self.directory / self.robot)

    def to_plain(self) -> dict[str, Any]:
        """Return numbers, strings, lists and dicts only, in a fixed order; unset values are left out."""
        plain = super().to_plain()
        for table in ("lock", "xacro_args"):
            if isinstance(getattr(self, table), tuple):
                plain[table] = dict(getattr(self, table))
        for name, nothing in (("products", "auto"), ("quantity", "torque")):
            if plain[name] == nothing:  # nothing was asked for; files from before the key say nothing either
                del plain[name]
        return {name: value for name, value in plain.items() if value is not False and value not in ({}, [])}

    def __str__(self) -> str:
        """Return this spec as TOML that `from_toml` reads back equal."""
        plain = self.to_plain()
        plain |= {name: format_size(plain[name]) for name in ("memory", "flash") if name in plain}
        lines = [f"{key} = {toml_value(value)}" for key, value in plain.items() if not is_toml_table(value)]
        for key in ("lock", "xacro_args", "payload", "gains", "input_bits", "ranges"):
            if isinstance(plain.get(key), dict):
                lines += [
                    "",
                    f"[{key}]",
                    *(f"{toml_key(name)} = {toml_value(each)}" for name, each in plain[key].items()),
                ]
        for joint in plain.get("joints", []):
            lines += ["", "[[joint]]", *(f"{name} = {toml_value(value)}" for name, value in joint.items())]
        return "\n".join(lines) + "\n"

    def canonical(self) -> dict[str, Any]:
        """Return `to_plain` for digests: keys sorted, and the robot by name wherever its file lies."""
        plain = self.to_plain()
        plain["robot"] = _bare_name(self.robot)
        return {name: plain[name] for name in sorted(plain)}


def option_names() -> tuple[str, ...]:
    """Return the names of the options of `Spec.with_options`: those of `CompileOptions`, as a test holds."""
    return (*(name for name in Spec.readers() if name not in ("ranges", "joints")), *fv.RANGED)


def shell_options() -> dict[str, tuple[ShellOption, tuple[str, ...]]]:
    """Return the options that say what to compile, by name: how each is written, and the words that it takes."""
    options = {**Spec.shell_options(), **Ranges.shell_options()}
    readers = {**Ranges.readers(), **Spec.readers()}
    return {name: (option, getattr(readers[name], "known", ())) for name, option in options.items()}


def spec_from_plain(plain: object, where: str = "spec", directory: Path | None = None, joints: str = "joints") -> Spec:
    """Return the `Spec` that `Spec.to_plain` or `Spec.canonical` wrote; every key and value is checked.

    `joints` is what the key of the joints is called where this comes from.
    """
    known = {joints if name == "joints" else name: name for name in Spec.readers()}
    if not isinstance(plain, Mapping):
        raise BddTorqueError(f"{where} must be a table with {', '.join(known)}, got {describe(plain)}")
    for name in plain:
        if name not in known:
            if name in Ranges.__dataclass_fields__:
                raise BddTorqueError(f"key '{name}' belongs in the table [ranges] ({where})")
            raise BddTorqueError(f"{unknown('key', name, known)} ({where})")
    if "robot" not in plain:
        raise BddTorqueError(f"{where}: key 'robot', the name or the file of a robot, is missing")
    values: dict[str, Any] = {}
    for name, value in plain.items():
        try:
            values[known[name]] = Spec.readers()[known[name]](value, name)
        except BddTorqueError as problem:
            raise BddTorqueError(f"{problem} ({where}, key '{name}')") from None
    return Spec(**values, where=where, directory=directory)


def _bare_name(robot: str) -> str:
    """Return a robot's name without folder and suffixes; a bare name is its own."""
    stem = PurePath(robot).stem if is_path(robot) else robot
    return stem if stem in ("", robot) else _bare_name(stem)


def is_path(robot: str) -> bool:
    """Say whether text names a file rather than something built in: it has a folder or a suffix."""
    return "/" in robot or "\\" in robot or bool(PurePath(robot).suffix)
