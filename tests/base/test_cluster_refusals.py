"""Clusters that will not do are refused in one line: no address, nobody there, no workers, other versions."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from compiled import arm
from dask_machines import machines
from executors import run

from bddtorque.base import cluster as module
from bddtorque.base.cluster import ClusterExecutor, connected, run_sent
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.tasks import Task
from bddtorque.base.workers import ClusterLostError
from bddtorque.cli import main

NO_ADDRESSES = ["", "  ", None, 8786, "foo", "foo:8786", "tcp://foo", "tcp://:8786", "tcp://foo:0", "tcp://foo:99999"]
NO_ADDRESSES += [
    "tcp://a b:12",
    "tcp://foo:port",
    "nonsense://x:8786",
    "tcp://foo:8786/",
    " tcp://foo:8786",
    "inproc://a",
]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def refusal(address: Any, timeout: float = 60.0) -> str:
    """Return the line with which a cluster is refused."""
    with pytest.raises(BddTorqueError) as found, connected(address, timeout):
        pass
    assert "\n" not in str(found.value)
    return str(found.value)


@pytest.fixture
def dask() -> None:
    pytest.importorskip("distributed", reason="no Dask here: pip install 'bddtorque[cluster]'")


def test_nothing_follows_the_line(dask: None) -> None:
    """A client that never was connected is told of by Python as it is thrown away, unless it leaves quietly."""
    code = (
        "import sys\nfrom bddtorque.base.errors import BddTorqueError\nfrom bddtorque.base.cluster import connected\n"
        "try:\n    with connected(sys.argv[1], 0.5):\n        pass\n"
        "except BddTorqueError as problem:\n    print(problem)\n"
    )
    address = f"tls://127.0.0.1:{free_port()}"
    ran = subprocess.run([sys.executable, "-c", code, address], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    assert ran.stdout.startswith(f"cluster {address}: no Dask scheduler answered within 0.5 s (")
    assert ran.stdout.count("\n") == 1


@pytest.mark.parametrize("command", ["compile", "sweep", "verify"])
def test_commands_refuse_what_is_no_address(
    dask: None, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arm.bdt"
    arm(4).save(path)
    what = ["planar2r", "-o", str(tmp_path / "new.bdt")] if command == "compile" else [str(path)]
    assert main([command, *what, "--dask", "nonsense://x"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("bddtorque: --dask must be an address such as tcp://scheduler.lab:8786, got 'nonsense")
    assert shown.err.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["arm.bdt"]


def test_samples_are_compiled_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "some.csv").write_text("x,y\n0,1\n1,2\n")
    assert main(["compile", "--samples", str(tmp_path / "some.csv"), "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "--dask cannot be given with --samples" in capsys.readouterr().err


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_an_address_is_required(dask: None, address: Any) -> None:
    assert refusal(address).startswith("cluster must be an address such as tcp://scheduler.lab:8786, got ")


def test_without_dask_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = refusal("tcp://127.0.0.1:1")
    assert said.startswith("cluster: the package distributed is missing; run: pip install 'bddtorque[cluster]' (")


def test_a_cluster_without_workers_and_one_with_other_versions(tmp_path: Path) -> None:
    with machines(tmp_path, workers=0) as made:
        assert refusal(made.address, 1).endswith("no worker connected within 1 s; start some")
        # a package with another number, found before the one that is installed, by whatever Dask asks for it
        package, record = (tmp_path / "other" / name for name in ("bddtorque", "bddtorque-9.9.dist-info"))
        for folder in (package, record):
            folder.mkdir(parents=True)
        (package / "__init__.py").write_text('__version__ = "9.9"\n')
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: bddtorque\nVersion: 9.9\n")
        made.add_worker(PYTHONPATH=str(tmp_path / "other"))
        said = refusal(made.address)
    assert said.startswith(
        f"cluster {made.address}: bddtorque, Python, NumPy and Numba must be the same on all machines, and differ from "
        "those here on worker tcp://127.0.0.1:"
    )


def test_a_worker_with_other_sources_does_nothing() -> None:
    with pytest.raises(BddTorqueError, match=r"^worker on .*: its bddtorque, .* install the same$"):
        run_sent("0" * 64, b"not even read")


class Client:
    """Stands for a client of Dask whose cluster is as the test says."""

    status = "running"
    threads: dict[str, int] = {}  # noqa: RUF012

    def nthreads(self) -> dict[str, int]:
        return self.threads


def test_a_cluster_whose_last_worker_is_gone_is_waited_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    executor = ClusterExecutor(client, "tcp://here")
    executor.check()
    executor.check()  # not yet
    monkeypatch.setattr(module, "NO_WORKERS", -1.0)
    with pytest.raises(ClusterLostError, match=r"^cluster tcp://here: there has been no worker"):
        executor.check()
    client.threads = {"a": 2}
    executor.check()
    assert executor.threads == 2
    client.status = "closed"
    with pytest.raises(ClusterLostError, match=r"the connection to the scheduler was lost$"):
        executor.check()
    with pytest.raises(BddTorqueError, match=r"was lost; nothing was kept, since there is no cache$"):
        run([Task(free_port)], executor=executor)
