"""Choosing a chain in a URDF tree and folding everything rigid into its bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from math import inf

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.measures import check_unit
from bddtorque.base.plain import describe
from bddtorque.robots.frames import Pose, identity
from bddtorque.robots.robot import Joint, Kind, Link
from bddtorque.robots.segments import Segment, moved
from bddtorque.robots.urdf_tree import Tree, UrdfJoint

Lock = Mapping[str, float] | str | None


@dataclass(frozen=True)
class Choice:
    """A chain within a tree, which joints are held where, and whether that was asked for all others at once."""

    tree: Tree
    path: list[UrdfJoint]
    locked: dict[str, float]
    others: bool = False

    def rigid(self, joint: UrdfJoint) -> bool:
        """Whether a joint does not move: fixed, or locked."""
        return joint.kind == "fixed" or joint.name in self.locked

    def pose(self, joint: UrdfJoint) -> Pose:
        """Return the pose of a joint that is rigid, or of one that moves at its zero."""
        return joint.pose_at(self.locked.get(joint.name, 0.0))

    @property
    def chain(self) -> list[UrdfJoint]:
        """The joints that move, from base to tip."""
        return [joint for joint in self.path if not self.rigid(joint)]


def choose(tree: Tree, base: str, tip: str | None, lock: Lock) -> Choice:
    """Return the chain from link `base` to link `tip`, or the only one there is."""
    locked = _positions(tree, lock)
    if tip is None:
        if isinstance(lock, str):
            raise BddTorqueError(f'{tree.where}: lock = "others" needs tip, the last link of the chain')
        path = _only_path(tree, base, locked)
    else:
        path = tree.path(base, tip)
    if isinstance(lock, str):
        locked = _others(tree, base, path)
    choice = Choice(tree, path, locked, isinstance(lock, str))
    _check_joints(choice)
    return choice


def segments(choice: Choice, *, allow_massless: bool, ignore_friction: bool) -> tuple[list[Segment], Pose]:
    """Return the segments of the chain, and the pose of the tip in the last one's frame."""
    pose, found = identity(), []
    for joint in choice.path:
        pose = pose @ choice.pose(joint)
        if choice.rigid(joint):
            continue
        if joint.fault:
            raise BddTorqueError(f"{choice.tree.where}, joint '{joint.name}': {joint.fault}")
        friction = None if ignore_friction else joint.friction
        if isinstance(friction, str):
            raise BddTorqueError(f"{choice.tree.where}, joint '{joint.name}', dynamics: {friction}")
        assert joint.axis is not None  # a joint that moves has one: the reader saw to it
        kind: Kind = "prismatic" if joint.kind == "prismatic" else "revolute"
        body = _body(choice, joint, allow_massless)
        found.append(Segment(Joint(joint.name, kind, friction=friction, **joint.limits), pose, joint.axis, body))
        pose = identity()
    if not found:
        raise BddTorqueError(f"{choice.tree.where}: no joint moves between base and tip; at least one must")
    return found, pose


def _positions(tree: Tree, lock: Lock) -> dict[str, float]:
    """Return the positions asked for, checked, with those of the joints that mimic them."""
    if lock is None or lock == "others":
        return {}
    if isinstance(lock, str) or not isinstance(lock, Mapping):
        raise BddTorqueError(f'{tree.where}: lock must be "others" or positions by joint name, got {describe(lock)}')
    locked: dict[str, float] = {}
    for name, position in lock.items():
        if name not in tree.joints or not tree.joints[name].moves:
            known = [joint.name for joint in tree.joints.values() if joint.moves]
            raise BddTorqueError(f"{tree.where}: lock: {unknown('moving joint', name, known)}")
        locked[name] = _within_limits(tree, tree.joints[name], position)
    return _with_followers(tree, locked)


def _with_followers(tree: Tree, locked: dict[str, float]) -> dict[str, float]:
    """Add the joints that mimic a locked one, followers of followers too."""
    locked, changed = dict(locked), True
    while changed:
        changed = False
        for joint in tree.joints.values():
            if joint.mimic is None or joint.mimic.leader not in locked:
                continue
            position = joint.mimic.multiplier * locked[joint.mimic.leader] + joint.mimic.offset
            if joint.name not in locked:
                locked[joint.name] = position
                changed = True
            elif abs(locked[joint.name] - position) > 1e-9:
                raise BddTorqueError(
                    f"{tree.where}: lock: '{joint.name}' mimics '{joint.mimic.leader}', so it must be at "
                    f"{position:.6g}, got {locked[joint.name]:.6g}"
                )
    return locked


def _within_limits(tree: Tree, joint: UrdfJoint, position: float) -> float:
    lower, upper = joint.limits.get("lower", -inf), joint.limits.get("upper", inf)
    allowance = 1e-9
    check_unit(position, "lock", joint.name, joint.kind != "prismatic", f" ({tree.where})")
    number = isinstance(position, int | float) and not isinstance(position, bool)
    if not number or not (lower - allowance <= position <= upper + allowance) or abs(position) == inf:
        raise BddTorqueError(
            f"{tree.where}: lock: joint '{joint.name}' must be between {lower:.6g} and {upper:.6g}, got "
            f"{describe(position)}"
        )
    return float(position)


def _only_path(tree: Tree, base: str, locked: Mapping[str, float]) -> list[UrdfJoint]:
    """Return the path of the only chain below `base`; beyond its last joint, as far as there is but one way to go."""
    path: list[UrdfJoint] = []
    link = base
    while True:
        ways = [joint for joint in tree.child_joints[link] if _movable_below(tree, joint, locked)]
        if len(ways) > 1:
            names = " and ".join(f"'{_movable_below(tree, joint, locked)[0]}'" for joint in ways[:2])
            raise BddTorqueError(
                f"{tree.where}: joints {names} branch off at link '{link}'; choose a chain with tip, and lock the "
                "joints that do not belong to it"
            )
        if not ways and len(tree.child_joints[link]) != 1:
            return path
        path.append(ways[0] if ways else tree.child_joints[link][0])
        link = path[-1].child


def _movable_below(tree: Tree, joint: UrdfJoint, locked: Mapping[str, float]) -> list[str]:
    """Return the joints that are free to move from this one on outwards."""
    here = [joint, *(other for link in tree.below(joint.child) for other in tree.child_joints[link])]
    return [other.name for other in here if other.kind != "fixed" and other.name not in locked]


def _others(tree: Tree, base: str, path: list[UrdfJoint]) -> dict[str, float]:
    """Return zero for every joint off the path, or what it must be for those that mimic one of these."""
    off = [joint for joint in tree.joints.values() if joint.moves and joint not in path]
    locked = _with_followers(tree, {joint.name: 0.0 for joint in off if joint.mimic is None})
    carried = {link for joint in path if joint.moves for link in tree.below(joint.child)}
    before = tree.path(tree.root, base)
    for joint in off:
        # Where the others are, which hang from the base, is all the same to the chain.
        if joint.name in locked and (joint.parent in carried or joint in before):
            _within_limits(tree, joint, locked[joint.name])
    return locked


def _check_joints(choice: Choice) -> None:
    """Refuse joints on the chain that are not of one degree of freedom of their own."""
    where, names = choice.tree.where, {joint.name for joint in choice.chain}
    for joint in choice.chain:
        if not joint.moves:
            raise BddTorqueError(
                f"{where}, joint '{joint.name}': a joint of the chain must be revolute, continuous, prismatic or "
                f"fixed, got {joint.kind}"
            )
        if joint.mimic is not None:
            raise BddTorqueError(
                f"{where}, joint '{joint.name}': a joint of the chain must move by itself, this one mimics "
                f"'{joint.mimic.leader}'; lock it"
            )
    for joint in choice.tree.joints.values():
        # Wherever it is, it loads the drive of the joint it follows.
        if joint.mimic is not None and joint.mimic.leader in names:
            raise BddTorqueError(
                f"{where}, joint '{joint.name}': it mimics '{joint.mimic.leader}' of the chain and so loads its "
                "drive, which is not modelled; lock either of them, or remove <mimic> from the file"
            )


def _body(choice: Choice, carrier: UrdfJoint, allow_massless: bool) -> Link:
    """Return all that joint `carrier` carries up to the next joint of the chain, in the frame of its child link."""
    tree, where = choice.tree, choice.tree.where
    parts: list[Link] = []
    waiting = [(carrier.child, identity())]
    while waiting:
        link, pose = waiting.pop()
        inertial = tree.links[link]
        if inertial is not None and (inertial.mass > 0 or any(any(row) for row in inertial.inertia)):
            parts.append(inertial if link == carrier.child else moved(inertial, pose))
        for joint in tree.child_joints[link]:
            if choice.rigid(joint):
                waiting.append((joint.child, pose @ choice.pose(joint)))
            elif joint not in choice.path:
                raise BddTorqueError(
                    f"{where}, joint '{joint.name}': only joints from base to tip may move, this {joint.kind} joint "
                    f"hangs from link '{link}' off the chain; {_remedy(choice, joint)}"
                )
    if not parts and not allow_massless:
        raise BddTorqueError(
            f"{where}, link '{carrier.child}': joint '{carrier.name}' moves it, so it must have an <inertial> with "
            "mass; allow_massless takes it to weigh nothing"
        )
    if not parts:
        return Link(carrier.child)
    return reduce(Link.joined, parts[1:], replace(parts[0], name=carrier.child))


def _remedy(choice: Choice, joint: UrdfJoint) -> str:
    """Say what to do about a joint off the chain that is free to move."""
    if not joint.moves:
        return "remove it"
    by_name = f"lock it: lock = {{'{joint.name}': position}}"
    if not choice.others:
        return f'{by_name} or lock = "others"'
    leader = joint.mimic.leader if joint.mimic is not None else joint.name
    return f"it mimics '{leader}', which lock = \"others\" does not hold; {by_name}, and the others by name as well"
