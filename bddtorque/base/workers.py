"""`Workers`: runs tasks in processes, here, or on any executor, with cache and progress; results in order.

Tasks are lent to an executor, own processes or that of others: plain values go there, plain values come back, late and
out of order. What a task itself raises ends the run, and so does an executor that refuses a task, cancels it or is
broken, unless there is another one. Nothing is asked of the other side: neither a file system in common, nor a cache.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from bddtorque.base.caching import MISSING, Cache
from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.plain import at_least
from bddtorque.base.pool import Pool, received, stop_pool, submit
from bddtorque.base.system import interrupts_held, usable_processors
from bddtorque.base.tasks import Task

IN_FLIGHT = 64
"""Tasks handed to a foreign executor at a time, when nobody says how many."""
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
    """Number of tasks that it runs at a time."""

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
    """Tasks that wait, that run, and that ran when the executor broke."""

    def __init__(self, executor: Executor, tasks: Iterable[Task], renew: Callable[[], Executor] | None) -> None:
        self.executor, self.renew = executor, renew
        self.waiting, self.suspects = deque(tasks), deque[Task]()
        self.running: dict[Future[Any], Task] = {}
        self.told: SimpleQueue[Future[Any]] = SimpleQueue()
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
        """Take back a task if another executor can be had; else raise what the executor says."""
        if isinstance(problem, BddTorqueError):
            raise problem
        if not isinstance(problem, BrokenExecutor):
            said = f"task '{task.name}': the executor refused it: {type(problem).__name__}: {problem}"
            raise WorkError(one_line(said)) from None
        self._note_broken(task)
        self.waiting.appendleft(task)

    def failed(self, task: Task, problem: BaseException) -> None:
        """Suspect a task that ran when the executor broke; raise what it raised itself."""
        if isinstance(problem, BrokenExecutor):
            self._note_broken(task)
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
            raise WorkError(f"task '{task.name}': the executor cancelled it") from None
        if "KilledWorker" in kinds:
            raise WorkError(
                f"task '{task.name}': it killed its workers several times (killed, crashed or out of "
                "memory): workers with more memory, or a smaller memory budget, may help"
            ) from None
        if isinstance(problem, Exception) and not isinstance(problem, BddTorqueError):
            problem.add_note(f"in task '{task.name}'")
        raise problem

    def _note_broken(self, task: Task) -> None:
        """Note that another executor is needed; raise where there is none."""
        if self.renew is None:
            raise WorkError(f"task '{task.name}': the executor is broken; give a new one") from None
        self.broken = True

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


class Progress(Protocol):
    """A protocol for progress reports."""

    def start(self, what: str, total: float) -> None:
        """Begin work: its name, and the total cost of its tasks."""

    def advance(self, name: str, cost: float, cached: bool) -> None:
        """Count a task that is done or was found in the cache."""

    def finish(self) -> None:
        """End the work, whether it was completed or not."""


class NoProgress:
    """Progress that nobody watches."""

    def ignore(self, *told: Any, **named: Any) -> None:
        """Do nothing."""

    start = advance = finish = ignore


@contextlib.contextmanager
def step(progress: Progress, what: str, total: float = 0.0) -> Iterator[None]:
    """Tell of a step: it begins, with the cost of all its parts (nothing if they are not counted), and it is over."""
    progress.start(what, total)
    try:
        yield
    finally:
        progress.finish()


class Workers:
    """Something that runs tasks; a context manager that ends its processes.

    A worker process that dies (killed, out of memory) takes its pool with it. What was running then is tried once more,
    one task at a time on a fresh pool; a task whose worker dies again ends the run with an error that names it.

    Parameters
    ----------
    count
        Worker processes (all usable processors by default); 1 runs everything in this process. With `executor`, how
        many tasks it is given at a time.
    executor
        Any `concurrent.futures.Executor` instead of own processes; it is not shut down here.
    cache
        Where finished results are kept, so that a later run, or one after Ctrl-C, goes on from there; None for none.
    progress
        Told of every finished task.
    """

    def __init__(
        self,
        count: int | None = None,
        *,
        executor: Executor | None = None,
        cache: Cache | None = None,
        progress: Progress | None = None,
    ) -> None:
        check_executor(executor)
        usual = usable_processors() if executor is None else at_a_time(executor)
        self.count = usual if count is None else at_least(count, 1, "workers")
        self.cache = cache
        self.progress = progress or NoProgress()
        self._executor = executor
        self._pool: Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker processes; they start again if there is more to run."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)

    def run(self, tasks: Iterable[Task], what: str = "working") -> list[Any]:
        """Return the results of the tasks in their order; tasks with the same key are done once.

        The progress is told of a step called `what`; without a name they are part of another one.
        An exception of a task, or Ctrl-C, ends the run at once; what was finished by then is in the cache.
        """
        listed = list(tasks)
        results: dict[str, Any] = {}
        total = sum(task.cost for task in {task.key: task for task in listed}.values())

        def deliver(task: Task, result: Any) -> None:
            results[task.key] = result
            if self.cache is not None:
                self.cache.put(task, result)
            self.progress.advance(task.name, task.cost, cached=False)

        with step(self.progress, what, total) if what else contextlib.nullcontext():
            try:
                self._do(self._look_up(listed, results), deliver)
            except ClusterLostError as problem:
                kept = "nothing was kept, since there is no cache"
                if self.cache is not None:
                    kept = "what was finished is in the cache, and the same again goes on from there"
                raise WorkError(f"{problem}; {kept}") from None
            except BaseException:
                pool, self._pool = self._pool, None
                if pool is not None:
                    stop_pool(pool)
                raise
        return [results[task.key] for task in listed]

    def _look_up(self, tasks: Sequence[Task], results: dict[str, Any]) -> list[Task]:
        """Put what the cache has into results and return the tasks it has not, each key once."""
        missing: dict[str, Task] = {}
        for task in tasks:
            if task.key in results or task.key in missing:
                continue
            found = MISSING if self.cache is None else self.cache.get(task)
            if found is MISSING:
                missing[task.key] = task
            else:
                results[task.key] = found
                self.progress.advance(task.name, task.cost, cached=True)
        # the longest first, so that none of them is left running alone at the end
        return sorted(missing.values(), key=lambda task: -task.cost)

    def _do(self, tasks: Sequence[Task], deliver: Deliver) -> None:
        if self._executor is not None:
            lend(self._executor, tasks, self.count, deliver)
        elif self.count == 1 or multiprocessing.current_process().daemon:
            for task in tasks:
                deliver(task, _done_here(task))
        elif tasks:
            # two for each worker: nobody waits for work, arguments do not pile up, and few are suspected when one dies
            lend(self._running_pool(), tasks, 2 * self.count, deliver, self._renewed_pool)

    def _running_pool(self) -> Pool:
        if self._pool is None:
            self._pool = Pool(self.count)
        return self._pool

    def _renewed_pool(self) -> Pool:
        self.close()
        return self._running_pool()


def _done_here(task: Task) -> Any:
    try:
        return task()
    except BddTorqueError:
        raise
    except Exception as problem:
        problem.add_note(f"in task '{task.name}'")
        raise
