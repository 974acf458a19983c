"""Findings of the checker, and the exception that ends a check, be it that it takes more work than a file may.

Work is counted, not timed, so that a check ends, and ends alike on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

MAX_WORK = 40_000_000_000
"""Numbers that are worked through for one file, of 5 to 30 ns; a Panda takes a fifth of that."""
CALL = 5_000
"""Cost of a piece of work besides its numbers, in numbers."""

_left: ContextVar[int | None] = ContextVar("work left", default=None)


@dataclass(frozen=True)
class Finding:
    """One step of the check.

    Attributes
    ----------
    name
        Which step it is.
    passed
        Whether it passed.
    detail
        What was found, in one line.
    rows
        What was found for each output, one line each, where a step says something about each.
    """

    name: str
    passed: bool
    detail: str
    rows: tuple[str, ...] = ()


def lines_of(finding: Finding) -> list[str]:
    """Return the lines in which a finding is printed; each names the step."""
    start = f"{'ok  ' if finding.passed else 'FAIL'}  {finding.name:12}  "
    return [start + text for text in (finding.detail, *finding.rows)]


def one_line(message: str) -> str:
    """Return a message in one line of what can be shown: names in a file may hold anything."""
    return "".join(each if each.isprintable() else "?" for each in " ".join(message.split()))[:1000]


class RefusedError(Exception):
    """The file is not what docs/format.md says, or something in it cannot be proved; the message says what.

    `step` names what failed where that is not the step after the last finding.
    """

    def __init__(self, message: str, step: str = "") -> None:
        super().__init__(message)
        self.step = step


def require(holds: bool, message: str, step: str = "") -> None:
    """Refuse the file with a message unless something holds."""
    if not holds:
        raise RefusedError(message, step)


@contextmanager
def bounded_work() -> Iterator[None]:
    """Refuse what takes more than `MAX_WORK` in here."""
    before = _left.set(MAX_WORK)
    try:
        yield
    finally:
        _left.reset(before)


def work(numbers: int) -> None:
    """Count a piece of work over so many numbers."""
    left = _left.get()
    if left is None:
        return
    if left < 0:
        raise RefusedError(f"no proof was found in {MAX_WORK:,} numbers of work: the file is broken, or too large")
    _left.set(left - numbers - CALL)
