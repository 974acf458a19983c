"""What a plan is compared with: the torques of a robot, or another quantity of it (docs/format.md, Quantities)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .dynamics import Load, State, Vector, added, torques
from .formats import Format
from .graph import Angle
from .robots import ZERO, Member, Robot
from .rotations import gram, off_rotation

SECOND = 2
"""Degree of a torque in each position, rotations being exact."""
RUBBING = ("torque", "bias", "law")
"""Quantities that friction is a part of."""
TIP = ("kinematics", "jacobian")
LABELS = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""The numbers of a payload that is given at run time."""


@dataclass(frozen=True)
class Subject:
    """A quantity of a robot over words.

    Attributes
    ----------
    arrays
        The input words by array: q, qd, ...
    labels
        What the words of `payload` are.
    gains
        Kp and kv of every joint, of a law.
    """

    robot: Robot
    quantity: str
    arrays: dict[str, list[Format]]
    outputs: list[Format]
    labels: tuple[str, ...] = ()
    gains: tuple[tuple[Fraction, Fraction], ...] = ()

    @property
    def words(self) -> dict[str, Format]:
        """All input words by the names that plans have for them."""
        return {f"{array}{k}": word for array, row in self.arrays.items() for k, word in enumerate(row, 1)}

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """The differences of two angle words that stand for numbers: each wraps, and is any word."""
        turning = [k for k, word in enumerate(self.arrays["q"], 1) if word.angle and self.quantity == "law"]
        return {f"q_error{k}": (f"q_desired{k}", f"q{k}") for k in turning}

    @property
    def motions(self) -> dict[str, Format]:
        """What is any number within its range, whatever the positions are; by name, in order."""
        kept = {
            name: word
            for array, row in self.arrays.items()
            for name, word in ((f"{array}{k}", word) for k, word in enumerate(row, 1))
            if array != "q" and not word.angle
        }
        return kept | {name: self.words[q] for name, (_, q) in self.differences.items()}

    @property
    def positions(self) -> list[Format]:
        """The words of the axes of all positions: those of the joints, then of fractions of angles."""
        return [*self.arrays["q"], *(self.arrays["q"][drive] for drive, _ in self.fractions)]

    @property
    def fractions(self) -> dict[tuple[int, Fraction], int]:
        """The axes of joints that follow by a fraction of an angle, by drive and fraction.

        Their angles are taken to be any, whatever those of their drives are, which are only less.
        """
        pairs = dict.fromkeys((each.drive, each.fraction) for each in self.robot.members if each.fraction is not None)
        return {(drive, fraction): k for k, (drive, fraction) in enumerate(pairs, len(self.robot.joints)) if fraction}

    @property
    def axes(self) -> dict[str, int]:
        """The axis of every angle; those of desired ones come after all positions, and stand in differences alone."""
        n = len(self.positions)
        desired = {f"q_desired{k + 1}": n + k for k in range(len(self.arrays["q"]))}
        return {f"q{k + 1}": k for k in range(len(self.arrays["q"]))} | desired

    @property
    def degrees(self) -> list[int] | None:
        """The degree in every position at most; None where it is what the operations give.

        By Lagrange and Uicker torques are of the second degree where rotations are orthogonal, exactly: those of all
        joints, and of a tip with a payload. Followers add to that. The feedback of a sliding position does not: its
        acceleration is multiplied with tr(∂T·J·∂Tᵀ), one of the derivatives being that by this very position.
        """
        rotations = [member.joint.rotation for member in self.robot.members]
        rotations += [self.robot.tip_rotation] if self.labels else []
        if self.quantity in TIP or any(any(row) for each in rotations for row in gram(each)):
            return None
        most = [0] * len(self.positions)
        for member in self.robot.members:
            axis, times = self._axis(member)
            most[axis] += SECOND * (abs(times) if member.joint.revolute else 1)
        return most

    def _axis(self, member: Member) -> tuple[int, int]:
        """Return the axis that a member turns with, and how many times: once its own, by a fraction of an angle."""
        if member.fraction is None:
            return member.drive, int(member.multiplier)
        return self.fractions[member.drive, member.fraction], 1 if member.multiplier > 0 else -1

    def largest_entry(self, place: int) -> float:
        """Return what an output cannot exceed because rotations keep lengths; infinite if it is a position or velocity.

        Rows 4 to 6 of a Jacobian hold, for each drive, the sum of its turning axes on the way to the tip, each times
        its multiplier: the triangle inequality.
        """
        path = [self.robot.members[i] for i in self.robot.tip_path]
        rotations = [*(member.joint.rotation for member in path), self.robot.tip_rotation]
        length = math.prod(1 + off_rotation(each) for each in rotations) * (1 + 1e-12)
        if self.quantity == "kinematics":
            return length if place >= 3 else math.inf
        row, drive = divmod(place, len(self.robot.joints))
        turning = (member for member in path if member.joint.revolute and member.drive == drive)
        times = sum((abs(member.multiplier) for member in turning), ZERO)
        return float(times) * length if row >= 3 else math.inf

    def inputs(self, algebra: Any) -> dict[str, Any]:
        """Return the words that are no angles: motions are 2^(bits − 1) times a number; positions go to and fro."""
        found = {}
        for k, (name, word) in enumerate(self.motions.items()):
            found[name] = algebra.motion(k, Fraction(-word.lowest))
        for j, word in enumerate(self.arrays["q"]):
            if not word.angle:
                found[f"q{j + 1}"] = algebra.position(j, word.lowest, word.highest)
        return found

    def truth(self, algebra: Any) -> list[Any]:
        """Return the true values of all outputs, friction left out."""
        zero = algebra.number(ZERO)
        still = [zero] * len(self.robot.joints)
        values = self._values(algebra)
        if self.quantity in TIP:
            return _tip(self, self._state(values["q"], still, still, algebra), algebra)
        load = self._load(values.get("payload", []), algebra)
        if self.quantity == "mass_matrix":
            weightless = replace(self.robot, gravity=(ZERO,) * 3)
            columns = []
            for j in range(len(still)):
                unit = [algebra.number(Fraction(k == j)) for k in range(len(still))]
                columns.append(torques(weightless, self._state(values["q"], still, unit, algebra), algebra, load))
            return [columns[j][i] for i in range(len(still)) for j in range(i, len(still))]
        qd, qdd = values.get("qd", still), values.get("qdd", still)
        if self.quantity == "law":
            qdd = self._accelerations(values, algebra)
        return torques(self.robot, self._state(values["q"], qd, qdd, algebra), algebra, load)

    def _values(self, algebra: Any) -> dict[str, list[Any]]:
        """Return what the words stand for, array by array; angles are left open."""
        inputs, found = self.inputs(algebra), {}
        for array, row in self.arrays.items():
            found[array] = [
                algebra.number(ZERO)
                if word.angle
                else inputs[f"{array}{k}"].scaled(word.scale) + algebra.number(word.middle)
                for k, word in enumerate(row, 1)
            ]
        return found

    def _accelerations(self, values: dict[str, list[Any]], algebra: Any) -> list[Any]:
        inputs, found = self.inputs(algebra), []
        for j, ((kp, kv), word) in enumerate(zip(self.gains, self.arrays["q"], strict=True)):
            if word.angle:
                error = inputs[f"q_error{j + 1}"].scaled(word.sign * Fraction(word.lsb))
            else:
                error = values["q_desired"][j] - values["q"][j]
            speed = values["qd_desired"][j] - values["qd"][j]
            found.append(values["qdd_desired"][j] + speed.scaled(kv) + error.scaled(kp))
        return found

    def _state(self, q: list[Any], qd: list[Any], qdd: list[Any], algebra: Any) -> State:
        """Return where the members of the tree stand, and how they move."""
        angles, places = [], []
        for member in self.robot.members:
            word, factor = self.arrays["q"][member.drive], member.multiplier
            rest = factor * Fraction(word.offset) + member.offset
            axis, times = self._axis(member)
            turning = Angle(((axis, times * word.sign),), Fraction(0), rest)
            angles.append(turning if word.angle else Angle())
            places.append(q[member.drive].scaled(factor) + algebra.number(member.offset))
        moved = [[row[each.drive].scaled(each.multiplier) for each in self.robot.members] for row in (qd, qdd)]
        return State(places, [algebra.sine(each) for each in angles], [algebra.cosine(each) for each in angles], *moved)

    def _load(self, numbers: list[Any], algebra: Any) -> Load | None:
        if not numbers:
            return None
        known = dict(zip(self.labels, numbers, strict=True))
        mass, *rest = (known.get(label, algebra.number(ZERO)) for label in LABELS)
        xx, xy, xz, yy, yz, zz = rest[3:]
        return Load(mass, rest[:3], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _tip(subject: Subject, state: State, algebra: Any) -> list[Any]:
    """Return the pose of the tip, or its Jacobian: what velocities of joints make of it."""
    robot, path = subject.robot, subject.robot.tip_path
    columns: list[Vector] = [[algebra.number(Fraction(i == k)) for i in range(3)] for k in range(3)]
    place: Vector = [algebra.number(ZERO)] * 3
    axes: dict[int, list[Vector]] = {}
    # outward: the axes of each frame in those of the base, column by column
    for i in path:
        joint = robot.members[i].joint
        place = added(place, _combined(columns, [algebra.number(each) for each in joint.translation]))
        columns = [_combined(columns, [algebra.number(row[k]) for row in joint.rotation]) for k in range(3)]
        if joint.revolute:
            x, y, z = columns
            c, s = state.cosine[i], state.sine[i]
            columns = [
                [c * a + s * b for a, b in zip(x, y, strict=True)],
                [c * b - s * a for a, b in zip(x, y, strict=True)],
                z,
            ]
        else:
            place = added(place, [each * state.q[i] for each in columns[2]])
        axes[i] = columns
    tip = added(place, _combined(columns, [algebra.number(each) for each in robot.tip_translation]))
    if subject.quantity == "kinematics":
        turned = [_combined(columns, [algebra.number(row[k]) for row in robot.tip_rotation]) for k in range(3)]
        return [*tip, *(turned[k][i] for i in range(3) for k in range(3))]
    # what a turn of a joint makes of the tip, in the axes of the joint; from the tip inward
    zero: Vector = [algebra.number(ZERO)] * 3
    twists: list[Vector] = [[*zero, *zero] for _ in robot.joints]
    arm: Vector = [algebra.number(each) for each in robot.tip_translation]
    for i in reversed(path):
        member, (x, y, z) = robot.members[i], axes[i]
        joint, drive = member.joint, member.drive
        if joint.revolute:
            moved = [b * arm[0] - a * arm[1] for a, b in zip(x, y, strict=True)]
            own = [*moved, *z]
            c, s = state.cosine[i], state.sine[i]
            arm = [c * arm[0] - s * arm[1], s * arm[0] + c * arm[1], arm[2]]
        else:
            own = [*z, *zero]
            arm = [arm[0], arm[1], arm[2] + state.q[i]]
        twists[drive] = added(twists[drive], [each.scaled(member.multiplier) for each in own])
        rows = [[algebra.number(each) for each in row] for row in joint.rotation]
        arm = added(_combined([*zip(*rows, strict=True)], arm), [algebra.number(each) for each in joint.translation])
    return [twist[row] for row in range(6) for twist in twists]


def _combined(columns: Sequence[Sequence[Any]], numbers: Vector) -> Vector:
    """Return the sum of columns times numbers."""
    parts = [[each * number for each in column] for column, number in zip(columns, numbers, strict=True)]
    return added(added(parts[0], parts[1]), parts[2])
