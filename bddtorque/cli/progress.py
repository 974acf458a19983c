"""`ShownProgress`: one bar for a whole command, on standard error and only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import TaskID

COMPILE = {"planning": 2.0, "compiling": 10.0, "proving": 1.0}
"""The steps of a compilation, by the first word of what they are called, and about how long each takes."""
NUMBA = "compiling code, once"
"""Text shown while Numba compiles in this process; it keeps the code for the next time."""
WIDE = 100
"""Columns from which on the last finished task is named too."""


class ShownProgress:
    """Shows how far a command is, what it is doing and what is left; see `workers.Progress`. A context manager.

    There is one bar from the beginning to the end. Steps that are known move it by their share; others only change what
    is said. While nothing can be counted, such as Numba's compilation, the time that has passed goes on.

    Parameters
    ----------
    job
        What the command does, as users call it: ``"sweep"``.
    steps
        Shares of the steps that are known, in their order, by how their names begin.
    quiet
        Draw only when something happens, so that nothing runs beside what is timed.

    Attributes
    ----------
    cached, done
        How many tasks were found in the cache, and how many were finished in all.
    drawn
        Whether there is a bar.
    processors
        How many share the work, where costs are about the seconds of one; tells what is left before anything is done.
        Without, nothing is known of the time before the first tasks are finished.
    """

    def __init__(self, job: str, steps: Mapping[str, float] | None = None, quiet: bool = False) -> None:
        self.cached = self.done = 0
        self.drawn = False
        self.processors: int | None = None
        self._job, self._steps, self._quiet = job, dict(steps or {}), quiet
        self._what, self._part, self._place, self._parts = "", "", 1, 1
        self._compiling = 0  # functions of Numba, one within the other
        self._bar: Any = None
        self._task: TaskID | None = None
        self._begin_part()

    def _begin_part(self) -> None:
        self._passed, self._share, self._next = 0.0, 0.0, 0  # of all shares of a part: done, and of the present step
        self._total = self._completed = self._made = self._began = 0.0

    def __enter__(self) -> Self:
        if not sys.stderr.isatty():
            return self
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        console = Console(stderr=True)
        columns = [
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=10 if console.width < WIDE else 24),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
        ]
        if console.width >= WIDE:
            columns.append(TextColumn("{task.fields[last]}", markup=False))
        # standard output goes its own way: it may be a pipe where standard error is a terminal
        how: dict[str, Any] = {"redirect_stdout": False, "transient": True, "auto_refresh": not self._quiet}
        self._bar = Progress(*columns, console=console, **how)
        self._bar.start()
        self._task = self._bar.add_task(self._job, total=1.0 if self._steps else None, last="", left="")
        self.drawn = True
        self._tell_of_numba()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        bar, self._bar = self._bar, None
        if bar is not None:
            from numba.core import event

            event.unregister("numba:compile", self._listener)  # type: ignore[no-untyped-call]
            bar.stop()

    def _tell_of_numba(self) -> None:
        """Say when Numba compiles: nothing else could be told meanwhile."""
        from numba.core import event

        shown = self

        class Listener(event.Listener):
            def on_start(self, event: Any) -> None:
                shown._compiling += 1
                shown._update()

            def on_end(self, event: Any) -> None:
                shown._compiling -= 1
                shown._update()

        self._listener = Listener()
        event.register("numba:compile", self._listener)  # type: ignore[no-untyped-call]

    def part(self, name: str, place: int, count: int) -> None:
        """Begin one of several equal parts of the job: what is said becomes "sweep 10 bits, 3 of 9"."""
        self._what, self._part, self._place, self._parts = "", name, place, count
        self._begin_part()
        self._update(total=1.0 if count > 1 or self._steps else None, last="")

    def start(self, what: str, total: float) -> None:
        """Begin a step of a part; the cost of all its tasks, 0 where they are not counted."""
        self._what, self._total, self._completed, self._made = what, total, 0.0, 0.0
        names = list(self._steps)
        at = next((k for k in range(self._next, len(names)) if what.startswith(names[k])), None)
        if at is not None:  # what stands before it is over, whether it was told of or not
            self._passed, self._share, self._next = sum(list(self._steps.values())[:at]), self._steps[names[at]], at + 1
        self._began = self._elapsed()
        self._update(last="")

    def advance(self, name: str, cost: float, cached: bool) -> None:
        """Move the bar on."""
        self.done += 1
        self.cached += cached
        self._completed += cost
        self._made += 0.0 if cached else cost
        self._update(last=name)

    def finish(self) -> None:
        """End a step."""
        self._passed, self._share = self._passed + self._share, 0.0
        self._total = 0.0
        self._update(last="")

    def _description(self) -> str:
        if self._parts == 1:
            what = self._what or " ".join(filter(None, (self._job, self._part)))
            return f"{what}: {NUMBA}" if self._compiling else what
        part = f"{self._job} {self._part}, {self._place} of {self._parts}"
        what = NUMBA if self._compiling else self._what.partition(" ")[0]  # the part says of what
        return f"{part}: {what}" if what else part

    def _elapsed(self) -> float:
        return (self._bar.tasks[0].elapsed or 0.0) if self._bar is not None else 0.0

    def _fraction(self) -> float:
        """Return how much of the whole job is done, 0 to 1."""
        of_step = min(self._completed / self._total, 1.0) if self._total else 0.0
        shares = sum(self._steps.values())
        of_part = (self._passed + self._share * of_step) / shares if shares else of_step
        return (self._place - 1 + of_part) / self._parts

    def _update(self, **shown: Any) -> None:
        if self._bar is None:
            return
        done = max(self._fraction(), self._bar.tasks[0].completed)  # it never goes back
        shown |= {"description": self._description(), "completed": done, "left": self._left(done)}
        self._bar.update(self._task, refresh=self._quiet, **shown)

    def _left(self, done: float) -> str:
        """Say how long the rest takes: of the present step, or of all parts where there are several.

        At the pace so far; before there is one, at that of the estimate.
        """
        elapsed = self._elapsed() - self._began
        rest = self._total - self._completed
        if self._parts > 1:
            seconds = self._elapsed() * (1 - done) / done if self._place > 1 and done else 0.0
        elif self._made and elapsed:
            seconds = rest * elapsed / self._made
        else:
            seconds = rest / self.processors if self.processors else 0.0
        if seconds <= 0:
            return ""
        return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"
