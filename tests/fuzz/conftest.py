"""Shared by the tests of hostile input: seeds made once, and a clock, so that a hang is a failure."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzz_seeds import make_seeds
from fuzz_targets import remember

if sys.platform != "linux":  # limits of processes, devices and signals are those of Linux
    collect_ignore_glob = ["test_*.py"]

SECONDS = 120
"""More than any of these tests takes on a busy machine."""


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(f"this took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the seeds."""
    folder = tmp_path_factory.mktemp("seeds")
    make_seeds(folder)
    remember(folder)
    return folder
