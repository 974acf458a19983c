"""The evaluator `parallel` on real cores: a batch of states is cut into pieces, and each piece runs in a thread.

States do not depend on each other and the kernels release the GIL, so that threads of one process share all tables and
copy nothing. What a machine of any number of processors would make of a *single* state is counted, not run: see
`bddtorque.schedule`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

FEWEST_STATES = 512
"""Of a piece: handing a piece to a thread costs some 20 µs, which fewer states of a small arm would not make good."""


class Runner(Protocol):
    """What runs a plan: words (N, n) in, torque words (N, n) out, out-of-range words counted in (3, n)."""

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> None:
        """Run N states; safe in threads, and the GIL is released."""

    def kernel(self, joints: int) -> Callable[..., None]:
        """Return kernel(q, qd, qdd, tau) of one state."""


def pieces(states: int, threads: int, fewest: int = FEWEST_STATES) -> list[slice]:
    """Return at most `threads` pieces of almost equal length that cover the states, none shorter than `fewest`."""
    count = max(1, min(threads, states // fewest))
    ends = [states * k // count for k in range(count + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]


class Spread:
    """Runs batches of another runner in `threads` threads; single states and short batches in the caller's own."""

    def __init__(self, runner: Runner, threads: int) -> None:
        self.runner = runner
        self.threads = threads

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        # the caller's own thread takes a piece too
        return ThreadPoolExecutor(self.threads - 1, thread_name_prefix="bddtorque")

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> None:
        """Run N states; as the runner itself would."""
        parts = pieces(len(q), self.threads)
        if len(parts) == 1:
            self.runner.run(q, qd, qdd, tau, counts)
            return
        own = np.zeros((len(parts), *counts.shape), dtype=np.int64)  # threads must not count in one array
        waiting = [
            self._pool.submit(self.runner.run, q[part], qd[part], qdd[part], tau[part], counted)
            for part, counted in zip(parts[1:], own[1:], strict=True)
        ]
        first = parts[0]
        self.runner.run(q[first], qd[first], qdd[first], tau[first], own[0])
        for each in waiting:
            each.result()
        counts += own.sum(axis=0)

    def kernel(self, joints: int) -> Callable[..., None]:
        """Return the kernel of one state: there is nothing to spread."""
        return self.runner.kernel(joints)
