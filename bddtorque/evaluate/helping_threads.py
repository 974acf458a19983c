"""Threads that take shares of a batch: quicker to begin and to end than those of an executor.

Waking a thread takes tens of microseconds, in which a core computes thousands of states. So whoever waits looks at
memory for a moment, without the GIL, before it sleeps. Nor must two threads want the GIL at once, or one of them sleeps
for as long: the end of a share is told without it, and a share begins when the caller is inside compiled code.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import DISABLE_JIT, njit_without_refcounts
from bddtorque.evaluate.atomics import observe, publish, relax

LOOKS = 10_000
"""At memory, before a thread sleeps: some hundred microseconds."""
MOMENT = 300
"""Looks that pass before a share begins: some microseconds, which the caller needs to come to its own."""


@njit_without_refcounts
def _wait(array: Any, seen: int) -> bool:
    """Wait until a number is no longer what was seen there, and return whether it is so within `LOOKS`."""
    for _ in range(LOOKS):
        if observe(array, 0) != seen:
            return True
        relax()
    return False


@njit_without_refcounts
def _end_and_wait(ended: Any, handed: Any, seen: int) -> None:
    """Tell that a share has ended, and wait until more are handed out."""
    publish(ended, 0, observe(ended, 0) + 1)
    if _wait(handed, seen):
        for _ in range(MOMENT):
            relax()


class HelpingThreads:
    """Threads that wait for shares of work; they end when this object does."""

    def __init__(self, count: int) -> None:
        self._shares: SimpleQueue[Any] = SimpleQueue()
        self._handed = np.zeros(1, dtype=np.int64)
        weakref.finalize(self, _dismiss, self._shares, self._handed, count)
        for _ in range(count):
            arguments = self._shares, self._handed
            threading.Thread(target=_attend, args=arguments, name="bddtorque", daemon=True).start()

    def run(self, work: Callable[[int], bool], count: int) -> bool:
        """Call work(0), ..., work(count - 1), the first in this thread, and return whether any call returned true."""
        ended, results = np.zeros(1, dtype=np.int64), SimpleQueue[Any]()
        for place in range(1, count):
            self._shares.put((work, place, ended, results))
        self._handed += 1
        told = work(0)
        for _ in range(1, count):
            try:
                _do(self._shares.get_nowait())  # no thread has come to it yet, perhaps for want of a core
            except Empty:
                seen = int(ended[0])
                if results.empty() and not DISABLE_JIT:
                    _wait(ended, seen)
            outcome = results.get()
            if isinstance(outcome, BaseException):
                raise outcome
            told |= outcome
        return told


def _do(share: Any) -> None:
    """Do a share, and hand over what comes of it."""
    work, place, _, results = share
    try:
        results.put(work(place))
    except BaseException as error:  # it is raised where the work was asked for
        results.put(error)


def _attend(shares: SimpleQueue[Any], handed: npt.NDArray[np.int64]) -> None:
    """Do shares until there is None."""
    while (share := shares.get()) is not None:
        seen, ended = int(handed[0]), share[2]
        _do(share)
        del share  # it holds arrays of the caller
        if not DISABLE_JIT:
            _end_and_wait(ended, handed, seen)


def _dismiss(shares: SimpleQueue[Any], handed: npt.NDArray[np.int64], count: int) -> None:
    for _ in range(count):
        shares.put(None)
    handed += 1
