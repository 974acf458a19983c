"""Are two compilations equal: block by block, state by state, or as far as their certificates say."""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.model.model import Model
from bddtorque.questions.answers import Equality
from bddtorque.questions.enumeration import MAX_BITS, Piece, pieces, random_words
from bddtorque.questions.search_work import WORK, Work, work_of
from bddtorque.questions.subjects import State, Subject, Words, subjects
from bddtorque.robots.robot_data import robot_to_plain
from bddtorque.words.bounded import ROUND_UP

TRIED = 1 << 16
"""Random states on which compilations are compared that are too large for all of them."""


def equality(first: Model, second: Model, *, work: float | Work = WORK, limit: float | None = None) -> list[Equality]:
    """Return for each output whether two compiled models give the same word in every state.

    The answer is exact if both have the same plan (their tables decide, or a state shows the difference) or if all
    input words together have few bits. Otherwise it is a state that tells them apart, or the bound that follows from
    both certificates. Both models need the same input words; outputs with different formats are compared by value.
    `work` and `limit` are those of `largest`, for each output.
    """
    _check(first, second)
    if first.plan == second.plan:
        differing = _differing_blocks(first, second)
        if not differing and _same_outputs(first, second):
            detail = f"the same plan, and {len(first.tables)} tables equal entry by entry"
            return [_equal(asked, "blocks", detail) for asked in subjects(first)]
    else:
        differing = ()
    answers: list[Equality] = []
    for place in range(len(first.plan.outputs)):
        if not answers or not answers[-1].interrupted:
            answers.append(_compared(first, second, place, differing, work_of(work, limit).again()))
    return answers


def _check(first: Model, second: Model) -> None:
    if first.provenance.kind != second.provenance.kind:
        raise BddTorqueError("ask: a robot can only be compared with a robot, and a function with a function")
    if first.provenance.quantity is not None and first.provenance.what != second.provenance.what:
        raise BddTorqueError(f"ask: {first.provenance.what} cannot be compared with {second.provenance.what}")
    words, others = first.formats.words, second.formats.words
    if list(words) != list(others):
        raise BddTorqueError(
            f"ask: both must have the same input words, got {', '.join(words)} and {', '.join(others)}"
        )
    for name, word in words.items():
        mine, yours = (_meaning(each) for each in (word, others[name]))
        if mine != yours:
            raise BddTorqueError(
                f"ask: input words must mean the same in both to be compared state by state; {name} has "
                f"{word.bits} bits of {word.lsb:.6g} {word.unit} and {others[name].bits} of {others[name].lsb:.6g}"
            )


def _meaning(word: Any) -> tuple[Any, ...]:
    return (word.kind, word.bits, word.lsb, word.centre, word.sign, word.offset)


def _same_outputs(first: Model, second: Model) -> bool:
    words = zip(first.formats.results.values(), second.formats.results.values(), strict=True)
    return all(_meaning(mine) == _meaning(other) for mine, other in words)


def _differing_blocks(first: Model, second: Model) -> tuple[int, ...]:
    pairs = enumerate(zip(first.tables, second.tables, strict=True))
    return tuple(k for k, (mine, other) in pairs if not np.array_equal(mine.values, other.values))


def _equal(asked: Subject, way: str, detail: str) -> Equality:
    return Equality(
        asked.name, asked.title, True, way, detail, True, detail, 0.0, 0.0, asked.unit, None, 0, asked.states
    )


def _compared(first: Model, second: Model, place: int, blocks: tuple[int, ...], work: Work) -> Equality:
    """Compare one output on states: all of them where they are few."""
    mine, other = (subjects(model)[place] for model in (first, second))
    inputs = tuple({wire.name: wire for wire in (*mine.inputs, *other.inputs)}.values())
    bits = sum(wire.bits for wire in inputs)
    by_word = _meaning(mine.word) == _meaning(other.word)
    largest, differing, run = 0.0, 0, 0
    state: State | None = None
    with work.interruptible():
        for piece in pieces(inputs) if bits <= MAX_BITS else [Piece(random_words(inputs, TRIED))]:
            if run and not work.goes_on():
                break
            apart = np.abs(_values(mine, piece.words, by_word) - _values(other, piece.words, by_word))
            apart = np.broadcast_to(apart, piece.shape)
            differing += int(np.count_nonzero(apart))
            place_of_most = int(apart.argmax())
            if apart.flat[place_of_most] > largest:
                largest, state = float(apart.flat[place_of_most]), piece.state(place_of_most)
            run += apart.size
            work.spend(apart.size * (mine.steps + other.steps))
    if by_word and mine.word is not None:
        largest *= mine.word.lsb
    if state is not None:
        state = {**dict.fromkeys(first.formats.words, 0), **state}
    if run == 1 << bits:
        detail = f"all {run:,} states of the words that it reads were run"
        return Equality(
            mine.name, mine.title, True, "enumeration", detail, not differing, detail, largest, largest, mine.unit,
            state, differing * (mine.states >> bits), mine.states, blocks,
        )  # fmt: skip
    proved = _bound(first, second, place)
    refutes = ""
    if proved is not None and largest > proved:
        refutes = f"apart by {largest:.6g} {mine.unit}, and both certificates together allow {proved:.6g}"
    detail = f"{run:,} of {1 << bits:,} states were run" if bits <= MAX_BITS else f"{run:,} random states were run"
    detail += "; the bound is that of both certificates" if proved is not None else "; nothing bounds the difference"
    what = "two compilations of one plan, by state" if first.plan == second.plan else "two plans, by state"
    return Equality(
        mine.name, mine.title, differing > 0, "states and certificates", detail + work.note(False),
        False if differing else None, what, largest, proved, mine.unit, state, None, mine.states, blocks, True,
        stopped=work.stopped, refutes=refutes,
    )  # fmt: skip


def _values(asked: Subject, words: Words, by_word: bool) -> Any:
    output = asked.rounded(asked.total({name: words[name] for name in asked.names}))
    return output if by_word or asked.word is None else asked.word.dequantise(output)


def _bound(first: Model, second: Model, place: int) -> float | None:
    """Return how far two outputs can be apart, where both are proved about the same truth over the same range."""
    if first.provenance.robot is None or second.provenance.robot is None:
        return None
    if robot_to_plain(first.robot) != robot_to_plain(second.robot) or first.spec.gains != second.spec.gains:
        return None
    mine, other = first.certificate.outputs[place], second.certificate.outputs[place]
    ends = [(word.low, word.high) for word in (list(each.formats.results.values())[place] for each in (first, second))]
    if ends[0] != ends[1] and not mine.saturation == other.saturation == "cannot":
        return None  # clamped at other ends
    # clamps of one range, but to words of other lengths, end up to a unit apart
    same = mine.lsb == other.lsb or mine.saturation == other.saturation == "cannot"
    rest = 0.0 if same else max(mine.lsb, other.lsb)
    return (mine.bound_si + other.bound_si + rest) * ROUND_UP
