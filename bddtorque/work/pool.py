"""Worker processes: started so that any script may compile without a main guard, and stopped for certain."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import types
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

from bddtorque.work.tasks import Task

# fork would copy threads' locks in whatever state they are; the fork server has no threads
_START_METHOD = "forkserver" if sys.platform == "linux" else "spawn"
_main_lock = threading.Lock()


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_pool(count: int) -> ProcessPoolExecutor:
    """Return a pool of `count` worker processes that leave Ctrl-C to us; they start when work comes."""
    context = multiprocessing.get_context(_START_METHOD)
    return ProcessPoolExecutor(count, mp_context=context, initializer=_ignore_interrupts)


def submit(executor: Executor, task: Task) -> Future[Any]:
    """Hand a task to an executor.

    A new worker process imports the caller's script first. A script that compiles at its top level, without
    ``if __name__ == "__main__"``, would compile again in every worker, and fail. Tasks are functions of importable
    modules, so the script is hidden while workers are started, unless the function is the script's own.
    """
    with contextlib.nullcontext() if task.function.__module__ == "__main__" else _hidden_main():
        return executor.submit(task.function, *task.arguments)


def stop_pool(pool: ProcessPoolExecutor) -> None:
    """End a pool at once, with whatever its workers are doing."""
    # Executor.shutdown waits for running tasks, which may take minutes; there is no public way before Python 3.14
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.terminate()
    pool.shutdown(wait=True)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def _hidden_main() -> Iterator[None]:
    with _main_lock:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
