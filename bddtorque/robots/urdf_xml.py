"""The strict part of reading URDF: what the XML must say before anything is taken from it.

Readers of URDF commonly fill in what is missing (a moment of inertia of 1 kg·m², a mass of 0), repair broken XML and
overlook misspelt or repeated elements. Any of these would become a wrong torque that nobody notices, so all are refused
here: at the first fault, or all of them listed. Meshes, materials and extensions of simulators pass unread.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache
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
    "origin": {"xyz": 3, "rpy": 3, "quat_xyzw": 4},
    "mass": {"value": 1},
    "inertia": dict.fromkeys(MOMENTS, 1),
    "axis": {"xyz": 3},
    "mimic": {"multiplier": 1, "offset": 1},
    "limit": dict.fromkeys(("lower", "upper", "velocity", "effort", "acceleration", "deceleration", "jerk"), 1),
    "dynamics": {"damping": 1, "friction": 1},
}
"""Attributes that hold so many numbers."""
_COMPLETE = ("mass", "inertia", "axis")
"""Elements that must have all their numbers."""
_EXTENDED = ("limit", "dynamics")
"""Elements to which vendors add attributes of their own."""
_KEPT = ("link", "joint")


def checked_xml(data: bytes, where: str, faults: list[str] | None = None) -> ElementTree.Element:
    """Return the `<robot>` element with nothing but the checked links and joints in it.

    The first fault is refused; with `faults`, links and joints that have any are left out, and all faults added to it.
    """
    root = _parsed(data, where)
    _refuse_xacro(root, where)
    if root.tag != "robot":
        raise BddTorqueError(f"{where}: the root element must be <robot>, got <{one_line(root.tag, 60)}>")
    kept = ElementTree.Element("robot", name=name_of(root.get("name"), f"{where}: robot name"))
    names: set[tuple[str, str]] = set()
    for element in root:
        wrong = list(_element_faults(element, names, where))
        if wrong and faults is None:
            raise BddTorqueError(wrong[0])
        if len(names) > MAX_ELEMENTS:
            raise BddTorqueError(f"{where}: there must be at most {MAX_ELEMENTS:,} links and joints, got more")
        if wrong and faults is not None:
            faults.extend(wrong)
        elif element.tag in _KEPT:  # not materials, transmissions, simulator extensions
            kept.append(element)
    return kept


def _element_faults(element: ElementTree.Element, names: set[tuple[str, str]], where: str) -> Iterator[str]:
    """Yield what is wrong with an element of a robot; `names` are those of the links and joints before it."""
    tag = str(element.tag)
    if tag not in _KEPT:
        yield from _misspelt(tag, _KEPT, where)
        return
    try:
        name = name_of(element.get("name"), f"{where}: {tag} name")
    except BddTorqueError as problem:
        yield str(problem)
        return
    if (tag, name) in names:
        yield f"{where}: {tag} '{name}' occurs twice; names must differ"
    names.add((tag, name))
    yield from _faults(element, f"{where}, {tag} '{name}'")


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


def _faults(element: ElementTree.Element, where: str) -> Iterator[str]:
    """Yield what is wrong with an element and those in it: unknown, repeated or missing ones, numbers that are none."""
    tag = str(element.tag)
    seen: set[str] = set()
    for child in element if tag in _CHILDREN else ():
        name, inside = str(child.tag), _CHILDREN[tag]
        if name not in inside:
            # Others put things into links and joints too, but a misspelt <axis> or a stray <mass> must not pass.
            if tag == "inertial" or name in ("mass", "inertia"):
                yield f"{where}: <{one_line(name, 60)}> is not known in <{tag}>{nearest(name, inside)}"
            else:
                yield from _misspelt(name, inside, where)
            continue
        if name in seen and name not in ("visual", "collision"):
            yield f"{where}: <{name}> occurs several times; keep one"
        seen.add(name)
        if name not in ("visual", "collision", "calibration", "safety_controller"):
            yield from _faults(child, f"{where}, {name}")
    yield from _attribute_faults(element, tag, where)
    if tag == "joint" and element.get("type") not in JOINT_TYPES:
        yield f"{where}: {not_among('type', element.get('type'), JOINT_TYPES)}"
    yield from (f"{where}: <{name}> is missing" for name in _REQUIRED.get(tag, ()) if element.find(name) is None)


def _attribute_faults(element: ElementTree.Element, tag: str, where: str) -> Iterator[str]:
    numbers = _NUMBERS.get(tag, {})
    known = [_NAMES[tag], *numbers] if tag in _NAMES else list(numbers)
    for key in element.attrib if known and tag not in _EXTENDED else ():
        if key not in known:
            yield f"{where}: {unknown('attribute', key, known)}"
    if "rpy" in element.attrib and "quat_xyzw" in element.attrib and tag == "origin":
        yield f"{where}: 'rpy' and 'quat_xyzw' exclude each other; keep one"
    if tag in _NAMES:
        try:
            name_of(element.get(_NAMES[tag]), f"{where}: {_NAMES[tag]}")
        except BddTorqueError as problem:
            yield str(problem)
    for key, count in numbers.items():
        given = element.get(key)
        if given is None and tag in _COMPLETE:
            yield f"{where}: attribute '{key}' is missing"
            continue
        found = [decimal(word) for word in given.split()] if given is not None else [0.0] * count
        if len(found) != count or None in found or (key == "quat_xyzw" and given is not None and not any(found)):
            what = "a finite decimal number" if count == 1 else f"{count} finite decimal numbers"
            yield f"{where}: {key} must be {what}{', not all 0' if key == 'quat_xyzw' else ''}, got {describe(given)}"


def _misspelt(name: str, known: tuple[str, ...], where: str) -> Iterator[str]:
    """Yield that an element looks like a misspelt one that counts; others, of simulators and tools, pass."""
    right = resembling(name, known)
    if right is not None and right not in ("visual", "collision"):
        yield f"{where}: unknown element <{one_line(name, 60)}>; did you mean <{right}>?"


@lru_cache(maxsize=1024)
def resembling(name: str, known: tuple[str, ...]) -> str | None:
    """Return the first of the known names that a name looks like, or None."""
    folded = name.casefold()
    for right in known:
        if 2 * min(len(folded), len(right)) <= _RESEMBLES * (len(folded) + len(right)):
            continue  # as most are: files can hold a great many names, and comparing letters takes long
        matcher = SequenceMatcher(None, folded, right)
        if matcher.quick_ratio() > _RESEMBLES and matcher.ratio() > _RESEMBLES:
            return right
    return None
