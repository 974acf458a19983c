"""Questions about values: the largest and the smallest, and how many states reach one, or saturate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.evaluate.program import QUANTITIES
from bddtorque.model.model import Model
from bddtorque.model.source import FunctionSource
from bddtorque.questions.answers import Count, Extreme
from bddtorque.questions.block_diagrams import index_of, state_of, words_and_counts
from bddtorque.questions.bounding import Told, largest_sum
from bddtorque.questions.counting import EASY_BITS, Counts, states_at_least
from bddtorque.questions.enumeration import MOST_BITS, runs
from bddtorque.questions.subjects import State, Subject, subject

LIMIT = 60.0
"""Seconds for one answer, unless somebody says how many."""
MOST_WORD = 1 << 61
"""No sum of a term and no word of a block reaches it: ranges are refused from 62 bits on."""
INTERRUPTED = "; interrupted"
PATIENCE = 5.0
"""Seconds of branch and bound where all states can be run instead."""


def largest(model: Model, of: str, limit: float = LIMIT, told: Told = lambda _: None) -> Extreme:
    """Return the largest value of an output, term, word or block, with a state that has it; see `subjects` for names.

    `limit` is in seconds; where it is over, or Ctrl-C comes, the answer is the bracket so far.
    """
    return _extreme(model, subject(model, of), "largest", limit, told)


def smallest(model: Model, of: str, limit: float = LIMIT, told: Told = lambda _: None) -> Extreme:
    """Return the smallest value; as `largest`."""
    return _extreme(model, subject(model, of), "smallest", limit, told)


def saturating(model: Model, of: str, limit: float = LIMIT, told: Told = lambda _: None) -> Count:
    """Return how many states saturate an output: their sum, rounded, lies beyond its highest or its lowest word.

    The answer is compared with what the certificate says of it.
    """
    asked = _an_output(model, of, "saturation")
    above = states_at_least(asked, asked.least_total(asked.output.high + 1), limit / 2, told)
    states = _states(asked)
    if above.interrupted:  # nothing is known of the other end
        below = Counts(0, states, above.way, above.detail, True)
    else:
        below = _below(asked, asked.least_total(asked.output.low), limit / 2, told)
    low, high = above.low + below.low, min(above.high + below.high, states)
    detail = above.detail if above.detail == below.detail else f"above: {above.detail}; below: {below.detail}"
    way = above.way if above.way == below.way else f"{above.way}, {below.way}"
    said = _beside_certificate(model, asked, low, high)
    return Count(
        asked.name, asked.title, low == high, way, detail, "saturate", low, high, states, said,
        interrupted=above.interrupted or below.interrupted,
    )  # fmt: skip


def reaching(
    model: Model,
    of: str,
    value: float,
    side: Literal["at least", "at most"] = "at least",
    limit: float = LIMIT,
    told: Told = lambda _: None,
) -> Count:
    """Return how many states give at least (at most) a value, in the unit of what is asked about; words have none.

    Outputs count as their words stand for values, and over all states of the model; terms, words and blocks over all
    states of the words that they read.
    """
    asked = subject(model, of)
    if not math.isfinite(value):
        raise BddTorqueError(f"ask: a finite value in {asked.unit or 'its unit'} required, {value} given")
    states = _states(asked)

    def reaches(word: int) -> bool:
        given = asked.value(word)
        given = word if given is None else given
        return given >= value if side == "at least" else given <= value

    upward = (side == "at least") == asked.rising  # whether the words that reach it are the higher ones
    lowest, beyond = _ends(asked)
    first = _first(lowest, beyond, lambda each: reaches(each) == upward)
    if first in (lowest, beyond):
        found = _known(states if (first == lowest) == upward else 0)
    elif asked.kind == "block":
        found = _by_diagram(model, asked, first, upward)
    elif upward:
        found = states_at_least(asked, asked.least_total(first), limit, told)
    else:
        found = _below(asked, asked.least_total(first), limit, told)
    what = f"give {side} {value:g} {asked.unit}".rstrip()
    exact = found.low == found.high
    return Count(
        asked.name, asked.title, exact, found.way, found.detail, what, found.low, found.high, states,
        interrupted=found.interrupted,
    )  # fmt: skip


def _ends(asked: Subject) -> tuple[int, int]:
    """Return the lowest word, and the first beyond the highest."""
    if asked.word is not None:
        return asked.word.lowest, asked.word.highest + 1
    return -MOST_WORD, MOST_WORD


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the lowest word from `low` on for which something holds that holds for all higher ones; `high` if none."""
    while low < high:
        middle = (low + high) >> 1
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _known(count: int) -> Counts:
    return Counts(count, count, "range", "the value lies beyond the range of the word")


def _by_diagram(model: Model, asked: Subject, first: int, upward: bool) -> Counts:
    """Return how many entries of a block are at least (upward), or below, a word."""
    diagram = model.diagrams[asked.place]
    words, counts = words_and_counts(model.tables[asked.place], diagram)
    count = int(counts[(words >= first) == upward].sum())
    return Counts(count, count, "diagram", f"models counted on {diagram.node_count:,} nodes")


def _below(asked: Subject, threshold: int, limit: float, told: Told) -> Counts:
    """Return how many states have a sum below the threshold."""
    others = states_at_least(asked, threshold, limit, told)
    states = _states(asked)
    return replace(others, low=states - others.high, high=states - others.low)


def _states(asked: Subject) -> int:
    return 1 << (asked.bits + asked.unread)


def _an_output(model: Model, of: str, what: str) -> Subject:
    asked = subject(model, of)
    if asked.kind != "output":
        raise BddTorqueError(f"ask: an output required for {what}, the {asked.kind} {of} given")
    return asked


def _extreme(model: Model, asked: Subject, which: str, limit: float, told: Told) -> Extreme:
    direction = 1 if (which == "largest") == asked.rising else -1
    interrupted = False
    if asked.kind == "block":
        table, diagram = model.tables[asked.place], model.diagrams[asked.place]
        words, _ = words_and_counts(table, diagram)
        total = int(words[-1] if direction > 0 else words[0])
        state, bound, way = state_of(table, index_of(table, diagram, total)), total, "diagram"
        detail = f"{len(words):,} distinct words at the ends of {diagram.node_count:,} nodes"
    else:
        total, bound, state, way, detail = _searched(asked, direction, limit, told)
        interrupted = detail.endswith(INTERRUPTED)
    word, bound_word = int(asked.rounded(total)), int(asked.rounded(bound))
    if asked.kind == "output":
        state = {**dict.fromkeys(model.source.words, 0), **state}
        check_witness(model, asked, state, word)
    clamped = asked.unclamped(total) != word
    value, limit_value = asked.value(word), asked.value(bound_word)
    return Extreme(
        asked.name, asked.title, word == bound_word, way, detail, which, word, value, bound_word, limit_value,
        asked.unit, state, clamped, interrupted=interrupted,
    )  # fmt: skip


def _searched(asked: Subject, direction: int, limit: float, told: Told) -> tuple[int, int, State, str, str]:
    """Return the sum of the best state, the bound, the state, the way and its detail: by boxes, or by all states."""
    few = asked.bits <= MOST_BITS
    if asked.bits > EASY_BITS:
        found = largest_sum(asked, direction, min(limit, PATIENCE) if few else limit, told)
        if not found.stopped or not few or found.stopped == "interrupted":
            why = {"limit": "; stopped by the limit", "memory": "; stopped by memory", "interrupted": INTERRUPTED}
            detail = f"{found.boxes:,} box{'es' * (found.boxes > 1)} of input words looked at"
            ends = direction * found.found, direction * found.bound
            return *ends, found.state, "branch and bound", detail + why.get(found.stopped, "")
    total, state = _by_enumeration(asked, direction)
    return total, total, state, "enumeration", f"all {1 << asked.bits:,} states of its words were run"


def _by_enumeration(asked: Subject, direction: int) -> tuple[int, State]:
    best: tuple[int, State] | None = None
    for piece, total in runs(asked):
        place = int((direction * total).argmax())
        found = int(total.reshape(-1)[place])
        if best is None or direction * found > direction * best[0]:
            best = found, piece.state(place)
    assert best is not None
    return best


def check_witness(model: Model, asked: Subject, state: State, word: int) -> None:
    """Run a state by the model's own evaluator; a different word would be a bug of one of the two."""
    given = run_state(model, state)[asked.place]
    if given != word:
        raise BddTorqueError(
            f"ask: the word {word} of {asked.name} required of the evaluator at {state}, it gives {given}: "
            "this is a bug, please report it"
        )


def run_state(model: Model, state: State) -> list[int]:
    """Return the output words of one state, by the model's own evaluator."""
    if isinstance(model.source, FunctionSource):
        return [int(model.words(*(state[name] for name in model.input_names)))]
    joints = range(1, len(model.formats.q) + 1)
    words = [np.array([state[f"{kind}{j}"] for j in joints]) for kind in QUANTITIES]
    return [int(word) for word in model.torque_words(*words)]


def _beside_certificate(model: Model, asked: Subject, low: int, high: int) -> str:
    """Return what the certificate says of saturation, and refuse what contradicts it."""
    said = model.certificate.outputs[asked.place]
    if (said.saturation == "cannot" and low) or (said.saturation == "can" and not high):
        raise BddTorqueError(
            f"ask: as many states as the certificate allows required ({asked.name}: {said.saturation}), {low} to "
            f"{high} found: this is a bug, please report it"
        )
    if said.saturation != "not excluded":
        return f"the certificate says {said.saturation}"
    if not high:
        return "the certificate says not excluded; this proves that it cannot"
    return f"the certificate says not excluded{'; this proves that it can' if low else ''}"
