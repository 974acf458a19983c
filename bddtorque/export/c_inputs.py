"""Statements that take input words: angles wrap, other words are clamped, and what is out of range is counted.

Words that are to be clamped are tested all at once, and looked at one by one only if some word is out of range: few
operations for states in range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from bddtorque.export.c_signature import CSignature
from bddtorque.export.c_sums import Value
from bddtorque.export.c_text import statement, unsigned
from bddtorque.words.formats import Format, limits


def take_inputs(signature: CSignature, values: Mapping[str, Value]) -> Iterator[str]:
    """Yield the statements that take every input word; `values` are the variables of those that are read."""
    tested = {
        array: formats
        for array, formats in signature.arrays.items()
        if any(_clamped(word, signature) for word in formats)
    }
    yield from _range_test(signature, tested) if tested else ()
    for array, formats in signature.arrays.items():
        given = f"given_{array}" if array in tested else array
        lines = [
            line
            for place, (word, name) in enumerate(zip(formats, signature.names[array], strict=True))
            for line in _input(f"{given}[{place}]", word, values.get(name), signature.register < 32)
        ]
        yield from lines
        if not lines:
            yield f"    (void){given};"


def _clamped(word: Format, signature: CSignature) -> bool:
    """Return whether an argument can be beyond its word's ends."""
    return word.kind == "range" and word.bits < signature.bits


def _range_test(signature: CSignature, tested: Mapping[str, tuple[Format, ...]]) -> Iterator[str]:
    """Yield a test of all words that are to be clamped; where one is out of range, copies are taken in their place."""
    for array, formats in tested.items():
        yield f"    {signature.type} held_{array}[{len(formats)}];"
        yield f"    const {signature.type} *given_{array} = {array};"
    sums: dict[int, list[str]] = {}
    for array, formats in tested.items():
        for place, word in enumerate(formats):
            if _clamped(word, signature):
                sums.setdefault(word.bits, []).append(raised(f"{array}[{place}]", word.bits, signature))
    tests = [
        f"{'| ' if k or place else ''}{'((' * (not place)}{each}{f') >> {bits}u)' * (place == len(among) - 1)}"
        for k, (bits, among) in enumerate(sums.items())
        for place, each in enumerate(among)
    ]
    yield statement("if ((", tests, ") != 0u) { /* some word is out of range */")
    for array, formats in tested.items():
        runs = [(word.bits if _clamped(word, signature) else 0, place) for place, word in enumerate(formats)]
        for bits, places in ((bits, [place for _, place in run]) for bits, run in groupby(runs, lambda run: run[0])):
            first = places[0]
            if bits:
                ends = f"{len(places)}u, {bits}u"
                yield f"        outside += clamp_words(&{array}[{first}], &held_{array}[{first}], {ends});"
            else:
                yield from (f"        held_{array}[{place}] = {array}[{place}];" for place in places)
        yield f"        given_{array} = held_{array};"
    yield "    }"


def raised(word: str, bits: int, signature: CSignature) -> str:
    """Return a word, moved so that it has no bits above its own if, and only if, it is in range."""
    half = unsigned(1 << (bits - 1))
    if signature.bits == signature.register * 2 == 16:  # an 8-bit processor tests what it is given
        return f"(uint16_t)((uint16_t){word} + {half})"
    return f"((uint32_t){word} + {half})"


def _input(given: str, word: Format, value: Value | None, small: bool) -> Iterator[str]:
    """Yield what takes one word, which is in range by now unless it is an angle; nothing if nobody reads it."""
    first, last = limits(word)
    kind = "" if value is None else f"{'' if value.signed else 'u'}int{value.bits}_t"
    held = given if word.kind == "range" or word.bits == 32 else f"wrapped32((uint32_t){given}, {word.bits}u)"
    if value is not None:
        taken = held if value.signed else given  # what is only an index is masked where it is looked up
        yield f"    const {kind} {value.name} = {taken if kind == 'int32_t' else f'({kind}){taken}'};"
    if word.kind == "angle" and (first, last) != (word.lowest, word.highest):
        yield f"    outside += {_beyond(given, word.bits, first, last, small)};"


def _beyond(word: str, bits: int, first: int, last: int, small: bool) -> str:
    """Return 1 if an angle is not from first on to last, over half a turn if need be; else 0."""
    turn = 1 << bits
    if first >= turn // 2:  # there is no such word
        return "1"
    span = (last - first) % turn
    if small and bits <= 16:
        moved = f"(uint16_t)((uint16_t)((uint16_t){word} - {unsigned(first % turn)}) & {unsigned(turn - 1)})"
        return f"({moved} > {unsigned(span)}) ? 1 : 0"
    # bits above those of the word are shifted out
    moved = f"((uint32_t){word} - {unsigned(first % turn)})"
    if bits < 32:
        moved = f"({moved} << {32 - bits}u)"
    return f"({moved} > {unsigned(span << (32 - bits))}) ? 1 : 0"
