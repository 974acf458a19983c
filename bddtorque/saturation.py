"""Whether a torque can leave the range of its words: proved not, shown by a state, or not excluded."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bddtorque.certificate import Saturation
from bddtorque.diagrams.table import Table
from bddtorque.evaluate.reference import run_wires
from bddtorque.plan.plan import Plan
from bddtorque.robots.model import Robot
from bddtorque.words import Formats

Words = npt.NDArray[np.int64]
Witness = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

STARTS = 4096
ROUNDS = 6
STEPS = (-(2**31), -64, -8, -1, 1, 8, 64, 2**31)
"""Changes tried on a word; the largest reach its ends."""


def judge(
    robot: Robot,
    formats: Formats,
    plan: Plan,
    tables: Sequence[Table],
    reach: Sequence[tuple[float, float]],
) -> list[tuple[Saturation, Witness | None]]:
    """Return the verdict on each torque; `reach` is the sound range of its sum before clamping, in units."""
    verdicts: list[tuple[Saturation, Witness | None]] = []
    for place, (output, (low, high)) in enumerate(zip(plan.outputs, reach, strict=True)):
        if math.floor(low + 0.5) >= output.low and math.floor(high + 0.5) <= output.high:
            verdicts.append(("cannot", None))
            continue
        witness = find_witness(formats, plan, tables, place)
        verdicts.append(("can", witness) if witness else ("not excluded", None))
    return verdicts


def find_witness(formats: Formats, plan: Plan, tables: Sequence[Table], place: int) -> Witness | None:
    """Search for words whose sum leaves the range of output `place`: random states, improved one word at a time."""
    rng = np.random.default_rng(place)
    n = len(formats.q)
    words = [word for kind in formats.inputs for word in kind]
    states = np.stack([rng.integers(word.lowest, word.highest, STARTS, endpoint=True) for word in words], axis=1)
    for sign in (1, -1):
        current = states.copy()
        for _ in range(ROUNDS):
            for column, word in enumerate(words):
                candidates = [current]
                for step in STEPS:
                    changed = current.copy()
                    changed[:, column] = word.held(changed[:, column] + step)
                    candidates.append(changed)
                scores = np.stack([sign * _sum(plan, tables, n, each, place) for each in candidates])
                best = scores.argmax(axis=0)
                current = np.stack(candidates)[best, np.arange(STARTS)]
            total = _sum(plan, tables, n, current, place)
            output = plan.outputs[place]
            beyond = (total > output.high) if sign > 0 else (total < output.low)
            if beyond.any():
                q, qd, qdd = current[beyond.argmax()].reshape(3, n).tolist()
                return tuple(q), tuple(qd), tuple(qdd)
    return None


def _sum(plan: Plan, tables: Sequence[Table], n: int, states: Words, place: int) -> npt.NDArray[np.float64]:
    """Return the sum of an output before it is clamped, in units of its word."""
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(n)]
    wires = run_wires(plan, tables, dict(zip(names, states.T, strict=True)))
    output = plan.outputs[place]
    total = sum((sign * wires[wire] for wire, sign in output.parts), start=np.int64(output.constant))
    return np.floor(np.asarray(total) / (1 << output.shift) + 0.5)
