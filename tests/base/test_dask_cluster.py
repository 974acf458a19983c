"""A real cluster of worker processes gives what this process gives, also when one of them is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from compiled import arm
from dask_machines import Machines, machines
from executors import run
from jobs import die, meet, rest, say, square

import bddtorque as bt
from bddtorque.base.caching import Cache
from bddtorque.base.cluster import ClusterExecutor, connected
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.tasks import Task
from bddtorque.base.workers import NoProgress
from bddtorque.cli import main
from bddtorque.model.model import to_bytes

BITS = 5
STATES = 140_000  # five batches


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(tmp_path_factory.mktemp("cluster"), workers=2) as made:
        yield made


@pytest.fixture
def executor(cluster: Machines) -> Iterator[ClusterExecutor]:
    """The cluster, with two workers whatever happened to those before."""
    with connected(cluster.address, timeout=600) as made:
        for _ in range(2 - sum(worker.poll() is None for worker in cluster.workers)):
            cluster.add_worker()
        until(lambda: made.check() or made.threads == 2)
        yield made


def until(holds: Callable[[], Any]) -> None:
    while not holds():
        time.sleep(0.05)


class KillOne(NoProgress):
    """Kills a worker as soon as the first result is there."""

    def __init__(self, cluster: Machines) -> None:
        self.victim = next(worker for worker in cluster.workers if worker.poll() is None)
        self.left: list[str] = []

    def advance(self, name: str, cost: float, cached: bool) -> None:
        if not self.left:
            self.victim.send_signal(signal.SIGKILL)
            self.victim.wait()
        self.left.append(name)


def test_both_workers_work(executor: ClusterExecutor, tmp_path: Path) -> None:
    assert run([Task(meet, (str(tmp_path), x)) for x in range(12)], executor=executor) == list(range(12))
    assert not (tmp_path / f"process{os.getpid()}").exists()


def test_one_killed_on_the_way_changes_nothing(cluster: Machines, executor: ClusterExecutor) -> None:
    killer = KillOne(cluster)
    found = bt.compile("planar2r", bits=BITS, cache=None, executor=executor, progress=killer)
    assert killer.victim.returncode == -signal.SIGKILL
    assert len(killer.left) == len(found.plan.blocks) > 2  # there was more to do when it died
    assert to_bytes(found) == to_bytes(arm(BITS))
    assert found.digest == arm(BITS).digest


def test_a_worker_killed_while_it_works_costs_its_task_alone(
    cluster: Machines, executor: ClusterExecutor, tmp_path: Path
) -> None:
    tasks = [Task(rest, (str(tmp_path), 0), name="long", cost=9.0)]
    tasks += [Task(say, (str(tmp_path), x)) for x in range(1, 8)]

    killed: list[str] = []

    class KillTheBusy(NoProgress):
        def advance(self, name: str, cost: float, cached: bool) -> None:
            if not killed:
                until((tmp_path / "began0").exists)
                killed.extend((tmp_path / "began0").read_text().split())
                os.kill(int(killed[0]), signal.SIGKILL)
                (tmp_path / "end").touch()

    assert run(tasks, executor=executor, progress=KillTheBusy()) == list(range(8))
    began = [(tmp_path / f"began{x}").read_text().split() for x in range(8)]
    assert len(began[0]) == 2  # begun anew, by another
    assert began[0][0] == killed[0] != began[0][1]
    assert all(len(each) == 1 or killed[0] in each for each in began)  # the others once, unless they were with it


def test_commands_take_the_address(
    cluster: Machines, executor: ClusterExecutor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arm.bdt"
    assert (
        main(["compile", "planar2r", "--bits", str(BITS), "--no-cache", "--dask", cluster.address, "-o", str(path)])
        == 0
    )
    assert path.read_bytes() == to_bytes(arm(BITS))
    assert main(["verify", str(path), "--dask", cluster.address]) == 0
    capsys.readouterr()
    swept = []
    for where in (["--dask", cluster.address], ["--workers", "1"]):
        assert main(["sweep", str(path), "--states", str(STATES), "--json", *where]) == 0
        shown = capsys.readouterr()
        assert shown.err == ""
        swept.append(json.loads(shown.out))
    assert swept[0] == swept[1]


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # the suite may run with Ctrl-C ignored
from jobs import rest
from bddtorque.base.tasks import Task
from bddtorque.base.workers import Workers
from bddtorque.base.cluster import connected
try:
    with connected(sys.argv[1], timeout=600) as executor:
        Workers(executor=executor).run([Task(rest, (sys.argv[2], x)) for x in range(100)])
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_cancels_what_was_sent(cluster: Machines, executor: ClusterExecutor, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster.address, set_as_default=False) as client:
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        process = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED, cluster.address, str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        until(lambda: list(tmp_path.glob("began*")))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=600) == ("interrupted\n", "")
        until(lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))
        (tmp_path / "end").touch()
        until(lambda: not any(client.processing().values()))
    assert len(list(tmp_path.glob("began*"))) <= 2  # of 100, on two workers: the others never will


@pytest.mark.everything  # a cluster of its own
def test_a_task_that_kills_its_workers_is_named(tmp_path: Path) -> None:
    settings = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    cache = Cache(tmp_path / "cache")
    done, bad = Task(square, (7,), cost=2.0), Task(die, (3,), name="block 3 of T1")
    (tmp_path / "cluster").mkdir()
    with (
        machines(tmp_path / "cluster", workers=2, **settings) as made,
        connected(made.address, timeout=600) as executor,
    ):
        assert run([done], executor=executor, cache=cache) == [49]
        until(lambda: executor.check() or executor.threads == 2)
        message = r"^task 'block 3 of T1': it killed its workers several times"
        with pytest.raises(BddTorqueError, match=message):
            run([bad], executor=executor, cache=cache)
        assert [worker.wait() for worker in made.workers] == [-signal.SIGKILL] * 2
    assert cache.get(done) == 49


@pytest.mark.everything  # a cluster of its own
def test_a_scheduler_that_is_lost_ends_the_run_in_one_line(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    (tmp_path / "cluster").mkdir()
    with machines(tmp_path / "cluster", workers=1) as made:

        class LoseIt(NoProgress):
            def advance(self, name: str, cost: float, cached: bool) -> None:
                made.scheduler.send_signal(signal.SIGKILL)

        quick = Task(square, (7,), cost=2.0)
        tasks = [quick, *(Task(rest, (str(tmp_path), x)) for x in range(50))]
        with (
            pytest.raises(
                BddTorqueError, match=r"the connection to the scheduler was lost; what was finished is in the cache"
            ) as found,
            connected(made.address, timeout=600) as executor,
        ):
            run(tasks, executor=executor, cache=cache, progress=LoseIt(), workers=2)
        assert "\n" not in str(found.value)
        assert str(found.value).startswith(f"cluster {made.address}: the connection to the scheduler was lost")
    assert cache.get(quick) == 49
