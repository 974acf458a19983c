"""How large a torque can be, by its waves: what `wave_boxes` searches, made from the robot and the words of a model.

The true torque is bounded, and the certificate bounds how far any compiled word is from it: so the same search serves
plans of every kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.terms import Terms, terms_of
from bddtorque.laws.joint_friction import friction_reach
from bddtorque.model.model import Model
from bddtorque.model.source import RobotSource
from bddtorque.questions.search_work import Work
from bddtorque.questions.subject_kinds import State, Subject
from bddtorque.questions.wave_boxes import ACCELERATION, MARGIN, REST, VELOCITIES, climb, search
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval
from bddtorque.words.formats import TURN

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Rows = tuple[Floats, Floats, Floats, Integers, Integers, Integers, Integers]
"""Amplitudes of cosines and of sines, (rows, waves); multipliers and powers of the positions, (waves, n); and of each
row what its amplitudes are multiplied with: the kind, and one or two joints."""

NOISE = 1e-6
"""Relative to all amplitudes: what the Fourier step leaves out or gets wrong is far below."""
LEFT_OUT = 5e-4
"""Relative to the largest value seen: all the waves together that are too weak to be looked at one by one."""
WANTED = 0.004
"""Relative to the largest value: how close a bound is aimed at."""
MOST_BOXES = 1_000_000
STARTS = 24


@dataclass(frozen=True)
class WaveBound:
    """What is known of a torque in one direction.

    Attributes
    ----------
    bound
        No torque is larger (smaller), N·m or N.
    state
        Input words of a state with a large one, by name.
    boxes
        How many boxes were looked at.
    """

    bound: float
    state: State
    boxes: int


@lru_cache(maxsize=2)
def _terms(robot: Robot) -> Terms | None:
    try:
        return terms_of(robot)
    except BddTorqueError:  # too many joints, or joints that follow others
        return None


def bound_torque(
    model: Model, asked: Subject, direction: int, work: Work, enough: float | None = None
) -> WaveBound | None:
    """Return a bound on a torque over all states that a question is about; None where there are no waves to look at.

    Parameters
    ----------
    direction
        1 for the largest torque, −1 for the smallest.
    enough
        A torque, N·m or N, that the bound need not be below (above).
    """
    if not isinstance(model.source, RobotSource) or asked.kind != "output":
        return None
    terms = _terms(model.robot)
    if terms is None:
        return None
    low, high = _ends(model, asked)
    rows = _rows(terms, asked.place, direction, low, high)
    if not rows[0].size:
        return None
    weight = _weights(rows, low, high)
    total = float(weight.sum())
    starts = np.random.default_rng(asked.place).uniform(low, high, (STARTS, len(low)))
    found, point = climb(rows, low, high, starts)
    weak = np.argsort(weight, kind="stable")
    weak = weak[np.cumsum(weight[weak]) <= LEFT_OUT * abs(found)]
    kept = np.setdiff1d(np.arange(len(weight)), weak)
    rest = float(weight[weak].sum()) + NOISE * total + _friction(model, asked.place, direction, low, high)
    rows = tuple(each[:, kept] for each in rows[:2]) + tuple(each[kept] for each in rows[2:4]) + rows[4:]  # type: ignore[assignment]
    rows = _sheared(rows, weight[kept], model.robot, low, high)
    rows = tuple(np.ascontiguousarray(each) for each in rows)  # type: ignore[assignment]
    steps = rows[0].size + 20 * rows[0].shape[1]
    boxes = int(min(MOST_BOXES, max(1.0, work.affordable() / steps)))
    aim = -math.inf if enough is None else (direction * enough - rest) - 1e-9 * abs(enough)
    bound, looked = search(rows, MARGIN * total, low, high, found, WANTED * abs(found), aim, boxes)
    work.spend(looked * steps)
    if looked >= boxes and not work.stopped:
        work.stopped = "work"
    return WaveBound(direction * (bound + rest), _words_at(model, point), looked)


def _ends(model: Model, asked: Subject) -> tuple[Floats, Floats]:
    """Return the ends of all inputs at the joints, (3n,) each, a little wider than the words."""
    ends = []
    for name, word in model.source.words.items():
        first, last = asked.within.get(name, (word.lowest, word.highest))
        if word.kind == "angle" and last - first + 1 == 1 << word.bits:
            ends.append((-TURN / 2, TURN / 2))
            continue
        values = [word.sign * (word.centre + end * word.lsb) + word.offset for end in (first, last)]
        slack = 1e-12 * max(map(abs, values))
        ends.append((min(values) - slack, max(values) + slack))
    low, high = np.array(ends).T
    return low, high


def _rows(terms: Terms, place: int, direction: int, low: Floats, high: Floats) -> Rows:
    """Return the waves of one torque, with the sign of the direction; what does not matter is held at one end."""
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
    used = np.zeros(3 * n, dtype=np.bool_)
    used[:n] = (phases != 0).any(axis=0) | (powers != 0).any(axis=0)
    used[2 * n + first[kinds == ACCELERATION]] = True
    used[n + np.concatenate([first[kinds == VELOCITIES], second[kinds == VELOCITIES]])] = True
    high[~used] = low[~used]
    return (
        amplitudes[0],
        amplitudes[1],
        phases,
        powers,
        *(np.ascontiguousarray(each) for each in (kinds, first, second)),
    )


def _weights(rows: Rows, low: Floats, high: Floats) -> Floats:
    """Return how large each wave can be at most, (waves,)."""
    cosines, sines, _, powers, kinds, first, second = rows
    n = powers.shape[1]
    size = np.maximum(np.abs(low), np.abs(high))
    motion = np.where(kinds == REST, 1.0, size[n + first] * size[n + second])
    motion = np.where(kinds == ACCELERATION, size[2 * n + first], motion)
    found: Floats = (np.hypot(cosines, sines) * motion[:, None]).sum(axis=0) * np.prod(size[:n] ** powers, axis=1)
    return found


def _sheared(rows: Rows, weight: Floats, robot: Robot, low: Floats, high: Floats) -> Rows:
    """Return the same waves of other angles, sums of the joints', in which fewer of them matter to each wave.

    q2 + q3 in place of q3 takes every value once whatever q2 is: where both go all around, so do the new ones.
    """
    phases = rows[2].copy()
    whole = [j for j, joint in enumerate(robot.joints) if joint.revolute and high[j] - low[j] >= TURN]
    while True:
        cost = weight @ np.abs(phases)
        best: tuple[float, int, Floats] | None = None
        for j in whole:
            for k in whole:
                for sign in (1.0, -1.0) if j != k else ():
                    changed = phases[:, j] + sign * phases[:, k]
                    less = float(cost[j] - weight @ np.abs(changed))
                    if less > 1e-9 * cost.sum() and (best is None or less > best[0]):
                        best = less, j, changed
        if best is None:
            return (*rows[:2], phases, *rows[3:])
        phases[:, best[1]] = best[2]


def _friction(model: Model, place: int, direction: int, low: Floats, high: Floats) -> float:
    """Return the most that the friction of a joint adds."""
    law = model.robot.joints[place].friction
    if law is None:
        return 0.0
    velocity = len(model.robot.joints) + place
    reach = friction_reach(law, Interval(float(low[velocity]), float(high[velocity])))
    return reach.high if direction > 0 else -reach.low


def _words_at(model: Model, point: Floats) -> State:
    """Return the words next to a point."""
    return {name: int(word.quantise(x)) for (name, word), x in zip(model.source.words.items(), point, strict=True)}
