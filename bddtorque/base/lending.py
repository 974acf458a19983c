"""Tasks lent to an executor, own processes or that of others: plain values go there, plain values come back.

An executor may refuse a task, cancel it, or finish it late and out of order. None of that is the task's fault, so it is
handed over again, a few times. What a task itself raises ends the run, and so does an executor that is broken, unless
there is another one. Nothing is asked of the other side: neither a file system in common, nor a cache.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from queue import Empty, SimpleQueue
from typing import Any, Protocol, runtime_checkable

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.interrupts import interrupts_held
from bddtorque.base.pool import Pool, received, submit
from bddtorque.base.tasks import Task

IN_FLIGHT = 64
"""Tasks handed to a foreign executor at a time, when nobody says how many."""
TRIES = 5
"""How often a task is handed over before an executor that refuses or cancels it is given up."""
PAUSE = 0.05
"""Seconds before a task is offered again to an executor that has nothing else to do; doubled each time."""
LOOK = 1.0
"""Seconds without a result after which an executor that can be looked at is."""

Deliver = Callable[[Task, Any], None]


class WorkError(BddTorqueError):
    """Work that could not be done, through no fault of what it was about: who should have done it failed."""


class ClusterLostError(WorkError):
    """The machines that did the work are gone; what was finished before is not lost."""


@runtime_checkable
class Watched(Protocol):
    """An executor that knows whether it is still of use."""

    threads: int
    """How many tasks it runs at a time."""

    def check(self) -> None:
        """Raise `ClusterLostError` where waiting any longer would be in vain."""


def check_executor(executor: Any) -> None:
    """Refuse what is no executor."""
    if executor is not None and not isinstance(executor, Executor):
        hint = ": what its get_executor() returns would work" if hasattr(executor, "get_executor") else ""
        raise BddTorqueError(f"executor must be a concurrent.futures.Executor, got {type(executor).__qualname__}{hint}")


def at_a_time(executor: Executor) -> int:
    """Return how many tasks an executor is given at a time when nobody says: enough for all its threads."""
    return max(IN_FLIGHT, 2 * executor.threads) if isinstance(executor, Watched) else IN_FLIGHT


def lend(
    executor: Executor, tasks: Iterable[Task], most: int, deliver: Deliver, renew: Callable[[], Executor] | None = None
) -> None:
    """Have an executor do the tasks, at most so many at a time, and deliver each result as it comes.

    Whatever ends this early, Ctrl-C included: what is finished by then is delivered, the rest is cancelled.

    `renew` gives an executor in place of one that broke, as that of own processes does when one of them dies. What was
    running then is tried once more, one task at a time.
    """
    loan = _Loan(executor, tasks, renew)
    try:
        while loan.waiting or loan.running or loan.suspects:
            loan.hand_over(most)
            for future in loan.finished():
                task = loan.running.pop(future)
                try:
                    with interrupts_held():
                        result = received(future)
                except BaseException as problem:
                    loan.failed(task, problem)
                else:
                    deliver(task, result)
    except BaseException:
        loan.abandon(deliver)
        raise


class _Loan:
    """What waits, what runs, what ran when the executor broke, and how often each task came back undone."""

    def __init__(self, executor: Executor, tasks: Iterable[Task], renew: Callable[[], Executor] | None) -> None:
        self.executor, self.renew = executor, renew
        self.waiting, self.suspects = deque(tasks), deque[Task]()
        self.running: dict[Future[Any], Task] = {}
        self.told: SimpleQueue[Future[Any]] = SimpleQueue()
        self.tries = Counter[str]()
        self.suspected = set[str]()
        self.broken = False

    def hand_over(self, most: int) -> None:
        """Give the executor what waits, until it has so much, or wants no more."""
        while (self.suspects or self.waiting) and len(self.running) < (1 if self.suspects or self.broken else most):
            if self.broken and self.renew is not None:
                self.executor, self.broken = self.renew(), False
            task = (self.suspects or self.waiting).popleft()
            try:
                with interrupts_held():
                    future = submit(self.executor, task)
            except Exception as problem:
                self.refused(task, problem)
                if self.running:  # it may have had enough for now
                    return
                time.sleep(PAUSE * 2 ** (self.tries[task.key] - 1))
                continue
            if not isinstance(future, Future) or future in self.running:
                raise WorkError(
                    f"task '{task.name}': an executor must return a new concurrent.futures.Future for each task, "
                    f"{type(self.executor).__qualname__} returned {type(future).__qualname__}"
                )
            self.running[future] = task
            with interrupts_held():
                future.add_done_callback(self.told.put)

    def finished(self) -> set[Future[Any]]:
        """Wait until something is done, and return what is; look after an executor that can be looked at."""
        if not self.running:
            return set()
        with contextlib.suppress(Empty):  # unlike `concurrent.futures.wait`, this holds no lock that Ctrl-C could leave
            self.told.get(timeout=LOOK)
        with interrupts_held():  # those too that an executor which was shut down cancelled without a word
            done = {future for future in self.running if future.done()}
        if not done and isinstance(self.executor, Watched):
            self.executor.check()
        return done

    def refused(self, task: Task, problem: Exception) -> None:
        """Take back a task that the executor did not take."""
        if isinstance(problem, BddTorqueError):
            raise problem
        self._note_broken(task, problem)
        self._try_again(task, "refused", f": {type(problem).__name__}: {problem}")

    def failed(self, task: Task, problem: BaseException) -> None:
        """Take back a task that was cancelled; raise what it raised itself."""
        if isinstance(problem, BrokenExecutor):
            self._note_broken(task, problem)
            if task.key in self.suspected:
                raise WorkError(
                    f"task '{task.name}': its worker died twice (killed, crashed or out of memory): fewer workers or a "
                    "smaller memory budget may help"
                ) from None
            self.suspected.add(task.key)
            self.suspects.append(task)
            return
        kinds = {kind.__name__ for kind in type(problem).__mro__}  # by name: asyncio and Dask have their own
        if "CancelledError" in kinds:
            self._try_again(task, "cancelled", "")
            return
        if "KilledWorker" in kinds:
            raise WorkError(
                f"task '{task.name}': it killed its workers several times (killed, crashed or out of "
                "memory): workers with more memory, or a smaller memory budget, may help"
            ) from None
        if isinstance(problem, Exception) and not isinstance(problem, BddTorqueError):
            problem.add_note(f"in task '{task.name}'")
        raise problem

    def _note_broken(self, task: Task, problem: BaseException) -> None:
        """Note that another executor is needed; raise where there is none."""
        if isinstance(problem, BrokenExecutor):
            if self.renew is None:
                raise WorkError(f"task '{task.name}': the executor is broken; give a new one") from None
            self.broken = True

    def _try_again(self, task: Task, what: str, why: str) -> None:
        self.tries[task.key] += 1
        if self.tries[task.key] >= TRIES:
            raise WorkError(one_line(f"task '{task.name}': the executor {what} it {TRIES} times{why}")) from None
        self.waiting.appendleft(task)

    def abandon(self, deliver: Deliver) -> None:
        """Keep what is finished, cancel the rest.

        Tasks of our own pool are not cancelled: it is stopped next, and Python's executor fails, with a traceback, on
        futures that are cancelled while its processes end.
        """
        with interrupts_held():
            try:
                for future, task in self.running.items():
                    if future.done() and not future.cancelled() and future.exception() is None:
                        deliver(task, received(future))
            finally:
                for future in () if isinstance(self.executor, Pool) else self.running:
                    with contextlib.suppress(Exception):  # an executor that is gone cannot cancel
                        future.cancel()
