"""Results of every experiment: checks with two verdicts, a CSV, a picture, `--quick`.

A check holds one figure of ours against two others, and the two verdicts are independent of each other:

- *regression*: the figure as it was recorded when the script was written. If it has changed, the script exits with 1.
- *paper*: what a paper states, **confirmed** or **refuted** by our figure, or **open** where ours cannot decide. A
  paper that is refuted is a finding, not a failure.

Times depend on the machine, so they are shown and never judged.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

RESULTS = Path(__file__).parent / "results"
"""Folder of CSV files and pictures; made when the first is written, not kept under version control."""
PAGES = Path(__file__).parents[1] / "docs" / "images"
SHOWN = {"lathrop_timing.svg", "fijany_speed_up.svg", "fijany_ladder.svg", "closed_loop_stability.svg",
         "comparison_word.svg", "term_times_gain.svg", "one_bit_cores.svg"}  # fmt: skip
"""Figures that docs/papers.md shows."""
CONFIRMED, REFUTED, OPEN = "confirmed", "refuted", "open"
RECORDED, CHANGED, TIMED = "as recorded", "CHANGED", "timed"
"""The verdicts of a regression; `Check(recorded=TIMED)` is a time, which is not judged."""
SKIPPED = 77
"""The exit code of a script that needs tools which are not installed."""


@dataclass(frozen=True)
class Rule:
    """A figure that is not one number: how it is written, and which figures it allows."""

    text: str
    holds: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.text


def below(limit: float) -> Rule:
    """Allow numbers below a limit."""
    return Rule(f"below {limit:g}", lambda ours: bool(np.all(np.less(ours, limit))))


def above(limit: float) -> Rule:
    """Allow numbers above a limit."""
    return Rule(f"above {limit:g}", lambda ours: bool(np.all(np.greater(ours, limit))))


def at_most(limit: Any) -> Rule:
    """Allow numbers up to a limit, or to a limit each."""
    return Rule(f"at most {shown(limit)}", lambda ours: bool(np.all(np.less_equal(ours, limit))))


def between(low: float, high: float) -> Rule:
    """Allow numbers between two others."""
    return Rule(f"{low:g} to {high:g}", lambda ours: bool(np.all(np.greater(ours, low) & np.less(ours, high))))


def near(figures: Any, relative: float = 0.0, absolute: float = 0.0) -> Rule:
    """Allow numbers that differ from others by a small part of them, or by a small amount."""
    return Rule(
        shown(figures),
        lambda ours: np.size(ours) == np.size(figures) and np.allclose(ours, figures, rtol=relative, atol=absolute),
    )


EQUAL = Rule("equal", below(1e-12).holds)
"""Allow differences that rounding explains."""


@dataclass(frozen=True)
class Check:
    """One figure of ours beside what was recorded, and beside what a paper states.

    Attributes
    ----------
    fact : str
        The fact in docs/papers.md, such as "F05"; or the paper and section; or "ours", where no paper says anything.
    what : str
        What the figure is.
    ours : object
        The figure that this run found.
    recorded : object
        What it must be: a value, a `Rule`, or `TIMED`.
    paper : object, optional
        What the paper states: a value or a `Rule`.
    undecided : str
        Why our figure does not decide on the paper's: the verdict is then *open*.
    note : str
        What a reader should know beside the verdicts.
    goal : Rule, optional
        What was aimed at, of times: shown as reached or missed.
    """

    fact: str
    what: str
    ours: object
    recorded: object
    paper: object = None
    undecided: str = ""
    note: str = ""
    goal: Rule | None = None

    @property
    def regression(self) -> str:
        """`RECORDED`, `CHANGED` or `TIMED`."""
        if self.recorded is TIMED:
            return TIMED
        return RECORDED if matches(self.ours, self.recorded) else CHANGED

    @property
    def verdict(self) -> str:
        """`CONFIRMED`, `REFUTED` or `OPEN`; empty where no paper states anything."""
        if self.paper is None:
            return ""
        if self.undecided:
            return OPEN
        return CONFIRMED if matches(self.ours, self.paper) else REFUTED

    def __str__(self) -> str:
        here = shown(self.ours)
        parts = []
        if self.verdict:
            parts.append(f"paper: {self.verdict} ({shown(self.paper)} there, {here} here)")
            parts[0] += f", {self.undecided}" if self.undecided else ""
        if self.regression is TIMED:
            parts.append(f"timed: {here}")
        elif self.regression is CHANGED:
            parts.append(f"regression: CHANGED ({shown(self.recorded)} recorded, {here} here)")
        else:
            limits = f" ({self.recorded})" if isinstance(self.recorded, Rule) else ""
            parts.append(f"regression: {here} as recorded{limits}")
        if self.goal is not None:
            parts.append(f"goal {'reached' if self.goal.holds(self.ours) else 'missed'} ({self.goal})")
        note = f" [{self.note}]" if self.note else ""
        return f"{self.fact}, {self.what}: {'; '.join(parts)}{note}"


def matches(ours: object, wanted: object) -> bool:
    """Return whether a figure is what is wanted: equal to a value, or allowed by a rule."""
    return wanted.holds(ours) if isinstance(wanted, Rule) else bool(ours == wanted)


def overall(verdicts: Iterable[str]) -> str:
    """Return the verdict on a fact that has several: one refutation refutes it, one open question leaves it open."""
    some = set(verdicts)
    return next((each for each in (REFUTED, OPEN, CONFIRMED) if each in some), "")


def finish(checks: Sequence[Check]) -> None:
    """Print every check and a summary, write results/checks_<script>.csv, and exit with 1 if a figure has changed."""
    print()
    for check in checks:
        print(check)
    print()
    print(summary([check.regression for check in checks], [check.verdict for check in checks]))
    columns = ("fact", "what", "ours", "recorded", "regression", "paper", "verdict")
    rows = [
        {name: "" if (value := getattr(check, name)) is None else shown(value) for name in columns} for check in checks
    ]
    write_csv(f"checks_{Path(sys.argv[0]).stem}", rows)
    sys.exit(any(check.regression is CHANGED for check in checks))


def require(lacking: Sequence[str]) -> None:
    """Skip the script, with exit code 77, if tools are missing; `lacking` has lines, empty where all is there."""
    missing = list(filter(None, lacking))
    for line in missing:
        print(f"skipped: {line}")
    if missing:
        sys.exit(SKIPPED)


def summary(regressions: Iterable[str], verdicts: Iterable[str]) -> str:
    """Return one line that counts both kinds of verdicts."""
    ours, papers = Counter(regressions), Counter(verdicts)
    return (
        f"regression: {ours[RECORDED]} as recorded, {ours[CHANGED]} changed, {ours[TIMED]} timed; "
        f"paper: {papers[CONFIRMED]} confirmed, {papers[REFUTED]} refuted, {papers[OPEN]} open"
    )


def show_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows under their keys, columns as wide as they need, numbers to the right."""
    if not rows:
        return
    head = list(rows[0])
    text = [[shown(row[key]) for key in head] for row in rows]
    widths = [max(len(key), *(len(line[k]) for line in text)) for k, key in enumerate(head)]
    right = [all(isinstance(row[key], int | float) for row in rows) for key in head]
    for line in [head, ["-" * width for width in widths], *text]:
        cells = (
            cell.rjust(width) if move else cell.ljust(width)
            for cell, width, move in zip(line, widths, right, strict=True)
        )
        print("  ".join(cells).rstrip())


def shown(value: object) -> str:
    """Return a value as tables and checks show it: four digits of a float, commas between several."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(map(shown, value)) or "none"
    return str(value)


def write_csv(name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write `results/<name>.csv` and return its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    print(f"wrote {path}")
    return path


def save_figure(name: str, figure: Any) -> Path:
    """Write `results/<name>.png` and return its path; with `--page` also the SVG that a page shows, if one does."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.png"
    figure.savefig(path, dpi=130)
    print(f"wrote {path}")
    if "--page" in sys.argv and (shown_there := PAGES / f"{name}.svg").name in SHOWN:
        with matplotlib.rc_context({"svg.hashsalt": name}):  # the same bytes from the same figures
            figure.savefig(shown_there, metadata={"Date": None})
        print(f"wrote {shown_there}")
    return path


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a command line with `--quick` (a few seconds, smaller cases)."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true", help="a few seconds: smaller cases")
    made.add_argument("--page", action="store_true", help="write the figures that docs/papers.md shows to docs/images/")
    return made


def arguments(description: str | None) -> argparse.Namespace:
    """Read a command line that has `--quick` only."""
    return parser(description).parse_args()
