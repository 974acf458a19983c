"""Shared by all tests. Its being here also lets them `from oracle import ...` (pytest puts this folder on the path)."""

import gc
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from examples_tried import examples
from hypothesis import settings

# Numba notices a change of the file a cached function stands in, but not of the files it calls into: compiled code is
# kept apart for every state of the package, so that no test ever passes on code that is no longer there.
_root = Path(__file__).parent.parent
_sources = hashlib.sha256(b"".join(path.read_bytes() for path in sorted((_root / "bddtorque").rglob("*.py"))))
os.environ.setdefault("NUMBA_CACHE_DIR", str(_root / ".pytest_cache" / "numba" / _sources.hexdigest()[:16]))

# `make test` speaks to makes below it by these; the makes that tests start are their own. pytest-xdist gives its
# workers COLUMNS: what commands print into a pipe is not folded, and tests of widths set it themselves.
for _name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "COLUMNS", "LINES"):
    os.environ.pop(_name, None)

# Machines that run the suite share their cores: time is measured by benchmarks, not by a deadline per example.
# `make test` tries the same examples each time, so that it says what a change does; `make test-all` tries new ones.
_same = "BDDTORQUE_TEST_ALL" not in os.environ
settings.register_profile("bddtorque", max_examples=examples(100), deadline=None, derandomize=_same)
settings.load_profile("bddtorque")

# Half a million objects stay until the end: looking through them for garbage as often as usual is one second in twenty.
gc.set_threshold(20_000, 20, 20)

_SHARED = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of the session share what is compiled: each block is made once, and the user's are not read."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.stash[_SHARED] = tempfile.mkdtemp(prefix="bddtorque-tests-")
        os.environ["BDDTORQUE_CACHE"] = f"{config.stash[_SHARED]}/blocks"
        os.environ["BDDTORQUE_TEST_MODELS"] = config.stash[_SHARED]  # for compiled.py


def pytest_unconfigure(config: pytest.Config) -> None:
    if folder := config.stash.get(_SHARED, None):
        shutil.rmtree(folder, ignore_errors=True)
