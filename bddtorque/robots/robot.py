"""`Robot`: a chain or tree of joints on a fixed base, immutable and validated.

Every joint moves about or along the z axis of its own frame; readers turn frames so that this holds. The frame of
link i is the frame of joint i after its motion, so that its pose in the link that carries joint i is

    rotation_i · Rz(q_i),  translation_i                                   (it turns)
    rotation_i,            translation_i + rotation_i · [0, 0, q_i]        (it slides)

or one after the other, for joints that are made of several motions (`joint_kinds`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.plain import Vector, vector
from bddtorque.base.shown_text import text_table
from bddtorque.robots.parts import NO_INERTIA, STANDARD_GRAVITY, ZERO, Follower, Frame, Joint, Link, Member
from bddtorque.robots.tree_order import BASE, carried_order


@dataclass(frozen=True)
class Robot:
    """A chain or tree of joints on a fixed base: joint i carries link i.

    One link carries the tip frame and, if given, a payload in that frame. In a chain that is the last link, unless the
    tip frame names another; in a tree the tip frame must name it.

    Attributes
    ----------
    name
        Its name.
    joints, links
        The driven joints, one torque each, and the links they carry.
    tip
        The tip frame.
    followers
        Joints that are coupled to others.
    gravity
        The acceleration of free fall in base axes, m/s², normally downwards.
    payload
        A body in the tip frame.
    source
        Where the numbers come from.
    allow_unphysical
        Accept inertias that no rigid body has; published data sometimes contain such values.
    """

    name: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    gravity: Vector = STANDARD_GRAVITY
    tip: Frame = field(default_factory=Frame)
    payload: Link | None = None
    source: str = ""
    allow_unphysical: bool = False
    followers: tuple[Follower, ...] = ()

    def __post_init__(self) -> None:
        before = (BASE, *(joint.name for joint in self.joints))
        joints = (  # said only where it is not the joint before
            replace(joint, parent=None) if joint.parent == last else joint
            for joint, last in zip(self.joints, before, strict=False)
        )
        object.__setattr__(self, "joints", tuple(joints))
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "followers", tuple(self.followers))
        object.__setattr__(self, "gravity", vector(self.gravity, f"robot '{self.name}': gravity"))
        if not self.joints:
            raise BddTorqueError(f"robot '{self.name}' must have at least one moving joint")
        if len(self.joints) != len(self.links):
            raise BddTorqueError(
                f"robot '{self.name}' must have one link per joint, got {len(self.joints)} joints and "
                f"{len(self.links)} links"
            )
        names = [joint.name for joint in self._all_joints]
        for name, count in Counter(names).items():
            if count > 1:
                raise BddTorqueError(f"robot '{self.name}': joint names must differ, '{name}' occurs twice")
        for follower in self.followers:
            if follower.leader not in self.joint_names:
                said = unknown("joint", follower.leader, self.joint_names)
                raise BddTorqueError(f"robot '{self.name}', leader of joint '{follower.joint.name}': {said}")
        if not self.serial:
            order = carried_order(self._parents, f"robot '{self.name}'")
            for name, own in zip(order, self.joint_names, strict=False):
                if name != own and not self.followers:
                    raise BddTorqueError(
                        f"robot '{self.name}': joint '{own}' must come after the joint that carries it"
                    )
        if self.tip.parent is not None:
            if self.tip.parent not in names:
                raise BddTorqueError(f"robot '{self.name}', tip: {unknown('joint', self.tip.parent, names)}")
            members = self.members
            if self.tip.parent == members[-1].joint.name and _is_path(members):  # said only where it is not the last
                object.__setattr__(self, "tip", replace(self.tip, parent=None))
        if self.payload is not None:
            self.tip_member("a payload")
        bodies = [*self.links, *(each.link for each in self.followers), *([self.payload] if self.payload else [])]
        for body in bodies:
            missing = body.why_unphysical()
            if missing and not self.allow_unphysical:
                raise BddTorqueError(
                    f"robot '{self.name}', link '{body.name}': {missing}; allow_unphysical = true accepts it as it is"
                )

    def __str__(self) -> str:
        rows = []
        for joint, link in zip(self.joints, self.links, strict=True):
            units = joint.kind.units
            ends = f"{joint.lower:.4g} to {joint.upper:.4g} {units['position']}"
            limits = ends if math.isfinite(joint.upper - joint.lower) else "-"
            motion = {"velocity": joint.velocity, "acceleration": joint.acceleration, "torque": joint.effort}
            known = (f"{most:.4g} {units[what]}" if math.isfinite(most) else "-" for what, most in motion.items())
            rows.append((joint.name, str(joint.kind), limits, *known, f"{link.mass:.4g} kg"))
        head: tuple[str, ...] = ("joint", "kind", "position", "velocity", "acceleration", "effort", "mass of its link")
        if not self.serial:
            head, rows = (*head, "sits on"), self._tree_rows(rows)
        payload = f", payload {self.payload.mass:g} kg" if self.payload else ""
        friction = ", with friction" if self.has_friction else ""
        gravity = ", ".join(f"{component:g}" for component in self.gravity)
        return text_table(f"{self.name}: gravity ({gravity}) m/s²{payload}{friction}", head, rows)

    def _tree_rows(self, rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Return the rows of a table of joints with what carries each, and rows for those that follow others."""
        carriers = {name: parent or "the base" for name, parent in self._parents.items()}
        driven = [(*row, carriers[row[0]]) for row in rows]
        for each in self.followers:
            follows = f"{each.multiplier:g} · {each.leader}" + (f" {each.offset:+.4g}" if each.offset else "")
            name, kind, mass = each.joint.name, str(each.joint.kind), f"{each.link.mass:.4g} kg"
            driven.append((name, kind, follows, "-", "-", "-", mass, carriers[name]))
        return driven

    @property
    def serial(self) -> bool:
        """True if each joint sits on the link before it and no joint follows another."""
        return not self.followers and all(joint.parent is None for joint in self.joints)

    @property
    def coupled(self) -> bool:
        """True if one position moves several members: joints follow others, or are made of several motions."""
        return bool(self.followers) or any(len(joint.kind.motions) > 1 for joint in self.joints)

    def tip_member(self, what: str) -> int:
        """Return which of `members` carries the tip frame; raise where a tree does not say: `what` needs it."""
        members = self.members
        if self.tip.parent is not None:
            return self._places[self.tip.parent]
        if not _is_path(members):
            carriers = {member.parent for member in members}
            ends = ", ".join(f"'{each.link.name}'" for k, each in enumerate(members) if k not in carriers)
            raise BddTorqueError(
                f"robot '{self.name}': {what} needs frame, the name of the link that is the tip, because the robot is "
                f"a tree; its last links are {ends}"
            )
        return len(members) - 1

    @property
    def tip_path(self) -> list[int]:
        """Which of `members` carry the tip frame, from the base on."""
        members, path = self.members, [self.tip_member("the pose of the tip")]
        while (carrier := members[path[-1]].parent) >= 0:
            path.append(carrier)
        return path[::-1]

    @property
    def _parents(self) -> dict[str, str]:
        """The joint that carries each joint, followers last."""
        before = (BASE, *self.joint_names)
        driven = {
            joint.name: last if joint.parent is None else joint.parent
            for joint, last in zip(self.joints, before, strict=False)
        }
        return driven | {each.joint.name: str(each.joint.parent) for each in self.followers}

    @property
    def _places(self) -> dict[str, int]:
        """Which of `members` carries the link of each joint; -1 for the base."""
        motions = {joint.name: joint.kind.motions for joint in self._all_joints}
        places, last = {BASE: -1}, -1
        for name in carried_order(self._parents, f"robot '{self.name}'"):
            last += len(motions[name])
            places[name] = last
        return places

    @property
    def _all_joints(self) -> tuple[Joint, ...]:
        """The driven joints, then those that follow them."""
        return (*self.joints, *(follower.joint for follower in self.followers))

    @property
    def members(self) -> tuple[Member, ...]:
        """All that turns or slides, with the links it carries, followers included, each after what carries it.

        A joint that is made of several motions is as many members, which follow its position.
        """
        parents, place = self._parents, self._places
        drive = {name: j for j, name in enumerate(self.joint_names)}
        known = {
            joint.name: (joint, link, drive[joint.name], 1.0, 0.0)
            for joint, link in zip(self.joints, self.links, strict=True)
        }
        for each in self.followers:
            known[each.joint.name] = (each.joint, each.link, drive[each.leader], each.multiplier, each.offset)
        members: list[Member] = []
        for name in list(place)[1:]:
            joint, link, leader, multiplier, offset = known[name]
            carrier = place[parents[name]]
            for k, motion in enumerate(joint.kind.motions):
                part = joint.part(k)
                body = link if len(members) == place[name] else Link(part.name)
                members.append(Member(part, body, carrier, leader, multiplier * motion.factor, offset * motion.factor))
                carrier = len(members) - 1
        return tuple(members)

    @property
    def degrees_of_freedom(self) -> int:
        """The number of driven joints, n."""
        return len(self.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the driven joints, in a chain from base to tip."""
        return tuple(joint.name for joint in self.joints)

    @property
    def bodies(self) -> tuple[Link, ...]:
        """The links of a serial chain with the payload joined to the one that carries the tip."""
        if self.payload is None:
            return self.links
        bodies, place = list(self.links), self.members[self.tip_member("a payload")].drive
        bodies[place] = bodies[place].joined(self.payload, self.tip.rotation, self.tip.translation)
        return tuple(bodies)

    def with_payload(
        self, mass: float, centre_of_mass: Sequence[float] = ZERO, inertia: Sequence[Sequence[float]] = NO_INERTIA
    ) -> Robot:
        """Return this robot with a body at its tip.

        Parameters
        ----------
        mass
            Mass in kg.
        centre_of_mass
            x, y and z in m, in the tip frame.
        inertia
            kg·m² about the centre of mass, 3 rows of 3, in the axes of the tip frame; a point mass by default.
        """
        return replace(self, payload=Link("payload", mass, centre_of_mass, inertia))  # type: ignore[arg-type]

    @property
    def has_friction(self) -> bool:
        """True if any joint has friction."""
        return any(joint.friction is not None for joint in self.joints)

    def with_friction(self, friction: Mapping[str, Any]) -> Robot:
        """Return this robot with other friction for some joints, by name; None removes the friction of a joint."""
        for name in friction:
            if name not in self.joint_names:
                raise BddTorqueError(f"robot '{self.name}', friction: {unknown('joint', name, self.joint_names)}")
        joints = (replace(each, friction=friction.get(each.name, each.friction)) for each in self.joints)
        return replace(self, joints=tuple(joints))

    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """Return this robot under another gravity vector, m/s² in base axes."""
        return replace(self, gravity=gravity)  # type: ignore[arg-type]


def _is_path(members: Sequence[Member]) -> bool:
    """Tell if each joint sits on the link of the one before it, followers included."""
    return all(member.parent == k - 1 for k, member in enumerate(members))
