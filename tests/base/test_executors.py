"""Any executor gives the same: models digest for digest, sweeps bit for bit, verdicts; and a bad one is named."""

from __future__ import annotations

import multiprocessing
import re
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled import arm
from executors import Carrying, Late, run

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.tasks import Task
from bddtorque.compiler.function_request import traced
from bddtorque.compiler.verify import verify
from bddtorque.model.model import to_bytes
from bddtorque.plan.tabulate import rounded_exactly
from bddtorque.sweeps import sweep
from bddtorque.words.argument import Argument

BITS = 5
STATES = 70_000  # three batches


def square(x: int) -> int:
    return x * x


def refuse(x: int) -> int:
    raise BddTorqueError(f"block {x}: fits required, too large given")


@contextmanager
def spawned() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


EXECUTORS: dict[str, Callable[[], Any]] = {
    "threads": lambda: ThreadPoolExecutor(3),
    "processes": spawned,
    "carrying": Carrying,
    "late": Late,
}


@pytest.fixture(scope="module", params=EXECUTORS)
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with EXECUTORS[request.param]() as made:
        yield made


def test_compiling_gives_the_same_file(executor: Executor) -> None:
    found = bt.compile("planar2r", bits=BITS, cache=None, executor=executor)
    assert found.digest == arm(BITS).digest
    assert to_bytes(found) == to_bytes(arm(BITS))


def test_sweeping_gives_the_same_figures(executor: Executor) -> None:
    here = sweep(arm(BITS), STATES, terms=True)
    assert sweep(arm(BITS), STATES, terms=True, executor=executor).to_plain() == here.to_plain()


def test_verifying_gives_the_same_verdicts(executor: Executor, tmp_path: Path) -> None:
    path = tmp_path / "arm.bdt"
    arm(BITS).save(path)
    checks = verify(path, executor=executor)
    assert checks == verify(path, workers=1)
    assert all(check.passed for check in checks)


def test_functions_and_samples_give_the_same_file(executor: Executor, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"inputs": {"x": (6, 1.0), "y": (6, 2.0)}, "output": 8}
    samples = np.array([[x, y, x * y] for x in (-1.0, 0.5, 1.0) for y in (-2.0, 1.0, 2.0)])
    for make in (
        lambda **how: bt.compile_function(lambda x, y: x * y + 0.3 * x, **asked, block_bits=8, **how),
        lambda **how: bt.compile_function(lambda x, y: abs(x - y), **asked, **how),
        lambda **how: bt.compile_samples(samples, **asked, **how),
    ):
        found = make(executor=executor)
        assert to_bytes(found) == to_bytes(make())
        found.save(tmp_path / "function.bdt")
        assert all(check.passed for check in verify(tmp_path / "function.bdt", executor=executor))


def test_plain_values_travel_and_nothing_else() -> None:
    with Carrying() as executor:
        bt.compile("planar2r", bits=BITS, cache=None, executor=executor)
    assert set(executor.functions) == {"build_block"}  # the work itself, not a helper of our own pool
    assert len(executor.results) == len(arm(BITS).plan.blocks)
    assert all(isinstance(result["values"], np.ndarray) for result in executor.results)


class Failing(Executor):
    """Does the same to every task."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer
        self.asked = 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        self.asked += 1
        return self.answer()


def refusing() -> Any:
    raise RuntimeError("cannot schedule new futures\nafter shutdown")


def cancelling() -> Any:
    future: Future[Any] = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    return future


class KilledWorker(Exception):  # noqa: N818 - Dask's name for it
    pass


def killing() -> Any:
    future: Future[Any] = Future()
    future.set_exception(KilledWorker("task", "worker", 3))
    return future


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (refusing, r"the executor refused it: RuntimeError: cannot schedule new futures\nafter shutdown"),
        (cancelling, "the executor cancelled it"),
        (killing, "it killed its workers several times"),
        (
            lambda: 49,
            "an executor must return a new concurrent.futures.Future for each task, Failing returned int",
        ),
    ],
)
def test_an_executor_that_does_not_do_it_is_given_up(answer: Callable[[], Any], message: str) -> None:
    executor = Failing(answer)
    with pytest.raises(BddTorqueError, match="^" + re.escape(f"task 'block 7': {message}")):
        run([Task(square, (7,), name="block 7")], executor=executor)
    assert executor.asked == 1


def test_one_future_for_two_tasks_is_refused() -> None:
    one: Future[Any] = Future()
    with pytest.raises(BddTorqueError, match=r"must return a new concurrent\.futures\.Future for each task"):
        run([Task(square, (i,)) for i in range(2)], executor=Failing(lambda: one))
    assert one.cancelled()


def test_what_a_task_raises_is_raised_once() -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(BddTorqueError, match=r"^block 3: fits required, too large"):
        run([Task(refuse, (3,))], executor=executor)


@pytest.mark.parametrize("given", [object(), 2, ThreadPoolExecutor])
def test_what_is_no_executor_is_refused_at_once(given: Any) -> None:
    for call in (
        lambda: bt.compile("panda", executor=given),
        lambda: bt.compile_function(square, inputs={"x": (4, 1.0)}, output=6, executor=given),
        lambda: bt.compile_samples(np.zeros((3, 2)), executor=given),
        lambda: sweep(arm(BITS), 100, executor=given),
    ):
        with pytest.raises(BddTorqueError, match=r"^executor must be a concurrent.futures.Executor, got \w+$"):
            call()


def test_a_client_is_told_from_its_executor() -> None:
    class Client:
        def get_executor(self) -> None: ...

    with pytest.raises(BddTorqueError, match=r"Client: what its get_executor\(\) returns would work$"):
        run([], executor=Client())  # type: ignore[arg-type]


def test_a_law_that_cannot_be_sent_is_refused() -> None:
    class Line:
        """A law whose author did not think of other machines."""

        def __init__(self) -> None:
            self.inner = bt.Friction(0.5)

        def __call__(self, velocity: Any) -> Any:
            return self.inner(velocity)

        def __getattr__(self, name: str) -> Any:
            return getattr(bt.Friction(0.5), name)

    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(BddTorqueError, match="a law must be plain data to be sent to a worker"),
    ):
        bt.compile_function(Line(), inputs={"v": (4, 1.0)}, output=6, executor=executor)


def test_threads_do_not_disturb_one_another_in_extended_precision() -> None:
    # ½ by way of irrational numbers: a tie for as long as the precision holds
    graph = traced(lambda x0: np.sin(x0) ** 2 + np.cos(x0) ** 2 - 0.5, ["x0"])
    words = [{"x0": word} for word in range(-16, 16)]
    wrong: list[list[int]] = []

    def work() -> None:
        for _ in range(15):
            found = rounded_exactly(
                graph, {"x0": Argument("angle", 5, Fraction(1), Fraction(1, 7))}, words, Fraction(1)
            )
            wrong.extend([found] if found != [1] * 32 else [])

    threads = [threading.Thread(target=work) for _ in range(4)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []


HELD, BEGUN = threading.Event(), threading.Event()


def held(x: int) -> int:
    BEGUN.set()
    HELD.wait(20)
    return x


def test_what_a_shutdown_cancels_without_a_word_is_noticed() -> None:
    """The futures it leaves are cancelled, nobody is told, and `concurrent.futures.wait` would wait forever."""
    executor = ThreadPoolExecutor(1)

    def close() -> None:
        BEGUN.wait(20)
        executor.shutdown(wait=False, cancel_futures=True)
        HELD.set()

    closing = threading.Thread(target=close)
    closing.start()
    with pytest.raises(BddTorqueError, match=r"the executor (refused|cancelled) it"):
        run([Task(held, (x,)) for x in range(5)], executor=executor)
    closing.join()
