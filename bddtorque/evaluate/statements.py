"""`Statement`: an assignment of straight-line code before it is text; those of inputs and outputs; and `cut`.

The arrays of a state are called in0, in1, ... and `out`.

A compiler needs far more than twice the time for a function of twice the size: LLVM had not ended after nine minutes
with the one function of an arm of six joints and 12 bits. Functions of a bounded size, which hand words on in memory,
are compiled in linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bddtorque.evaluate.state_arrays import InputPlace, StateArrays
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Input
from bddtorque.words.formats import limits

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


@dataclass(frozen=True)
class InputWord:
    """An input of a plan: its wire, place, lowest and highest word, and `low` to `high`, the words in range."""

    wire: int
    place: InputPlace
    bits: int
    wraps: bool
    lowest: int
    highest: int
    low: int
    high: int

    @property
    def array(self) -> str:
        """The name of its array."""
        return f"in{self.place.array}"

    @property
    def covers_all_words(self) -> bool:
        """True if every word of the format is in range."""
        return (self.low, self.high) == (self.lowest, self.highest)

    @property
    def wraps_around(self) -> bool:
        """True if the words in range are those at and beyond `low` and those up to `high`."""
        return self.low > self.high


def array_names(arrays: StateArrays) -> list[str]:
    """Return the names of the input arrays."""
    return [f"in{k}" for k in range(len(arrays.inputs))]


def input_words(plan: Plan, arrays: StateArrays) -> tuple[list[InputWord], list[InputWord]]:
    """Return the inputs of a plan, and those that it does not read but that can be out of range.

    The latter are numbered beyond the plan's wires.
    """
    read = {wire.name for wire in plan.inputs}
    unread = [name for name in arrays.places if name not in read]
    wires = [(k, wire) for k, wire in enumerate(plan.wires) if isinstance(wire, Input)]
    inputs = [_input_word(k, arrays, arrays.places[wire.name]) for k, wire in wires]
    others = [_input_word(len(plan.wires) + k, arrays, arrays.places[name]) for k, name in enumerate(unread)]
    return inputs, [word for word in others if not (word.wraps and word.covers_all_words)]


def _input_word(wire: int, arrays: StateArrays, place: InputPlace) -> InputWord:
    word = arrays.words[place.word]
    return InputWord(wire, place, word.bits, word.kind == "angle", word.lowest, word.highest, *limits(word))


def load_inputs(inputs: Sequence[InputWord]) -> Iterator[str]:
    """Yield the statements that load the words of state s."""
    for word in inputs:
        load = "int64" if word.wraps else "clamp_to_int64"
        yield f"x{word.wire} = {load}({word.array}[s, {word.place.column}])"


def check_inputs(inputs: Sequence[InputWord], counting: bool) -> Iterator[str]:
    """Yield a test that some word may be out of range, and the exact treatment of each below it.

    Angles beyond their limits are used as they are, so that they matter only where they are counted.
    """
    inputs = [word for word in inputs if (counting and not word.covers_all_words) or not word.wraps]
    if not inputs:
        return
    spans = [
        (f"x{word.wire}", *((word.lowest, word.highest) if word.wraps_around else (word.low, word.high)))
        for word in inputs
    ]
    around = [f"(({word.high} - x{word.wire}) & (x{word.wire} - {word.low}))" for word in inputs if word.wraps_around]
    yield f"if {outside(spans, around)}:"
    for word in inputs:
        x = f"x{word.wire}"
        if word.wraps:
            yield f"    {x} = {wrapped(x, word.bits)}"
        if counting:
            beyond = f"({x} < {word.low}) {'&' if word.wraps_around else '|'} ({x} > {word.high})"
            yield f"    {count(word, beyond)}"
        if not word.wraps:
            yield f"    {x} = min(max({x}, {word.lowest}), {word.highest})"


def count(word: InputWord, number: str) -> str:
    """Return the statement that adds a number, or whether something holds, to those out of range at a place."""
    place = f"counts[{word.place.word}]"
    return f"{place} = {place} + int64({number})"


def outside(spans: Iterable[tuple[str, int, int]], negative: Iterable[str] = ()) -> str:
    """Return a test that some integer is not between its two ends, or something else is negative.

    Ends of whole words are tested together: an integer less the lowest word has no other bits then.
    """
    plain: dict[int, list[str]] = {}
    signs = list(negative)
    for name, low, high in spans:
        if low in (0, ~high) and high & (high + 1) == 0:
            plain.setdefault((high - low).bit_length(), []).append(f"({name} + {-low})")
        else:
            signs.append(f"({name} - ({low})) | ({high} - {name})")
    tests = [f"((({' | '.join(sums)}) >> {bits}) != 0)" for bits, sums in plain.items()]
    return " | ".join([*tests, *([f"(({' | '.join(signs)}) < 0)"] if signs else [])])


def clamp_outputs(plan: Plan) -> Iterator[str]:
    """Yield a test that some output r0, r1, ... is beyond its word, as hardly any ever is, and the clamping of all."""
    spans = [(f"r{k}", output.low, output.high) for k, output in enumerate(plan.outputs)]
    yield f"if {outside(spans)}:"
    for name, low, high in spans:
        yield f"    {name} = min(max({name}, {low}), {high})"
