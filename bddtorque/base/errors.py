"""The one exception that users meet, a single line: what is wrong, what was expected, what was found, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice

LONGEST_MESSAGE = 500
LONGEST_LINE = 1000
"""Characters of any message, whatever it quotes."""
LONGEST_NAME = 100
MAX_NAMES = 1000
"""Names beyond these are not compared: files can hold a great many, and comparing takes the square of their length."""


class BddTorqueError(ValueError):
    """Bad input. The message is one line: what is wrong, what was expected, what was found, and where.

    The message stays on one line whatever names it quotes: line ends, terminal colours and right-to-left text are
    escaped, and long text is shortened.

    Attributes
    ----------
    option
        The option or argument that it is about, if it is about one: a command names the flag instead.
    """

    def __init__(self, message: str = "", option: str = "") -> None:
        super().__init__(one_line(message, LONGEST_LINE))
        self.option = option

    def naming(self, name: str) -> str:
        """Return the message with another name for the option that it is about."""
        message = str(self)
        if self.option and message.startswith(self.option):
            return name + message[len(self.option) :]
        return f"{name}: {message}"


class WrongKindError(BddTorqueError, AttributeError):
    """Something was asked of a compiled robot that only a compiled function has, or the other way round."""


class ClampWarning(UserWarning):
    """An evaluator clamped a value or a word to the range of its format for the first time."""


@contextmanager
def refusals_about(option: str) -> Iterator[None]:
    """Say of whatever is refused here that it is about an option."""
    try:
        yield
    except BddTorqueError as problem:
        problem.option = option
        raise


@contextmanager
def refusals_in(where: str) -> Iterator[None]:
    """Say `where` before whatever is refused here, unless the message begins with it: a robot knows of no files."""
    try:
        yield
    except BddTorqueError as problem:
        said = str(problem)
        raise BddTorqueError(said if said.startswith(where) else f"{where}: {said}") from None


def nearest(given: str, known: Iterable[str]) -> str:
    """Return a hint such as ``; did you mean 'mass'?`` for a name that is not among `known`, or nothing."""
    if len(given) > LONGEST_NAME:
        return ""
    short = islice((name for name in known if len(name) <= LONGEST_NAME), MAX_NAMES)
    close = get_close_matches(given, sorted(short), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def unknown(what: str, given: object, known: Collection[str]) -> str:
    """Return ``unknown key 'bit'; did you mean 'bits'?``, or all that is known where nothing is near."""
    hint = nearest(given, known) if isinstance(given, str) else ""
    return f"unknown {what} {given!r:.60}" + (hint or f"; known: {', '.join(known)}")


def not_among(name: str, given: object, known: Collection[str], or_else: str = "") -> str:
    """Return ``source must be 'auto', 'terms' or 'recursive', got 'term'; did you mean 'terms'?``."""
    choices = [f"'{each}'" for each in known] + ([or_else] if or_else else [])
    listed = " or ".join((", ".join(choices[:-1]), choices[-1])) if len(choices) > 1 else choices[0]
    return f"{name} must be {listed}, got {given!r:.60}" + (nearest(given, known) if isinstance(given, str) else "")


def one_line(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Return text fit for a message, whatever names it quotes: printable, on one line, and not too long."""
    if len(text) > longest:
        text = f"{text[: longest // 2]} ... {text[-longest // 2 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
