"""How much a file may take: work is counted, not timed, so that a check ends, and ends alike on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .findings import RefusedError

MAX_WORK = 40_000_000_000
"""Numbers that are worked through for one file, of 5 to 30 ns; a Panda takes a fifth of that."""
CALL = 5_000
"""What a piece of work costs besides its numbers, in numbers."""

_left: ContextVar[int | None] = ContextVar("work left", default=None)


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
