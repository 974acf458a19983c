"""Are two compilations equal: block by block, state by state, or as far as their certificates say."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.model.model import Model
from bddtorque.model.source import RobotSource
from bddtorque.plan.wires import Input
from bddtorque.questions.answers import Equality
from bddtorque.questions.bounding import Told
from bddtorque.questions.enumeration import MOST_BITS, Piece, pieces
from bddtorque.questions.subjects import Integers, State, Subject, subjects
from bddtorque.questions.values import LIMIT
from bddtorque.robots.robot_data import robot_to_plain
from bddtorque.words.bounded import ROOM

TRIED = 1 << 16
"""Random states on which compilations are compared that are too large for all of them."""
SEED = 0


def equality(first: Model, second: Model, limit: float = LIMIT, told: Told = lambda _: None) -> list[Equality]:
    """Return for each output whether two compilations give the same word in every state.

    Exact where both have the same plan (then their tables decide, or a state shows the difference), and where all input
    words together have few bits; else a state that tells them apart, or the bound that follows from both certificates.
    `limit` is in seconds, for each output; where it is over, the states run so far are some states.
    Both need the same input words; outputs of other formats are compared by value.
    """
    _check(first, second)
    if first.plan == second.plan:
        differing = _differing_blocks(first, second)
        if not differing and _same_outputs(first, second):
            detail = f"the same plan, and {len(first.tables)} tables equal entry by entry"
            return [_equal(asked, "blocks", detail) for asked in subjects(first)]
    else:
        differing = ()
    found = []
    for mine, other in zip(subjects(first), subjects(second), strict=True):
        found.append(_compared(first, second, mine, other, differing, limit, told))
    return found


def _check(first: Model, second: Model) -> None:
    if first.source.kind != second.source.kind:
        raise BddTorqueError("ask: two robots or two functions required to compare, one of each given")
    words, others = first.source.words, second.source.words
    if list(words) != list(others):
        raise BddTorqueError(
            f"ask: the same input words required to compare, {', '.join(words)} and {', '.join(others)} given"
        )
    for name, word in words.items():
        mine, yours = (_meaning(each) for each in (word, others[name]))
        if mine != yours:
            raise BddTorqueError(
                f"ask: input words of the same meaning required to compare state by state, {name} has "
                f"{word.bits} bits of {word.lsb:.6g} {word.unit} and {others[name].bits} of {others[name].lsb:.6g}"
            )


def _meaning(word: Any) -> tuple[Any, ...]:
    return (word.kind, word.bits, word.lsb, word.centre, word.sign, word.offset)


def _same_outputs(first: Model, second: Model) -> bool:
    words = zip(first.source.outputs.values(), second.source.outputs.values(), strict=True)
    return all(_meaning(mine) == _meaning(other) for mine, other in words)


def _differing_blocks(first: Model, second: Model) -> tuple[int, ...]:
    pairs = enumerate(zip(first.tables, second.tables, strict=True))
    return tuple(k for k, (mine, other) in pairs if not np.array_equal(mine.values, other.values))


def _equal(asked: Subject, way: str, detail: str) -> Equality:
    states = 1 << (asked.bits + asked.unread)
    return Equality(asked.name, asked.title, True, way, detail, True, detail, 0.0, 0.0, asked.unit, None, 0, states)


def _compared(
    first: Model,
    second: Model,
    mine: Subject,
    other: Subject,
    blocks: tuple[int, ...],
    limit: float,
    told: Told,
) -> Equality:
    """Compare one output on states: all of them where they are few."""
    both = {wire.name: wire for wire in (*mine.inputs, *other.inputs)}
    inputs = tuple(both.values())
    bits = sum(wire.bits for wire in inputs)
    states = 1 << (mine.bits + mine.unread)
    everything = bits <= MOST_BITS
    by_word = _meaning(mine.word) == _meaning(other.word)
    largest, state, differing, run = 0.0, None, 0, 0
    started = last = time.monotonic()
    for piece in pieces(inputs) if everything else [_random(inputs)]:
        words = piece.words() if everything else dict(zip([w.name for w in inputs], piece.axes, strict=True))
        values, others = (_values(each, words, by_word) for each in (mine, other))
        difference = np.abs(values - others)
        difference = np.broadcast_to(difference, piece.shape if everything else (TRIED,))
        differing += int(np.count_nonzero(difference))
        run += difference.size
        place = int(difference.argmax())
        size = float(difference.flat[place])
        if size > largest:
            largest = size
            state = piece.state(place) if everything else _row(inputs, piece, place)
        now = time.monotonic()
        told(now - last)
        last = now
        if now - started > limit:
            break
    scale = mine.word.lsb if by_word and mine.word is not None else 1.0
    largest *= scale
    proved = _bound(first, second, mine.place)
    if everything and run == 1 << bits:
        detail = f"all {1 << bits:,} states of the words that it reads were run"
        return Equality(
            mine.name, mine.title, True, "enumeration", detail, not differing, detail, largest, largest, mine.unit,
            _whole(first, state), differing << (mine.bits + mine.unread - bits), states, blocks,
        )  # fmt: skip
    equal = False if differing else None
    detail = f"{run:,} of {1 << bits:,} states were run" if everything else f"{run:,} random states were run"
    detail += "; the bound is that of both certificates" if proved is not None else "; nothing bounds the difference"
    return Equality(
        mine.name, mine.title, equal is not None, "states and certificates", detail, equal,
        _what(first, second), largest, proved, mine.unit, _whole(first, state), None, states, blocks, True,
    )  # fmt: skip


def _what(first: Model, second: Model) -> str:
    if first.plan == second.plan:
        return "two compilations of one plan, by state"
    return "two plans, by state"


def _values(asked: Subject, words: dict[str, Integers], by_word: bool) -> Any:
    read = {wire.name for wire in asked.inputs}
    found = asked.rounded(asked.total({name: each for name, each in words.items() if name in read}))
    if by_word or asked.word is None:
        return found
    return asked.word.dequantise(found)


def _random(inputs: tuple[Input, ...]) -> Piece:
    rng = np.random.default_rng(SEED)
    ends = [1 << (wire.bits - 1) for wire in inputs]
    return Piece(inputs, tuple(rng.integers(-end, end, TRIED, dtype=np.int64) for end in ends))


def _row(inputs: tuple[Input, ...], piece: Piece, place: int) -> State:
    return {wire.name: int(axis[place]) for wire, axis in zip(inputs, piece.axes, strict=True)}


def _whole(model: Model, state: State | None) -> State | None:
    return None if state is None else {**dict.fromkeys(model.source.words, 0), **state}


def _bound(first: Model, second: Model, place: int) -> float | None:
    """Return how far two outputs can be apart, where both are proved about the same truth over the same range."""
    if not (isinstance(first.source, RobotSource) and isinstance(second.source, RobotSource)):
        return None
    if robot_to_plain(first.robot) != robot_to_plain(second.robot):
        return None
    mine, other = first.certificate.torques[place], second.certificate.torques[place]
    ends = [(model.formats.tau[place].low, model.formats.tau[place].high) for model in (first, second)]
    if ends[0] != ends[1] and not mine.saturation == other.saturation == "cannot":
        return None  # clamped at other ends
    # clamps of one range, but to words of other lengths, end up to a unit apart
    same = mine.lsb == other.lsb or mine.saturation == other.saturation == "cannot"
    rest = 0.0 if same else max(mine.lsb, other.lsb)
    return (mine.bound_si + other.bound_si + rest) * ROOM
