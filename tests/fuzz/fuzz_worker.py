"""A process that tries inputs one after another, within limits of memory and time that the system enforces.

    python fuzz_worker.py SEEDS TARGET SEED FIRST COUNT PLACE FINDINGS

Before each input its number goes to the file PLACE, so that whoever started this process knows where it died: killed by
an alarm (a hang) or by the system (a crash). Everything else that is found goes to FINDINGS, a line of JSON each.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from fuzz_seeds import read_seeds  # noqa: E402
from fuzz_targets import BY_NAME, TARGETS, Target, input_of, outcome, remember  # noqa: E402

MEMORY = 1 << 30
"""Bytes that an input may take beyond what the process had before."""
PROCESSOR_SECONDS, WALL_SECONDS = 5.0, 120.0
"""Seconds that an input may take; the second for one that waits, on a machine that may have other work."""


def limit_memory(more: int = MEMORY) -> None:
    """Let this process have so much address space beyond what it has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def start_clock() -> None:
    """End this process, from outside Python, when the input has taken too long."""
    for clock, number, seconds in (
        (signal.ITIMER_PROF, signal.SIGPROF, PROCESSOR_SECONDS),
        (signal.ITIMER_REAL, signal.SIGALRM, WALL_SECONDS),
    ):
        signal.signal(number, signal.SIG_DFL)
        signal.setitimer(clock, seconds)


def tried(target: Target, data: bytes, folder: Path) -> str:
    """Return "accepted" or "refused", or "found: " and what."""
    path = folder / f"input{target.suffix}"
    path.write_bytes(data)
    try:
        return outcome(target, path)
    except Exception as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        said = f"{type(problem).__name__}: {problem}"[:300]
        return f"found: {said} ({Path(where.filename).name}:{where.lineno})"


def main(seeds: str, name: str, seed: str, first: str, count: str, place: str, findings: str) -> None:
    """Try inputs and print how many were accepted, refused and found wanting, and the slowest, as JSON."""
    warnings.simplefilter("ignore")
    target, folder = BY_NAME[name], Path(seeds)
    known = read_seeds(folder, target.seeds)
    counts: Counter[str] = Counter()
    slowest = (0.0, -1)
    with (
        tempfile.TemporaryDirectory() as work,
        Path(place).open("wb", buffering=0) as at,
        Path(findings).open("a") as out,
    ):
        scratch = Path(work)
        (scratch / "arm.urdf").write_bytes(read_seeds(folder, "urdf")[0])
        remember(folder)
        for each in TARGETS:  # imports and compiles what it needs before the limits are set
            if each.seeds == target.seeds:
                tried(each, known[0], scratch)
        limit_memory()
        for number in range(int(first), int(first) + int(count)):
            at.seek(0)
            at.write(f"{number:12d}".encode())
            data = input_of(target, known, seed, number)
            start_clock()
            began = time.process_time()
            found = tried(target, data, scratch)
            slowest = max(slowest, (time.process_time() - began, number))
            counts[found.partition(":")[0]] += 1
            if found.startswith("found"):
                out.write(json.dumps({"target": name, "number": number, "what": found[7:]}) + "\n")
                out.flush()
    sys.stdout.write(json.dumps({"counts": counts, "slowest": slowest}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
