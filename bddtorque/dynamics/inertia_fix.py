"""A URDF file with the inertias that no body has replaced by the nearest that one can have: `bddtorque lint --fix`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from xml.parsers import expat

import numpy as np

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.plain import describe
from bddtorque.dynamics.robot_lint import moments_of, nearest_physical
from bddtorque.robots.urdf_reader import urdf_data, urdf_tree
from bddtorque.robots.xacro_expansion import XacroArguments

SUFFIXES = (".urdf", ".xacro", ".xml")


def with_physical_inertias(robot: object, xacro_args: XacroArguments | None = None) -> tuple[bytes, list[str]]:
    """Return a URDF file whose inertias are physical, and the links whose inertia was changed.

    Only the numbers of these inertias differ from the file; a xacro file is expanded.

    Parameters
    ----------
    robot
        The path of a URDF or xacro file.
    xacro_args
        Arguments of a xacro file.

    Raises
    ------
    BddTorqueError
        The file is no URDF, or cannot be edited.
    """
    path = Path(str(robot))
    where = one_line(str(path))
    if path.suffix.lower() not in SUFFIXES:
        raise BddTorqueError(f"fix is only for URDF and xacro files, got {describe(robot)}")
    data = urdf_data(path, where, xacro_args)
    tree = urdf_tree(data, where, 0.0)  # refuses what is no URDF
    wrong = [name for name, link in tree.links.items() if link is not None and link.why_unphysical()]
    starts = _inertia_tags(data)
    for name in sorted(wrong, key=lambda name: -starts.get(name, (0, {}))[0]):  # from the end, so that places stay
        if name not in starts:
            raise BddTorqueError(f"{where}, link '{name}': its <inertia> cannot be found in the file; edit it by hand")
        start, given = starts[name]
        xx, xy, xz, yy, yz, zz = (float(given[key]) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        nearest = moments_of(nearest_physical(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])))
        end = data.index(b">", start)
        data = data[:start] + _replaced(data[start:end], nearest) + data[end:]
    left = [name for name, link in urdf_tree(data, where, 0.0).links.items() if link and link.why_unphysical()]
    if left:
        raise BddTorqueError(f"{where}, link '{left[0]}': its <inertia> cannot be edited; edit it by hand")
    return data, wrong


def _inertia_tags(data: bytes) -> dict[str, tuple[int, dict[str, str]]]:
    """Return where the ``<inertia>`` of each link of a well-formed file starts, and its attributes."""
    found: dict[str, tuple[int, dict[str, str]]] = {}
    open_tags: list[tuple[str, str]] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        open_tags.append((tag, attributes.get("name", "")))
        tags = [each for each, _ in open_tags]
        if tags == ["robot", "link", "inertial", "inertia"]:
            found[open_tags[1][1]] = parser.CurrentByteIndex, attributes

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_tags.pop()
    parser.Parse(data, True)
    return found


def _replaced(tag: bytes, moments: Mapping[str, float]) -> bytes:
    """Return the text of an element with other numbers for some attributes."""
    for name, value in moments.items():
        pattern = rf"(\b{name}\s*=\s*[\"'])[^\"']*".encode()
        number = repr(value).encode()
        tag = re.sub(pattern, lambda match, number=number: match[1] + number, tag)  # type: ignore[misc]
    return tag
