"""The strict part of reading URDF: what the XML must say before anything is taken from it.

Readers of URDF commonly fill in what is missing (a moment of inertia of 1 kg·m², a mass of 0), repair broken XML and
overlook misspelt or repeated elements. Any of these would become a wrong torque that nobody notices, so all are refused
here. Meshes, materials and extensions of simulators pass unread.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher
from xml.etree import ElementTree

from bddtorque.base.errors import BddTorqueError, nearest, not_among, one_line, unknown
from bddtorque.base.plain import decimal, describe, name_of
from bddtorque.robots.joint_kinds import kinds_called

JOINT_TYPES = (*kinds_called("urdf"), "fixed", "floating", "planar")
MAX_ELEMENTS = 2000
"""Links and joints of a file together; a humanoid with two hands has about 200."""
_DEEPEST = 100
_LONGEST_TAG = 1000
"""Characters of the name of an element or attribute; URDF's own have at most 17."""
_RESEMBLES = 0.7
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")

_CHILDREN = {
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
}
_REQUIRED = {"inertial": ("mass", "inertia"), "joint": ("parent", "child")}
"""Elements that must stand in others."""
_NAMES = {"parent": "link", "child": "link", "mimic": "joint"}
"""Attributes that name a link or a joint."""
_NUMBERS = {
    "origin": {"xyz": 3, "rpy": 3},
    "mass": {"value": 1},
    "inertia": dict.fromkeys(MOMENTS, 1),
    "axis": {"xyz": 3},
    "mimic": {"multiplier": 1, "offset": 1},
    "limit": dict.fromkeys(("lower", "upper", "velocity", "effort", "acceleration"), 1),
    "dynamics": {"damping": 1, "friction": 1},
}
"""Attributes that hold so many numbers."""
_COMPLETE = ("mass", "inertia", "axis")
"""Elements that must have all their numbers."""
_EXTENDED = ("limit", "dynamics")
"""Elements to which vendors add attributes of their own."""
_KEPT = ("link", "joint")


def checked_xml(data: bytes, where: str) -> ElementTree.Element:
    """Return the `<robot>` element with nothing but the checked links and joints in it."""
    root = _parsed(data, where)
    _refuse_xacro(root, where)
    if root.tag != "robot":
        raise BddTorqueError(f"{where}: the root element must be <robot>, got <{one_line(root.tag, 60)}>")
    kept = ElementTree.Element("robot", name=name_of(root.get("name"), f"{where}: robot name"))
    names: set[tuple[str, str]] = set()
    for element in root:
        if element.tag not in _KEPT:
            _refuse_resembling(str(element.tag), _KEPT, where)
            continue  # materials, transmissions, simulator extensions
        name = name_of(element.get("name"), f"{where}: {element.tag} name")
        if (element.tag, name) in names:
            raise BddTorqueError(f"{where}: {element.tag} '{name}' occurs twice; names must differ")
        names.add((element.tag, name))
        if len(names) > MAX_ELEMENTS:
            raise BddTorqueError(f"{where}: there must be at most {MAX_ELEMENTS:,} links and joints, got more")
        _check(element, f"{where}, {element.tag} '{name}'")
        kept.append(element)
    return kept


class _Builder(ElementTree.TreeBuilder):
    """Builds the tree, and stops at a document type (entities live there) or at absurd nesting."""

    depth = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refuse before any entity is declared, let alone expanded."""
        raise BddTorqueError("a document type (DOCTYPE, ENTITY) is not accepted; remove it")

    def start(self, tag: str, attrs: dict[str, str], /) -> ElementTree.Element:
        """Open an element."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise BddTorqueError(f"elements must be nested at most {_DEEPEST} deep, these go deeper")
        longest = max(map(len, (tag, *attrs)))
        if longest > _LONGEST_TAG:
            raise BddTorqueError(
                f"names of elements and attributes must have at most {_LONGEST_TAG:,} characters, one has {longest:,}"
            )
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ElementTree.Element:
        """Close an element."""
        self.depth -= 1
        return super().end(tag)


def _parsed(data: bytes, where: str) -> ElementTree.Element:
    parser = ElementTree.XMLParser(target=_Builder())
    try:
        parser.feed(data)
        root: ElementTree.Element = parser.close()
    except BddTorqueError as error:
        raise BddTorqueError(f"{where}: {error}") from None
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the last two: unknown encodings
        hint = "; if this is a xacro file, run `xacro` on it first" if b"xacro:" in data else ""
        raise BddTorqueError(f"{where}: not well-formed XML: {error}{hint}") from None
    return root


def _refuse_xacro(root: ElementTree.Element, where: str) -> None:
    """Refuse macros that were not expanded; a mere xmlns:xacro, which expansion leaves behind, is no element."""
    for element in root.iter():
        expressions = any("${" in value or "$(" in value for value in element.attrib.values())
        if "xacro" in str(element.tag) or (expressions and element.tag in (*_KEPT, *_NAMES, *_NUMBERS)):
            raise BddTorqueError(
                f"{where}: this is xacro, not URDF; name the file .xacro, or run `xacro arm.xacro > arm.urdf` first"
            )


def _check(element: ElementTree.Element, where: str) -> None:
    """Check one element and those in it: known and not repeated, numbers finite, what is required there."""
    tag = str(element.tag)
    seen: set[str] = set()
    for child in element if tag in _CHILDREN else ():
        name, inside = str(child.tag), _CHILDREN[tag]
        if name not in inside:
            # Others put things into links and joints too, but a misspelt <axis> or a stray <mass> must not pass.
            if tag == "inertial" or name in ("mass", "inertia"):
                raise BddTorqueError(f"{where}: <{one_line(name, 60)}> is not known in <{tag}>{nearest(name, inside)}")
            _refuse_resembling(name, inside, where)
            continue
        if name in seen and name not in ("visual", "collision"):
            raise BddTorqueError(f"{where}: <{name}> occurs several times; keep one")
        seen.add(name)
        if name not in ("visual", "collision", "calibration", "safety_controller"):
            _check(child, f"{where}, {name}")
    _check_attributes(element, tag, where)
    if tag == "joint" and element.get("type") not in JOINT_TYPES:
        raise BddTorqueError(f"{where}: {not_among('type', element.get('type'), JOINT_TYPES)}")
    for required in _REQUIRED.get(tag, ()):
        if element.find(required) is None:
            raise BddTorqueError(f"{where}: <{required}> is missing")


def _check_attributes(element: ElementTree.Element, tag: str, where: str) -> None:
    numbers = _NUMBERS.get(tag, {})
    known = [_NAMES[tag], *numbers] if tag in _NAMES else list(numbers)
    for key in element.attrib if known and tag not in _EXTENDED else ():
        if key not in known:
            raise BddTorqueError(f"{where}: {unknown('attribute', key, known)}")
    if tag in _NAMES:
        name_of(element.get(_NAMES[tag]), f"{where}: {_NAMES[tag]}")
    for key, count in numbers.items():
        given = element.get(key)
        if given is None and tag in _COMPLETE:
            raise BddTorqueError(f"{where}: attribute '{key}' is missing")
        found = [decimal(word) for word in given.split()] if given is not None else [0.0] * count
        if len(found) != count or None in found:
            what = "a finite decimal number" if count == 1 else f"{count} finite decimal numbers"
            raise BddTorqueError(f"{where}: {key} must be {what}, got {describe(given)}")


def _refuse_resembling(name: str, known: Collection[str], where: str) -> None:
    """Refuse an element that looks like a misspelt one that counts; others, of simulators and tools, pass."""
    if len(name) > 4 * max(map(len, known)):  # nothing like it, and comparing it would take long
        return
    for right in known:
        if SequenceMatcher(None, name.casefold(), right).ratio() > _RESEMBLES and right not in ("visual", "collision"):
            raise BddTorqueError(f"{where}: unknown element <{one_line(name, 60)}>; did you mean <{right}>?")
