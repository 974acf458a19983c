"""What a call from Python costs, one state at a time, as a multiple of an empty compiled call with the same arrays."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numba
import numpy as np

from bddtorque.bench.contenders import random_words
from bddtorque.model.model import Model

CALLS = 300
"""Calls between two looks at the clock."""
EMPTY = "empty compiled call"


@dataclass(frozen=True)
class Call:
    """One way to call: median ns, and its ratio to the empty call, median and what eight rounds of ten lie within."""

    name: str
    nanoseconds: float
    ratio: float
    lowest: float
    highest: float

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def python_calls(model: Model, rounds: int = 200, seed: int = 0) -> list[Call]:
    """Return the costs of `kernel` with arrays at hand, `torque_words` and `torque`; and of both for lists."""
    q, qd, qdd = (each[0].copy() for each in random_words(model, 1, seed))
    floats = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, (q, qd, qdd), strict=True)]
    tau = np.empty_like(q)
    empty: Any = numba.njit(lambda q, qd, qdd, tau: None)
    lists = [each.tolist() for each in (q, qd, qdd)]
    ways: dict[str, Callable[[int], None]] = {
        EMPTY: _calling(empty, q, qd, qdd, tau),
        "kernel": _calling(model.kernel("words"), q, qd, qdd, tau),
        "torque_words": _calling(model.evaluator().torque_words, q, qd, qdd),
        "torque": _calling(model.evaluator().torque, *floats),
        "torque_words of lists": _calling(model.evaluator().torque_words, *lists),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for run in ways.values():
        run(3)  # compiled
    for _ in range(rounds):
        for name, run in ways.items():
            calls = CALLS if "lists" not in name else CALLS // 20
            started = time.perf_counter()
            run(calls)
            spent[name].append((time.perf_counter() - started) / calls * 1e9)
    found = []
    for name, own in spent.items():
        ratios = [a / b for a, b in zip(own, spent[EMPTY], strict=True)]
        low, middle, high = (float(each) for each in np.quantile(ratios, (0.1, 0.5, 0.9)))
        found.append(Call(name, float(np.median(own)), middle, low, high))
    return found


def _calling(function: Any, *given: Any) -> Callable[[int], None]:
    if len(given) == 4:
        a, b, c, d = given

        def run_four(times: int) -> None:
            for _ in range(times):
                function(a, b, c, d)

        return run_four
    x, y, z = given

    def run_three(times: int) -> None:
        for _ in range(times):
            function(x, y, z)

    return run_three
