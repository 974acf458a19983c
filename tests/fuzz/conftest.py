"""Shared by the tests of hostile input: seeds made once. A hang is a failure: see `timeout` in pyproject.toml."""

import sys
from pathlib import Path

import pytest
from fuzz_seeds import make_seeds
from fuzz_targets import remember

if sys.platform != "linux":  # limits of processes, devices and signals are those of Linux
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the seeds."""
    folder = tmp_path_factory.mktemp("seeds")
    make_seeds(folder)
    remember(folder)
    return folder
