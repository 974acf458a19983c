"""Findings that look wrong in a robot's numbers, though a reader may accept them: `bddtorque lint`.

Inertias that no body has, with the nearest that one can have; bodies that move and weigh nothing; units that were
mixed up; limits that nobody meant; numbers that are only rounding of zero and cost operations; what is ignored; and
whatever is refused, all of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.batch import Floats, inverse_dynamics
from bddtorque.dynamics.coupling import refuse_ambiguous_turns, refuse_uncompilable
from bddtorque.robots.library import RobotLike, load_robot, stated_tree
from bddtorque.robots.parts import ACCELERATION_PER_VELOCITY, Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.tree_robot import TreeOptions, robot_of_tree
from bddtorque.robots.urdf_tree import UNLIMITED, Tree, UrdfJoint
from bddtorque.words.formats import Format

WIDEST, NARROWEST = 3.0, 1e-4
"""m; a body of some kilograms whose radius of gyration is beyond is in other units than it says."""
LONGEST = 20.0
"""m; so far from one joint to the next, lengths are in mm."""
HEAVIEST = 1000.0
"""kg."""
DUST = 1e-6
"""A number smaller than this, relative to its neighbours, is rounding of zero."""
NEARLY, EXACTLY = 1e-3, 1e-9
"""An axis so near to another was meant to be it; nearer than the second, the reader makes it so."""
SPARE = 50.0
"""An effort limit so many times what motion within the other limits needs was not measured on a drive."""
ALIKE = 3
"""So many bodies of different mass with one inertia share a placeholder."""
STATES = 256
HEAVY_END = 15.0
"""Times the mass of all that carries it, the last link of a chain is in other units: grams are a factor of 1000."""
_LENIENT: tuple[str, ...] = ("allow_massless", "allow_unphysical", "ignore_friction")


@dataclass(frozen=True)
class LintFinding:
    """One thing that looks wrong in a robot.

    Attributes
    ----------
    kind
        ``"inertia"``, ``"massless"``, ``"units"``, ``"limits"``, ``"dust"``, ``"refused"`` or ``"ignored"``.
    where
        The link or joint, such as ``"link 'hand'"``; empty where the message says it.
    message
        What is wrong.
    proposal
        Numbers that would work, by name; empty if they cannot be known.
    """

    kind: str
    where: str
    message: str
    proposal: dict[str, Any]

    def __str__(self) -> str:
        said = ", ".join(f'{name}="{value:.9g}"' for name, value in self.proposal.items())
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.message}" + (
            f"; nearest that a body can have, in the axes of the link: {said}" if said else ""
        )

    def to_plain(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def lint(robot: RobotLike, **options: Unpack[TreeOptions]) -> list[LintFinding]:
    """Return what looks wrong in the numbers of a robot: impossible inertias, placeholder limits, wrong units.

    Parameters
    ----------
    robot
        What `load_robot` takes.
    **options
        `TreeOptions`, as in `load_robot`.

    Returns
    -------
    list of LintFinding
        Empty if nothing looks wrong.

    Raises
    ------
    BddTorqueError
        The file does not describe a robot.
    """
    faults: list[str] = []
    tree = stated_tree(robot, options.get("xacro_args"), faults)
    faults = faults or list(tree.faults())
    findings = [_found("refused", "", _within(tree, fault)) for fault in faults]
    findings += [*_links(tree), *_alike(tree), *_joints(tree)]
    return findings if faults else [*findings, *_whole(robot, tree, options, {each.message for each in findings})]


def _whole(robot: RobotLike, tree: Tree, options: TreeOptions, told: Collection[str]) -> Iterator[LintFinding]:
    """Look at the robot that moves, where links and joints are a tree; what is told already is not told again."""
    loaded, _, refusal = loaded_leniently(robot, options)
    if refusal and not any(message in refusal for message in told):
        yield _found("refused", "", _within(tree, refusal))
    if loaded is None:  # whatever else is wrong with it
        joints = {
            name: replace(joint, fault="", friction=None if isinstance(joint.friction, str) else joint.friction)
            for name, joint in tree.joints.items()
        }
        lenient: Any = {**options, **dict.fromkeys(_LENIENT, True), "xacro_args": None}
        with suppress(BddTorqueError):
            loaded = robot_of_tree(replace(tree, joints=joints), "", lenient)
    if loaded is None:
        return
    yield from (*_massless(loaded, tree), *_heavy_ends(loaded), *_efforts(loaded))
    try:
        refuse_uncompilable(loaded)
        refuse_ambiguous_turns(loaded, [Format("angle", 24, each.lower, each.upper) for each in loaded.joints])
    except BddTorqueError as problem:
        yield _found("refused", "robot", str(problem))


def loaded_leniently(robot: RobotLike, options: TreeOptions) -> tuple[Robot | None, dict[str, Any], str]:
    """Return a robot, the options that reading it takes, and why it is refused with all of them, if it is."""
    given: dict[str, Any] = dict(options)
    while True:
        try:
            return load_robot(robot, **given), given, ""
        except BddTorqueError as problem:
            said = str(problem)
            asked = next((name for name in _LENIENT if f"{name}=True" in said and not given.get(name)), None)
            if asked is None:
                return None, given, said
            given[asked] = True


def _within(tree: Tree, message: str) -> str:
    """Return a message without the file that it begins with."""
    return message.removeprefix(tree.where).lstrip(":, ")


def _found(kind: str, where: str, message: str, **proposal: float) -> LintFinding:
    return LintFinding(kind, where, message, proposal)


def _links(tree: Tree) -> Iterator[LintFinding]:
    """Look at each body as it is stated."""
    points = not any(np.array(link.inertia).any() for link in tree.links.values() if link is not None)
    for name, link in tree.links.items():
        if link is None:
            continue
        where, inertia = f"link '{name}'", np.array(link.inertia)
        wrong = link.why_unphysical()
        if wrong:
            yield _found("inertia", where, wrong, **moments_of(nearest_physical(inertia)))
        if link.mass > 0 and not inertia.any() and not points:  # or all are points, as in textbooks
            yield _found("inertia", where, f"inertia is zero for a mass of {link.mass:g} kg, as if it were a point")
        yield from _units(link, where)
        dusty = _dust(link)
        if dusty:
            yield _found("dust", where, f"{', '.join(dusty)} {'is' if len(dusty) == 1 else 'are'} rounding of zero")


def nearest_physical(inertia: Floats) -> Floats:
    """Return the inertia (3, 3) of a body that is nearest to a given one: second moments below zero become zero."""
    symmetric = (inertia + inertia.T) / 2
    second = np.trace(symmetric) / 2 * np.eye(3) - symmetric
    values, axes = np.linalg.eigh(second)
    kept = (axes * np.maximum(values, 0.0)) @ axes.T
    nearest: Floats = np.trace(kept) * np.eye(3) - kept
    return nearest


def moments_of(inertia: Floats) -> dict[str, float]:
    """Return the six moments of an inertia (3, 3), by the names that URDF has for them."""
    names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    return {name: float(inertia[place]) for name, place in names.items()}


def _units(link: Link, where: str) -> Iterator[LintFinding]:
    largest = float(np.abs(np.array(link.inertia)).max())
    if link.mass > HEAVIEST:
        yield _found("units", where, f"mass of {link.mass:g} kg looks like grams")
    if link.mass <= 0 or largest <= 0:
        return
    radius = math.sqrt(largest / link.mass)
    if radius > WIDEST:
        yield _found(
            "units", where, f"inertia of {largest:.3g} kg·m² means mass {radius:.3g} m from its centre: kg·mm²?"
        )
    elif radius < NARROWEST and link.mass > 0.01:
        yield _found("units", where, f"inertia of {largest:.3g} kg·m² means {link.mass:g} kg within {radius:.1g} m")
    if max(map(abs, link.centre_of_mass)) > LONGEST:
        yield _found("units", where, f"centre of mass {max(map(abs, link.centre_of_mass)):g} m away looks like mm")


def _dust(link: Link) -> list[str]:
    """Return the names of numbers of a body that are nothing next to their neighbours, and not zero."""
    inertia, centre = np.abs(np.array(link.inertia)), np.abs(np.array(link.centre_of_mass))
    products = {"ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
    found = [name for name, place in products.items() if 0 < inertia[place] < DUST * inertia.max()]
    return found + [
        f"{axis} of the centre of mass" for axis, x in zip("xyz", centre, strict=True) if 0 < x < DUST * centre.max()
    ]


def _alike(tree: Tree) -> Iterator[LintFinding]:
    """Look for one inertia on bodies that do not weigh the same."""
    masses: dict[Any, set[float]] = {}
    for link in tree.links.values():
        moments = () if link is None else tuple(np.linalg.eigvalsh(np.array(link.inertia)).round(12).tolist())
        if link is not None and any(moments):
            masses.setdefault(moments, set()).add(link.mass)
    for moments, found in masses.items():
        if len(found) >= ALIKE:
            shown = ", ".join(f"{moment:.3g}" for moment in moments)
            yield _found(
                "inertia", "robot", f"{len(found)} links of different mass have the same moments ({shown} kg·m²)"
            )


def _joints(tree: Tree) -> Iterator[LintFinding]:
    """Look at each joint as it is stated."""
    for joint in tree.joints.values():
        where, limits = f"joint '{joint.name}'", joint.limits
        far = float(np.abs(joint.origin.translation).max())
        if far > LONGEST:
            yield _found("units", where, f"origin {far:g} m away looks like mm")
        off = _nearly_right(joint)
        if off:
            yield _found(
                "dust",
                where,
                f"its axes miss a quarter turn by {off:.1g} rad: write pi/2, or use snap={_snap(off):g}",
            )
        if joint.motion is None:
            continue
        turns = joint.motion.turns
        ends = [abs(limits[end]) for end in ("lower", "upper") if math.isfinite(limits.get(end, math.inf))]
        if isinstance(joint.friction, str):
            yield _found("refused", where, f"dynamics: {joint.friction}")
        if joint.ignored:
            said = ", ".join(joint.ignored)
            yield _found("ignored", where, f"dynamics: {said}: not damping or friction, which are all that is read")
        if joint.fault:
            yield _found("limits", where, joint.fault)
        elif ends and max(ends) > joint.motion.farthest:
            what = "rad looks like degrees, or like none" if turns else "m looks like mm"
            yield _found("limits", where, f"position limit of {max(ends):g} {what}")
        elif joint.kind != UNLIMITED and not ends and joint.mimic is None:
            yield _found("limits", where, "no position limits are known")
        for quantity, least in joint.motion.placeholders.items():
            limit = limits.get(quantity, math.inf)
            if math.isfinite(limit) and limit >= least:
                unit = joint.motion.units[quantity]
                yield _found(
                    "limits", where, f"{quantity} limit of {limit:g} {unit} looks like a placeholder or degrees"
                )
        if not math.isfinite(limits.get("velocity", math.inf)) and joint.mimic is None:
            yield _found("limits", where, "no velocity limit is known")


def _nearly_right(joint: UrdfJoint) -> float:
    """Return by how much a rotation misses one that carries axes onto axes, if it was surely meant to be one; or 0."""
    rotation = np.abs(joint.origin.rotation)
    off = np.where(rotation < 0.5, rotation, 1.0 - rotation)
    small = float(rotation[rotation < 0.5].max(initial=0.0))
    return small if off.max() < NEARLY and small > EXACTLY else 0.0


def _snap(off: float) -> float:
    return float(10.0 ** math.ceil(math.log10(off) + 1e-9))


def _massless(robot: Robot, tree: Tree) -> Iterator[LintFinding]:
    """Look for bodies that move and weigh nothing, all that is fixed to them included."""
    for member in robot.members:
        if member.link.mass == 0.0 and member.link.name not in tree.frames:
            turns = np.array(member.link.inertia).any()
            said = f"joint '{member.joint.name}' moves it, and it has {'moments, but ' if turns else ''}no mass"
            yield _found("massless", f"link '{member.link.name}'", f"{said}; allow_massless=True accepts it")


def _heavy_ends(robot: Robot) -> Iterator[LintFinding]:
    """Look for last links that weigh more than what carries them could bear."""
    members = robot.members
    carried_by = [0.0] * len(members)  # the mass of all that carries each
    for k, member in enumerate(members):
        if member.parent >= 0:
            carried_by[k] = carried_by[member.parent] + members[member.parent].link.mass
    ends = set(range(len(members))) - {member.parent for member in members}
    for k in sorted(ends):
        mass, arm = members[k].link.mass, carried_by[k]
        if 0 < HEAVY_END * arm < mass:
            said = f"mass of {mass:g} kg at the end of an arm of {arm:.3g} kg looks like grams"
            yield _found("units", f"link '{members[k].link.name}'", said)


def _efforts(robot: Robot) -> Iterator[LintFinding]:
    """Compare effort limits with what motion within the other limits needs."""
    velocity = np.array([joint.velocity for joint in robot.joints])
    if not np.isfinite(velocity).all():
        velocity = np.where(np.isfinite(velocity), velocity, 0.0)
    random, n = np.random.default_rng(0), robot.degrees_of_freedom
    low = np.array([joint.lower if math.isfinite(joint.lower) else -math.pi for joint in robot.joints])
    high = np.array([joint.upper if math.isfinite(joint.upper) else math.pi for joint in robot.joints])
    q = random.uniform(low, high, (STATES, n))
    qd, qdd = (random.choice([-1.0, 1.0], (STATES, n)) * velocity * k for k in (1.0, ACCELERATION_PER_VELOCITY))
    with suppress(BddTorqueError):
        need = np.abs(inverse_dynamics(robot, q, qd, qdd)).max(axis=0)
        for joint, most in zip(robot.joints, need.tolist(), strict=True):
            if math.isfinite(joint.effort) and most > 0 and joint.effort > SPARE * most:
                unit = joint.kind.units["torque"]
                said = (
                    f"effort limit of {joint.effort:g} {unit} is {joint.effort / most:,.0f} times what motion within "
                )
                yield _found("limits", f"joint '{joint.name}'", f"{said}the limits needs")


def summary(findings: list[LintFinding]) -> str:
    """Return how many findings there are of each kind, in one line."""
    counts = Counter(finding.kind for finding in findings)
    shown = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return (
        f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}: {shown}" if findings else "nothing found"
    )
