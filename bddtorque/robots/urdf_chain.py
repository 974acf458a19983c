"""Choosing the joints of a URDF tree that move, all or a chain, and folding everything rigid into their bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.measures import check_unit
from bddtorque.base.plain import describe
from bddtorque.robots.frames import Pose, identity
from bddtorque.robots.parts import Joint, Link
from bddtorque.robots.segments import Mimic, Segment, moved
from bddtorque.robots.tree_order import BASE
from bddtorque.robots.urdf_tree import URDF_KINDS, Tree, UrdfJoint
from bddtorque.words.friction import Friction

Lock = Mapping[str, float] | str | None
NEGLIGIBLE = 1e-3
"""Moments of a part that are so small beside those of the body it is fixed to need not be possible: no torque shows."""


@dataclass(frozen=True)
class Choice:
    """The joints of a tree that move.

    Attributes
    ----------
    base
        The link that is held still.
    path
        The joints from the base to the tip, or as far as there is one way to go.
    joints
        Those that move, followers too, each after the one that carries it.
    locked
        Which joints are held where.
    others
        Whether that was asked for all others at once.
    """

    tree: Tree
    base: str
    path: list[UrdfJoint]
    joints: list[UrdfJoint]
    locked: dict[str, float]
    others: bool = False

    def rigid(self, joint: UrdfJoint) -> bool:
        """Tell if a joint does not move: fixed, or locked."""
        return joint.kind == "fixed" or joint.name in self.locked

    def pose(self, joint: UrdfJoint) -> Pose:
        """Return the pose of a joint that is rigid, or of one that moves at its zero."""
        return joint.pose_at(self.locked.get(joint.name, 0.0))

    def way_to(self, joint: UrdfJoint) -> tuple[str, list[UrdfJoint]]:
        """Return the moving joint that carries another, `BASE` for none, and the joints from there to it."""
        steps = [joint]
        while steps[0].parent != self.base:
            above = self.tree.parent_joint[steps[0].parent]
            if above in self.joints:
                return above.name, steps
            if not self.rigid(above):
                raise BddTorqueError(
                    f"{self.tree.where}, joint '{joint.name}': it hangs from joint '{above.name}', which is not among "
                    "those that move; lock one of them"
                )
            steps.insert(0, above)
        return BASE, steps

    def mimic(self, joint: UrdfJoint) -> Mimic | None:
        """Return what a joint follows in the end, where it follows another that follows a third."""
        if joint.mimic is None:
            return None
        follows, seen = joint.mimic, {joint.name}
        while (leader := self.tree.joints.get(follows.leader)) is not None and leader.mimic is not None:
            if leader.name in seen:
                raise BddTorqueError(f"{self.tree.where}, joint '{joint.name}': it mimics itself, by '{leader.name}'")
            seen.add(leader.name)
            inner = leader.mimic
            offset = follows.multiplier * inner.offset + follows.offset
            follows = Mimic(inner.leader, follows.multiplier * inner.multiplier, offset)
        return follows


def choose(tree: Tree, base: str, tip: str | None, lock: Lock) -> Choice:
    """Return the chain from link `base` to link `tip`, or all joints beyond the base."""
    locked = _positions(tree, lock)
    if tip is None:
        if isinstance(lock, str):
            raise BddTorqueError(f'{tree.where}: lock="others" needs tip, the last link of the chain')
        path = _only_path(tree, base, locked)
        joints = [joint for joint in _outward(tree, base) if joint.kind != "fixed" and joint.name not in locked]
    else:
        path = tree.path(base, tip)
        if isinstance(lock, str):
            locked = _others(tree, base, path)
        joints = [joint for joint in path if joint.kind != "fixed" and joint.name not in locked]
    choice = Choice(tree, base, path, joints, locked, isinstance(lock, str))
    if tip is not None:
        choice = replace(choice, joints=[*joints, *_followers(choice)])
    _check_joints(choice)
    return choice


def segments(choice: Choice, bodies: Sequence[Link], ignore_friction: bool) -> tuple[list[Segment], Pose]:
    """Return the segments of the joints that move, with their bodies, and the pose of the tip in the last one."""
    found = []
    friction = {} if ignore_friction else _frictions(choice)
    for joint, body in zip(choice.joints, bodies, strict=True):
        mimic, (parent, steps) = choice.mimic(joint), choice.way_to(joint)
        pose = reduce(lambda pose, step: pose @ choice.pose(step), steps, identity())
        if joint.fault and mimic is None:
            raise BddTorqueError(f"{choice.tree.where}, joint '{joint.name}': {joint.fault}")
        assert joint.axis is not None and joint.motion is not None  # of a joint that moves: the reader saw to it
        made = Joint(
            joint.name, joint.motion, rotor_inertia=joint.rotor_inertia, friction=friction.get(joint.name),
            parent=parent, **joint.limits,
        )  # fmt: skip
        found.append(Segment(made, pose, joint.axis, body, mimic))
    if not found:
        raise BddTorqueError(f"{choice.tree.where}: no joint moves between base and tip; at least one must")
    pose = identity()
    for joint in choice.path:
        pose = pose @ choice.pose(joint) if choice.rigid(joint) else identity()
    return found, pose if choice.joints[-1] in choice.path else identity()


def carrier_of(choice: Choice, link: str) -> tuple[str, Pose]:
    """Return the moving joint that carries a link, and the pose of the link in the frame of that joint."""
    where, tree, pose, carried = choice.tree.where, choice.tree, identity(), link
    while carried != choice.base and carried in tree.parent_joint:
        joint = tree.parent_joint[carried]
        if joint in choice.joints:
            return joint.name, pose
        if not choice.rigid(joint):
            raise BddTorqueError(f"{where}: frame '{link}': joint '{joint.name}', which carries it, does not move here")
        pose, carried = choice.pose(joint) @ pose, joint.parent
    raise BddTorqueError(f"{where}: frame '{link}': no joint moves it; a link beyond a moving joint would work")


def _frictions(choice: Choice) -> dict[str, Friction]:
    """Return the friction of each joint with a drive, that of its followers included: k·f(k·velocity)."""
    found: dict[str, Friction] = {}
    for joint in choice.joints:
        friction, mimic = joint.friction, choice.mimic(joint)
        if isinstance(friction, str):
            raise BddTorqueError(f"{choice.tree.where}, joint '{joint.name}', dynamics: {friction}")
        if friction is None:
            continue
        name, k = (joint.name, 1.0) if mimic is None else (mimic.leader, mimic.multiplier)
        known = found.get(name, Friction())
        if mimic is None and name not in found:
            found[name] = friction
            continue
        dry = [a + abs(k) * b for a, b in zip(_pair(known), _pair(friction), strict=True)]
        found[name] = Friction(known.viscous + k * k * friction.viscous, (dry[0], dry[1]))
    return found


def _pair(friction: Friction) -> tuple[float, float]:
    coulomb: tuple[float, float] = friction.coulomb  # type: ignore[assignment]
    return coulomb


def _outward(tree: Tree, base: str) -> list[UrdfJoint]:
    """Return all joints beyond a link, each after the one that carries it, branch after branch as in the file."""
    found: list[UrdfJoint] = []
    waiting = tree.child_joints[base][::-1]
    while waiting:
        found.append(waiting.pop())
        waiting.extend(tree.child_joints[found[-1].child][::-1])
    return found


def _followers(choice: Choice) -> list[UrdfJoint]:
    """Return the joints off a chain that follow one of its joints and are carried by the base, as the chain is."""
    driven = {joint.name for joint in choice.joints}
    return [
        joint
        for joint in _outward(choice.tree, choice.base)
        if joint.mimic is not None and joint not in choice.joints and not choice.rigid(joint)
        if (follows := choice.mimic(joint)) is not None and follows.leader in driven
    ]


def _positions(tree: Tree, lock: Lock) -> dict[str, float]:
    """Return the positions asked for, checked, with those of the joints that mimic them."""
    if lock is None or lock == "others":
        return _with_followers(tree, {})
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
            if joint.mimic is None or (joint.mimic.multiplier and joint.mimic.leader not in locked):
                continue
            position = joint.mimic.multiplier * locked.get(joint.mimic.leader, 0.0) + joint.mimic.offset
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
    check_unit(position, "lock", joint.name, joint.motion is None or joint.motion.turns, f" ({tree.where})")
    number = isinstance(position, int | float) and not isinstance(position, bool)
    if not number or not (lower - allowance <= position <= upper + allowance) or abs(position) == inf:
        raise BddTorqueError(
            f"{tree.where}: lock: joint '{joint.name}' must be between {lower:.6g} and {upper:.6g}, got "
            f"{describe(position)}"
        )
    return float(position)


def _only_path(tree: Tree, base: str, locked: Mapping[str, float]) -> list[UrdfJoint]:
    """Return the path of the only chain below `base`; beyond its last joint, as far as there is but one way to go."""
    leads: set[str] = set()  # joints with one that is free to move from there on outwards
    for joint in tree.joints.values():
        free: UrdfJoint | None = joint if joint.kind != "fixed" and joint.name not in locked else None
        while free is not None and free.name not in leads:
            leads.add(free.name)
            free = tree.parent_joint.get(free.parent)
    path: list[UrdfJoint] = []
    link = base
    while True:
        ways = [joint for joint in tree.child_joints[link] if joint.name in leads]
        if len(ways) > 1 or (not ways and len(tree.child_joints[link]) != 1):
            return path
        path.append(ways[0] if ways else tree.child_joints[link][0])
        link = path[-1].child


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
    """Refuse joints that are not of one degree of freedom, and those that follow or lead joints elsewhere."""
    where = choice.tree.where
    driven = {joint.name for joint in choice.joints if joint.mimic is None}
    for joint in choice.joints:
        if not joint.moves:
            raise BddTorqueError(
                f"{where}, joint '{joint.name}': a joint that moves must be {', '.join(URDF_KINDS)} or fixed, got "
                f"{joint.kind}"
            )
        follows = choice.mimic(joint)
        if follows is not None and follows.leader not in driven:
            raise BddTorqueError(
                f"{where}, joint '{joint.name}': it mimics '{follows.leader}', which is not among the joints that "
                "move; lock it"
            )
    for joint in choice.tree.joints.values():
        # Wherever it is, it loads the drive of the joint it follows.
        elsewhere = joint.mimic is not None and joint not in choice.joints and not choice.rigid(joint)
        follows = choice.mimic(joint) if elsewhere else None
        if follows is not None and follows.leader in driven:
            raise BddTorqueError(
                f"{where}, joint '{joint.name}': it mimics '{follows.leader}' and so loads its drive, but is not among "
                "the joints that move; lock either of them, or choose a base that carries both"
            )


def body_of(choice: Choice, carrier: UrdfJoint, allow_massless: bool, allow_unphysical: bool) -> Link:
    """Return all that joint `carrier` carries up to the next joints that move, in the frame of its child link."""
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
            elif joint not in choice.joints:
                raise BddTorqueError(
                    f"{where}, joint '{joint.name}': only joints from base to tip may move, this {joint.kind} joint "
                    f"hangs from link '{link}' off the chain; {_remedy(choice, joint)}"
                )
    if not parts and not allow_massless and carrier.child not in tree.frames:
        raise BddTorqueError(
            f"{where}, link '{carrier.child}': joint '{carrier.name}' moves it, so it must have an <inertial> with "
            "mass; allow_massless=True accepts it without mass"
        )
    if not parts:
        return Link(carrier.child)
    whole = reduce(Link.joined, parts[1:], replace(parts[0], name=carrier.child))
    for part in () if allow_unphysical else parts:  # which folding into a heavier body would hide
        if (missing := part.why_unphysical()) and _trace(part) > NEGLIGIBLE * _trace(whole):
            raise BddTorqueError(f"{where}, link '{part.name}': {missing}; allow_unphysical=True accepts it as it is")
    return whole


def _trace(body: Link) -> float:
    return sum(abs(body.inertia[k][k]) for k in range(3))


def _remedy(choice: Choice, joint: UrdfJoint) -> str:
    """Say what to do about a joint off the chain that is free to move."""
    if not joint.moves:
        return "remove it"
    by_name = f"lock it: lock={{'{joint.name}': position}}"
    if not choice.others:
        return f'{by_name} or lock="others"'
    leader = joint.mimic.leader if joint.mimic is not None else joint.name
    return f"it mimics '{leader}', which lock=\"others\" does not hold; {by_name}, and the others by name as well"
