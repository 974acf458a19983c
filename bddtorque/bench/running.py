"""Run the contenders in turn, round after round, and report medians and ratios."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from bddtorque.bench.peers import PEERS, peer
from bddtorque.dynamics.batch import inverse_dynamics
from bddtorque.model import Model
from bddtorque.trace.robot import trace_torques

STATES = 25_600
BASELINE = "float32"


@dataclass(frozen=True)
class Timing:
    """One contender: median ns a state, its ratio to the baseline, and the spread of that ratio over the rounds."""

    name: str
    nanoseconds: float
    ratio: float
    lowest: float
    highest: float
    proved: bool


def bench(model: Model, rounds: int = 15, states: int = STATES, seed: int = 0) -> list[Timing]:
    """Return the timings of a model's evaluators beside float peers, on one core, interleaved.

    Every contender takes the same random words (N, n) and gives torque words, but generic Newton-Euler (and pinocchio),
    which go from floats to floats.
    """
    contenders = _contenders(model, states, seed)
    for run in contenders.values():
        run()  # compiled, and in the cache
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    timings = []
    for name, own in seconds.items():
        ratios = [a / b for a, b in zip(own, seconds[BASELINE], strict=True)]
        median = statistics.median(own) / states * 1e9
        proved = name.startswith("words")
        timings.append(Timing(name, median, statistics.median(ratios), min(ratios), max(ratios), proved))
    return timings


def _contenders(model: Model, states: int, seed: int) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(seed)
    n = model.robot.degrees_of_freedom
    words = [
        np.stack([rng.integers(word.lowest, word.highest, states, endpoint=True) for word in kind], axis=1)
        for kind in model.formats.inputs
    ]
    floats = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    graph = trace_torques(model.robot)
    found: dict[str, Callable[[], Any]] = {}
    for form in ("straight", "dense"):
        evaluator = model.evaluator("words", form=form)
        found[f"words, {form}"] = lambda run=evaluator.torque_words: run(*words)  # type: ignore[misc]
    for kind in PEERS:
        states_of, tau = peer(graph, model.formats, kind), np.empty((states, n), dtype=np.int64)
        found[kind] = lambda run=states_of, out=tau: run(*words, out)  # type: ignore[misc]
    found["generic Newton-Euler"] = lambda: inverse_dynamics(model.robot, *floats)
    return found


def machine() -> dict[str, str]:
    """Return what was measured on: processor, Python and the versions that matter."""
    versions = {}
    for name in ("bddtorque", "numpy", "numba"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return {"processor": _processor(), "python": platform.python_version(), **versions}


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
