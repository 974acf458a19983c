"""Sound ranges of the torques of a quantity over all its words, close to what can occur.

They serve the ranges of words that nobody states, saturation, and what certificates say of the largest torque.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.feedback import FeedbackLaw
from bddtorque.dynamics.quantity import DESIRED, MOTION
from bddtorque.proof.motion_rows import motion_rows
from bddtorque.proof.serial_parts import serial_parts
from bddtorque.proof.torque_boxes import input_ends
from bddtorque.proof.torque_grids import Ends, GridBound
from bddtorque.robots.robot import Robot
from bddtorque.spec import Spec
from bddtorque.words.bounded import ROUND_UP, Interval
from bddtorque.words.formats import TURN, Format
from bddtorque.words.joint_friction import friction_reach

Floats = npt.NDArray[np.float64]

STILL = Format("range", 2, -1.0, 1.0)
"""Format of motion that is no input: it is held at the word 0."""
HALF_TURN = TURN / 2 * ROUND_UP
GAP, WIDER_GAP, FEW_POSITIONS = 0.05, 0.08, 5
"""Of the largest torque found: how far beyond it a range may be; the wider one where more positions matter."""
SHARE = 1 - 1e-6
"""Of the way from what was found to an end: bounds come out as large as they may be, and are rounded up."""
CLOSE_GAP, CLOSE_WORK = 0.01, 20_000_000
"""For both ends of a range where few positions matter."""


@dataclass(frozen=True)
class TorqueBox:
    """Motions over which torques are taken: positions, velocities and accelerations between two ends, 3n each."""

    robot: Robot
    low: tuple[float, ...]
    high: tuple[float, ...]
    friction: bool = True

    def range(self, place: int) -> Interval | None:
        """Return a range of a torque whose larger end is close to what can occur; None where nothing was searched."""
        return _searched(self, place, False)

    def closer_range(self, place: int) -> Interval | None:
        """Return a range of a torque both of whose ends are close, where only few positions matter."""
        return _searched(self, place, True)

    def within(self, place: int, low: float, high: float) -> bool:
        """Return whether it is shown that a torque stays between two ends."""
        known = self.range(place)
        if known is None or (low <= known.low and known.high <= high):
            return known is not None
        grids, rubbing = self.grids(place), self.rubbing(place)
        if grids is None:
            return False
        rest = high - rubbing.high, rubbing.low - low
        slack = [(end - sum(grid.found[side] for grid in grids)) * SHARE for side, end in enumerate(rest)]
        sizes = [max(map(abs, grid.found)) for grid in grids]
        total = max(sum(sizes), 1e-300)
        for grid, size in zip(grids, sizes, strict=True):
            goals = grid.found[0] + slack[0] * size / total, grid.found[1] + slack[1] * size / total
            if not grid.run(partial(_constant, goals)):
                return False
        bounds = [sum(grid.bounds[side] for grid in grids) for side in range(2)]
        return all(bound + (ROUND_UP - 1) * abs(bound) <= end for bound, end in zip(bounds, rest, strict=True))

    def grids(self, place: int) -> list[GridBound] | None:
        """Return searches whose torques add up to one, friction left out; None where there are too many positions."""
        low, high = np.array(self.low), np.array(self.high)
        n, grids = len(self.robot.joints), []
        if self.robot.coupled:
            return None
        for part in serial_parts(self.robot, place):
            columns = np.concatenate([np.array(part.joints) + kind * n for kind in range(3)])
            own = motion_rows(part.robot, part.place, 1, low[columns], high[columns])
            if own is None:
                return None
            if len(own.coefficients):
                turning = [part.robot.joints[k].kind.turns for k in own.positions]
                grids.append(GridBound(own, turning))
        return grids

    def rubbing(self, place: int) -> Interval:
        """Return a range of the friction of a joint."""
        law, velocity = self.robot.joints[place].friction, len(self.robot.joints) + place
        if law is None or not self.friction:
            return Interval(0.0, 0.0)
        return friction_reach(law, Interval(self.low[velocity], self.high[velocity]))


@lru_cache(maxsize=128)  # ranges of words, saturation and certificates ask for the same
def _searched(box: TorqueBox, place: int, closely: bool) -> Interval | None:
    grids = box.grids(place)
    if grids is None:
        return None
    ends = [0.0, 0.0]
    for grid in grids:
        gap = GAP if grid.positions <= FEW_POSITIONS else WIDER_GAP
        grid.run(partial(_larger_end, gap))
        if closely and grid.positions <= FEW_POSITIONS:
            grid.run(_both_ends, CLOSE_WORK)
        ends = [end + bound for end, bound in zip(ends, grid.bounds, strict=True)]
    slack = (ROUND_UP - 1) * max(map(abs, ends))
    return Interval(-ends[1] - slack, ends[0] + slack) + box.rubbing(place)


def _constant(goals: Ends, found: Ends) -> Ends:
    return goals


def _larger_end(gap: float, found: Ends) -> Ends:
    most = max(found) * (1 + gap)
    return most, most


def _both_ends(found: Ends) -> Ends:
    slack = CLOSE_GAP * max(map(abs, found))
    return found[0] + slack, found[1] + slack


def torque_box(spec: Spec, robot: Robot, words: Mapping[str, Format]) -> TorqueBox | None:
    """Return the motions whose torques a quantity is, over input words by name; None of other quantities."""
    record = spec.record
    of_torques = record.from_torques and not record.weightless and any(each.per_joint for each in record.outputs)
    law = record if isinstance(record, FeedbackLaw) else None
    if spec.run_time or not of_torques or not set(record.inputs) <= {*MOTION, *(DESIRED if law else ())}:
        return None
    n = len(robot.joints)
    names = [f"{kind}{j}" for kind in MOTION for j in range(1, n + 1)]
    still = {name: (0, 0) for name in names if name not in words}
    low, high = input_ends({name: words.get(name, STILL) for name in names}, still)
    if law is not None:
        _add_feedback(law.gains_of(spec, robot), robot, words, low, high)
    return TorqueBox(robot, tuple(low.tolist()), tuple(high.tolist()), record.friction)


def _add_feedback(
    gains: list[tuple[float, float]], robot: Robot, words: Mapping[str, Format], low: Floats, high: Floats
) -> None:
    """Set the ends of the accelerations that a control law asks for, whatever the state is."""
    n = len(robot.joints)
    desired = [f"{kind}_desired{j}" for kind in MOTION for j in range(1, n + 1)]
    least, most = input_ends({name: words[name] for name in desired}, {})
    for j, (kp, kv) in enumerate(gains):
        position = Interval(least[j] - high[j], most[j] - low[j])
        if robot.joints[j].kind.turns:
            position = Interval(-HALF_TURN, HALF_TURN)
        velocity = Interval(least[n + j] - high[n + j], most[n + j] - low[n + j])
        asked = Interval(least[2 * n + j], most[2 * n + j]) + velocity * kv + position * kp
        slack = 1e-12 * asked.magnitude
        low[2 * n + j], high[2 * n + j] = asked.low - slack, asked.high + slack
