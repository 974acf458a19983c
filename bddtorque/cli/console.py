"""Output for people and programs: tables on standard output, remarks on standard error, JSON."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_UNSEEN = re.compile(
    r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
_PADDING = re.compile(r" +\n")
MIN_FOLDED = 4
"""Columns that a folded cell is given beside cells on one line; with fewer, all are folded."""
PIPE_WIDTH = 160
"""Columns where there is no terminal to ask: files and pipes do not wrap."""


def output() -> Console:
    """Return the console of standard output."""
    from rich.console import Console

    width = None if folds() else PIPE_WIDTH
    return Console(file=cast("IO[str]", Shown(sys.stdout)), width=width, highlight=False, markup=False)


def folds() -> bool:
    """Say whether lines have to fit a width: that of a terminal, or of COLUMNS."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ


def show(shown: Table | str = "", hang: int | None = None) -> None:
    """Print a table, or lines of text, which are folded at spaces where they have to fit a width.

    What is carried over begins at column `hang`; by default four columns to the right of its line.
    """
    console = output()
    if not isinstance(shown, str):
        _fold_all_if_narrow(shown, console.width)
        console.print(shown)
        return
    for line in shown.split("\n"):
        parts = [line]
        if folds() and len(line) > console.width:
            margin = " " * (len(line) - len(line.lstrip()) + 4 if hang is None else hang)
            parts = textwrap.wrap(
                line,
                console.width,
                subsequent_indent=margin,
                break_long_words=False,
                break_on_hyphens=False,
                replace_whitespace=False,
            )
        for part in parts:
            console.print(part, soft_wrap=True)


def _fold_all_if_narrow(table: Table, width: int) -> None:
    """Let every column fold where those on one line do not fit: rich would cut them, and digits be lost."""
    least = 0
    for column in table.columns:
        lines = [line for cell in (column.header, *column.cells) for line in str(cell).split("\n")]
        least += 2 + (max(map(len, lines)) if column.no_wrap else MIN_FOLDED)
    if least > width:
        for column in table.columns:
            column.no_wrap = False


class Shown:
    """A stream for people: names from files cannot move the cursor, rename the window or run backwards.

    What is not printable is written as its escape; line ends, and the colours that rich sets on a terminal, pass.
    Spaces that fill up a line are dropped.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text, with everything in it visible."""
        visible = _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
        self._stream.write(_PADDING.sub("\n", visible))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def plain_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]] = ()) -> Table:
    """Return a table that needs little width, so that a terminal of 80 columns shows it whole.

    A column ``>bits`` holds numbers, ``|form`` short text, both on one line; any other is folded where it is too wide,
    such as ``<range``, which stands at the right.
    """
    from rich import box
    from rich.table import Table

    looks: dict[str, Any] = {"title_justify": "left", "title_style": "bold", "box": box.SIMPLE_HEAD}
    table = Table(title=title, **looks, padding=(0, 0, 0, 1), pad_edge=False)
    for name in columns:
        short, right = name.startswith((">", "|")), name.startswith((">", "<"))
        table.add_column(name.lstrip("<>|"), justify="right" if right else "left", no_wrap=short, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def grid(lines: list[tuple[str, str]]) -> Table:
    """Return names and values in two columns."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for line in lines:
        table.add_row(*line)
    return table


def write_json(value: Any) -> None:
    """Write plain data to standard output as JSON; in ASCII, so that no encoding of a terminal spoils it."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def for_shell(message: str) -> str:
    """Return a message that names the arguments of Python with the options of commands instead."""

    def option(match: re.Match[str]) -> str:
        name, value = f"--{match[1].replace('_', '-')}", match[2].strip("\"'{}").replace("': ", "=")
        return name if value == "True" else f"{name} {value}"

    return re.sub(r"\b([a-z]+_[a-z]+|lock|snap)=(True\b|\"[a-z]+\"|\{'[^{}]*\}|[\d.e-]+)", option, message)


def say(line: str) -> None:
    """Say something beside the result, on standard error."""
    sys.stderr.write(f"bddtorque: {line}\n")
