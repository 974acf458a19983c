"""How many input words and numbers were out of range, counted over all calls and threads of an evaluator."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import ClampWarning
from bddtorque.evaluate.program import QUANTITIES
from bddtorque.evaluate.runners import Runnable, Runner
from bddtorque.evaluate.state_arrays import clamped_message, count_outside
from bddtorque.words.formats import Format, limits

Integers = npt.NDArray[np.int64]


class RangeCounts:
    """Counts of one evaluator.

    Attributes
    ----------
    counts
        (3, n), positions, velocities and accelerations since the start.
    warns
        Whether the first clamped number still has to be warned of.
    unread
        Words that no torque depends on and that the code does not read: they are counted apart.
    """

    _adding = threading.Lock()

    def __init__(self, arm: Runnable, runner: Runner, quantities: int, warns: bool) -> None:
        self._inputs = arm.formats.inputs
        joints = len(arm.formats.q)
        self.counts: Integers = np.zeros((3, joints), dtype=np.int64)
        self.warns = warns
        self._clamped = np.array([[word.kind == "range" for word in formats] for formats in self._inputs])
        read = {wire.name for wire in arm.plan.inputs}
        self.unread = [
            (place, joint)
            for place, name in enumerate(QUANTITIES[:quantities])
            for joint in range(joints)
            if f"{name}{joint + 1}" not in read
            and not runner.counts_unread
            and not _never_outside(self._inputs[place][joint])
        ]

    def add_unread(self, counts: Integers, rows: Sequence[Integers]) -> None:
        """Add to `counts` the words (N, n) that the code does not read."""
        for place, joint in self.unread:
            counts[place, joint] += count_outside(self._inputs[place][joint], rows[place][:, joint])

    def add(self, counts: Integers) -> None:
        """Add what one call counted, and warn if something was clamped for the first time."""
        with RangeCounts._adding:
            self.counts += counts
        if self.warns and counts[self._clamped].any():
            self.warn(counts)

    def warn(self, counts: Integers) -> None:
        """Warn, once, where a number was clamped: what is counted and is no angle."""
        for formats, row in zip(self._inputs, counts, strict=True):
            for word, count in zip(formats, row.tolist(), strict=True):
                if count and word.kind == "range":
                    self.warns = False
                    warnings.warn(clamped_message(word), ClampWarning, stacklevel=_outside_package())
                    return


def _renew_lock() -> None:
    """Start with a free lock in a forked child: the thread that held it is not there."""
    RangeCounts._adding = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _outside_package() -> int:
    """Return how many frames above its caller the first one is that is not of this package: the user's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bddtorque."):
        level, frame = level + 1, frame.f_back
    return level


def _never_outside(word: Format) -> bool:
    """Whether every integer is a word in range: an angle that has no limits within a turn."""
    return word.kind == "angle" and limits(word) == (word.lowest, word.highest)
