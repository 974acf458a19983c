"""Worker processes: started so that any script may compile without a main guard, and stopped for certain."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bddtorque.base.tasks import Task

# fork would copy threads' locks in whatever state they are; the fork server has no threads
_START_METHOD = "forkserver" if sys.platform == "linux" else "spawn"
_main_lock = threading.Lock()

SMALL = 2048
"""Bytes of a result that goes through the pipe; with what goes along it stays below what a system writes at once."""


@dataclass(frozen=True)
class Filed:
    """A result too large for a pipe: the file that holds it."""

    path: str


class Pool(ProcessPoolExecutor):
    """Worker processes that leave Ctrl-C to us and hand large results over in files; they start when work comes.

    A worker that dies while it writes to the pipe would leave half a message, for which the executor waits forever.
    Messages of less than `SMALL` bytes are written whole or not at all.
    """

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context(_START_METHOD)
        super().__init__(count, mp_context=context, initializer=_ignore_interrupts)
        self.folder = tempfile.mkdtemp(prefix="bddtorque-results-")
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; once they are gone, so is the folder of their results."""
        try:
            super().shutdown(wait=wait, cancel_futures=cancel_futures)
        finally:  # Ctrl-C, while processes end, included
            if wait:
                self._remove()


def filed(folder: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run a function, in a worker, and return its result, or the file it is in."""
    result = function(*arguments)
    data = pickle.dumps(result)
    if len(data) < SMALL:
        return result
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(data)
    return Filed(file.name)


def received(future: Future[Any]) -> Any:
    """Return the result of a task that was handed to `submit`."""
    result = future.result()
    if not isinstance(result, Filed):
        return result
    path = Path(result.path)
    data = path.read_bytes()
    path.unlink()
    return pickle.loads(data)  # written by our own worker, into a folder of our own


def submit(executor: Executor, task: Task) -> Future[Any]:
    """Hand a task to an executor.

    A new worker process imports the caller's script first. A script that compiles at its top level, without
    ``if __name__ == "__main__"``, would compile again in every worker, and fail. Tasks are functions of importable
    modules, so the script is hidden while workers are started, unless the function is the script's own.
    """
    with contextlib.nullcontext() if task.function.__module__ == "__main__" else _hidden_main():
        if isinstance(executor, Pool):
            return executor.submit(filed, executor.folder, task.function, task.arguments)
        return executor.submit(task.function, *task.arguments)


def stop_pool(pool: Pool) -> None:
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
