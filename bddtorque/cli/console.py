"""Output for people and programs: text and tables on standard output, remarks on standard error, JSON.

Nothing is ever cut: where a line has to fit a width, it is folded at spaces, and a table whose cells would have to be
broken becomes a list.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_UNSEEN = re.compile(
    r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0a-\x1a\x1c-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
GAP = 2
"""Blanks between two columns."""
MIN_TEXT = 12
"""Columns that a cell of text is given; with fewer, the table becomes a list."""
MAX_NAME = 24
"""Columns of the names of two columns, at most."""
PIPE_WIDTH = 160
"""Columns of a table where there is no terminal to ask: lines of text in files and pipes are not folded."""


@dataclass(frozen=True)
class ShownTable:
    """A table of text: a title, names of columns and rows. A column ``>bits`` stands at the right and is not folded."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self, width: int) -> Iterator[str]:
        """Yield the lines of a table that is at most so wide, or of a list of its rows where no such table is whole."""
        yield from (styled(line, 1) for line in folded(self.title, width, 0))
        names = [name.removeprefix(">") for name in self.head]
        right = [name.startswith(">") for name in self.head]
        widths = self._widths(names, right, width)
        if not widths:
            name = ""
            for first, *cells in self.rows:
                name = first or name  # a row without one goes on with that of the row above
                said = (f"{head} {cell}".strip() for head, cell in zip(names[1:], cells, strict=True) if cell)
                yield from folded(f"  {name}: {', '.join(said)}", width, 4)
            return
        yield ""
        yield from _row(names, widths, right)
        yield f" {'─' * (sum(widths) + GAP * (len(widths) - 1))}"
        for row in self.rows:
            yield from _row(row, widths, right)

    def _widths(self, names: Sequence[str], right: Sequence[bool], width: int) -> list[int]:
        """Return the widths of the columns; none where a number or a word would have to be broken."""
        whole, least = [], []
        for k, name in enumerate(names):
            sizes = [len(row[k]) for row in self.rows]
            words = sizes if right[k] else [len(word) for row in self.rows for word in row[k].split()]
            whole.append(max([len(name), *sizes]))
            least.append(max([min(whole[k], 0 if right[k] else MIN_TEXT), *words, *map(len, name.split())]))
        room = width - 1 - GAP * (len(names) - 1)
        if sum(least) > room:
            return []
        while sum(whole) > room:
            whole[max((k for k in range(len(whole)) if whole[k] > least[k]), key=whole.__getitem__)] -= 1
        return whole


def _row(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a row whose cells are folded to widths."""
    parts = [list(folded(cell, size, 0)) for cell, size in zip(cells, widths, strict=True)]
    for k in range(max(map(len, parts))):
        texts = [part[k] if k < len(part) else "" for part in parts]
        aligned = (t.rjust(size) if last else t.ljust(size) for t, size, last in zip(texts, widths, right, strict=True))
        yield f" {(' ' * GAP).join(aligned)}".rstrip()


def folded(line: str, width: int, hang: int) -> list[str]:
    """Return a line folded at spaces, each further line `hang` blanks to the right; no word is broken."""
    return textwrap.wrap(
        line,
        max(width, 1),
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    ) or [""]


def columns(rows: Sequence[tuple[str, str]], width: int, indent: int = 0) -> Iterator[str]:
    """Yield names and texts in two columns; a name too long for the first stands on a line of its own."""
    first = min(max((len(name) for name, _ in rows), default=0), MAX_NAME)
    margin = " " * (indent + first + GAP)
    for name, text in rows:
        lines = folded(" ".join(text.split()), max(width - len(margin), 1), 0)
        lead = " " * indent + styled(name, 36)
        if len(name) <= first:
            lead += f"{' ' * (first - len(name) + GAP)}{lines.pop(0)}"
        yield lead.rstrip()
        yield from (margin + line for line in lines if line)


def show(shown: ShownTable | str | Sequence[tuple[str, str]] = "", hang: int | None = None) -> None:
    """Print a table, names and values in two columns, or lines of text, folded at spaces where there is a width.

    What is carried over of a line of text begins at column `hang`; by default four columns to the right of its line.
    """
    width = terminal_width()
    if isinstance(shown, ShownTable):
        lines = [*shown.lines(width or PIPE_WIDTH)]
    elif not isinstance(shown, str):
        lines = [*columns(shown, width or sys.maxsize)]
    else:
        lines = []
        for line in shown.split("\n"):
            margin = len(line) - len(line.lstrip()) + 4 if hang is None else hang
            lines += folded(line, width, margin) if width and len(line) > width else [line]
    for line in lines:  # names from files cannot move the cursor, rename the window or run backwards
        sys.stdout.write(f"{_UNSEEN.sub(lambda found: found[0].encode('unicode_escape').decode(), line)}\n")


def terminal_width() -> int | None:
    """Return the columns that lines have to fit: those of a terminal, or COLUMNS; None in files and pipes."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else None


def styled(text: str, code: int) -> str:
    """Return text in bold or colour, on a terminal that shows it."""
    return f"\x1b[{code}m{text}\x1b[0m" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


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
