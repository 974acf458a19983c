"""Worst-case latency: how long one call of the kernel takes at worst, caches warm and cold.

Every call inside a compiled loop is timed by itself with the processor's time stamp, between two fences that let
nothing overlap it. What the stamps and fences cost by themselves is taken off; a figure that is no larger than this
cost varies is below the resolution, and None. The worst call of all includes whatever the operating system did
meanwhile; the worst *state*, each taken at its best of several rounds, does not.
"""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import njit
from bddtorque.bench.kernel_loops import compiled_loop, random_states
from bddtorque.model.model import Model

FLUSHED = 64 << 20
"""Bytes walked between two calls, so that nothing of the tables is left in a cache: twice what large caches hold."""
COLD_CALLS = 100
STATES = 4096
WARM = """\
    for s in range(len(timed)):
        {rows}
        begin = stamp()
        {call}
        timed[s] = stamp() - begin
"""
COLD = """\
    for s in range(len(timed)):
        for line in range(0, len(walked), 8):
            walked[line] += 1
        {rows}
        {touch}  # what comes from the encoders is at hand
        begin = stamp()
        {call}
        timed[s] = stamp() - begin
"""


@dataclass(frozen=True)
class Latency:
    """Nanoseconds of one call of the kernel, in a compiled loop; None where they are at most `resolution`."""

    # median, most: caches warm: half of all calls, and 99.9 % of them, take no longer
    median: float | None
    most: float | None
    worst: float | None  # the longest call of all, interruptions by the system included
    worst_state: float | None  # the slowest state, each at its best of all rounds
    # cold, cold_worst: with data caches empty: median and longest
    cold: float | None
    cold_worst: float | None
    resolution: float  # by which stamps with nothing between them differ
    # calls, cold_calls: how many were timed
    calls: int
    cold_calls: int


def _stamp(typing: Any) -> Any:
    """Return the time stamp of an x86 processor, when everything before is done and before anything after begins."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [])
        text = "lfence\n\trdtsc\n\tlfence\n\tshl $$32, %rdx\n\tor %rdx, %rax"
        return builder.call(ir.InlineAsm(kind, text, "={rax},~{rdx},~{memory},~{flags}", side_effect=True), [])

    return types.int64(), generate


stamp: Any = intrinsic(_stamp)


def latency(model: Model, rounds: int = 20, seed: int = 0) -> Latency:
    """Return the latencies of a model's kernel; x86 processors only."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise BddTorqueError(f"latency can only be measured on an x86-64 processor, this is {platform.machine()}")
    llvm.initialize_native_asmparser()
    kernel = model.evaluator("words", "straight").kernel
    given = [*random_states(model, STATES, seed).values(), np.empty((STATES, len(model.formats.results)), np.int64)]
    timed, walked = np.empty(STATES, dtype=np.int64), np.zeros(FLUSHED // 8, dtype=np.int64)
    warm = compiled_loop(model, WARM, ", timed", kernel=kernel, stamp=stamp)
    cold = compiled_loop(model, COLD, ", timed, walked", kernel=kernel, stamp=stamp)
    warm(*given, timed)
    (overhead, resolution), per_stamp = _stamp_cost(), _nanoseconds_per_stamp()
    runs = np.empty((rounds, STATES))
    for run in runs:
        warm(*given, timed)
        run[:] = timed
    cold_timed = timed[:COLD_CALLS]
    cold(*given, cold_timed[:1], walked)
    cold(*given, cold_timed, walked)

    def nanoseconds(stamps: Any) -> float | None:
        above = float(stamps) - overhead
        return above * per_stamp if above > resolution else None

    return Latency(
        nanoseconds(np.median(runs)),
        nanoseconds(np.quantile(runs, 0.999)),
        nanoseconds(runs.max()),
        nanoseconds(runs.min(axis=0).max()),
        nanoseconds(np.median(cold_timed)),
        nanoseconds(cold_timed.max()),
        resolution * per_stamp,
        runs.size,
        COLD_CALLS,
    )


@njit
def _pairs(timed: npt.NDArray[np.int64]) -> None:
    for k in range(len(timed)):
        begin = stamp()
        timed[k] = stamp() - begin


@njit
def _now() -> int:
    return stamp()  # type: ignore[no-any-return]


def _stamp_cost() -> tuple[float, float]:
    """Return the stamps between two stamps with nothing between them, and by how many 99 % of such pairs differ."""
    timed = np.empty(10_000, dtype=np.int64)
    _pairs(timed)
    _pairs(timed)
    overhead = float(np.median(timed))
    return overhead, max(float(np.quantile(np.abs(timed - overhead), 0.99)), 1.0)


def _nanoseconds_per_stamp() -> float:
    """Return the length of a time stamp's unit, which is constant, from a short wait."""
    _now()
    started, first = time.perf_counter_ns(), _now()
    time.sleep(0.05)
    return (time.perf_counter_ns() - started) / float(_now() - first)
