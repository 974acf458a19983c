"""How large a torque can be, by its waves: what `wave_boxes` bounds, made from a robot and the words of its inputs.

The true torque is bounded, and the certificate bounds how far any compiled word is from it: so the same search serves
plans of every kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.terms import Terms, known_terms
from bddtorque.laws.joint_friction import friction_reach
from bddtorque.proof.wave_boxes import MARGIN, bound_boxes, box_space
from bddtorque.proof.wave_values import ACCELERATION, REST, VELOCITIES, climb
from bddtorque.robots.robot import Robot
from bddtorque.words import Format
from bddtorque.words.bounded import Interval
from bddtorque.words.formats import TURN

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Rows = tuple[Floats, Floats, Floats, Integers, Integers, Integers, Integers]
"""Amplitudes of cosines and of sines, (rows, waves); multipliers and powers of the positions, (waves, n); and of each
row what its amplitudes are multiplied with: the kind, and one or two joints."""

_Open = tuple[Floats, Floats, Floats, Integers]
"""Boxes (N, 3n) by their ends, their bounds, and the input of each to split next."""

NOISE = 1e-6
"""Relative to all amplitudes: what the Fourier step leaves out or gets wrong is far below."""
LEFT_OUT = 5e-4
"""Relative to the largest value seen: all the waves together that are too weak to be looked at one by one."""
ALIKE = 1e-9
"""Relative to all amplitudes: velocities that enter a torque as their sum differ by no more; it is added."""
BATCH, AT_ONCE = 1024, 512
"""Boxes split at a time, at least, and those between two looks at whether to go on."""
STARTS = 24


def _terms(robot: Robot) -> Terms | None:
    try:
        return known_terms(robot)
    except BddTorqueError:  # too many joints, or joints that follow others
        return None


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
        self, rows: Rows, robot: Robot, place: int, direction: int, low: Floats, high: Floats, starts: int = STARTS
    ) -> None:
        # friction is no wave, and what is no wave is held at one end below
        friction = _friction(robot, place, direction, low, high)
        _hold_unused(rows, low, high)
        self.direction = direction
        self._waves, self._low, self._high, self._place = rows, low.copy(), high.copy(), place
        self._starts = starts
        self._found = self._climbed(low[: len(low) // 3], high[: len(low) // 3])
        weight = _weights(rows, low, high)
        total = float(weight.sum())
        weak = np.argsort(weight, kind="stable")
        weak = weak[np.cumsum(weight[weak]) <= LEFT_OUT * abs(self._found[0])]
        kept = np.setdiff1d(np.arange(len(weight)), weak)
        rows, self._turned = _sheared(_some(rows, slice(None), kept), weight[kept], robot, low, high)
        rows, apart = _joined(rows, low, high, ALIKE * total)
        _hold_unused(rows, low, high)
        self._rows = tuple(np.ascontiguousarray(each) for each in rows)
        self._rest = friction + float(weight[weak].sum()) + (NOISE + MARGIN) * total + apart
        moving = np.count_nonzero((high > low)[: 2 * len(low) // 3])
        self.steps = float(rows[0].size + (1 << int(moving)))
        self.boxes = 0
        self._done = -math.inf
        self._open: _Open = (low[None], high[None], np.array([math.inf]), np.array([0]))
        self._middle = self._found[0], np.zeros(0)

    def _climbed(self, least: Floats, most: Floats) -> tuple[float, Floats]:
        """Return a large value and its point, from starts with positions between two ends."""
        n = len(least)
        low, high = (np.concatenate((own, all_[n:])) for own, all_ in ((least, self._low), (most, self._high)))
        points = np.random.default_rng(self._place).uniform(low, high, (self._starts, len(low)))
        value, best = climb(self._waves, self._low, self._high, points)
        return value, points[best]

    def point(self) -> Floats:
        """Return where the torque is large: q, qd and qdd, (3n,)."""
        value, middle = self._middle
        if len(middle) and value > self._found[0]:  # better than all that climbing has come to
            n = len(self._low) // 3
            q = self._turned @ middle[:n]
            q = np.where((q < self._low[:n]) | (q > self._high[:n]), np.remainder(q + TURN / 2, TURN) - TURN / 2, q)
            self._found = max(self._found, self._climbed(q, q), key=lambda each: each[0])
        return self._found[1]

    @property
    def bound(self) -> float:
        """No torque is larger (smaller), N·m or N."""
        return self.direction * (max(self._done, float(self._open[2].max(initial=-math.inf))) + self._rest)

    def beyond(self, torque: float) -> bool:
        """Whether a larger (smaller) torque was found, waves that were left out aside."""
        return self._middle[0] + self._rest > self.direction * torque

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
        aim = -math.inf if enough is None else (self.direction * enough - self._rest) - 1e-9 * abs(enough)
        while True:
            low, high, bounds, axes = self._open
            best = self._middle[0]
            wanted = (bounds > max(aim, best + gap * abs(best))) & (axes >= 0)
            if not wanted.all():
                self._done = max(self._done, float(bounds[~wanted].max(initial=-math.inf)))
                low, high, bounds, axes = self._open = low[wanted], high[wanted], bounds[wanted], axes[wanted]
            if not len(bounds):
                return True
            # those of the largest bounds; of equal ones the first, so that the way is the same on every machine
            order = np.argsort(-bounds, kind="stable")
            low, high, bounds, axes = self._open = low[order], high[order], bounds[order], axes[order]
            count = max(BATCH, len(bounds) // 4)
            for first in range(0, min(count, len(bounds)), AT_ONCE):
                if self.boxes >= most:
                    return False
                part = slice(first, min(first + AT_ONCE, count))
                children = self._bounded(low[part], high[part], bounds[part], axes[part])
                # parents go and children come at once: the bound holds whenever somebody stops the search
                rest = [each[len(bounds[part]) :] for each in self._open]
                self._open = tuple(np.concatenate(pair) for pair in zip(rest, children, strict=True))  # type: ignore[assignment]
                if not goes_on(len(children[2])):
                    return False

    def _bounded(self, low: Floats, high: Floats, parents: Floats, axes: Integers) -> _Open:
        """Return the halves of boxes, or at first the box of all, with their bounds and what to split next."""
        if self.boxes:
            every, middle = np.arange(len(low)), 0.5 * (low + high)
            lower, upper = high.copy(), low.copy()
            lower[every, axes] = upper[every, axes] = middle[every, axes]
            low, high = np.concatenate((low, upper)), np.concatenate((lower, high))
            parents = np.concatenate((parents, parents))
        bounds, values, split = np.empty(len(low)), np.empty(len(low)), np.empty(len(low), np.int64)
        bound_boxes(self._rows, low, high, bounds, values, split, box_space(len(self._rows[0]), low.shape[1] // 3))
        self.boxes += len(low)
        best = int(values.argmax())
        if values[best] > self._middle[0]:
            self._middle = float(values[best]), 0.5 * (low[best] + high[best])
        return low, high, np.minimum(bounds, parents), split


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

    None where there are no waves to look at: too many joints, joints that follow others, a torque that is always 0.
    """
    terms = _terms(robot)
    if terms is None:
        return None
    low, high = input_ends(words, within)
    rows = _rows(terms, place, direction)
    return TorqueSearch(rows, robot, place, direction, low, high, starts) if rows[0].size else None


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


def _some(rows: Rows, which: Integers | slice, waves: Integers | slice) -> Rows:
    """Return some rows of some waves."""
    amplitudes = (each[which][:, waves] for each in rows[:2])
    return (*amplitudes, *(each[waves] for each in rows[2:4]), *(each[which] for each in rows[4:]))  # type: ignore[return-value]


def _rows(terms: Terms, place: int, direction: int) -> Rows:
    """Return the waves of one torque, with the sign of the direction."""
    n = terms.robot.degrees_of_freedom
    parts = []
    for term in terms.terms:
        for torque, names in term.summands():
            if torque == place:
                joints = [int(name.lstrip("qd")) - 1 for name in names]
                kind = REST if not names else ACCELERATION if names[0].startswith("qdd") else VELOCITIES
                parts.append(((kind, *joints, *[0] * (2 - len(joints))), term.expansion))
    keys = sorted({key for key, _ in parts})
    shapes = [np.concatenate([each.multipliers, each.powers], axis=1) for _, each in parts]
    waves, where = np.unique(np.concatenate(shapes or [np.empty((0, 2 * n), np.int64)]), axis=0, return_inverse=True)
    amplitudes = np.zeros((2, len(keys), len(waves)))
    begin = 0
    for key, expansion in parts:
        own = where.reshape(-1)[begin : begin + len(expansion)]
        begin += len(expansion)
        np.add.at(amplitudes[0, keys.index(key)], own, direction * expansion.cosine)
        np.add.at(amplitudes[1, keys.index(key)], own, direction * expansion.sine)
    phases, powers = waves[:, :n].astype(np.float64), waves[:, n:].astype(np.int64)
    kinds, first, second = np.array(keys, dtype=np.int64).reshape(-1, 3).T
    return (
        amplitudes[0],
        amplitudes[1],
        phases,
        powers,
        *(np.ascontiguousarray(each) for each in (kinds, first, second)),
    )


def _hold_unused(rows: Rows, low: Floats, high: Floats) -> None:
    """Hold at one end what no wave depends on."""
    phases, powers, kinds, first, second = rows[2:]
    n = phases.shape[1]
    used = np.zeros(3 * n, dtype=np.bool_)
    used[:n] = (phases != 0).any(axis=0) | (powers != 0).any(axis=0)
    used[2 * n + first[kinds == ACCELERATION]] = True
    used[n + np.concatenate([first[kinds == VELOCITIES], second[kinds == VELOCITIES]])] = True
    high[~used] = low[~used]


def _weights(rows: Rows, low: Floats, high: Floats) -> Floats:
    """Return how large each wave can be at most, (waves,)."""
    cosines, sines, _, powers, kinds, first, second = rows
    n = powers.shape[1]
    size = np.maximum(np.abs(low), np.abs(high))
    motion = np.where(kinds == REST, 1.0, size[n + first] * size[n + second])
    motion = np.where(kinds == ACCELERATION, size[2 * n + first], motion)
    found: Floats = (np.hypot(cosines, sines) * motion[:, None]).sum(axis=0) * np.prod(size[:n] ** powers, axis=1)
    return found


def _sheared(rows: Rows, weight: Floats, robot: Robot, low: Floats, high: Floats) -> tuple[Rows, Floats]:
    """Return the same waves of other angles, in which fewer matter to each wave, and the matrix that turns them back.

    q2 + q3 in place of q3 takes every value once whatever q2 is: where both go all around, so do the new ones.
    """
    phases, turned = rows[2].copy(), np.eye(rows[2].shape[1])
    whole = [j for j, joint in enumerate(robot.joints) if joint.revolute and high[j] - low[j] >= TURN]
    while True:
        cost = weight @ np.abs(phases)
        best: tuple[float, int, int, float] | None = None
        for j in whole:
            for k in whole:
                for sign in (1.0, -1.0) if j != k else ():
                    changed = phases[:, j] + sign * phases[:, k]
                    less = float(cost[j] - weight @ np.abs(changed))
                    if less > 1e-9 * cost.sum() and (best is None or less > best[0]):
                        best = less, j, k, sign
        if best is None:
            return (*rows[:2], phases, *rows[3:]), turned
        _, j, k, sign = best
        phases[:, j] += sign * phases[:, k]
        turned[:, j] += sign * turned[:, k]


def _joined(rows: Rows, low: Floats, high: Floats, allowed: float) -> tuple[Rows, float]:
    """Return the rows with velocities, and accelerations, that a torque depends on by their sum alone put together.

    Joints with parallel axes are like that for what is carried by all of them. The sum takes the place of the first,
    whose ends are changed. Returned as well is how much the torque may differ by then.
    """
    n, apart = rows[2].shape[1], 0.0
    for kind in (VELOCITIES, ACCELERATION):
        for j in range(n):
            for k in range(j + 1, n):
                off = _differ(rows, kind, j, k, low, high)
                if off is None or off > allowed:
                    continue
                apart += off
                place = (n if kind == VELOCITIES else 2 * n) + j
                low[place] += low[place - j + k]
                high[place] += high[place - j + k]
                low[place - j + k] = high[place - j + k] = 0.0
                kinds, first, second = rows[4:]
                gone = (kinds == kind) & ((first == k) | ((kind == VELOCITIES) & (second == k)))
                rows = _some(rows, np.flatnonzero(~gone), slice(None))
    return rows, apart


def _differ(rows: Rows, kind: int, j: int, k: int, low: Floats, high: Floats) -> float | None:
    """Return by how much a torque may change if motion k moves j in its place; None if either does not matter."""
    kinds, first, second = rows[4:]
    places = {
        (int(a), int(b)): place
        for place, (own, a, b) in enumerate(zip(kinds, first, second, strict=True))
        if own == kind
    }
    n, size = rows[2].shape[1], np.maximum(np.abs(low), np.abs(high))
    reach: Floats = np.prod(size[:n] ** rows[3], axis=1)
    amplitudes = [rows[0] * reach, rows[1] * reach]

    def off(one: tuple[int, int], other: tuple[int, int], factor: float) -> float:
        pair = [[each[places[key]] if key in places else 0.0 * reach for each in amplitudes] for key in (one, other)]
        return float(np.hypot(*(factor * a - b for a, b in zip(*pair, strict=True))).sum())

    if kind == ACCELERATION:
        used = (j, 0) in places and (k, 0) in places
        return off((j, 0), (k, 0), 1.0) * float(size[2 * n + k]) if used else None
    if not all(any(each in key for key in places) for each in (j, k)):
        return None
    speed: list[float] = size[n : 2 * n].tolist()
    total: float = off((j, j), (k, k), 1.0) * speed[k] ** 2 + off((j, j), (j, k), 2.0) * speed[j] * speed[k]
    for other in range(n):
        if other not in (j, k):
            pair = [(min(each, other), max(each, other)) for each in (j, k)]
            total += off(pair[0], pair[1], 1.0) * speed[k] * speed[other]
    return total


def _friction(robot: Robot, place: int, direction: int, low: Floats, high: Floats) -> float:
    """Return the most that the friction of a joint adds."""
    law = robot.joints[place].friction
    if law is None:
        return 0.0
    velocity = len(robot.joints) + place
    reach = friction_reach(law, Interval(float(low[velocity]), float(high[velocity])))
    return reach.high if direction > 0 else -reach.low
