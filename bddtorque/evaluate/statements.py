"""`Statement`: an assignment of straight-line code before it is text; and what cuts many into functions.

A compiler needs far more than twice the time for a function of twice the size: LLVM had not ended after nine minutes
with the one function of an arm of six joints and 12 bits. Functions of a bounded size, which hand words on in memory,
are compiled in linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

MAX_CHARACTERS = 60_000
"""Most characters of a plan that stays in one function; see the module for what longer ones take to compile."""
PART_CHARACTERS = 8_000
"""Characters of one function of a larger plan."""


class Statement(NamedTuple):
    """An assignment."""

    target: str  # the name that is set, or an element of an array
    value: str  # the expression
    reads: tuple[str, ...] = ()  # the names in it

    def __str__(self) -> str:
        return f"{self.target} = {self.value}"


def wrapped(expression: str, bits: int) -> str:
    """Return an expression brought to a two's complement word of so many bits."""
    half = 1 << (bits - 1)
    return f"(({expression} + {half}) & {2 * half - 1}) - {half}"


def is_large(statements: Sequence[Statement]) -> bool:
    """Tell whether statements are cut."""
    return sum(len(str(statement)) for statement in statements) > MAX_CHARACTERS


def cut(
    statements: Sequence[Statement],
    anywhere: Sequence[Statement],
    places: dict[str, str],
    new_place: Callable[[str], str],
) -> list[list[str]]:
    """Return the bodies of functions that do what statements do, one after another; see `hand_over`."""
    groups: list[list[Statement]] = [[]]
    for statement in statements:
        if sum(len(str(before)) for before in groups[-1]) > PART_CHARACTERS:
            groups.append([])
        groups[-1].append(statement)
    return hand_over(groups, anywhere, places, new_place)


def hand_over(
    groups: Sequence[Sequence[Statement]],
    anywhere: Sequence[Statement],
    places: dict[str, str],
    new_place: Callable[[str], str],
) -> list[list[str]]:
    """Return groups of statements as bodies that read from memory what others set.

    Parameters
    ----------
    anywhere
        Statements that cost so little that every group that needs them does them for itself.
    places
        Where words lie between groups. What the statements read and never set must lie somewhere; what lies somewhere
        and is set is written there; words that one group sets and another reads are added.
    new_place
        Gives the place of a word that is added.
    """
    setter = {statement.target: number for number, group in enumerate(groups) for statement in group}
    crossing = {
        name
        for number, group in enumerate(groups)
        for statement in group
        for name in statement.reads
        if setter.get(name, number) != number
    }
    cheap = {statement.target: statement for statement in anywhere}
    bodies = []
    for group in groups:
        body: list[str] = []
        known: set[str] = set()

        def need(name: str, body: list[str] = body, known: set[str] = known) -> None:
            if name not in known:
                known.add(name)
                if name in cheap:
                    for source in cheap[name].reads:
                        need(source)
                body.append(str(cheap[name]) if name in cheap else f"{name} = {places[name]}")

        for statement in group:
            for name in statement.reads:
                need(name)
            body.append(str(statement))
            known.add(statement.target)
        for name in dict.fromkeys(statement.target for statement in group):
            if name in crossing and name not in places:
                places[name] = new_place(name)
            if name in places:
                body.append(f"{places[name]} = {name}")
        bodies.append(body)
    return bodies
