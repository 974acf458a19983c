"""What compiling costs: seconds, peak memory and file size of every built-in arm, beside the bars set for them.

    python experiments/compile_cost.py [--quick] [--full] [--bits 12] [--workers 2] [--arms ur5,panda] [--csv FILE]

Each arm is compiled in a process of its own, from nothing (no cache), so that peak memory is its own. Planning is
included; loading Python is not. Without `--full` only arms that have a bar are compiled, as `bt.compile` does it if
nothing is said of source and target; with it every arm, from both sources and for both targets.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from reporting import RESULTS

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
COLUMNS = (
    "arm",
    "source",
    "target",
    "seconds",
    "bar_s",
    "planning_s",
    "peak_MB",
    "bar_MB",
    "file_MB",
    "bar_file_MB",
    "bound",
    "verdict",
)

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
    line: dict[str, object] = {"arm": name, "source": source, "target": target}
    if "refused" in found:
        return line | {"verdict": f"refused: {found['refused']}"}
    seconds, memory = BARS.get(name, (None, None))
    size = FILE_BARS.get(name)
    kept = [
        (found["seconds"], seconds),
        (found["peak_bytes"], memory),
        (found["file"], size),
    ]
    return line | {
        "source": found["source"],
        "seconds": round(found["seconds"], 1),
        "bar_s": seconds,
        "planning_s": round(found["planning_seconds"], 1),
        "peak_MB": round(found["peak_bytes"] / 1e6),
        "bar_MB": memory and round(memory / 1e6),
        "file_MB": round(found["file"] / 1e6, 2),
        "bar_file_MB": size and size / 1e6,
        "bound": round(found["bound"], 4),
        "verdict": "ok" if all(bar is None or value <= bar for value, bar in kept) else "ABOVE ITS BAR",
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the two-joint arm at 8 bits only")
    parser.add_argument("--full", action="store_true", help="every arm, from both sources, for both targets")
    parser.add_argument("--bits", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--arms", help="names, with commas between")
    parser.add_argument("--csv", type=Path, default=RESULTS / "compile_cost.csv", help="where the table is written")
    given = parser.parse_args()
    all_arms = ["planar2r"] if given.quick else spec_names() if given.full else list(BARS)
    arms = given.arms.split(",") if given.arms else all_arms
    sources, targets = (("terms", "recursive"), ("tables", "host")) if given.full else (("default",), ("tables",))
    bits = given.bits or (8 if given.quick else 12)
    print("".join(f"{column:>12}" for column in COLUMNS))
    rows = []
    for name, source, target in product(arms, sources, targets):
        rows.append(row(name, source, target, measured(name, source, target, bits, given.workers)))
        print("".join(f"{'' if (v := rows[-1].get(c)) is None else v:>12}" for c in COLUMNS), flush=True)
    given.csv.parent.mkdir(parents=True, exist_ok=True)
    with given.csv.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return int(any(each["verdict"] == "ABOVE ITS BAR" for each in rows))


if __name__ == "__main__":
    sys.exit(main())
