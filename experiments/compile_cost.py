"""Cost of compiling: seconds, peak memory and file size of every built-in arm, beside the bars set for them.

    python experiments/compile_cost.py [--quick] [--full] [--bits 12] [--workers 2] [--arms ur5,panda]

Each arm is compiled in a process of its own, from nothing (no cache), so that peak memory is its own. Planning is
included; loading Python is not. Without `--full` only arms that have a bar are compiled, as `bt.compile` does it if
nothing is said of source and target; with it every arm, from both sources and for both targets.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from reporting import TIMED, Check, at_most, below, finish, parser, show_table, write_csv

from bddtorque.spec import spec_names

BARS = {
    "planar3r_a": (30, None),
    "planar3r_b": (30, None),
    "ur5": (120, 4e9),
    "puma560": (120, 4e9),
    "panda": (240, None),
}
"""Seconds on two cores, and bytes of memory, at 12 bits."""
FILE_BARS = {"ur5": 16e6}
CHILD = """
import json, os, sys, bddtorque as bt
name, source, target, bits, workers, path = sys.argv[1:]
asked = {"source": source} if source != "default" else {}
try:
    model = bt.compile(name, target=target, bits=int(bits), workers=int(workers), cache=None, **asked)
except bt.BddTorqueError as problem:
    print(json.dumps({"refused": str(problem)}))
else:
    model.save(path)
    keys = ("seconds", "planning_seconds", "peak_bytes")
    found = {key: model.report[key] for key in keys}
    found |= {"file": os.path.getsize(path), "bound": max(model.certificate.bounds), "source": model.plan.source}
    print(json.dumps(found))
"""


def measured(name: str, source: str, target: str, bits: int, workers: int) -> dict[str, object]:
    """Return what one compilation took, or why it was refused."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [name, source, target, str(bits), str(workers), str(Path(folder) / "arm.bdt")]
        done = subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} {source} {target}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def row(name: str, source: str, target: str, found: dict[str, object]) -> dict[str, object]:
    """Return one line of the table."""
    line: dict[str, object] = {"arm": name, "source": found.get("source", source), "target": target}
    figures = {"seconds": "seconds", "planning_s": "planning_seconds", "bound": "bound"}
    line |= {column: round(found[key], 4) if key in found else "" for column, key in figures.items()}
    sizes = {"peak_MB": "peak_bytes", "file_MB": "file"}
    line |= {column: round(found[key] / 1e6, 2) if key in found else "" for column, key in sizes.items()}
    return line | {"refused": found.get("refused", "")}


def checks_of(line: dict[str, object]) -> list[Check]:
    """Check the bars of one compilation: of time it is a goal."""
    if line["refused"]:
        return []
    name = line["arm"]
    seconds, memory = BARS.get(name, (None, None))
    what = f"{name}, {line['source']}, {line['target']}"
    checks = [Check("ours", f"{what}: bound, units", line["bound"], below(1))]
    if seconds:
        checks.append(Check("ours", f"{what}: seconds", line["seconds"], TIMED, goal=at_most(seconds)))
    if memory:
        checks.append(Check("ours", f"{what}: peak MB", line["peak_MB"], at_most(memory / 1e6)))
    if name in FILE_BARS:
        checks.append(Check("ours", f"{what}: MB of the file", line["file_MB"], at_most(FILE_BARS[name] / 1e6)))
    return checks


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--full", action="store_true", help="every arm, from both sources, for both targets")
    options.add_argument("--bits", type=int)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--arms", help="names, with commas between")
    given = options.parse_args()
    all_arms = ["planar2r"] if given.quick else spec_names() if given.full else list(BARS)
    arms = given.arms.split(",") if given.arms else all_arms
    sources, targets = (("terms", "recursive"), ("tables", "float")) if given.full else (("default",), ("tables",))
    bits = given.bits or (8 if given.quick else 12)
    rows = []
    for name, source, target in product(arms, sources, targets):
        print(f"{name}, {source}, {target} ...", flush=True)
        rows.append(row(name, source, target, measured(name, source, target, bits, given.workers)))
    show_table(rows)
    write_csv("compile_cost", rows)
    finish([check for line in rows for check in checks_of(line)])


if __name__ == "__main__":
    main()
