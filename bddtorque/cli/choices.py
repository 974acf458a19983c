"""What to compile, as options: every command that takes a specification takes all of these.

A command marked with `takes_choices` gets them, read and ready for `Spec.with_options`, as its argument `chosen`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from bddtorque.cli import options as opt

PANEL = "What to compile (each takes the place of what the specification says)"
ROBOT_PANEL = "The robot (each takes the place of what the specification says)"


def _option(what: str, *names: str, metavar: str | None = None, panel: str = PANEL) -> Any:
    return typer.Option(*names, metavar=metavar, rich_help_panel=panel, help=what)


def _range_option(name: str, short: str, what: str) -> Any:
    help_text = f"Largest {what}: 1.5, or one a joint: 1.5,2.0 or -1:2,3."
    return Annotated[str | None, _option(help_text, f"--{name}", f"--{short}", metavar="RANGE")]


def _robot_option(kind: Any, what: str, name: str, metavar: str | None = None) -> Any:
    return Annotated[kind, _option(what, name, metavar=metavar, panel=ROBOT_PANEL)]


BitsOption = Annotated[str | None, _option("Word length of the torques: 12, or one a joint.", metavar="BITS")]

CHOICES: dict[str, Any] = {
    "input_bits": Annotated[
        list[str] | None,
        _option(
            "Word length of the inputs: 12, or 12,10 (one a joint), or position=14 (may be repeated: velocity=, "
            "acceleration=). As --bits unless given.",
            "--input-bits",
            metavar="BITS",
        ),
    ],
    "accuracy": Annotated[
        str | None, _option("faithful, paper, or units of the last bit above 0.5.", "--accuracy", metavar="GOAL")
    ],
    "block_bits": Annotated[int | None, _option("Input bits of one table, at most.", "--block-bits", metavar="N")],
    "memory": Annotated[str | None, _option("Budget, such as 2GiB or 500MB.", "--memory", metavar="SIZE")],
    "source": Annotated[str | None, _option("auto, terms or recursive.", "--source", metavar="NAME")],
    "target": Annotated[str | None, _option("tables or host.", "--target", metavar="NAME")],
    "position": _range_option("position", "q-max", "position (rad, m)"),
    "velocity": _range_option("velocity", "qd-max", "velocity (rad/s, m/s)"),
    "acceleration": _range_option("acceleration", "qdd-max", "acceleration (rad/s², m/s²)"),
    "torque": _range_option("torque", "tau-max", "torque (N·m, N)"),
    "base": _robot_option(str | None, "URDF: the link that is held still.", "--base", "LINK"),
    "tip": _robot_option(str | None, "URDF: the link at which the chain ends.", "--tip", "LINK"),
    "lock": _robot_option(
        list[str] | None,
        "URDF: hold a joint still, at a position in rad or m (may be repeated); or others.",
        "--lock",
        "JOINT=POSITION",
    ),
    "gravity": _robot_option(str | None, "m/s² in base axes: 0,0,-9.81.", "--gravity", "X,Y,Z"),
    "payload": _robot_option(
        str | None, "A point mass at the tip, kg; its place in the tip frame, m.", "--payload", "MASS[,X,Y,Z]"
    ),
    "snap": _robot_option(float | None, "URDF: make rotations exact to within this.", "--snap", "X"),
    "ignore_friction": _robot_option(bool | None, "URDF: leave <dynamics> out of the torques.", "--ignore-friction"),
    "allow_massless": _robot_option(bool | None, "URDF: accept moving bodies without mass.", "--allow-massless"),
    "allow_unphysical": _robot_option(bool | None, "URDF: accept inertias that no body has.", "--allow-unphysical"),
}
_RANGES = ("position", "velocity", "acceleration", "torque")


def takes_choices(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `CHOICES`; what they say becomes its argument `chosen`."""
    own = signature(command, eval_str=True)
    shared = [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=CHOICES[name]) for name in CHOICES]
    parameters = [
        each.replace(kind=Parameter.KEYWORD_ONLY) for each in own.parameters.values() if each.name != "chosen"
    ]

    @functools.wraps(command)
    def with_choices(**given: Any) -> None:
        command(**{name: given[name] for name in given if name not in CHOICES}, chosen=read_choices(given))

    # the command line is made from these two
    with_choices.__signature__ = own.replace(parameters=[*parameters, *shared])  # type: ignore[attr-defined]
    with_choices.__annotations__ = {each.name: each.annotation for each in (*parameters, *shared)}
    return with_choices


def read_choices(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `Spec.with_options` from the text of the flags; those not given are None."""
    read: dict[str, Callable[[Any], Any]] = {
        "input_bits": opt.read_input_bits,
        "accuracy": opt.read_accuracy,
        "lock": opt.read_lock,
        "gravity": lambda text: opt.read_numbers(text, "--gravity", 3, whole=False),
        "payload": opt.read_payload,
        **{name: functools.partial(opt.read_ranges, where=f"--{name}") for name in _RANGES},
    }
    return {name: None if given[name] is None else read.get(name, lambda value: value)(given[name]) for name in CHOICES}
