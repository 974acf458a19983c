"""Seconds to the first torque: a model in a file, a new process, compiled code found on disk or not.

Every figure is the median of fresh processes, in seconds of the processor, which other work on the machine does not
lengthen; `wall` is the whole by the clock. *Cold* is a cache folder with nothing in it: Numba compiles the plan's code,
and the package's own. *Kept* is the second start and all after it. The start of a process is taken apart: importing
NumPy and Numba; what Numba itself loads when it first runs anything (SciPy's BLAS among it, where SciPy is installed);
`bt.load`; the first torque; a kernel, which is never kept, since it holds addresses. *New* is a fresh installation
that compiles the arm itself: `load` is `bt.compile` then, and the package's own kernels are compiled as it needs them.

    python experiments/first_torque.py [--quick]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from reporting import TIMED, Check, arguments, below, finish, show_table, write_csv

import bddtorque as bt

ARMS = ("planar2r", "ur5")
COMPILE_BAR, FIRST_BAR, NEW_BAR = 10.0, 1.0, 11.0
"""Seconds: of compiling the code of the UR5 in floats, to the first torque of a model whose code is kept, and from a
robot's name to its first torque after a fresh installation."""

CHILD = """
import json, sys, time
clock, wall = time.process_time, time.perf_counter()
if sys.argv[2] == "without":
    class Hiding:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "scipy":
                raise ImportError("hidden")
    sys.meta_path.insert(0, Hiding())
begin = clock()
import numpy as np, numba
imported = clock()
numba.njit(lambda x: x)(1)
numba_ready = clock()
import bddtorque as bt
model = bt.load(sys.argv[1]) if sys.argv[1].endswith(".bdt") else bt.compile(sys.argv[1], target="float")
loaded = clock()
zero = np.zeros(len(model.formats.q))
model.torque(zero, zero, zero)
first = clock()
words = np.zeros(len(zero), dtype=np.int64)
model.kernel()(words, words, words, words.copy())
kernel = clock()
print(json.dumps({"import": imported - begin, "numba": numba_ready - imported, "load": loaded - numba_ready,
                  "torque": first - loaded, "kernel": kernel - first, "wall": time.perf_counter() - wall}))
"""


def started(file: Path | str, cache: Path, scipy: str) -> dict[str, float]:
    """Run a fresh process and return its seconds, part by part."""
    environment = {**os.environ, "BDDTORQUE_CACHE": str(cache / "bdd"), "NUMBA_CACHE_DIR": str(cache / "numba")}
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(file), scipy], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(ran.stdout)


def main() -> None:
    quick = arguments(__doc__).quick
    checks, rows = [], []
    with tempfile.TemporaryDirectory() as folder:
        for arm in ARMS[:1] if quick else ARMS:
            file = Path(folder) / f"{arm}.bdt"
            bt.compile(arm, target="float").save(file)
            cache = Path(folder) / f"cache_{arm}"
            new = started(arm, Path(folder) / f"new_{arm}", "with")
            rows.append({"arm": arm, "code": "new", "scipy": "with", **new})
            cold = started(file, cache, "with")
            rows.append({"arm": arm, "code": "cold", "scipy": "with", **cold})
            for scipy in ("with", "without"):
                kept = [started(file, cache, scipy) for _ in range(1 if quick else 5)]
                medians = {key: statistics.median(each[key] for each in kept) for key in kept[0]}
                rows.append({"arm": arm, "code": "kept", "scipy": scipy, **medians})
            compiling = cold["torque"] - rows[-2]["torque"]
            first = rows[-2]["load"] + rows[-2]["torque"]
            for what, bar, seconds in (
                ("bt.compile and first torque, fresh installation", NEW_BAR, new["load"] + new["torque"]),
                ("compile the code of the plan", COMPILE_BAR, compiling),
                ("bt.load and first torque, code kept, Numba in use", FIRST_BAR, first),
                (
                    "the same in a new process, imports included",
                    FIRST_BAR,
                    first + rows[-2]["import"] + rows[-2]["numba"],
                ),
            ):
                checks.append(Check("ours", f"{arm}: {what}, s", seconds, TIMED, goal=below(bar)))
    show_table(rows)
    write_csv("first_torque", rows)
    finish(checks)


if __name__ == "__main__":
    main()
