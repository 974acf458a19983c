"""What every experiment does with its results: expected beside found with a verdict, a CSV, a picture, `--quick`."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
"""Where CSV files and pictures go; made when the first is written, not kept under version control."""
MISSED = "GOAL MISSED"
"""The verdict on a goal that is not reached."""


@dataclass
class Verdicts:
    """Facts of the papers and goals of our own, each expected beside found, printed together.

    The script fails if a fact is not as said. A goal is what was aimed at before anything was measured, of speed above
    all: that it is missed is a finding, shown as such, and no failure.
    """

    rows: list[dict[str, str]] = field(default_factory=list)
    failed: int = 0

    def add(self, fact: str, what: str, expected: object, found: object, holds: bool, note: str = "") -> None:
        """Record one fact (`fact` as the digest numbers it, such as "F05"); `holds` is the verdict, `note` explains."""
        self.failed += not holds
        self._record(fact, what, expected, found, "as expected" if holds else "NOT AS EXPECTED", note)

    def goal(self, what: str, expected: object, found: object, reached: bool, note: str = "") -> None:
        """Record one goal, reached or missed."""
        self._record("goal", what, expected, found, "reached" if reached else MISSED, note)

    def _record(self, fact: str, what: str, expected: object, found: object, verdict: str, note: str) -> None:
        verdict += f" ({note})" if note else ""
        self.rows.append(
            {"fact": fact, "what": what, "expected": str(expected), "found": str(found), "verdict": verdict}
        )

    def show(self) -> None:
        """Print the table."""
        show_table(self.rows)

    def exit(self) -> None:
        """End the script: 0 if every fact holds, 1 if not."""
        sys.exit(1 if self.failed else 0)


def show_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows under their keys, columns as wide as they need, numbers to the right."""
    if not rows:
        return
    head = list(rows[0])
    text = [[_shown(row[key]) for key in head] for row in rows]
    widths = [max(len(key), *(len(line[k]) for line in text)) for k, key in enumerate(head)]
    right = [all(isinstance(row[key], int | float) for row in rows) for key in head]
    for line in [head, ["-" * width for width in widths], *text]:
        cells = (
            cell.rjust(width) if move else cell.ljust(width)
            for cell, width, move in zip(line, widths, right, strict=True)
        )
        print("  ".join(cells).rstrip())


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


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
    """Write `results/<name>.png` and return its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.png"
    figure.savefig(path, dpi=130)
    print(f"wrote {path}")
    return path


def arguments(description: str | None, *flags: tuple[str, str]) -> argparse.Namespace:
    """Read the command line: `--quick` (a few seconds, smaller cases) and the flags given as (name, help)."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few seconds: smaller cases")
    for name, text in flags:
        parser.add_argument(name, action="store_true", help=text)
    return parser.parse_args()
