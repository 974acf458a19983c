"""Largest torques: boxes of positions, halved until their bounds are close to a torque that occurs.

The true torque is bounded, and the certificate bounds how far any compiled word is from it: so the same search serves
plans of every kind. Bounds are those of `control_points`; states come from climbing, and from the middles of boxes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.batch import torques
from bddtorque.dynamics.chain import chain_of
from bddtorque.proof.box_bounds import BoxBounds
from bddtorque.proof.branch_and_bound import POINT, Boxes, BranchAndBound
from bddtorque.proof.motion_rows import MotionRows, motion_rows
from bddtorque.proof.sample_errors import HALVINGS
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval
from bddtorque.words.formats import TURN, Format
from bddtorque.words.joint_friction import friction_reach
from bddtorque.words.portable import sine_cosine

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_Box = tuple[list[float], list[float], float, int]
"""Two ends of positions, a bound, and the position to halve."""

UNKNOWN = -1
"""In place of the position to halve: of a box that has no bound yet."""
MAX_ARC = TURN / 4
"""Of an arc at first: control points of wider ones are too far out."""
FEW_LEVELS, LEVELS = 4, HALVINGS + 1
"""Of boxes that are made one out of the other: the box itself, its halves, theirs, ...

What is known of control points goes down with them. Fewer levels are for those who may not look at so many boxes out
of every open one: they need the worst ones halved first.
"""
AT_ONCE = 16
"""Boxes that are taken up between two looks at whether to go on, at most; fewer where each becomes more."""
STARTS = 256
FIRST_STEPS, LAST_STEPS = (0.25, 0.16, 0.1, 0.05), (0.05, 0.02, 0.01, 0.003, 0.001, 0.0003, 0.0001)
"""Of climbing, relative to an input's range: from all starts, and from those that came furthest."""
KEPT_STARTS = 16


class TorqueSearch:
    """A search for the largest torque of a joint, or the smallest, that can be stopped at any time.

    Attributes
    ----------
    boxes
        Number of boxes that were looked at.
    steps
        Cost of a box, in about ten nanoseconds.
    """

    def __init__(
        self, own: MotionRows, robot: Robot, place: int, direction: int, low: Floats, high: Floats, starts: int = STARTS
    ) -> None:
        self.direction, self.boxes = direction, 0
        self._chain, self._place, self._own, self._low, self._high = chain_of(robot), place, own, low, high
        self._friction = _friction(robot, place, direction, low, high)
        self._rest = self._friction + own.left_out
        # about; docs/questions.md has boxes and times, and `bddtorque ask FILE --largest --smallest` measures them
        self.steps = 0.25 * len(own.coefficients) + 5000.0
        self._angles = np.array([joint.kind.turns for joint in robot.joints])
        self._turning = self._angles[own.positions]
        lows, highs = _first_boxes(own, self._turning, low, high)
        self._search = BranchAndBound(Boxes(lows, highs, np.full(len(lows), own.total), np.full(len(lows), UNKNOWN)))
        self._limit = -math.inf  # what no bound need be below
        self._points = BoxBounds(own, self._turning.tolist(), LEVELS)
        inputs = np.random.default_rng(place).uniform(low, high, (starts, len(low)))
        self._found = self._climb(inputs)

    def _values(self, inputs: Floats) -> Floats:
        """Return the torque, or minus it, at inputs (N, 3n)."""
        q, qd, qdd = np.split(inputs, 3, axis=1)
        tau: Floats = torques(self._chain, q, qd, qdd, sine_cosine(q))[:, self._place]
        return self.direction * tau

    def _climb(self, inputs: Floats) -> tuple[float, Floats]:
        """Return a large value and where it is: from some inputs (N, 3n), improved one at a time."""
        n, moving = len(self._low) // 3, np.flatnonzero(self._high > self._low)
        whole = np.flatnonzero(self._angles & (self._high - self._low >= TURN)[:n])
        values = self._values(inputs)
        for step in (*FIRST_STEPS, *LAST_STEPS):
            if step == LAST_STEPS[0]:
                order = np.argsort(-values, kind="stable")[:KEPT_STARTS]
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
    def found(self) -> float:
        """The largest (smallest) torque found, friction aside, N·m or N."""
        return self.direction * self._found[0]

    @property
    def bound(self) -> float:
        """No torque is larger (smaller), N·m or N."""
        return self.direction * (float(self._search.bound) + self._rest)

    def beyond(self, torque: float) -> bool:
        """Return whether a larger (smaller) torque was found, friction at its most."""
        return self._found[0] + self._friction > self.direction * torque

    def run(self, gap: float, enough: float | None, most: int, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Look at boxes until the bound is close to the largest value found; return whether it is.

        Parameters
        ----------
        gap
            Largest distance, relative to the largest value.
        enough
            A torque, N·m or N, that the bound need not be below (above); None for none.
        most
            Boxes to look at, at most.
        goes_on
            Tells now and then whether to go on.
        """
        if enough is not None:
            self._limit = (self.direction * enough - self._rest) - 1e-9 * abs(enough)
        noise = self._rest - self._friction
        goal, levels = -math.inf, LEVELS

        def aim() -> float:
            nonlocal goal
            best = self._found[0]
            goal = max(self._limit, best + max(gap * abs(best) - noise, 0.5 * gap * abs(best), noise))
            return goal

        def batch(count: int) -> tuple[int, int]:
            nonlocal levels
            levels = LEVELS if most - self.boxes >= count << LEVELS else FEW_LEVELS
            at_once = AT_ONCE >> (levels - FEW_LEVELS)
            return at_once, max(at_once, count // 8)

        return self._search.run(
            aim, batch, lambda boxes: self._looked(boxes, goal, most, levels), lambda: self.boxes < most and goes_on()
        )

    def _looked(self, boxes: Boxes, aim: float, most: int, levels: int) -> Boxes:
        """Return what becomes of some boxes."""
        left: list[_Box] = []
        motions: list[Floats] = []
        columns = (boxes.low, boxes.high, boxes.bound, boxes.axis)
        for box in zip(*(column.tolist() for column in columns), strict=True):
            if self.boxes >= most:
                left.append(box)
                motions.append(self._points.motion)
            else:
                self._look(box, aim, most, levels, left, motions)
        low, high, bounds, axes = zip(*left, strict=True)
        shape = len(left), len(self._turning)
        parts = Boxes(np.array(low).reshape(shape), np.array(high).reshape(shape), np.array(bounds), np.array(axes))
        if (which := parts.bound > aim).any():
            self._try_middles(parts.low[which], parts.high[which], np.array(motions)[which])
        return parts

    def _look(self, box: _Box, aim: float, most: int, levels: int, left: list[_Box], motions: list[Floats]) -> None:
        """Bound a box, or if that is done its halves, and halves of these that are not below `aim`, for a few levels.

        `left` and `motions` take the boxes left, and motions that their bounds have.
        """
        points, parents = self._points, [box]
        # boxes below `aim` are done, but their bounds count; what was found meanwhile may be above it
        floor = min(aim, max(self._limit, self._found[0]))
        points.take(box[0], box[1])
        if box[3] != UNKNOWN:  # what is known of its control points was not kept
            points.bound(0, floor)
        tasks = [(-1, False)] if box[3] == UNKNOWN else [(0, True), (0, False)]
        while tasks:
            parent, upper = tasks.pop()
            low, high, bound, axis = parents[max(parent, 0)]
            if parent >= 0:
                least, greatest = low[axis], high[axis]
                points.halve(parent, axis, 0.5 * (greatest - least), upper, floor)
                low, high = low.copy(), high.copy()
                (low if upper else high)[axis] = 0.5 * (least + greatest)
            level = parent + 1
            value, at = points.bound(level, floor)
            self.boxes += 1
            split, bound = POINT, min(bound, value)
            if bound > aim:
                worst = -1.0
                for k, bend in enumerate(points.bends(level, at)):
                    if bend > worst and high[k] > low[k]:
                        split, worst = k, bend
            own = low, high, bound, split
            if bound > aim and split >= 0 and level + 1 < levels and self.boxes + len(tasks) + 2 <= most:
                parents[level:] = [own]
                tasks += [(level, True), (level, False)]
            else:
                left.append(own)
                motions.append(points.motion.copy())

    def _try_middles(self, low: Floats, high: Floats, motions: Floats) -> None:
        """Look for a large torque at the middles of some boxes, with the motions that their bounds have."""
        n, own = len(self._low) // 3, self._own
        middle, radius = 0.5 * (self._low + self._high), 0.5 * (self._high - self._low)
        moved = np.zeros((len(low), 3 * n))
        count = len(own.products)
        moved[:, n + own.moving] = motions[:, count - len(own.moving) : count]
        moved[:, 2 * n + own.pushed] = motions[:, count:]
        moved[:, :n] = np.where(self._angles, middle[:n], 0.0)
        moved[:, own.positions] = 0.5 * (low + high)
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
        parts = max(1, math.ceil((most - least) / MAX_ARC - 1e-9)) if turns else 1
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


def input_ends(words: Mapping[str, Format], within: Mapping[str, tuple[int, int]]) -> tuple[Floats, Floats]:
    """Return the ends of all inputs at the joints, (3n,) each, a little wider than the words."""
    ends = []
    for name, word in words.items():
        first, last = within.get(name, (word.lowest, word.highest))
        if word.kind == "angle" and last - first + 1 == 1 << word.bits:
            ends.append((-TURN / 2, TURN / 2))
            continue
        values = [word.sign * (word.centre + end * word.lsb) + word.offset for end in (first, last)]
        slack = 1e-12 * max(map(abs, values))
        ends.append((min(values) - slack, max(values) + slack))
    low, high = np.array(ends).T
    return low, high


def _friction(robot: Robot, place: int, direction: int, low: Floats, high: Floats) -> float:
    """Return the most that the friction of a joint adds."""
    law = robot.joints[place].friction
    if law is None:
        return 0.0
    velocity = len(robot.joints) + place
    reach = friction_reach(law, Interval(float(low[velocity]), float(high[velocity])))
    return reach.high if direction > 0 else -reach.low
