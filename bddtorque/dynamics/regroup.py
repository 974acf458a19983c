"""The same robot with fewer numbers: frames of Khalil and Kleinfinger, and base parameters.

The torques do not change when the frame of a link is turned about, or shifted along, the axis of its joint; nor when
what a joint's motion leaves as it is (masses on the axis of a revolute joint, the second moments of a sliding body) is
counted with the link before it. Used freely, both leave a chain full of zeros, which the tracer then drops.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Chain, transform
from bddtorque.robots.frames import angle_of, rotation_z, times

Floats = npt.NDArray[np.float64]

NOISE = 1e-12
"""What is smaller than this, relative to the numbers it was computed from, is rounding noise and becomes zero."""
REACH = 10.0
"""How far along its axis an origin may move, in lengths of the longest translation. The common normal of two nearly
parallel axes can lie at any distance; moments about an origin so far off would lose the digits that matter."""


class Regrouped(NamedTuple):
    """A chain of the same torques, with an angle (n,) in rad to be added to each revolute joint's position."""

    chain: Chain
    offset: Floats


def regrouped(chain: Chain) -> Regrouped:
    """Return an equivalent chain with as few non-zero numbers as these rules give.

    Where the first joint stands on the base is not kept (nor its orientation: gravity is turned instead).
    """
    rotation, translation = chain.rotation.astype(float), chain.translation.astype(float)
    body, rotor = chain.body.astype(float), chain.rotor.astype(float)
    base_acceleration = times(rotation[0].T, chain.base_acceleration)
    rotation[0] = np.eye(3)  # the base turns along; where it stands does not matter
    translation[0] = 0.0
    scale = max(float(np.abs(translation).max()), NOISE)
    sizes = _sizes(body)
    _shift_frames(chain.revolute, rotation, translation, body, scale)
    _turn_frames(rotation, translation, body, scale)
    rotation = np.array([_clean_rotation(turn) for turn in rotation])
    translation = _cleaned(translation, scale)
    base_acceleration = times(rotation[0].T, base_acceleration)
    rotation[0] = np.eye(3)
    offset = _offsets(chain.revolute, rotation)
    sizes = np.maximum(sizes, _sizes(body))
    _move_bodies(chain.revolute, rotation, translation, body, sizes)
    _drop_unseen(chain.revolute, rotation, body, rotor)
    body = _cleaned(body, sizes)
    base_acceleration = _cleaned(base_acceleration, np.abs(base_acceleration).max())
    return Regrouped(Chain(chain.revolute, rotation, translation, body, rotor, base_acceleration), offset)


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


def _place_frame(i: int, move: Floats, rotation: Floats, translation: Floats, body: Floats) -> None:
    """Give link i a new frame, whose pose in the old one is `move`; the pose must commute with the joint's motion."""
    turn, shift = move[:3, :3], move[:3, 3]
    translation[i] += times(rotation[i], shift)
    rotation[i] = times(rotation[i], turn)
    back = transform(turn.T, -times(turn.T, shift))
    body[i] = times(times(back, body[i]), back.T)
    if i + 1 < len(rotation):
        translation[i + 1] = times(turn.T, translation[i + 1] - shift)
        rotation[i + 1] = times(turn.T, rotation[i + 1])


def _shift_frames(
    revolute: npt.NDArray[np.bool_], rotation: Floats, translation: Floats, body: Floats, scale: float
) -> None:
    """Put each origin where the common normal to the next axis starts, from the tip inward."""
    last = len(rotation) - 1
    for i in range(last, -1, -1):
        if not revolute[i]:  # a sliding frame may stand anywhere: where the next one does
            shift = translation[i + 1] if i < last else np.zeros(3)
        elif i == last:  # where the common normal from the axis before ends
            axis, start = rotation[i][2], -times(rotation[i].T, translation[i])
            shift = _foot(axis, start, REACH * scale) if i > 0 else np.zeros(3)
        else:
            shift = _foot(rotation[i + 1][:, 2], translation[i + 1], REACH * scale)
        if np.abs(shift).max() > NOISE * scale:
            _place_frame(i, transform(np.eye(3), shift), rotation, translation, body)


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


def _turn_frames(rotation: Floats, translation: Floats, body: Floats, scale: float) -> None:
    """Lay each x axis along the common normal to the next axis; the last one as the joint before leaves it."""
    for i in range(len(rotation)):
        if i + 1 == len(rotation):
            turn = _about_z(-angle_of(-rotation[i][0, 1], rotation[i][0, 0]))  # leaves Rx(α) alone
        else:
            axis, point = rotation[i + 1][:, 2], translation[i + 1]
            if math.hypot(axis[0], axis[1]) > NOISE:
                normal = (-axis[1], axis[0])
            elif math.hypot(point[0], point[1]) > NOISE * scale:
                normal = (point[0], point[1])
            else:
                continue
            angle = angle_of(normal[1], normal[0])
            if abs(angle) > math.pi / 2:  # either direction of the normal will do: the nearer
                angle -= math.copysign(math.pi, angle)
            turn = _about_z(angle)
        _place_frame(i, transform(turn, np.zeros(3)), rotation, translation, body)


def _about_z(angle: float) -> Floats:
    quarter = angle / (math.pi / 2)  # right angles are exact
    return rotation_z(round(quarter) * (math.pi / 2) if abs(quarter - round(quarter)) < NOISE else angle)


def _offsets(revolute: npt.NDArray[np.bool_], rotation: Floats) -> Floats:
    """Take a constant turn about the joint's own axis out of the rotation, to be added to q; right angles may stay."""
    offset = np.zeros(len(rotation))
    for i in range(len(rotation)):
        top = rotation[i][0, :2]
        if revolute[i] and np.count_nonzero(top) == 2:
            offset[i] = angle_of(-top[1], top[0])
            rotation[i] = _clean_rotation(times(rotation[i], _about_z(-offset[i])))
    return offset


def _move_bodies(
    revolute: npt.NDArray[np.bool_], rotation: Floats, translation: Floats, body: Floats, sizes: Floats
) -> None:
    """Count with link i-1 what the motion of joint i leaves as it is, from the tip inward; keep `sizes` up."""
    for i in range(len(rotation) - 1, 0, -1):
        moved = np.zeros((4, 4))
        kept = slice(2, 4) if revolute[i] else slice(0, 3)  # on the axis: z and 1; sliding: second moments
        moved[kept, kept] = body[i][kept, kept]
        body[i] -= moved
        T = transform(rotation[i], translation[i])
        received = times(times(T, moved), T.T)
        body[i - 1] += received
        sizes[i - 1] = np.max([sizes[i - 1], _sizes(moved), _sizes(received)], axis=0)


def _drop_unseen(revolute: npt.NDArray[np.bool_], rotation: Floats, body: Floats, rotor: Floats) -> None:
    """Drop second moments that no joint feels: of links that never turn, or only about their own z axis."""

    def along_z(direction: Floats) -> bool:
        return bool(direction[0] == 0 and direction[1] == 0)

    turning: Floats | None = None  # the one direction, in link i, about which the links so far turn
    for i in range(len(rotation)):
        if turning is not None:
            turning = times(rotation[i].T, turning)
        if revolute[i]:
            if turning is not None and not along_z(turning):
                return
            turning = np.array([0.0, 0.0, 1.0])
        if turning is None:
            body[i][:3, :3] = 0.0
        elif along_z(turning):
            about_z = body[i][0, 0] + body[i][1, 1]
            if i == 0:  # on a fixed base the rotor turns as the link does
                about_z += rotor[0]
                rotor[0] = 0.0
            body[i][:3, :3] = 0.0
            body[i][0, 0] = about_z
