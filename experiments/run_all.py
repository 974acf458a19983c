"""Run every experiment, two at a time; sum up both kinds of verdicts, script by script and fact by fact.

Scripts that time what they run (see `ALONE`) come last, one at a time with nothing beside them, benches at the very
end. What a script prints is kept in results/<script>.txt. A script that fails does not stop the others; the exit code
is 1 if any failed or found a figure that is not as recorded. What is refuted of a paper fails nothing. A script that
needs tools which are not installed is skipped, and the line that says which packages bring them is shown.

    python experiments/run_all.py [--quick] [--jobs 2] [script ...]
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reporting import CHANGED, RESULTS, SKIPPED, overall, show_table, summary, write_csv

FOLDER = Path(__file__).parent
TOOLS = ("run_all", "machines")
"""Scripts without figures of their own to check."""
ALONE = ("bench_", "first_torque", "forms", "term_times", "compile_cost", "float_errors")
"""Beginnings of names of scripts that must not share the machine: they measure time, or use all its cores."""
MAX_MINUTES = 20
"""Time limit of all experiments together on two cores."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of one script: seconds on the clock, seconds of processor time with those of its children, checks.

    `said` are the lines in which a script that was skipped says what it lacks.
    """

    script: str
    code: int
    seconds: float
    processor_seconds: float
    checks: list[dict[str, str]]
    said: str = ""

    @property
    def verdict(self) -> str:
        """The finding of the script, why it was skipped, or that it ended before it could tell."""
        if self.code == SKIPPED:
            return self.said
        if not self.checks or (self.code and all(each["regression"] != CHANGED for each in self.checks)):
            return f"FAILED (exit code {self.code})"
        return summary((each["regression"] for each in self.checks), (each["verdict"] for each in self.checks))

    @property
    def failed(self) -> bool:
        """Tell if it failed, changed, or told nothing."""
        return self.code != SKIPPED and (self.code != 0 or not self.checks)


def facts(outcomes: Iterable[Outcome]) -> list[dict[str, str]]:
    """Return the verdict on every fact of docs/papers.md that the scripts have checked."""
    verdicts: dict[str, list[str]] = {}
    for outcome in outcomes:
        for each in outcome.checks:
            if re.fullmatch(r"F\d\d", each["fact"]) and each["verdict"]:
                verdicts.setdefault(each["fact"], []).append(each["verdict"])
    return [{"fact": fact, "verdict": overall(verdicts[fact])} for fact in sorted(verdicts)]


def scripts(wanted: Iterable[str] = ()) -> list[Path]:
    """Return the scripts to run, by name: all that can be run but `TOOLS`, or those named (with or without .py)."""
    runnable = [path for path in sorted(FOLDER.glob("*.py")) if '__name__ == "__main__"' in path.read_text()]
    others = [path for path in runnable if path.stem not in TOOLS]
    names = {Path(each).stem for each in wanted}
    unknown = names - {path.stem for path in others}
    if unknown:
        raise SystemExit(f"run_all: no such script in experiments/: {', '.join(sorted(unknown))}")
    return [path for path in others if not names or path.stem in names]


def run(script: Path, quick: bool) -> Outcome:
    """Run one script in a process of its own, its output in a file."""
    RESULTS.mkdir(exist_ok=True)
    kept = RESULTS / f"checks_{script.stem}.csv"
    kept.unlink(missing_ok=True)
    command = [sys.executable, str(script), *(["--quick"] if quick else [])]
    begun = time.perf_counter()
    with (RESULTS / f"{script.stem}.txt").open("w") as output:
        redirected = [(os.POSIX_SPAWN_DUP2, output.fileno(), descriptor) for descriptor in (1, 2)]
        process = os.posix_spawn(sys.executable, command, os.environ, file_actions=redirected)
        _, status, usage = os.wait4(process, 0)  # which also tells the processor time, unlike subprocess
    code = os.waitstatus_to_exitcode(status)
    checks = list(csv.DictReader(kept.read_text().splitlines())) if kept.exists() else []
    printed = (RESULTS / f"{script.stem}.txt").read_text(errors="replace").splitlines()
    said = "; ".join(line for line in printed if line.startswith("skipped: "))
    outcome = Outcome(script.name, code, time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, checks, said)
    times = f"{outcome.seconds:7.1f} s ({outcome.processor_seconds:6.1f} s of processor time)"
    print(f"{times}  {script.name:32} {outcome.verdict}", flush=True)
    return outcome


def run_all(chosen: list[Path], quick: bool, jobs: int) -> list[Outcome]:
    """Run those that may share the machine `jobs` at a time, then the others one by one."""
    alone = [script for script in chosen if script.stem.startswith(ALONE)]
    alone.sort(key=lambda script: script.stem.startswith("bench_"))  # when nothing is left to be written or kept
    together = [script for script in chosen if script not in alone]
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(lambda script: run(script, quick), together))
    return outcomes + [run(script, quick) for script in alone]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few seconds each: smaller cases")
    parser.add_argument("--jobs", type=int, default=2, help="scripts at a time (those that measure time run alone)")
    parser.add_argument("scripts", nargs="*", help="scripts to run; all if none is named")
    given = parser.parse_args()
    begun = time.perf_counter()
    outcomes = run_all(scripts(given.scripts), given.quick, given.jobs)
    minutes = (time.perf_counter() - begun) / 60
    print()
    rows = [
        {
            "script": each.script,
            "seconds": round(each.seconds, 1),
            "processor seconds": round(each.processor_seconds, 1),
            "verdict": each.verdict,
        }
        for each in outcomes
    ]
    show_table(rows)
    write_csv("run_all", rows)
    print()
    show_table(facts(outcomes))
    every = [check for each in outcomes for check in each.checks]
    print("\nall scripts:", summary((each["regression"] for each in every), (each["verdict"] for each in every)))
    failed = [each for each in outcomes if each.failed]
    print(f"{len(outcomes)} scripts in {minutes:.1f} minutes (goal: at most {MAX_MINUTES} on two cores)")
    for each in failed:
        print(f"{each.script} failed: see {RESULTS / Path(each.script).stem}.txt")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
