"""Statements cut into functions of bounded size, which hand words on in memory.

A compiler needs far more than twice the time for a function of twice the size: LLVM had not ended after nine minutes
with the one function of an arm of six joints and 12 bits. Functions of a bounded size are compiled in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

MAX_CHARACTERS = 60_000
"""Most characters of a plan that stays in one function; see the module for what longer ones take to compile."""
PART_CHARACTERS = 8_000
"""Characters of one function of a larger plan."""

_NAME = re.compile(r"\b[a-z]\d+(?:_[0-9a-f]+)?\b")
"""Words in the statements: a letter and a number, as w12, x3 or m4_3ff0."""


def is_large(statements: Sequence[str]) -> bool:
    """Tell whether statements are cut."""
    return sum(map(len, statements)) > MAX_CHARACTERS


def cut(
    statements: Sequence[str],
    anywhere: Sequence[str],
    places: dict[str, str],
    new_place: Callable[[str], str],
) -> list[list[str]]:
    """Return the bodies of functions that do what statements do, one after another.

    Parameters
    ----------
    statements
        "name = expression", or an element of an array instead of a name.
    anywhere
        Statements that cost so little that every function that needs them does them for itself.
    places
        Where words lie between functions. What the statements read and never set must lie somewhere; what lies
        somewhere and is set is written there; words that one function sets and another reads are added.
    new_place
        Gives the place of a word that is added.
    """
    groups: list[list[str]] = [[]]
    for line in statements:
        if sum(map(len, groups[-1])) > PART_CHARACTERS:
            groups.append([])
        groups[-1].append(line)
    last_read = {name: number for number, group in enumerate(groups) for line in group for name in _read(line)}
    cheap = {_set(line): line for line in anywhere}
    bodies = []
    for number, group in enumerate(groups):
        body: list[str] = []
        known: set[str] = set()

        def need(name: str, body: list[str] = body, known: set[str] = known) -> None:
            if name not in known:
                known.add(name)
                for source in _read(cheap.get(name, "")):
                    need(source)
                body.append(cheap.get(name) or f"{name} = {places[name]}")

        for line in group:
            for name in _read(line):
                need(name)
            body.append(line)
            known.add(_set(line))
        for name in dict.fromkeys(map(_set, group)):
            if last_read.get(name, -1) > number and name not in places:
                places[name] = new_place(name)
            if name in places:
                body.append(f"{places[name]} = {name}")
        bodies.append(body)
    return bodies


def _set(line: str) -> str:
    return line.partition(" = ")[0]


def _read(line: str) -> list[str]:
    """Return the words that a statement reads, each once."""
    return list(dict.fromkeys(_NAME.findall(line.partition(" = ")[2])))
