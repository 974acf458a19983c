"""How large a torque can be: boxes of positions, halved until their bounds are close to a torque that occurs.

The true torque is bounded, and the certificate bounds how far any compiled word is from it: so the same search serves
plans of every kind. Bounds are those of `control_points`; states come from climbing, and from the middles of boxes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.batch import torques
from bddtorque.dynamics.chain import chain_of
from bddtorque.laws.joint_friction import friction_reach
from bddtorque.proof.control_points import POINT, UNKNOWN, look
from bddtorque.proof.motion_rows import MotionRows, motion_rows
from bddtorque.proof.torque_waves import input_ends
from bddtorque.robots.robot import Robot
from bddtorque.words import Format
from bddtorque.words.bounded import Interval
from bddtorque.words.formats import TURN
from bddtorque.words.portable import sine_cosine

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

MARGIN = 1e-6
"""Relative to all coefficients together: far more than they are off, and than float64 loses on the way to a bound."""
WIDEST = TURN / 4
"""Of an arc at first: control points of wider ones are too far out."""
LEVELS = 4
"""Of boxes that are made one out of the other, at most: the box itself, its halves, theirs, ..."""
AT_ONCE = 16
"""Boxes that are taken up between two looks at whether to go on, at most."""
STARTS = 256
FIRST_STEPS, LAST_STEPS = (0.25, 0.16, 0.1, 0.05), (0.05, 0.02, 0.01, 0.003, 0.001, 0.0003, 0.0001)
"""Of climbing, relative to an input's range: from all starts, and from those that came furthest."""
FURTHEST = 16


class TorqueSearch:
    """A search for the largest torque of a joint, or the smallest, that can be stopped at any time.

    Attributes
    ----------
    boxes
        How many boxes were looked at.
    steps
        What a box costs, in about ten nanoseconds.
    """

    def __init__(
        self, own: MotionRows, robot: Robot, place: int, direction: int, low: Floats, high: Floats, starts: int = STARTS
    ) -> None:
        self.direction, self.boxes = direction, 0
        self._robot, self._place, self._own, self._low, self._high = robot, place, own, low, high
        self._friction = _friction(robot, place, direction, low, high)
        self._rest = self._friction + own.left_out + MARGIN * own.total
        self.steps = 0.5 * len(own.coefficients) + 2000.0
        self._angles = np.array([joint.revolute for joint in robot.joints])
        self._turning = self._angles[own.positions]
        lows, highs = _first_boxes(own, self._turning, low, high)
        count = len(lows)
        self._open = [lows, highs, np.full(count, own.total), np.full(count, UNKNOWN), np.full(count, -1)]
        self._done = -math.inf
        d = len(own.positions)
        self._buffers, self._arcs = np.empty((max(d, 1) + LEVELS - 1, len(own.coefficients))), np.full((d, 2), math.nan)
        inputs = np.random.default_rng(place).uniform(low, high, (starts, len(low)))
        self._found = self._climb(inputs)

    def _values(self, inputs: Floats) -> Floats:
        """Return the torque, or minus it, at inputs (N, 3n)."""
        q, qd, qdd = np.split(inputs, 3, axis=1)
        tau: Floats = torques(chain_of(self._robot), q, qd, qdd, sine_cosine(q))[:, self._place]
        return self.direction * tau

    def _climb(self, inputs: Floats) -> tuple[float, Floats]:
        """Return a large value and where it is: from some inputs (N, 3n), improved one at a time."""
        n, moving = len(self._low) // 3, np.flatnonzero(self._high > self._low)
        whole = np.flatnonzero(self._angles & (self._high - self._low >= TURN)[:n])
        values = self._values(inputs)
        for step in (*FIRST_STEPS, *LAST_STEPS):
            if step == LAST_STEPS[0]:
                order = np.argsort(-values, kind="stable")[:FURTHEST]
                inputs, values = inputs[order], values[order]
            for j in (*moving, *moving):
                low, high, here = self._low[j], self._high[j], inputs[:, j]
                tried = [np.full_like(here, low), np.full_like(here, high)]
                if j < 2 * n:
                    stepped = [here + side * step * (high - low) for side in (-1.0, 1.0)]
                    tried += stepped if j in whole else [np.clip(each, low, high) for each in stepped]
                trials = np.repeat(inputs[None], len(tried), axis=0)
                trials[:, :, j] = tried
                gained = self._values(trials.reshape(-1, len(self._low))).reshape(len(tried), -1)
                best = gained.argmax(axis=0)
                every = np.arange(len(values))
                better = gained[best, every] > values
                inputs = np.where(better[:, None], trials[best, every], inputs)
                values = np.where(better, gained[best, every], values)
        winner = int(values.argmax())
        return float(values[winner]), self._wrapped(inputs[winner])

    def _wrapped(self, inputs: Floats) -> Floats:
        """Return inputs (..., 3n) with angles by a turn less or more where they are beyond their ends."""
        beyond = (inputs < self._low) | (inputs > self._high)
        beyond[..., len(self._angles) :] = False
        return np.where(beyond, np.remainder(inputs + TURN / 2, TURN) - TURN / 2, inputs)

    def point(self) -> Floats:
        """Return where the torque is large: q, qd and qdd, (3n,)."""
        self._found = max(self._found, self._climb(self._found[1][None]), key=lambda each: each[0])
        return self._found[1]

    @property
    def bound(self) -> float:
        """No torque is larger (smaller), N·m or N."""
        return self.direction * (max(self._done, float(self._open[2].max(initial=-math.inf))) + self._rest)

    def beyond(self, torque: float) -> bool:
        """Whether a larger (smaller) torque was found, friction at its most."""
        return self._found[0] + self._friction > self.direction * torque

    def run(self, gap: float, enough: float | None, most: int, goes_on: Callable[[int], bool]) -> bool:
        """Look at boxes until the bound is close to the largest value found; return whether it is.

        Parameters
        ----------
        gap
            How close, relative to the largest value.
        enough
            A torque, N·m or N, that the bound need not be below (above); None for none.
        most
            Boxes to look at, at most.
        goes_on
            Told of the boxes looked at since it was asked last; whether to go on.
        """
        limit = -math.inf if enough is None else (self.direction * enough - self._rest) - 1e-9 * abs(enough)
        noise = self._rest - self._friction
        while True:
            best = self._found[0]
            aim = max(limit, best + max(gap * abs(best) - noise, 0.5 * gap * abs(best), noise))
            bounds, axes = self._open[2:4]
            wanted = (bounds > aim) & (axes > POINT)
            if not wanted.all():
                self._done = max(self._done, float(bounds[~wanted].max(initial=-math.inf)))
                self._open = [each[wanted] for each in self._open]
            if not len(self._open[0]):
                return True
            # those of the largest bounds; of equal ones the first, so that the way is the same on every machine
            order = np.argsort(-self._open[2], kind="stable")
            self._open = [each[order] for each in self._open]
            for first in range(0, max(AT_ONCE, len(order) // 8), AT_ONCE):
                part = [each[:AT_ONCE] for each in self._open]
                if not len(part[0]) or first >= len(order):
                    break
                if self.boxes >= most:
                    return False
                before = self.boxes
                made = self._looked(part, aim, most)
                # parents go and children come at once: the bound holds whenever somebody stops the search
                self._open = [
                    np.concatenate((each[len(part[0]) :], new)) for each, new in zip(self._open, made, strict=True)
                ]
                if not goes_on(self.boxes - before):
                    return False

    def _looked(self, part: list[Any], aim: float, most: int) -> list[Any]:
        """Return what becomes of some boxes: their ends, bounds, what to halve, and control points."""
        d, own, room = len(self._own.positions), self._own, 1 << LEVELS
        motions = np.zeros((room, len(own.rows[2][2]) + len(own.rows[2][1])))
        made = (
            np.empty((room, d)),
            np.empty((room, d)),
            np.empty(room),
            np.empty(room, np.int64),
            np.empty(room, np.int64),
        )
        every, kept = [], (self._buffers, self._arcs)
        for low, high, bound, axis, hint in zip(*part, strict=True):
            if self.boxes >= most:
                every.append([np.array([each]) for each in (low, high, bound, axis, hint)])
                continue
            box = np.stack((low, high)), int(axis), int(hint)
            left, looked = look(
                own.coefficients, own.rows, self._turning, box, aim, *kept, (*made, motions), most - self.boxes
            )
            self.boxes += looked
            new: list[Any] = [each[:left].copy() for each in made]
            new[2] = np.minimum(new[2], bound)
            every.append(new)
            self._try_middles(new[0], new[1], motions[:left], new[2] > aim)
        return [np.concatenate(each) for each in zip(*every, strict=True)]

    def _try_middles(self, low: Floats, high: Floats, motions: Floats, which: npt.NDArray[np.bool_]) -> None:
        """Look for a large torque at the middles of some boxes, with the motions that their bounds have."""
        if not which.any():
            return
        n, own = len(self._low) // 3, self._own
        middle, radius = 0.5 * (self._low + self._high), 0.5 * (self._high - self._low)
        moved = np.zeros((int(which.sum()), 3 * n))
        count = motions.shape[1] - len(own.accelerations)
        moved[:, n + own.velocities] = motions[which, count - len(own.velocities) : count]
        moved[:, 2 * n + own.accelerations] = motions[which, count:]
        moved[:, :n] = np.where(self._angles, middle[:n], 0.0)
        moved[:, own.positions] = 0.5 * (low + high)[which]
        inputs = middle + radius * moved
        inputs[:, :n] = np.where(self._angles, moved[:, :n] @ own.turned.T, inputs[:, :n])
        inputs = self._wrapped(inputs)
        values = self._values(inputs)
        winner = int(values.argmax())
        if values[winner] > self._found[0]:
            self._found = float(values[winner]), inputs[winner]


def _first_boxes(own: MotionRows, turning: npt.NDArray[np.bool_], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return boxes (N, d) that cover all positions: arcs that are not too wide; a slide runs from -1 to 1."""
    ends = []
    for j, turns in zip(own.positions.tolist(), turning.tolist(), strict=True):
        least, most = (float(low[j]), float(high[j])) if turns else (-1.0, 1.0)
        parts = max(1, math.ceil((most - least) / WIDEST - 1e-9)) if turns else 1
        cuts = np.linspace(least, most, parts + 1)
        ends.append(list(pairwise(cuts)))
    boxes = np.array(list(product(*ends)), dtype=np.float64).reshape(math.prod(map(len, ends)), len(ends), 2)
    return np.ascontiguousarray(boxes[..., 0]), np.ascontiguousarray(boxes[..., 1])


def torque_search(
    robot: Robot,
    words: Mapping[str, Format],
    place: int,
    direction: int,
    within: Mapping[str, tuple[int, int]],
    starts: int = STARTS,
) -> TorqueSearch | None:
    """Return a search for the largest (direction 1) or smallest torque of a joint over all words, or those within.

    It begins by climbing from so many `starts` to a large torque.

    None where there are none to look at: too many joints, joints that follow others, a torque that is always 0.
    """
    low, high = input_ends(words, within)
    own = motion_rows(robot, place, direction, low, high)
    if own is None or not len(own.coefficients):
        return None
    return TorqueSearch(own, robot, place, direction, low, high, starts)


def _friction(robot: Robot, place: int, direction: int, low: Floats, high: Floats) -> float:
    """Return the most that the friction of a joint adds."""
    law = robot.joints[place].friction
    if law is None:
        return 0.0
    velocity = len(robot.joints) + place
    reach = friction_reach(law, Interval(float(low[velocity]), float(high[velocity])))
    return reach.high if direction > 0 else -reach.low
