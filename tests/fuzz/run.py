"""`make fuzz`: mutated files of every kind that bddtorque reads, tried in processes with limits.

    python tests/fuzz/run.py [--inputs 120000] [--seconds N] [--seed NAME] [--workers 2] [--target NAME ...]

Findings are printed and kept in out/fuzz/; exit code 1 says that there were any. A finding that is mended goes to
tests/fuzz/corpus/TARGET/, where the suite tries it each time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
WORKER = HERE / "fuzz_worker.py"
PIECE = 2500
"""Inputs that one process tries."""


@dataclass
class Tried:
    """Results for the inputs of a target, and the slowest: seconds of processor time, and its number."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, object]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)

    def add(self, other: Tried) -> None:
        """Take in what another piece found."""
        self.counts += other.counts
        self.findings += other.findings
        self.slowest = max(self.slowest, other.slowest)


def try_piece(seeds: Path, target: str, seed: str, first: int, count: int) -> Tried:
    """Try inputs first to first + count − 1 in a process of their own; one that dies is followed by another."""
    tried, end = Tried(), first + count
    with tempfile.TemporaryDirectory() as work:
        place, findings = Path(work) / "place", Path(work) / "findings"
        while first < end:
            given = [str(each) for each in (seeds, target, seed, first, end - first, place, findings)]
            command = [sys.executable, str(WORKER), *given]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if ran.returncode == 0:
                said = json.loads(ran.stdout)
                tried.counts += Counter(said["counts"])
                tried.slowest = max(tried.slowest, tuple(said["slowest"]))
                break
            number = int(place.read_text()) if place.exists() and place.stat().st_size else -1
            what = {-27: "hang: too much processor time", -14: "hang: too much time"}.get(
                ran.returncode, f"crash: code {ran.returncode}, {ran.stderr[-300:]}"
            )
            tried.findings.append({"target": target, "number": number, "what": what})
            tried.counts["found"] += 1
            tried.counts["tried before it"] += max(number - first, 0)
            if number < first:  # it never came to an input: nothing will
                break
            first = number + 1
        if findings.exists():
            tried.findings += [json.loads(line) for line in findings.read_text().splitlines()]
    return tried


def before(end: float, seeds: Path, target: str, seed: str, first: int, count: int) -> Tried:
    """Do what `try_piece` does, unless time is up."""
    return try_piece(seeds, target, seed, first, count) if time.monotonic() < end else Tried()


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    from fuzz_seeds import make_seeds, read_seeds
    from fuzz_targets import BY_NAME, TARGETS, input_of

    parser = argparse.ArgumentParser(description="Try mutated files on every reader of bddtorque.")
    parser.add_argument("--inputs", type=int, default=120_000, help="in all")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin nothing new after so long")
    parser.add_argument("--seed", default=str(time.time_ns()), help="the same seed gives the same inputs")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--target", nargs="*", choices=list(BY_NAME), default=list(BY_NAME))
    parser.add_argument("--keep", type=Path, default=HERE.parent.parent / "out" / "fuzz", help="where findings go")
    given = parser.parse_args(arguments)
    chosen = [target for target in TARGETS if target.name in given.target]
    shares = sum(target.share for target in chosen)
    started = time.monotonic()
    end = started + given.seconds
    sys.stdout.write(f"seed {given.seed}\n")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.workers) as team:
        seeds = Path(folder)
        make_seeds(seeds)
        wanted = [(target.name, -(-given.inputs * target.share // shares)) for target in chosen]
        parts = [(name, first, min(PIECE, count - first)) for name, count in wanted for first in range(0, count, PIECE)]
        parts.sort(key=lambda part: part[1])  # some of every kind first, should time run out
        pieces = [
            (name, team.submit(before, end, seeds, name, given.seed, first, count)) for name, first, count in parts
        ]
        results = {target.name: Tried() for target in chosen}
        for name, piece in pieces:
            results[name].add(piece.result())
        for target in chosen:
            _keep(
                results[target.name],
                given.keep / target.name,
                lambda number, target=target: input_of(target, read_seeds(seeds, target.seeds), given.seed, number),
            )
    return _report(results, time.monotonic() - started)


def _keep(tried: Tried, folder: Path, input_of_number) -> None:
    for finding in tried.findings:
        number = int(str(finding["number"]))
        if number >= 0:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}").write_bytes(input_of_number(number))
            finding["file"] = str(folder / f"{number}")


def _report(results: dict[str, Tried], seconds: float) -> int:
    total = Tried()
    for name, tried in results.items():
        total.add(tried)
        inputs = sum(tried.counts.values())
        accepted, refused = tried.counts["accepted"], tried.counts["refused"]
        sys.stdout.write(f"{name:12} {inputs:8,} inputs {accepted:7,} accepted {refused:8,} refused")
        seconds_at_most, number = tried.slowest
        sys.stdout.write(f" {len(tried.findings):5,} found   slowest {seconds_at_most:.2f} s, number {number}\n")
    seen: Counter[str] = Counter()
    for finding in total.findings:
        key = f"{finding['target']}: {finding['what']}"
        seen[key] += 1
        if seen[key] == 1:
            sys.stdout.write(f"  {key}  {finding.get('file', '')}\n")
    sys.stdout.write(f"{sum(total.counts.values()):,} inputs in {seconds:.0f} s, {len(total.findings):,} findings\n")
    return 1 if total.findings else 0


if __name__ == "__main__":
    sys.exit(main())
