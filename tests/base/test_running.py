"""Running tasks: order, cache, progress, errors, Ctrl-C, killed workers, two processes at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bddtorque.base.caching import Cache, decode
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.system import usable_processors
from bddtorque.base.tasks import Task
from bddtorque.base.workers import Workers

HERE = str(Path(__file__).parent)


def run(tasks: Iterable[Task], workers: int | None = None, what: str = "working", **options: Any) -> list[Any]:
    """Return the results of tasks, by workers of their own."""
    with Workers(workers, **options) as team:
        return team.run(tasks, what)


def square(x: int) -> int:
    return x * x


def slow_square(x: int, seconds: float) -> int:
    time.sleep(seconds)
    return x * x


def doubled(values: Any) -> Any:
    return {"doubled": 2 * values, "process": os.getpid()}


def leave_a_mark(folder: str, x: int) -> int:
    with (Path(folder) / f"mark{x}").open("a") as file:
        file.write("x")
    return x


def fail(x: int) -> int:
    raise ZeroDivisionError(f"no {x}")


def refuse(x: int) -> int:
    raise BddTorqueError(f"block {x}: fits required, too large given")


def die_the_first_time(flag: str, x: int) -> int:
    path = Path(flag)
    if not path.exists():
        path.write_text("died")
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def die(x: int) -> int:
    time.sleep(0.1)  # so that others are running beside it
    os.kill(os.getpid(), signal.SIGKILL)
    return x


class Watcher:
    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def start(self, what: str, total: float) -> None:
        self.events.append(("start", what, total))

    def advance(self, name: str, cost: float, cached: bool) -> None:
        self.events.append(("advance", name, cost, cached))

    def finish(self) -> None:
        self.events.append(("finish",))


def marks(folder: Path) -> dict[str, int]:
    return {path.name: len(path.read_text()) for path in folder.glob("mark*")}


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order(workers: int) -> None:
    tasks = [Task(slow_square, (i, 0.02 * (i == 0)), cost=i % 3) for i in range(12)]
    assert run(tasks, workers=workers) == [i * i for i in range(12)]
    assert run([], workers=workers) == []


def test_one_worker_is_this_process_and_more_are_others() -> None:
    (here,) = run([Task(doubled, (np.arange(3),))], workers=1)
    (there,) = run([Task(doubled, (np.arange(3),))], workers=2)
    assert here["process"] == os.getpid() != there["process"]
    assert there["doubled"].tolist() == [0, 2, 4]


def test_large_results_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Workers(2) as workers:
        (found,) = workers.run([Task(doubled, (np.arange(5000),))])
        assert list(tmp_path.glob("bddtorque-results-*"))  # where it came by
    assert found["doubled"][-1] == 9998
    assert not list(tmp_path.glob("bddtorque-results-*"))
    with pytest.raises(BddTorqueError):
        run([Task(refuse, (3,))], workers=2)
    assert not list(tmp_path.glob("bddtorque-results-*"))


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_content_is_done_once_and_then_found(tmp_path: Path, workers: int) -> None:
    cache = Cache(tmp_path / "cache")
    tasks = [Task(leave_a_mark, (str(tmp_path), x), name=f"mark {x}") for x in (1, 2, 1)]
    watcher = Watcher()
    assert run(tasks, workers=workers, cache=cache, progress=watcher, what="marking") == [1, 2, 1]
    assert marks(tmp_path) == {"mark1": 1, "mark2": 1}
    assert watcher.events[0] == ("start", "marking", 2.0)
    assert sorted(watcher.events[1:3]) == [("advance", "mark 1", 1.0, False), ("advance", "mark 2", 1.0, False)]
    assert watcher.events[3:] == [("finish",)]
    again = Watcher()
    assert run(tasks, workers=workers, cache=cache, progress=again) == [1, 2, 1]
    assert marks(tmp_path) == {"mark1": 1, "mark2": 1}
    assert [event[3] for event in again.events[1:-1]] == [True, True]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_names_its_task_and_keeps_what_was_done(tmp_path: Path, workers: int) -> None:
    cache, watcher = Cache(tmp_path), Watcher()
    done = Task(square, (7,), cost=2.0)  # the first, having the highest cost
    with pytest.raises(ZeroDivisionError, match="no 3") as failed:
        run([Task(fail, (3,), name="block 3"), done], workers=workers, cache=cache, progress=watcher)
    assert failed.value.__notes__ == ["in task 'block 3'"]
    assert watcher.events[-1] == ("finish",)
    if workers == 1:
        assert cache.get(done) == 49
    with pytest.raises(BddTorqueError, match=r"^block 3: fits required, too large given$"):
        run([Task(refuse, (3,))], workers=workers)


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")
    tasks = [Task(square, (i,)) for i in range(10)]
    tasks.insert(4, Task(die_the_first_time, (flag, 99)))
    assert run(tasks, workers=2) == [0, 1, 4, 9, 99, 16, 25, 36, 49, 64, 81]
    assert Path(flag).exists()


def test_a_task_that_kills_its_worker_twice_is_named(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    tasks = [Task(slow_square, (i, 0.01), name=f"good {i}") for i in range(10)]
    tasks.insert(5, Task(die, (1,), name="block 17 of T1"))
    message = r"^task 'block 17 of T1': its worker died twice"
    with pytest.raises(BddTorqueError, match=message):
        run(tasks, workers=2, cache=cache)
    assert cache.get(tasks[0]) == 0  # what was done before stays


def test_workers_go_on_after_a_failure() -> None:
    with Workers(2) as workers:
        with pytest.raises(BddTorqueError):
            workers.run([Task(die, (1,))])
        assert workers.run([Task(square, (3,))]) == [9]


def test_a_worker_killed_while_idle_is_replaced() -> None:
    with Workers(2) as workers:
        processes = {each["process"] for each in workers.run([Task(doubled, (i,)) for i in range(4)])}
        for process in processes:
            os.kill(process, signal.SIGKILL)
        while multiprocessing.active_children():
            time.sleep(0.01)
        assert workers.run([Task(square, (3,)), Task(square, (4,))]) == [9, 16]


def test_a_broken_executor_of_others_is_an_error() -> None:
    class Broken(Executor):
        def submit(self, *arguments: Any, **options: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool("broken"))
            return future

    with pytest.raises(BddTorqueError, match=r"^task '.*square': the executor is broken; give a new one$"):
        run([Task(square, (3,))], executor=Broken())


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_bad_counts_are_refused(count: Any) -> None:
    with pytest.raises(BddTorqueError, match="workers must be an integer of at least 1"):
        Workers(count)


def test_all_usable_processors_by_default() -> None:
    assert Workers().count == usable_processors() >= 1


def script(text: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    code = f"import signal, sys; sys.path.insert(0, {HERE!r})\n"
    code += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # the suite may run with Ctrl-C ignored
    code += textwrap.dedent(text)
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


INTERRUPTED = """
    import sys
    from test_running import Task, Cache, doubled, run, slow_square

    class Watcher:
        def start(self, what, total): pass
        def advance(self, name, cost, cached):
            print(name, flush=True)
        def finish(self):
            print("finish", flush=True)

    tasks = [Task(slow_square, (1, 0.0), name="quick", cost=3.0), Task(slow_square, (2, 7200.0), cost=2.0)]
    tasks += [Task(slow_square, (i, 7200.0)) for i in range(3, 30)]
    try:
        run(tasks, workers=int(sys.argv[2]), cache=Cache(sys.argv[1]), progress=Watcher())
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_ends_everything_at_once_and_keeps_what_is_done(tmp_path: Path, workers: str, whole_group: bool) -> None:
    process = script(INTERRUPTED, str(tmp_path), workers, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "quick\n"
    # a terminal sends Ctrl-C to the whole group, workers and all
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (out, err, process.returncode) == ("finish\ninterrupted\n", "", 0)
    # by what is kept and not by its address, which changes with the code: sources may be edited while tests run
    assert [decode(entry.path.read_bytes()) for entry in Cache(tmp_path).entries()] == [1]
    with pytest.raises(ProcessLookupError):  # nobody is left
        while True:
            os.killpg(process.pid, 0)
            time.sleep(0.05)


def test_a_script_without_a_main_guard_works(tmp_path: Path) -> None:
    path = tmp_path / "unguarded.py"
    path.write_text(
        f"import sys; sys.path.insert(0, {HERE!r})\n"
        "print('started')\n"
        "from test_running import Task, run, square\n"
        "print(run([Task(square, (i,)) for i in range(3)], workers=2))\n"
        "assert sys.modules['__main__'].__file__.endswith('unguarded.py')\n"
    )
    shown = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert (shown.stdout, shown.stderr) == ("started\n[0, 1, 4]\n", "")


def test_a_script_may_run_functions_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "guarded.py"
    path.write_text(
        "from bddtorque.base.tasks import Task\nfrom bddtorque.base.workers import Workers\n"
        "def cube(x):\n    return x**3\n"
        "if __name__ == '__main__':\n"
        "    with Workers(2) as team:\n        print(team.run([Task(cube, (i,)) for i in range(3)]))\n"
    )
    shown = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert (shown.stdout, shown.stderr) == ("[0, 1, 8]\n", "")


SHARING = """
    import sys, numpy as np
    from test_running import Task, Cache, doubled, run
    cache = Cache(sys.argv[1], size=200_000)
    for again in range(3):
        tasks = [Task(doubled, (np.full(1000, float(i)),)) for i in range(40)]
        results = run(tasks, workers=1, cache=cache)
        assert all((result["doubled"] == 2 * i).all() for i, result in enumerate(results))
    print("done", cache.hits + cache.misses)
"""


def test_two_processes_share_a_cache_that_is_too_small(tmp_path: Path) -> None:
    both = [script(SHARING, str(tmp_path)) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=600)
        assert (out, err) == ("done 120\n", "")
    assert sum(entry.size for entry in Cache(tmp_path).entries()) <= 2 * 200_000
    assert not list(tmp_path.glob("??/.unfinished*"))
