"""What people and programs see: tables on standard output, progress on standard error, JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID
    from rich.table import Table

PIPE_WIDTH = 160
"""Columns where there is no terminal to ask: files and pipes do not wrap."""


def output() -> Console:
    """Return the console of standard output."""
    from rich.console import Console  # noqa: PLC0415 - the commands that show nothing do not wait for it

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, markup=False)


def plain_table(title: str) -> Table:
    """Return an empty table that needs little width, so that a terminal of 80 columns shows it whole."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    looks: dict[str, Any] = {"title_justify": "left", "title_style": "bold", "box": box.SIMPLE_HEAD}
    return Table(title=title, **looks, padding=(0, 0, 0, 1), pad_edge=False)


def write_json(value: Any) -> None:
    """Write plain data to standard output as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def say(line: str) -> None:
    """Say something beside the result, on standard error."""
    sys.stderr.write(f"bddtorque: {line}\n")


class ShownProgress:
    """Shows how far the work is, on standard error and only on a terminal; see `work.Progress`.

    Attributes
    ----------
    cached, done : how many tasks were found in the cache, and how many were finished in all
    """

    def __init__(self) -> None:
        self.cached = self.done = 0
        self._bar: Any = None
        self._task: TaskID | None = None

    def start(self, what: str, total: float) -> None:
        """Draw the bar."""
        if not sys.stderr.isatty():
            return
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[last]}", markup=False),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(what, total=total, last="")

    def advance(self, name: str, cost: float, cached: bool) -> None:
        """Move the bar on."""
        self.done += 1
        self.cached += cached
        if self._bar is not None:
            self._bar.update(self._task, advance=cost, last=name)

    def finish(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
