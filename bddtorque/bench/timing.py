"""All that is measured of one model: contenders and calls in turn, round after round, as medians and ratios."""

from __future__ import annotations

import platform
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numba
import numpy as np

from bddtorque.base.workers import NoProgress, Progress, step
from bddtorque.bench.contenders import BASELINE, VECTOR_BASELINE, Contender, Sizes, contenders
from bddtorque.bench.kernel_loops import random_states, takes_numbers
from bddtorque.bench.latency import Latency, latency
from bddtorque.model.applicability import applies
from bddtorque.model.model import Model

LONG = 0.005
"""Seconds of a run beyond which it is not repeated."""
CALLS = 300
"""Calls from Python between two looks at the clock."""
EMPTY = "empty compiled call"
COPIED: dict[str, Callable[[Any], Any]] = {
    "lists": lambda given: given.tolist(),
    "tuples": lambda given: tuple(given.tolist()),
    "float32": lambda given: given.astype(np.float32),
    "strided arrays": lambda given: np.repeat(given, 2)[::2],
}
"""Ways to give a state that is copied first."""
VERSIONS = ("bddtorque", "numpy", "numba", "llvmlite", "pin", "casadi")


@dataclass(frozen=True)
class Call:
    """One way to call: median ns, and its ratio to the empty call, median and what eight rounds of ten lie within."""

    name: str
    nanoseconds: float
    ratio: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Timing(Call):
    """One contender; ns are those of a state, ratios are multiples of float32 with a sine table, round by round."""

    vector_ratio: float  # time as a multiple of the float32 vector batch, median
    proved: bool  # whether its words are within a proved bound
    batch: bool  # whether it takes many states at once
    sizes: Sizes | None  # bytes of its tables, and of them what a state reads


@dataclass(frozen=True)
class BenchReport:
    """Timings of a model and its peers."""

    # name, target, source: the model's; the name has a robot's quantity beside it unless that is its torque
    name: str
    target: str
    source: str
    bits: tuple[int, ...]  # of the output words
    bound: float  # proved, of the worst output, in units of the last bit
    timings: tuple[Timing, ...]  # throughput in compiled loops and batches, beside the peers
    calls: tuple[Call, ...]  # from Python, one state at a time
    latency: Latency | None  # of single calls, where it was asked for
    baseline: str = BASELINE  # the contender that ratios are multiples of

    def timing(self, name: str) -> Timing:
        """Return the timing of a contender."""
        return next(each for each in self.timings if each.name == name)

    def call(self, name: str) -> Call:
        """Return the cost of a way to call."""
        return next(each for each in self.calls if each.name == name)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def measure(
    model: Model,
    states: int,
    rounds: int,
    seed: int = 0,
    with_latency: bool = False,
    progress: Progress | None = None,
) -> BenchReport:
    """Measure a model: evaluators beside peers, calls from Python and, if asked for, the latency of single calls.

    Every contender takes the same random words and gives output words, but pinocchio and CasADi's C, which go from
    floats to floats.
    """
    told = progress or NoProgress()
    with step(told, f"preparing {model.name} and its peers"):
        runners = contenders(model, states, seed, told)
    with step(told, f"timing {model.name} and its peers", rounds):
        timings = interleaved(runners, rounds, told)
        calls = python_calls(model, rounds=10 * rounds, seed=seed)
        calls_alone = latency(model, seed=seed) if with_latency else None
    return BenchReport(
        model.provenance.title,
        model.plan.target,
        model.plan.source,
        tuple(word.bits for word in model.formats.results.values()),
        max(model.certificate.bounds),
        tuple(timings),
        tuple(calls),
        calls_alone,
        baselines(runners)[0].name,
    )


def baselines(runners: list[Contender]) -> tuple[Contender, Contender]:
    """Return the contenders that ratios are taken to: float code for one state at a time, and for batches.

    Where there is none, as for a function that is known by its values alone, it is the first contender.
    """
    known = {runner.name: runner for runner in runners}
    return known.get(BASELINE, runners[0]), known.get(VECTOR_BASELINE, runners[0])


def interleaved(runners: list[Contender], rounds: int, progress: Progress | None = None) -> list[Timing]:
    """Return the timings of contenders; both baselines run right beside each: what slows one slows the other."""
    told, beside = progress or NoProgress(), baselines(runners)
    seconds: dict[str, list[tuple[float, ...]]] = {runner.name: [] for runner in runners}
    for k in range(rounds):
        for runner in runners:
            seconds[runner.name].append(tuple(map(_seconds, (runner, *beside))))
        told.advance(f"round {k + 1}", 1.0, False)
    timings = []
    for runner in runners:
        own, *others = (np.array(column) for column in zip(*seconds[runner.name], strict=True))
        ratios, vector_ratios = (
            np.ones(rounds) if runner is baseline else own / other
            for baseline, other in zip(beside, others, strict=True)
        )
        call = summarise(runner.name, own * 1e9, ratios)
        timings.append(Timing(*call, float(np.median(vector_ratios)), runner.proved, runner.batch, runner.sizes))
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


def python_calls(model: Model, rounds: int = 200, seed: int = 0) -> list[Call]:
    """Return the costs of `kernel`, of calls from words and from floats, and of these for lists and other arrays."""
    words: list[Any] = [each[0].copy() for each in random_states(model, 1, seed).values()]
    values = zip(model.formats.inputs, words, strict=True)
    floats: list[Any] = [array.dequantise(each.reshape(-1)) for array, each in values]
    if numbers := takes_numbers(model):
        words, floats = [each.item() for each in words], [each.item() for each in floats]
    evaluator, out = model.evaluator(), np.empty(len(model.formats.results), dtype=np.int64)
    given = words if numbers else [*words, out]
    empty: Any = numba.njit(lambda *given: None)
    by_words, by_floats = ("torque_words", "torque") if applies(model, "torque calls") else ("words", "value")
    run, value = getattr(evaluator, by_words), getattr(evaluator, by_floats)
    ways = {
        EMPTY: calling(empty, *given),
        "kernel": calling(model.kernel("words"), *given),
        by_words: calling(run, *words),
        by_floats: calling(value, *floats),
    }
    if not numbers:
        other = model.evaluator()  # one that has met other arrays looks at all of them from then on
        run, value = getattr(other, by_words), getattr(other, by_floats)
        ways[f"{by_words} of lists"] = calling(run, *(each.tolist() for each in words))
        ways |= {f"{by_floats} of {name}": calling(value, *map(turn, floats)) for name, turn in COPIED.items()}
    return in_turn(ways, rounds, EMPTY)


def in_turn(ways: Mapping[str, Callable[[int], float]], rounds: int, baseline: str) -> list[Call]:
    """Time ways to call in turn, each by what runs it so many times and returns the seconds."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for run in ways.values():
        run(3)  # compiled
    for _ in range(rounds):
        for name, run in ways.items():
            spent[name].append(run(CALLS) / CALLS * 1e9)
    return [Call(*summarise(name, np.array(own), np.array(own) / spent[baseline])) for name, own in spent.items()]


def summarise(name: str, nanoseconds: Any, ratios: Any) -> tuple[str, float, float, float, float]:
    """Return the fields of a `Call`."""
    low, middle, high = (float(each) for each in np.quantile(ratios, (0.1, 0.5, 0.9)))
    return name, float(np.median(nanoseconds)), middle, low, high


def calling(function: Any, *given: Any) -> Callable[[int], float]:
    """Return what calls a function so many times and returns the seconds."""
    names = ", ".join(f"a{k}" for k in range(len(given)))
    return timeit.Timer(
        f"f({names})", f"f, {names} = given" if given else "f, = given", globals={"given": (function, *given)}
    ).timeit


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
