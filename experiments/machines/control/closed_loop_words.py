"""Controllers on words in the same closed loop: the compiled tables, and float torques on what the sensors' words say.

The sensors give position and velocity words; the control law works on their values, and its command becomes an
acceleration word. From there the compiled kernel gives a torque word; or the float recursion gives the torque of the
same three words, as it is or rounded to a torque word. Against the float controller the second shows what words of the
inputs cost, the third what words of the torques add, the first what the tables add to that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numba
import numpy as np

from bddtorque.base.jit import njit
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.model.model import Model
from bddtorque.words.kernels import Packed, dequantise_value, pack, quantise_value
from machines.control.closed_loop import Experiment, Loop, Plant, Run, collect, desired_motion, move_plant
from machines.hamilton.speculation_program import Floats

Controller = Literal["tables", "float on words", "rounded float"]
"""The compiled tables; float torques of the input words; those rounded to the nearest torque word."""


class WordFormats(NamedTuple):
    """The formats of a model's words as numbers, (n, 8) each."""

    q: Packed
    qd: Packed
    qdd: Packed
    tau: Packed


def word_formats(model: Model) -> WordFormats:
    """Return the formats of a model for compiled code."""
    formats = model.formats
    return WordFormats(pack(formats.q), pack(formats.qd), pack(formats.qdd), pack(formats.tau))


@njit
def to_words(x: Floats, packed: Packed, words: Any, values: Floats) -> None:
    """Write the words of x (n,), and the values of those words."""
    for i in range(len(x)):
        words[i] = quantise_value(x[i], packed, i)[0]
        values[i] = dequantise_value(words[i], packed, i)


@njit
def sense(
    loop: Loop, formats: WordFormats, q: Floats, qd: Floats, wanted: Any, words: Any, values: Any, u: Floats
) -> None:
    """Write the three input words (3, n) and their values: sensed position and velocity, and the command from them."""
    to_words(q, formats.q, words[0], values[0])
    to_words(qd, formats.qd, words[1], values[1])
    for i in range(len(q)):
        apart = wanted[0, i] - values[0, i]  # the sensed angle is within one turn of zero, as the task is
        u[i] = wanted[2, i] + loop.damping * (wanted[1, i] - values[1, i]) + loop.stiffness * apart
    to_words(u, formats.qdd, words[2], values[2])


@njit
def run_float_on_words(
    plant: Plant, loop: Loop, formats: WordFormats, rounded: bool, history: Floats, wanted: Floats, torques: Floats
) -> int:
    """Run the float recursion on the values of the words; write (K, n) arrays, return how many samples ran.

    With `rounded`, torques become words as well, each to the nearest.
    """
    samples, n = history.shape
    q, qd, u, wrench = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((n, WRENCH))
    now, values, words = np.zeros((3, n)), np.zeros((3, n)), np.zeros((3, n), dtype=np.int64)
    desired_motion(loop, 0.0, q, qd, u)
    for k in range(samples):
        desired_motion(loop, k * loop.period, now[0], now[1], now[2])
        history[k], wanted[k] = q, now[0]
        if not np.abs(now[0] - q).max() <= loop.too_far:
            return int(k + 1)
        sense(loop, formats, q, qd, now, words, values, u)
        sine, cosine = np.sin(values[0]), np.cos(values[0])
        newton_euler(plant.chain, sine, cosine, values[0], values[1], values[2], torques[k], wrench)
        if rounded:
            to_words(torques[k], formats.tau, words[0], torques[k])
        move_plant(plant, loop.period, q, qd, torques[max(k - loop.latency, 0)])
    return int(samples)


def tables_runner(model: Model) -> Callable[[Plant, Loop, WordFormats, Floats, Floats, Floats], int]:
    """Return the same loop around the model's own kernel, which is compiled into it."""
    kernel = model.kernel("words")

    @numba.njit(nogil=True)
    def run(plant: Plant, loop: Loop, formats: WordFormats, history: Floats, wanted: Floats, torques: Floats) -> int:
        samples, n = history.shape
        q, qd, u = np.zeros(n), np.zeros(n), np.zeros(n)
        now, values, words = np.zeros((3, n)), np.zeros((3, n)), np.zeros((3, n), dtype=np.int64)
        torque_words = np.zeros(n, dtype=np.int64)
        desired_motion(loop, 0.0, q, qd, u)
        for k in range(samples):
            desired_motion(loop, k * loop.period, now[0], now[1], now[2])
            history[k], wanted[k] = q, now[0]
            if not np.abs(now[0] - q).max() <= loop.too_far:
                return int(k + 1)
            sense(loop, formats, q, qd, now, words, values, u)
            kernel(words[0], words[1], words[2], torque_words)
            for i in range(n):
                torques[k, i] = dequantise_value(torque_words[i], formats.tau, i)
            move_plant(plant, loop.period, q, qd, torques[max(k - loop.latency, 0)])
        return int(samples)

    runner: Callable[..., int] = run
    return runner


class WordsLoop:
    """A compiled model in closed loop with its own robot.

    The loop around the kernel is compiled at the first run and serves all others.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.formats = model, word_formats(model)
        self._tables: Callable[..., int] | None = None

    def simulate(self, controller: Controller, period: float, experiment: Experiment | None = None) -> Run:
        """Simulate with the sampling period (s) under one of the controllers."""
        if controller == "tables" and self._tables is None:
            self._tables = tables_runner(self.model)
        tables, rounded = self._tables, controller == "rounded float"

        def run(plant: Plant, loop: Loop, q: Any, desired: Any, tau: Any) -> int:
            if controller == "tables" and tables is not None:
                return tables(plant, loop, self.formats, q, desired, tau)
            return run_float_on_words(plant, loop, self.formats, rounded, q, desired, tau)

        return collect(self.model.robot, experiment or Experiment(), period, run)
