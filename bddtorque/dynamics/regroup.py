"""The same robot with fewer numbers: frames of Khalil and Kleinfinger, and base parameters.

The torques do not change when the frame of a link is turned about, or shifted along, the axis of its joint; nor when
what a joint's motion leaves as it is (masses on the axis about which it turns, the second moments of a sliding body) is
counted with the link before it. Used freely, both leave a chain full of zeros, which the tracer then drops.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Array, Chain, transform
from bddtorque.robots.frames import angle_of, rotation_z, times

Floats = npt.NDArray[np.float64]

NOISE = 1e-12
"""A number smaller than this, relative to those it was computed from, is rounding noise and becomes zero."""
REACH = 10.0
"""Largest distance that an origin may move along its axis, in longest translations. The common normal of two
nearly parallel axes can lie at any distance; moments about an origin so far off would lose digits that matter."""


class Regrouped(NamedTuple):
    """A chain of the same torques, with an angle (k,) in rad to be added to the position of each joint that turns."""

    chain: Chain
    offset: Floats


class RegroupSteps(NamedTuple):
    """The regrouping of a chain, for the proof that its torques are the same.

    Attributes
    ----------
    moves
        Link and 4×4 pose of each new frame in the one before, in the order they were placed.
    undropped
        The regrouped chain before moments that no joint feels were dropped.
    result
        The regrouped chain.
    """

    moves: list[tuple[int, Array]]
    undropped: Chain
    result: Regrouped


def regrouped(chain: Chain) -> Regrouped:
    """Return an equivalent chain with as few non-zero numbers as these rules give.

    Where the first joint stands on the base is not kept (nor its orientation: gravity is turned instead).
    """
    return regroup_steps(chain).result


def regroup_steps(chain: Chain) -> RegroupSteps:
    """Return an equivalent chain and how it was found; see `regrouped`."""
    frames = Frames(chain)
    base_acceleration = frames.turn_base(chain.base_acceleration)  # where the base stands does not matter
    frames.translation[chain.parent < 0] = 0.0
    scale = max(float(np.abs(frames.translation).max()), NOISE)
    sizes = _sizes(frames.body)
    _shift_frames(frames, scale)
    _turn_frames(frames, scale)
    frames.rotation = np.array([_clean_rotation(turn) for turn in frames.rotation])
    frames.translation = _cleaned(frames.translation, scale)
    base_acceleration = frames.turn_base(base_acceleration)
    for i in frames.roots[1:]:
        frames.rotation[i] = _clean_rotation(frames.rotation[i])
    offset = _offsets(frames)
    sizes = np.maximum(sizes, _sizes(frames.body))
    _move_bodies(frames, sizes)
    base_acceleration = _cleaned(base_acceleration, np.abs(base_acceleration).max())
    rotor = chain.rotor.astype(float)

    def as_chain(body: Floats) -> Chain:
        return chain._replace(
            rotation=frames.rotation, translation=frames.translation, body=_cleaned(body, sizes), rotor=rotor.copy(),
            base_acceleration=base_acceleration,
        )  # fmt: skip

    undropped = as_chain(frames.body.copy())
    _drop_unseen(frames, rotor)
    return RegroupSteps(frames.moves, undropped, Regrouped(as_chain(frames.body), offset))


class Frames:
    """The frames and bodies of a chain while they are moved, in any number type; `moves` records how."""

    def __init__(self, chain: Chain) -> None:
        self.turns, self.parent = chain.turns, chain.parent
        self.rotation, self.translation, self.body = (
            np.array(each) for each in (chain.rotation, chain.translation, chain.body)
        )
        self.moves: list[tuple[int, Array]] = []
        self.roots = np.flatnonzero(self.parent < 0).tolist()
        self.carried: list[list[int]] = [np.flatnonzero(self.parent == i).tolist() for i in range(len(self.parent))]

    def turn_base(self, base_acceleration: Array) -> Array:
        """Turn the base so that the first joint on it needs no rotation; return its acceleration in the new axes."""
        first = self.rotation[self.roots[0]].copy()
        for i in self.roots[1:]:
            self.rotation[i] = times(first.T, self.rotation[i])
        self.rotation[self.roots[0]] = np.eye(3)
        return times(first.T, base_acceleration)

    def place(self, i: int, move: Array) -> None:
        """Give link i a new frame, whose pose in the old one is `move`; it must commute with the joint's motion."""
        self.moves.append((i, move))
        turn, shift = move[:3, :3], move[:3, 3]
        self.translation[i] = self.translation[i] + times(self.rotation[i], shift)
        self.rotation[i] = times(self.rotation[i], turn)
        back = transform(turn.T, -times(turn.T, shift), self.body.dtype)
        self.body[i] = times(times(back, self.body[i]), back.T)
        for j in self.carried[i]:
            self.translation[j] = times(turn.T, self.translation[j] - shift)
            self.rotation[j] = times(turn.T, self.rotation[j])

    def move_body(self, i: int) -> tuple[Array, Array]:
        """Count with the carrier what the motion of joint i leaves as it is; return that in both frames."""
        body, carrier = self.body, self.parent[i]
        kept = np.ix_([2, 3], [2, 3]) if self.turns[i] else np.ix_([0, 1, 2], [0, 1, 2])
        moved = np.zeros((4, 4), body.dtype)  # on the axis: z and 1; sliding: second moments
        moved[kept] = body[i][kept]
        body[i][kept] = 0.0
        T = transform(self.rotation[i], self.translation[i], body.dtype)
        received: Array = times(times(T, moved), T.T)
        body[carrier] = body[carrier] + received
        return moved, received


def _cleaned(values: Floats, scale: Floats | float) -> Floats:
    """Return the values with rounding noise about 0 removed."""
    return np.where(np.abs(values) <= NOISE * scale, 0.0, values)


def _clean_rotation(rotation: Floats) -> Floats:
    """Return a rotation without noise; a row with one entry left is ±1 there, and only such a row."""
    rotation = _cleaned(rotation, 1.0)
    alone = np.count_nonzero(rotation, axis=1) == 1
    rotation[alone] = np.sign(rotation[alone])
    return rotation


def _sizes(body: Floats) -> Floats:
    """Return for each entry of a body (..., 4, 4) the largest of its kind: second moments, first moments, mass."""
    sizes = np.abs(body)
    sizes[..., :3, :3] = sizes[..., :3, :3].max(axis=(-2, -1), keepdims=True)
    sizes[..., :3, 3] = sizes[..., 3, :3] = sizes[..., :3, 3].max(axis=-1, keepdims=True)
    return sizes


def _shift_frames(frames: Frames, scale: float) -> None:
    """Put each origin where the common normal to the next axis starts, from the tips inward."""
    for i in range(len(frames.parent) - 1, -1, -1):
        rotation, translation, following = frames.rotation, frames.translation, frames.carried[i][:1]
        if not frames.turns[i]:  # a sliding frame may stand anywhere: where the next one does
            shift = translation[following[0]] if following else np.zeros(3)
        elif not following:  # where the common normal from the axis before ends
            axis, start = rotation[i][2], -times(rotation[i].T, translation[i])
            shift = _foot(axis, start, REACH * scale) if frames.parent[i] >= 0 else np.zeros(3)
        else:
            shift = _foot(rotation[following[0]][:, 2], translation[following[0]], REACH * scale)
        if np.abs(shift).max() > NOISE * scale:
            frames.place(i, transform(np.eye(3), shift))


def _foot(axis: Floats, point: Floats, reach: float) -> Floats:
    """Return the point of the z axis nearest to the line through `point` along `axis`.

    Where the two are parallel, or so nearly that it lies out of reach: the point level with `point`.
    """
    level = float(point[2])
    inclination = math.hypot(axis[0], axis[1])
    if inclination > NOISE:
        along = -float(axis[0] * point[0] + axis[1] * point[1]) / inclination**2
        if abs(level + along * axis[2]) <= reach:
            level += along * float(axis[2])
    return np.array([0.0, 0.0, level])


def _turn_frames(frames: Frames, scale: float) -> None:
    """Lay each x axis along the common normal to the next axis; the last ones as the joint before leaves them.

    So too where the next axis is parallel and the normal is askew to how the joint before leaves it: a translation
    along two axes takes fewer operations than an angle of its own, which would need its own sine table too.
    """
    for i in range(len(frames.parent)):
        left = -_own_turn(frames, i)  # where the joint before leaves x
        angle = left
        if frames.carried[i]:
            following = frames.carried[i][0]
            axis, point = frames.rotation[following][:, 2], frames.translation[following]
            parallel = math.hypot(axis[0], axis[1]) <= NOISE
            if not parallel:
                normal = (-axis[1], axis[0])
            elif math.hypot(point[0], point[1]) > NOISE * scale:
                normal = (point[0], point[1])
            else:
                continue
            angle = angle_of(normal[1], normal[0])
            if abs(angle) > math.pi / 2:  # either direction of the normal will do: the nearer
                angle -= math.copysign(math.pi, angle)
            if parallel and frames.turns[i] and not _is_right(angle - left):
                angle = left
        frames.place(i, transform(about_z(angle), np.zeros(3)))


def _own_turn(frames: Frames, i: int) -> float:
    """Return the angle γ of a rotation Rz(φ)·Rx(α)·Rz(γ), which turns about the joint's own axis.

    Of the first joint that a link carries φ is 0, and only Rx(α) is left. Of the others γ is found by the last row, so
    that this becomes (0, sin α, cos α), as it is of the first one. By the first row, sin α would become sin α·cos γ:
    equal as a float where γ is small, one number of the plan for two that no exact robot has.
    """
    rotation = frames.rotation[i]
    first = frames.parent[i] < 0 or frames.carried[frames.parent[i]][0] == i
    if first or math.hypot(rotation[2, 0], rotation[2, 1]) <= NOISE:
        return angle_of(-rotation[0, 1], rotation[0, 0])
    angle = angle_of(rotation[2, 0], rotation[2, 1])
    return angle if abs(angle) <= math.pi / 2 else angle - math.copysign(math.pi, angle)  # α or −α: the nearer


def about_z(angle: float) -> Floats:
    """Return the rotation about z by an angle in rad, (3, 3)."""
    quarter = angle / (math.pi / 2)  # right angles are exact
    return rotation_z(round(quarter) * (math.pi / 2) if abs(quarter - round(quarter)) < NOISE else angle)


def _is_right(angle: float) -> bool:
    """Return whether an angle is 0 or a multiple of a right one."""
    return abs(math.remainder(angle, math.pi / 2)) <= NOISE


def _offsets(frames: Frames) -> Floats:
    """Take a constant turn about the joint's own axis out of the rotation, to be added to q; right angles may stay."""
    offset = np.zeros(len(frames.rotation))
    for i, rotation in enumerate(frames.rotation):
        angle = _own_turn(frames, i) if frames.turns[i] else 0.0
        if not _is_right(angle):
            offset[i] = angle
            frames.rotation[i] = _clean_rotation(times(rotation, about_z(-angle)))
    return offset


def _move_bodies(frames: Frames, sizes: Floats) -> None:
    """Count with the carrier what the motion of joint i leaves as it is, from the tips inward; keep `sizes` up."""
    for i in range(len(frames.parent) - 1, -1, -1):
        if frames.parent[i] >= 0:
            moved, received = frames.move_body(i)
            carrier = frames.parent[i]
            sizes[carrier] = np.max([sizes[carrier], _sizes(moved), _sizes(received)], axis=0)


def _drop_unseen(frames: Frames, rotor: Floats) -> None:
    """Drop second moments that no joint feels: of links that never turn, or only about their own z axis."""

    def along_z(direction: Floats) -> bool:
        return bool(direction[0] == 0 and direction[1] == 0)

    body = frames.body
    turning: list[Floats | None] = []
    """For each link the one direction, in its own axes, about which it turns; none before a joint that turns."""
    tilted: list[bool] = []
    for i, carrier in enumerate(frames.parent.tolist()):
        direction = turning[carrier] if carrier >= 0 else None
        if direction is not None:
            direction = times(frames.rotation[i].T, direction)
        tilted.append(carrier >= 0 and tilted[carrier])
        if frames.turns[i]:
            tilted[i] = tilted[i] or (direction is not None and not along_z(direction))
            direction = np.array([0.0, 0.0, 1.0])
        turning.append(direction)
        if tilted[i]:
            continue
        if direction is None:
            body[i][:3, :3] = 0.0
        elif along_z(direction):
            about = body[i][0, 0] + body[i][1, 1]
            if carrier < 0:  # on a fixed base the rotor turns as the link does
                about += rotor[i]
                rotor[i] = 0.0
            body[i][:3, :3] = 0.0
            body[i][0, 0] = about
