"""Saturation of torques, that is, leaving the range of their words: proved not, shown by a state, or not excluded.

Proved by the range of the sum, as the errors are; where that is too wide, as those of recursions are, by boxes of
positions (`torque_boxes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.batch import friction, torques
from bddtorque.dynamics.chain import chain_of
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_unclamped
from bddtorque.plan.table import Table
from bddtorque.proof.proved_bound import Saturation
from bddtorque.proof.torque_boxes import torque_search
from bddtorque.proof.torque_range import TorqueBox
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval
from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface
from bddtorque.words.joint_friction import friction_reach
from bddtorque.words.portable import sine_cosine

Words = npt.NDArray[np.int64]
Witness = tuple[tuple[int, ...], ...]
"""Input words, array by array."""
Verdict = tuple[Saturation, Witness | None, tuple[float, float]]
"""Saturation of an output, a state that shows it, and the range of its sum before clamping, in units."""

STARTS = 512
ROUNDS, MORE_ROUNDS = 4, 16
"""Of changes to every word; more of them where the range is almost reached."""
ALMOST = 0.9
"""Of the range."""
MAX_BOXES = 100_000
"""Boxes of positions that are looked at to exclude that a torque leaves one end of its range."""
SLACK = 0.002
"""Of the range: how far from its end a torque must stay, so that others can show it in their own way."""
ROOM = 1 + 3 * SLACK
"""Of a torque: a range that is so much wider is shown to hold it."""
MAX_STEPS = 1.5e9
"""Of about ten nanoseconds: what these boxes may cost. Those of seven joints cost most."""
FEW_STARTS = 2
"""From which to climb before boxes are looked at: states that saturate were looked for before."""


def word_steps(bits: int) -> list[int]:
    """Return changes to try on a word: powers of 8, for long words up to a sixteenth of their range, and its ends."""
    steps = [1, 8, 64]
    while steps[-1] << 7 <= 1 << bits:
        steps.append(steps[-1] << 3)
    steps.append(1 << 31)
    return [-step for step in reversed(steps)] + steps


def prove_saturation(
    robot: Robot,
    formats: Interface,
    plan: Plan,
    tables: Sequence[Table],
    reach: Sequence[tuple[float, float]],
    errors: Sequence[float],
    box: TorqueBox | None,
) -> list[Verdict]:
    """Return the verdict on each torque.

    Parameters
    ----------
    reach
        The sound range of each sum before clamping, in units.
    errors
        Largest distance of each sum, before it is rounded to a word, from the torque, in units.
    box
        The motions of the words.
    """
    proofs = [_Torque(robot, formats, plan, tables, place) for place in range(len(plan.outputs))]
    excluded = partial(_excluded_by_grids, formats, plan, errors, box)
    verdicts = _verdicts(plan, reach, excluded, lambda place: proofs[place].find_witness())
    for place, (saturation, _, ends) in enumerate(verdicts):
        if saturation == "not excluded":
            verdicts[place] = proofs[place].by_boxes(ends, errors[place])
    return verdicts


@dataclass(frozen=True)
class _Torque:
    """One torque, as the plan computes it and as it is."""

    robot: Robot
    formats: Interface
    plan: Plan
    tables: Sequence[Table]
    place: int

    def by_boxes(self, ends: tuple[float, float], error: float) -> Verdict:
        """Return the verdict by boxes of positions, and by the states that these find."""
        output = self.plan.outputs[self.place]
        excluded = True
        for side, left in ((-1, ends[0] + 0.5 < output.low), (1, ends[1] + 0.5 > output.high)):
            if left:
                own, point = self._excluded(side, error)
                if point is not None:
                    words = zip(self.formats.words.values(), point.tolist(), strict=True)
                    witness = self._climb(side, np.array([[word.quantise(x) for word, x in words]], np.int64))
                    if witness:
                        return "can", witness, ends
                excluded = excluded and own
        if excluded:
            return "cannot", None, (max(ends[0], float(output.low)), min(ends[1], float(output.high)))
        return "not excluded", None, ends

    def _excluded(self, side: int, error: float) -> tuple[bool, npt.NDArray[np.float64] | None]:
        """Tell if boxes of positions show that no torque leaves its range at one end, the highest word for `side` 1.

        If instead a torque was found that is too close to the end, its inputs are returned as well, (3n,).
        """
        word, output = self.formats.tau[self.place], self.plan.outputs[self.place]
        search = torque_search(self.robot, self.formats.words, self.place, side * word.sign, {}, FEW_STARTS)
        if search is None:
            return False, None
        slack = (
            error * (1 + 1e-9)
            + SLACK * (output.high - output.low)
            + _uneven_friction(self.robot, self.formats, self.place)
        )
        end = (output.high if side > 0 else output.low) - side * slack
        enough = word.sign * (word.centre + end * word.lsb) + word.offset
        most = min(MAX_BOXES, int(MAX_STEPS / search.steps))
        search.run(0.0, enough, most, lambda: not search.boxes or not search.beyond(enough))
        units = float(word.units(search.bound))
        return (units < end if side > 0 else units > end), search.point() if search.beyond(enough) else None

    def find_witness(self) -> Witness | None:
        """Search for words whose sum leaves the range of the torque: random states, improved one word at a time.

        The search climbs on float Newton-Euler, which is fast; what it finds counts only if plan and torque both leave
        the range.
        """
        rng, words = np.random.default_rng(self.place), self.formats.words.values()
        starts = np.stack([rng.integers(word.lowest, word.highest, STARTS, endpoint=True) for word in words], axis=1)
        return self._climb(1, starts.copy()) or self._climb(-1, starts)

    def _climb(self, side: int, starts: Words) -> Witness | None:
        """State near some others whose torque leaves its range at the highest word (`side` 1) or the lowest."""
        inputs, output, every = self.formats.words, self.plan.outputs[self.place], np.arange(len(starts))
        best = _States(starts, self.formats)
        end = output.high if side > 0 else -output.low
        for round_ in range(MORE_ROUNDS):
            for column, word in enumerate(inputs.values()):
                own = best.words[:, column]
                tried = np.stack([own, *(word.held(own + step) for step in word_steps(word.bits))])
                units = self._units(best.with_column(column, tried))
                winners = (side * units.reshape(tried.shape)).argmax(axis=0)
                best.set_column(column, tried[winners, every])
            total = _sum(self.plan, self.tables, dict(zip(inputs, best.words.T, strict=True)), self.place)
            units = self._units(best.values)
            beyond = np.minimum(total, units) > output.high if side > 0 else np.maximum(total, units) < output.low
            if beyond.any():
                q, qd, qdd = best.words[beyond.argmax()].reshape(3, -1).tolist()
                return tuple(q), tuple(qd), tuple(qdd)
            if round_ + 1 >= ROUNDS and (side * units).max() < ALMOST * end:
                break
        return None

    def _units(self, values: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
        """Return the torque of states, given as sine, cosine, q, qd and qdd, by float Newton-Euler, in units.

        The state that is found stands in the certificate, so the way there must be the same on every machine.
        """
        sine, cosine, q, qd, qdd = values
        tau = torques(chain_of(self.robot), q, qd, qdd, (sine, cosine))
        if self.robot.has_friction:
            tau = tau + friction(self.robot, qd)
        units: npt.NDArray[np.float64] = self.formats.tau[self.place].units(tau[:, self.place])
        return units


class _States:
    """States (N, 3n) in words, and their values: sine, cosine, q, qd and qdd, (N, n) each.

    The search changes one word at a time: only its values are computed anew.
    """

    def __init__(self, words: Words, formats: Interface) -> None:
        self.words, self.formats = words, formats
        q, qd, qdd = (
            kind.dequantise(each) for kind, each in zip(formats.inputs, np.split(words, 3, axis=1), strict=True)
        )
        self.values = [*sine_cosine(q), q, qd, qdd]

    def _values_of(self, column: int, words: Words) -> tuple[int, dict[int, npt.NDArray[np.float64]]]:
        """Return the joint of a column, and the values of words in it, by their place in `values`."""
        kind, joint = divmod(column, len(self.formats.q))
        value = self.formats.inputs[kind][joint].dequantise(words)
        turned = dict(enumerate(sine_cosine(value))) if kind == 0 else {}
        return joint, {**turned, 2 + kind: value}

    def with_column(self, column: int, tried: Words) -> list[npt.NDArray[np.float64]]:
        """Return the values of all states with every one of some words (K, N) in a column, (K·N, n) each."""
        joint, changed = self._values_of(column, tried)
        arrays = [np.tile(each, (len(tried), 1)) for each in self.values]
        for place, value in changed.items():
            arrays[place][:, joint] = value.reshape(-1)
        return arrays

    def set_column(self, column: int, words: Words) -> None:
        """Set one word of every state."""
        joint, changed = self._values_of(column, words)
        self.words[:, column] = words
        for place, value in changed.items():
            self.values[place][:, joint] = value


def prove_word_saturation(
    formats: Interface,
    plan: Plan,
    tables: Sequence[Table],
    reach: Sequence[tuple[float, float]],
    true_units: Callable[[Mapping[str, Words], int], npt.NDArray[np.float64]],
    errors: Sequence[float],
    box: TorqueBox | None,
) -> list[Verdict]:
    """Return the verdict on each output of any words; `true_units` gives one output in units of its word.

    `box` are the motions of which outputs are torques, if they are; the others are as in `prove_saturation`.
    """

    def found(place: int) -> Witness | None:
        witness = _climb(formats.words, plan, tables, place, true_units)
        return _grouped(witness, [len(array) for array in formats.inputs]) if witness else None

    return _verdicts(plan, reach, partial(_excluded_by_grids, formats, plan, errors, box), found)


def _uneven_friction(robot: Robot, formats: Interface, place: int) -> float:
    """Return how much less of a friction counts than its magnitude, at either end, in units, with room."""
    law = robot.joints[place].friction
    if law is None or all(array.name != "qd" for array in formats.inputs):
        return 0.0
    reach = friction_reach(law, Interval(*sorted(formats.qd[place].span)))
    return (reach.magnitude + max(reach.low, -reach.high)) / formats.tau[place].lsb + 2.0


def _excluded_by_grids(
    formats: Interface, plan: Plan, errors: Sequence[float], box: TorqueBox | None, place: int
) -> bool:
    """Return whether grids of positions show that no torque leaves the range of its words."""
    if box is None:
        return False
    word, output = list(formats.results.values())[place], plan.outputs[place]
    slack = errors[place] * (1 + 1e-9) + SLACK * (output.high - output.low)
    ends = [
        word.sign * (word.centre + end * word.lsb) + word.offset for end in (output.low + slack, output.high - slack)
    ]
    return box.within(place, min(ends), max(ends))


def _verdicts(
    plan: Plan,
    reach: Sequence[tuple[float, float]],
    excluded: Callable[[int], bool],
    witness_of: Callable[[int], Witness | None],
) -> list[Verdict]:
    """Return the verdict on each output: by its range, or by a state that saturates it, if one is found."""
    verdicts: list[Verdict] = []
    for place, (low, high) in enumerate(reach):
        output = plan.outputs[place]
        if math.floor(low + 0.5) >= output.low and math.floor(high + 0.5) <= output.high:
            verdicts.append(("cannot", None, (low, high)))
            continue
        if excluded(place):
            verdicts.append(("cannot", None, (max(low, float(output.low)), min(high, float(output.high)))))
            continue
        witness = witness_of(place)
        verdicts.append(("can" if witness else "not excluded", witness, (low, high)))
    return verdicts


def _grouped(words: Sequence[int], sizes: Sequence[int]) -> Witness:
    ends = np.cumsum([0, *sizes])
    return tuple(tuple(words[first:last]) for first, last in pairwise(ends))


def _climb(
    formats: Mapping[str, Format],
    plan: Plan,
    tables: Sequence[Table],
    place: int,
    true_units: Callable[[Mapping[str, Words], int], npt.NDArray[np.float64]],
) -> list[int] | None:
    """Search for words at which plan and truth both leave the range of an output, as `_Torque.find_witness` does."""
    rng = np.random.default_rng(place)
    output = plan.outputs[place]
    starts = {name: rng.integers(word.lowest, word.highest, STARTS, endpoint=True) for name, word in formats.items()}
    for direction in (1, -1):
        best = dict(starts)
        for _ in range(ROUNDS):
            for name, word in formats.items():
                steps = word_steps(word.bits)
                tried = np.concatenate([best[name], *(word.held(best[name] + step) for step in steps)])
                copies = 1 + len(steps)
                states = {**{other: np.tile(own, copies) for other, own in best.items()}, name: tried}
                gained = (direction * true_units(states, place)).reshape(copies, -1)
                best[name] = tried.reshape(copies, -1)[gained.argmax(axis=0), np.arange(STARTS)]
            total, units = _sum(plan, tables, best, place), true_units(best, place)
            beyond = np.minimum(total, units) > output.high if direction > 0 else np.maximum(total, units) < output.low
            if beyond.any():
                at = int(beyond.argmax())
                return [int(own[at]) for own in best.values()]
    return None


def _sum(plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Words], place: int) -> Words:
    """Return the word of an output before it is clamped, in units of its word, for words (N,) by name."""
    return run_unclamped(plan, tables, inputs, [place])[0]
