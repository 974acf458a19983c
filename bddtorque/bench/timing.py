"""Run the contenders in turn, round after round, and report medians and ratios."""

from __future__ import annotations

import platform
import time
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from bddtorque.bench.contenders import BASELINE, VECTOR_BASELINE, Contender, contenders
from bddtorque.bench.table_sizes import Sizes
from bddtorque.model.model import Model

STATES = 25_600
ROUNDS = 15
LONG = 0.005
"""Seconds of a run beyond which it is not repeated."""
VERSIONS = ("bddtorque", "numpy", "numba", "llvmlite", "pin")


@dataclass(frozen=True)
class Timing:
    """One contender.

    Attributes
    ----------
    name : who
    nanoseconds : a state, median over the rounds
    ratio, lowest, highest : time as a multiple of float32 with a sine table, round by round: median, and the spread
        that holds eight rounds of ten
    vector_ratio : the same as a multiple of the float32 vector batch, median
    proved : whether its words are within a proved bound
    batch : whether it takes many states at once
    sizes : bytes of its tables, and of them what a state reads
    """

    name: str
    nanoseconds: float
    ratio: float
    lowest: float
    highest: float
    vector_ratio: float
    proved: bool
    batch: bool
    sizes: Sizes | None

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def bench(model: Model, rounds: int = ROUNDS, states: int = STATES, seed: int = 0) -> list[Timing]:
    """Return the timings of a model's evaluators beside float peers, on one core, interleaved.

    Every contender takes the same random words (N, n) and gives torque words, but generic Newton-Euler and pinocchio,
    which go from floats to floats.
    """
    return interleaved(contenders(model, states, seed), rounds)


def interleaved(given: list[Contender], rounds: int) -> list[Timing]:
    """Return the timings of contenders; both baselines run right beside each: what slows one slows the other."""
    known = {each.name: each for each in given}
    baselines = known[BASELINE], known[VECTOR_BASELINE]
    seconds: dict[str, list[tuple[float, ...]]] = {each.name: [] for each in given}
    for _ in range(rounds):
        for each in given:
            seconds[each.name].append(tuple(_seconds(one) for one in (each, *baselines)))
    timings = []
    for each in given:
        own, beside, vector = (np.array(column) for column in zip(*seconds[each.name], strict=True))
        itself = each.name == BASELINE, each.name == VECTOR_BASELINE
        ratios, vector_ratios = (
            np.ones(rounds) if same else own / other for same, other in zip(itself, (beside, vector), strict=True)
        )
        timings.append(
            Timing(
                each.name,
                float(np.median(own)) * 1e9,
                float(np.median(ratios)),
                float(np.quantile(ratios, 0.1)),
                float(np.quantile(ratios, 0.9)),
                float(np.median(vector_ratios)),
                each.proved,
                each.batch,
                each.sizes,
            )
        )
    return timings


def _seconds(contender: Contender) -> float:
    """Return the seconds of one state: the best of three runs on end, the first of which finds the caches of another.

    What takes long finds them so for a small part of its time, and runs once.
    """
    best = np.inf
    for _ in range(3):
        started = time.perf_counter()
        contender.run()
        best = min(best, time.perf_counter() - started)
        if best > LONG:
            break
    return float(best) / contender.states


def machine() -> dict[str, str]:
    """Return what was measured on: processor, Python and the versions that matter."""
    versions = {}
    for name in VERSIONS:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "none"
    return {"processor": _processor(), "system": platform.system(), "python": platform.python_version(), **versions}


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
