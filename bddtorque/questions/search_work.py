"""Cost that an answer may have: counted steps, so that the same question has the same answer on every machine.

A step is about one word computed for one state; what costs more counts for more, by fixed factors. No clock is looked
at unless somebody sets a limit of time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import real

WORK = 3000.0
"""Millions of steps for one answer, unless somebody says how many."""

STEPS_A_SECOND = 1e8
"""About; what a search that cannot be stopped half-way makes of a limit of time."""

OnSpend = Callable[[float], None]
"""Called now and then with the number of steps since the last call."""
Clock = Callable[[], float]
"""Gives seconds that go on."""

NOTES = {
    "": "",
    "work": "; more work may tell more",
    "time": "; stopped by the time limit",
    "memory": "; stopped by memory",
    "interrupt": "; interrupted",
}


class Work:
    """The steps that an answer may take, and why it ended early, if it did.

    Parameters
    ----------
    millions
        Millions of steps.
    limit
        Seconds after which the answer is what is known by then. Such an answer depends on the machine.
    on_spend
        Called with the steps spent, for a progress bar.
    clock
        Gives the time in seconds; only looked at with a limit.

    Attributes
    ----------
    left
        Steps that are left.
    stopped
        ``"work"``, ``"time"``, ``"memory"`` or ``"interrupt"``; empty if nothing stopped it.
    """

    def __init__(
        self,
        millions: float = WORK,
        limit: float | None = None,
        on_spend: OnSpend = lambda _: None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.left = millions * 1e6
        self.stopped = ""
        self._given = millions, limit, on_spend, clock
        self._on_spend, self._clock = on_spend, clock
        self._end = None if limit is None else clock() + limit
        self._whole: Work | None = None

    def part(self, share: float) -> Work:
        """Return a share of what is left, to be spent on something that other ways can stand in for."""
        own = Work(share * self.left / 1e6, on_spend=self.spend, clock=self._clock)
        own._end, own._whole = self._end, self
        return own

    def again(self) -> Work:
        """Return as much work as this was, for another answer."""
        return Work(*self._given)

    def spend(self, steps: float) -> None:
        """Count steps."""
        self.left -= steps
        self._on_spend(steps)

    def goes_on(self) -> bool:
        """Return whether there is work left, and time."""
        if not self.stopped:
            if self._end is not None and self._clock() > self._end:
                self.stopped = "time"
            elif self.left <= 0:
                self.stopped = "work"
        return not self.stopped

    def affordable(self) -> float:
        """Return the steps that are left; with a limit of time, no more than it has room for, about."""
        if self._end is not None and (room := (self._end - self._clock()) * STEPS_A_SECOND) < self.left:
            self.stopped = "time"
            return room
        return self.left

    def why(self, exact: bool) -> str:
        """Return what stopped an answer; work that was done just in time stopped no exact one."""
        return "" if exact and self.stopped != "interrupt" else self.stopped

    def note(self, exact: bool) -> str:
        """Return what to tell people of what stopped an answer."""
        return NOTES[self.why(exact)]

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C end a search, not the answer: what the search knows by then must hold."""
        try:
            yield
        except KeyboardInterrupt:
            whole: Work | None = self
            while whole is not None:
                whole.stopped, whole = "interrupt", whole._whole


def work_of(work: float | Work, limit: float | None) -> Work:
    """Return the work of one answer, given in millions of steps or as it is."""
    if isinstance(work, Work):
        return work
    millions = real(work, "work")
    if millions <= 0:
        raise BddTorqueError(f"work must be above 0 million steps, got {millions:g}")
    return Work(millions, limit)
