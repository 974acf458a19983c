"""What the words of each torque are worth: range, largest torque there can be, and the bits that say something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.compiler.torque_ranges import torque_reach
from bddtorque.dynamics.batch import friction, torques
from bddtorque.dynamics.chain import chain_of
from bddtorque.model.source import RobotSource
from bddtorque.proof.certificate import Certificate, effective_bits
from bddtorque.words import Format
from bddtorque.words.portable import sine_cosine

WIDE = 4.0
"""A range that is more than so many times the largest torque wastes two bits: people are told."""
STATES = 4096
KEPT = 16
STEPS = (2, 3, 4, 6, 8, 11)
"""Changes tried on a word that is searched: its range over these powers of two, both ways, and its ends."""


@dataclass(frozen=True)
class TorqueRange:
    """What is known of the range of one torque."""

    # joint, unit: its name; N·m or N
    joint: str
    unit: str
    # low, high: the range of its words, at the joint
    low: float
    high: float
    reached: float  # the largest magnitude that a search found
    at_most: float  # the largest magnitude that is not excluded by proof
    bound: float  # the proved error of its words, in `unit`

    @property
    def effective_bits(self) -> float:
        """log2(largest torque / bound), the largest being what was reached; 0 where the error is larger."""
        return effective_bits(self.reached, self.bound)

    def shown_range(self) -> str:
        """Return the range as ``±100`` or ``-5 to 20``."""
        return f"±{self.high:.6g}" if self.low == -self.high else f"{self.low:.6g} to {self.high:.6g}"

    def to_plain(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {**vars(self), "effective_bits": self.effective_bits}


def torque_ranges(source: RobotSource, certificate: Certificate) -> list[TorqueRange]:
    """Return what is known of the range of each torque of a compiled arm."""
    reached = _search(source)
    largest = [proved.largest for proved in certificate.torques]
    words = source.formats.tau
    if any(
        proved.saturation == "not excluded" or proved.largest >= max(map(abs, word.span))
        for proved, word in zip(certificate.torques, words, strict=True)
    ):  # the plan adds what cannot add up: the dynamics themselves may know better
        known = torque_reach(source.robot, source.spec.joints)
        largest = [min(each, reach.magnitude) for each, reach in zip(largest, known, strict=True)]
    return [
        TorqueRange(proved.name, proved.unit, *_range(word), float(found), at_most, proved.bound_si)
        for proved, word, found, at_most in zip(certificate.torques, source.formats.tau, reached, largest, strict=True)
    ]


def _range(word: Format) -> tuple[float, float]:
    low, high = sorted((word.sign * word.low, word.sign * word.high))
    return low, high


def range_notes(source: RobotSource, certificate: Certificate) -> list[str]:
    """Return one line on torque ranges that are far larger than what can occur, or nothing."""
    highs = [max(map(abs, _range(word))) for word in source.formats.tau]
    # what is proved counts the error of the words too, and theirs is large where the range is
    if all(
        high <= WIDE * (each.largest - each.bound_si) for high, each in zip(highs, certificate.torques, strict=True)
    ):
        return []
    reach = [each.magnitude for each in torque_reach(source.robot, source.spec.joints)]
    wide = [j for j, (high, most) in enumerate(zip(highs, reach, strict=True)) if high > WIDE * most > 0]
    if not wide:
        return []
    ratios = sorted(highs[j] / reach[j] for j in wide)
    first, last = (f"{ratio:,.3g}" if ratio < 1000 else f"{ratio:,.0f}" for ratio in (ratios[0], ratios[-1]))
    if len(wide) == 1:
        j, unit = wide[0], certificate.torques[wide[0]].unit
        said = (
            f"joint '{certificate.torques[j].name}': torque range ±{highs[j]:g} {unit} is {first} times what the arm "
        )
        said += f"can need (±{reach[j]:.2g} {unit})"
    else:
        names = ", ".join(f"'{certificate.torques[j].name}'" for j in wide)
        said = f"joints {names}: torque ranges are {first} to {last} times what the arm can need"
    return [f'{said}: use torque = "auto"']


def _search(source: RobotSource) -> npt.NDArray[np.float64]:
    """Return the largest magnitude of each torque found, (n,): random states, the best improved word by word."""
    formats, chain, n = source.formats, chain_of(source.robot), source.robot.degrees_of_freedom
    words = [word for kind in formats.inputs for word in kind]
    rng = np.random.default_rng(0)

    def magnitudes(states: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        q, qd, qdd = (
            kind.dequantise(each) for kind, each in zip(formats.inputs, np.split(states, 3, axis=1), strict=True)
        )
        tau = torques(chain, q, qd, qdd, sine_cosine(q))
        if source.robot.has_friction:
            tau = tau + friction(source.robot, qd)
        size: npt.NDArray[np.float64] = np.abs(tau)
        return size

    states = np.stack([rng.integers(word.lowest, word.highest, STATES, endpoint=True) for word in words], axis=1)
    for column, word in enumerate(words[n:], n):  # torques are largest where the motion is
        states[:, column] = rng.choice([word.lowest, word.highest], STATES)
    best = magnitudes(states).argsort(axis=0, kind="stable")[-KEPT:]
    own = np.repeat(np.arange(n), KEPT)
    kept = states[best.T.reshape(-1)]
    for column, word in enumerate(words):
        steps = [way << max(0, word.bits - power) for power in STEPS for way in (1, -1)]
        tried = np.repeat(kept[:, None, :], len(steps) + 3, axis=1)
        tried[:, 1:-2, column] = word.held(kept[:, None, column] + np.array(steps))
        tried[:, -2:, column] = word.lowest, word.highest
        size = magnitudes(tried.reshape(-1, len(words))).reshape(*tried.shape[:2], n)
        found = size[np.arange(len(kept))[:, None], np.arange(tried.shape[1])[None, :], own[:, None]]
        kept = tried[np.arange(len(kept)), found.argmax(axis=1)]
    return magnitudes(kept)[np.arange(len(kept)), own].reshape(n, KEPT).max(axis=1)  # type: ignore[no-any-return]
