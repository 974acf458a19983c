"""The one exception that users meet: a single line that says what was required, what was given, and where."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_MESSAGE = 500


class BddTorqueError(ValueError):
    """Bad input: the message is one line that names what was required, what was given and where."""


def nearest(given: str, known: Iterable[str]) -> str:
    """Return a hint such as `` (did you mean 'mass'?)`` for a name that is not among `known`, or nothing."""
    close = get_close_matches(given, sorted(known), n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""


def one_line(text: str) -> str:
    """Return text fit for a message, whatever names it quotes: printable, on one line, and not too long."""
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
