"""Executors that are harder on those who use them than any real one."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from bddtorque.base.tasks import Task
from bddtorque.base.workers import Workers


def run(tasks: Iterable[Task], workers: int | None = None, what: str = "working", **options: Any) -> list[Any]:
    """Return the results of tasks, by workers of their own."""
    with Workers(workers, **options) as team:
        return team.run(tasks, what)


class Carrying(ThreadPoolExecutor):
    """Carries everything there and back as bytes, as other machines would get it; keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(2)
        self.functions: list[str] = []
        self.results: list[Any] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        assert not options
        self.functions.append(function.__qualname__)
        return super().submit(self._carried, pickle.dumps((function, arguments)))

    def _carried(self, sent: bytes) -> Any:
        function, arguments = pickle.loads(sent)
        result = pickle.loads(pickle.dumps(function(*arguments)))
        self.results.append(result)
        return result


class Late(Executor):
    """Finishes tasks late, the last first."""

    def __init__(self) -> None:
        self._held: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []
        self._lock = threading.Lock()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self._held.append((future, function, arguments))
        threading.Timer(0.02, self._finish_one).start()
        return future

    def _finish_one(self) -> None:
        with self._lock:
            future, function, arguments = self._held.pop()
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function(*arguments))
            except BaseException as problem:
                future.set_exception(problem)
