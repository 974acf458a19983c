"""Where compiled words are farthest from the truth: of a block, of a term, of an output."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.model.model import Model
from bddtorque.model.source import RobotSource
from bddtorque.plan.blocks import GivenBlock, ProductBlock, RealBlock, SquareBlock
from bddtorque.plan.bound import compose, planned_facts
from bddtorque.plan.wires import Input
from bddtorque.questions.answers import LargestError
from bddtorque.questions.bounding import Told
from bddtorque.questions.enumeration import pieces
from bddtorque.questions.subjects import Integers, State, Subject, subject
from bddtorque.questions.truths import in_units, true_block, true_function, true_terms, true_torque
from bddtorque.questions.values import LIMIT, check_witness
from bddtorque.sweep.measuring import subject_of
from bddtorque.sweep.searching import climb
from bddtorque.words.argument import argument_of
from bddtorque.words.bounded import Bounded

MOST_BITS = 24
"""Input bits of what is compared on every state."""
PIECE_BITS = 17
"""States compared at a time: the truth keeps a few dozen arrays."""
STATES_A_SECOND = 20_000
"""States of a search, about, in a second of its limit."""
MOST_SEARCHED, MOST_TRIED = 400_000, 50_000
"""States tried at most: by a search that goes from one to the next, and at random, all at once."""
TERM_STATES_A_SECOND = 2_000
"""Random states on which a term is compared, about, in a second of its limit."""

Grid = dict[str, Integers]
Compared = Callable[[Grid], tuple[Integers, Bounded]]
"""Compiled words, and the truth in their units, on a grid of input words."""


def largest_error(model: Model, of: str, limit: float = LIMIT, told: Told = lambda _: None) -> LargestError:
    """Return the largest |compiled − true| of a block, a term or an output, in units, and a state that has it.

    Exact, up to the radius stated, where every state can be compared in about `limit` seconds; else a bracket: found by
    a search, or among the states compared, and proved by the certificate. Blocks are compared whole in any case.
    """
    asked = subject(model, of)
    if asked.kind == "word":
        raise BddTorqueError(f"ask: an output, a term or a block required for the error, the word {of} given")
    if asked.kind == "block":
        return _of_block(model, asked)
    if asked.kind == "term":
        return _of_term(model, asked, limit)
    return _of_output(model, asked, limit, told)


def _of_block(model: Model, asked: Subject) -> LargestError:
    block, table = model.plan.blocks[asked.place], model.tables[asked.place]
    lsb = float(block.lsb) if isinstance(block, RealBlock) else 1.0
    if isinstance(block, GivenBlock):
        detail = "its words were given: the error is as stated when they were"
        units = block.error / lsb
        return LargestError(asked.name, asked.title, False, "stated", detail, 0.0, units, 0.0, lsb, "", {}, None, None)

    def compared(words: Grid) -> tuple[Integers, Bounded]:
        index: Integers = np.zeros(1, dtype=np.int64)
        for each, width in zip(words.values(), table.input_widths, strict=True):
            index = (index << width) | (each & ((1 << width) - 1))
        return table.values[index].astype(np.int64), _block_truth(block, words)

    found = _worst(asked.inputs, compared)
    return _answer(asked, found, "every entry compared with the exact function", lsb, "")


def _block_truth(block: object, words: Grid) -> Bounded:
    """Return what a block's words stand for, in units; those of products are exact rationals, of small floats."""
    if isinstance(block, SquareBlock):
        return Bounded(np.floor(next(iter(words.values())).astype(np.float64) ** 2 / 4))
    if isinstance(block, ProductBlock):
        left, right = (
            (each if block.signed else each & ((1 << width) - 1)).astype(np.float64)
            for each, width in zip(words.values(), block.widths, strict=True)
        )
        return Bounded(left * right / (1 << block.shift))
    return true_block(block, words)  # type: ignore[arg-type]


def _of_term(model: Model, asked: Subject, limit: float) -> LargestError:
    """Compare a term on all states that it depends on, positions and its own motions, or on some of them."""
    output, word = model.plan.outputs[asked.place], model.formats.tau[asked.place]
    read = {wire.name for wire in asked.inputs} | {name for motion in asked.motions for name in motion}
    # only gravity asks where the first joint stands: all else turns, or slides, with it
    first = 1 if () in asked.motions else 2
    if any(
        len(motion) != 1 or motion[0].startswith("qdd") for motion in asked.motions
    ):  # friction asks for no position
        read |= {f"q{j}" for j in range(first, len(model.formats.q) + 1)}
    inputs = _inputs(model, read)
    scale = 2.0**-output.shift

    def compared(words: Grid) -> tuple[Integers, Bounded]:
        compiled = asked.total({name: words[name] for name in words if name in {w.name for w in asked.inputs}})
        truth = true_terms(model, asked.place, asked.motions, words)
        units = Bounded(word.sign * truth.value / word.lsb, np.abs(truth.radius) / word.lsb * (1 + 1e-12))
        if () in asked.motions:  # the word stands for the torque from its centre on
            units = units - (word.sign * word.offset + word.centre) / word.lsb
        return compiled * scale, units  # type: ignore[return-value]

    if sum(wire.bits for wire in inputs) <= MOST_BITS:
        found = _worst(inputs, compared, seconds=limit)
        answer = _answer(asked, found, f"{found.much} states of its words compared", word.lsb, word.unit)
        return answer if found.complete else _bracket(answer, _term_bound(model, asked), "states and plan")
    state, tried = _tried(inputs, compared, int(min(limit * TERM_STATES_A_SECOND, MOST_TRIED)))
    one = _worst(inputs, compared, state=state)
    detail = f"{tried:,} random states tried; proved by the errors of the term's own words"
    return _bracket(_answer(asked, one, detail, word.lsb, word.unit), _term_bound(model, asked), "states and plan")


def _term_bound(model: Model, asked: Subject) -> float:
    """Return a bound of a term's error, in units: its own words', and all that the whole torque errs besides.

    Factors rounded to whole numbers, terms left out and float arithmetic are known of the whole torque only, each as a
    sum of what the terms contribute: no term has more.
    """
    output = model.plan.outputs[asked.place]
    read = asked.output.parts
    plan = replace(asked.plan, outputs=(replace(output, parts=read),))
    scales = {name: argument_of(word).scale for name, word in model.source.words.items()}
    (bound,) = compose(plan, scales, planned_facts(plan))
    arithmetic = model.certificate.torques[asked.place].parts.arithmetic
    return (bound.total - bound.final_rounding + arithmetic) * (1 + 1e-9)


def _inputs(model: Model, names: set[str]) -> tuple[Input, ...]:
    formats = model.source.words
    return tuple(Input(name, word.bits, word.kind == "angle") for name, word in formats.items() if name in names)


def _of_output(model: Model, asked: Subject, limit: float, told: Told) -> LargestError:
    assert asked.word is not None
    word, formats = asked.word, model.source.words
    inputs = _inputs(model, set(formats))
    reads = {wire.name for wire in asked.inputs}

    def compared(words: Grid) -> tuple[Integers, Bounded]:
        compiled = asked.rounded(asked.total({name: words[name] for name in words if name in reads}))
        truth = in_units(_truth(model, asked, words), word)
        return compiled, Bounded(np.clip(truth.value, word.lowest, word.highest), truth.radius)

    known = _bound(model, asked)
    if _truth(model, asked, {name: np.zeros(1, dtype=np.int64) for name in formats}) is None:
        detail = "the file does not hold the function itself: the error is as the certificate states it"
        return LargestError(
            asked.name, asked.title, False, "certificate", detail, 0.0, known, 0.0, word.lsb, word.unit, {}, None, None
        )
    if sum(wire.bits for wire in inputs) <= MOST_BITS:
        found = _worst(inputs, compared, told, seconds=limit)
        answer = _answer(asked, found, f"{found.much} states compared", word.lsb, word.unit)
        return answer if found.complete else _bracket(answer, known, "states and certificate")
    state, tried = _searched(model, asked, limit, inputs, compared)
    one = _worst(inputs, compared, told, state)
    check_witness(model, asked, one.state, int(one.word))
    return LargestError(
        asked.name, asked.title, False, "search and certificate", f"{tried:,} states tried in search of the worst",
        one.found, known, one.radius, word.lsb, word.unit, one.state, int(one.word), one.truth,
    )  # fmt: skip


def _truth(model: Model, asked: Subject, words: Grid) -> Bounded:
    if isinstance(model.source, RobotSource):
        return true_torque(model, asked.place, words)
    return true_function(model, words)  # type: ignore[return-value]


def _bound(model: Model, asked: Subject) -> float:
    return model.certificate.bounds[asked.place]


def _searched(
    model: Model, asked: Subject, limit: float, inputs: tuple[Input, ...], compared: Compared
) -> tuple[State, int]:
    """Return the worst state that a search finds, and how many it tried."""
    budget = min(int(limit * STATES_A_SECOND), MOST_SEARCHED)
    if isinstance(model.source, RobotSource):
        n = len(model.formats.q)
        found = climb(subject_of(model, form="dense"), 0, asked.place, np.zeros((3, n), dtype=np.int64), budget)
        names = list(model.source.words)
        return dict(zip(names, np.asarray(found["worst_state"]).reshape(-1).tolist(), strict=True)), found["tried"]
    return _tried(inputs, compared, min(budget, MOST_TRIED))


def _tried(inputs: tuple[Input, ...], compared: Compared, count: int) -> tuple[State, int]:
    """Return the worst of some random states, and how many were tried."""
    rng = np.random.default_rng(0)
    words = {wire.name: rng.integers(-(1 << (wire.bits - 1)), 1 << (wire.bits - 1), max(count, 1)) for wire in inputs}
    compiled, truth = compared(words)
    place = int(np.abs(compiled - truth.value).argmax())
    return {name: int(each[place]) for name, each in words.items()}, max(count, 1)


class _Worst:
    """The largest error so far, of the states that were compared."""

    def __init__(self, states: int) -> None:
        self.compared, self.states = 0, states
        self.found = self.bound = -1.0
        self.radius = self.word = self.truth = 0.0
        self.state: State = {}

    @property
    def complete(self) -> bool:
        """Whether all states were compared."""
        return self.compared == self.states

    @property
    def much(self) -> str:
        """How many states were compared, for people."""
        return f"all {self.states:,}" if self.complete else f"{self.compared:,} of {self.states:,}"


def _worst(
    inputs: tuple[Input, ...],
    compared: Compared,
    told: Told = lambda _: None,
    state: State | None = None,
    seconds: float = math.inf,
) -> _Worst:
    """Return the largest error over all states of some inputs, or those that time allows, or that of one state."""
    started = last = time.monotonic()
    worst = _Worst(1 << sum(wire.bits for wire in inputs) if state is None else 1)
    parts = pieces(inputs, PIECE_BITS) if state is None else [None]
    for piece in parts:
        words = piece.words() if piece else {name: np.array([word]) for name, word in (state or {}).items()}
        shape = piece.shape if piece else (1,)
        compiled, truth = compared(words)
        difference = np.broadcast_to(np.abs(compiled - truth.value), shape)
        radius = np.broadcast_to(truth.radius, shape)
        worst.bound = max(worst.bound, float((difference + radius).max()))
        place = int(difference.argmax())
        if difference.flat[place] > worst.found:
            worst.found, worst.radius = float(difference.flat[place]), float(radius.flat[place])
            worst.word = float(np.broadcast_to(compiled, shape).flat[place])
            worst.truth = float(np.broadcast_to(truth.value, shape).flat[place])
            worst.state = piece.state(place) if piece else dict(state or {})
        worst.compared += math.prod(shape)
        now = time.monotonic()
        told(now - last)
        last = now
        if now - started > seconds:
            break
    return worst


def _bracket(answer: LargestError, bound: float, way: str) -> LargestError:
    """Return what was found of some states as a bracket, with what is proved of all of them."""
    return replace(answer, exact=False, way=way, bound=bound)


def _answer(asked: Subject, found: _Worst, detail: str, lsb: float, unit: str) -> LargestError:
    word = int(found.word) if found.word == int(found.word) else None
    # a state of a smaller difference but a larger radius may be the worst in truth: the radius reaches to its bound
    radius = max(
        found.radius, math.nextafter(found.bound - found.found, math.inf) if found.bound > found.found else 0.0
    )
    return LargestError(
        asked.name, asked.title, True, "enumeration", detail, found.found, found.bound, radius, lsb, unit,
        found.state, word, found.truth,
    )  # fmt: skip
