"""`Workers`: runs tasks in processes, here, or on any executor, with cache and progress; results in order."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from types import TracebackType
from typing import Any, Protocol, Self

from bddtorque.base.caching import MISSING, Cache
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.lending import ClusterLostError, Deliver, WorkError, at_a_time, check_executor, lend
from bddtorque.base.plain import at_least
from bddtorque.base.pool import Pool, stop_pool
from bddtorque.base.processors import usable_processors
from bddtorque.base.tasks import Task


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
    one task at a time on a fresh pool; a task whose worker dies again ends the run with an error that names it. What a
    foreign executor refuses or cancels is handed to it again, see `lending`.

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
