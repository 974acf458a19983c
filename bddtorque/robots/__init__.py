"""The immutable `Robot`, its readers for TOML and URDF, and the built-in arms."""

from __future__ import annotations

from bddtorque.robots.library import builtin_names, load_robot
from bddtorque.robots.parts import Frame, Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.toml_reader import from_toml, load_toml
from bddtorque.robots.urdf_reader import from_urdf, load_urdf

__all__ = [
    "Frame",
    "Joint",
    "Link",
    "Robot",
    "builtin_names",
    "from_toml",
    "from_urdf",
    "load_robot",
    "load_toml",
    "load_urdf",
]
