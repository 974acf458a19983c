"""Specifications in files: found by name, read, written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line, unknown
from bddtorque.base.reading import read_text
from bddtorque.base.toml_text import toml_values
from bddtorque.base.writing import write_whole
from bddtorque.spec.spec import Spec, is_path, spec_from_plain
from bddtorque.words.joint_friction import spec_friction

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


def load_spec(source: str | PathLike[str]) -> Spec:
    """Return a specification by name or from a file.

    Parameters
    ----------
    source
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
    text = str(source)
    if isinstance(source, str) and not is_path(text):
        directory = tables_directory()
        if directory is None or text not in spec_names():
            problem = unknown("robot or specification", text, spec_names())
            raise BddTorqueError(f"{problem} (a file has a suffix, as in '{text:.60}.toml')")
        return load_spec(directory / f"{text}.toml")
    path = Path(source)
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
        relative = os.path.relpath(spec.robot_source, target.parent)
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
