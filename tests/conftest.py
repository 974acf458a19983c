"""Shared by all tests. Its being here also lets them `from oracle import ...` (pytest puts this folder on the path)."""

import hashlib
import os
from pathlib import Path

from hypothesis import settings

# Numba notices a change of the file a cached function stands in, but not of the files it calls into: compiled code is
# kept apart for every state of the package, so that no test ever passes on code that is no longer there.
_root = Path(__file__).parent.parent
_sources = hashlib.sha256(b"".join(path.read_bytes() for path in sorted((_root / "bddtorque").rglob("*.py"))))
os.environ.setdefault("NUMBA_CACHE_DIR", str(_root / ".pytest_cache" / "numba" / _sources.hexdigest()[:16]))

# Machines that run the suite share their cores: time is measured by benchmarks, not by a deadline per example.
# A check that decides what lands tries the same examples each time; elsewhere every run tries new ones.
settings.register_profile("bddtorque", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("bddtorque")
