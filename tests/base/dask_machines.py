"""A real Dask cluster: a scheduler and workers, each a process of its own, on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 600.0
"""Seconds for processes to start, on a machine that is busy with other tests."""
QUIET = {"DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False", "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}


class Machines:
    """The processes of a cluster."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self._environment = {
            **os.environ,
            **QUIET,
            **settings,
            "BDDTORQUE_CACHE": "off",
            # workers find the functions of these tests as any other that is installed there
            "PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")])),
        }
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--scheduler-file", self._file)
        self._until(self._written, "a scheduler")
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def _file(self) -> str:
        return str(self.folder / "scheduler.json")

    def _written(self) -> bool:
        """Tell if the scheduler has said all it says: its file is there before it is filled."""
        with suppress(OSError, ValueError):
            return bool(self.address)
        return False

    @property
    def address(self) -> str:
        return str(json.loads(Path(self._file).read_text())["address"])

    def add_worker(self, **settings: str) -> subprocess.Popen[bytes]:
        """Start a worker of one thread and return its process; it is there a moment later."""
        name = f"worker{len(self.workers)}"
        options = ["--nthreads", "1", "--no-nanny", "--name", name, "--local-directory", str(self.folder / name)]
        worker = self._start("dask_worker", self.address, *options, **settings)
        self.workers.append(worker)
        return worker

    def _start(self, program: str, *arguments: str, **settings: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--host", "127.0.0.1", "--no-dashboard"]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [*command, *arguments], env={**self._environment, **settings}, stdout=log, stderr=log, cwd=self.folder
            )

    def _until(self, holds: Any, what: str) -> None:
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > PATIENCE or self.scheduler.poll() is not None:
                raise AssertionError(f"{what} did not come: {(self.folder / 'log').read_text()}")
            time.sleep(0.05)

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.send_signal(signal.SIGKILL)
            process.wait()


@contextmanager
def machines(folder: Path, workers: int, **settings: str) -> Iterator[Machines]:
    """Give a cluster of so many workers, with settings of Dask for all of it."""
    pytest.importorskip("distributed", reason="no Dask here: pip install 'bddtorque[cluster]'")
    cluster = Machines(folder, **settings)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()
