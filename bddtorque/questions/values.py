"""Questions about values: the largest and the smallest, and how many states reach one, or saturate."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from typing import Literal

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice
from bddtorque.model.model import Model
from bddtorque.questions.answers import Count, Extreme
from bddtorque.questions.bounding import Bracket, largest_sum
from bddtorque.questions.conditions import Conditions
from bddtorque.questions.counting import Counts, states_at_least
from bddtorque.questions.enumeration import EASY_BITS, MAX_BITS, runs
from bddtorque.questions.search_work import WORK, Work, work_of
from bddtorque.questions.sharpening import excludes_saturation, recall, sharpen
from bddtorque.questions.subjects import State, Subject, subject

MAX_WORD = 1 << 61
"""No sum of a term and no word of a block reaches it: ranges are refused from 62 bits on."""
PATIENCE = 0.1
"""Share of the work for branch and bound where all states can be run instead, or the torque itself be bounded.

Boxes, brackets and times of this and of the next two: docs/questions.md, with the commands that measure them.
"""
MAX_FREE_WORDS = 12
"""That boxes of words come first for: to halve each of more words twice makes more boxes than there is work for."""
BOX_SHARE = 0.8
"""Share of the rest for excluding saturation by the torque itself."""


def largest(
    model: Model,
    of: str,
    *,
    where: Conditions = (),
    within_limits: bool = False,
    work: float | Work = WORK,
    limit: float | None = None,
) -> Extreme:
    """Return the largest value of an output, term, word or block, with a state that gives it.

    Parameters
    ----------
    model
        A compiled model.
    of
        Name to ask about; see `subjects`.
    where
        Conditions on the inputs: ``"qd=0, q2 <= 90 deg"`` or ``{"qd": 0, "q[elbow]": (0, 1.5)}``.
    within_limits
        Restrict positions of joints that turn to the limits of their joints.
    work
        Most steps that the answer may take, in millions; a million takes about ten milliseconds.
    limit
        Most seconds that it may take. An answer stopped by this limit depends on the machine.

    Returns
    -------
    Extreme
        Exact, or the bracket known when work or time ran out or Ctrl-C came.
    """
    return _extreme(model, subject(model, of, where, within_limits), "largest", work_of(work, limit))


def smallest(
    model: Model,
    of: str,
    *,
    where: Conditions = (),
    within_limits: bool = False,
    work: float | Work = WORK,
    limit: float | None = None,
) -> Extreme:
    """Return the smallest value of an output, term, word or block; see `largest`."""
    return _extreme(model, subject(model, of, where, within_limits), "smallest", work_of(work, limit))


def saturating(
    model: Model,
    of: str,
    *,
    where: Conditions = (),
    within_limits: bool = False,
    work: float | Work = WORK,
    limit: float | None = None,
) -> Count:
    """Return how many states saturate an output: their rounded sum lies beyond its highest or lowest word.

    The answer is compared with what the certificate says. The arguments are those of `largest`.
    """
    asked, work = subject(model, of, where, within_limits), work_of(work, limit)
    if asked.kind != "output":
        raise BddTorqueError(f"ask: saturation is a question about an output; {of} is a {asked.kind}")
    half = work.part(0.5)
    above = _beyond(model, asked, 1, half)
    # interrupted: nothing is known of the other end
    below = above._replace(low=0, high=asked.states) if work.stopped else _beyond(model, asked, -1, work)
    work.stopped = work.stopped or half.stopped
    low, high = above.low + below.low, min(above.high + below.high, asked.states)
    detail = above.detail if above.detail == below.detail else f"above: {above.detail}; below: {below.detail}"
    way = above.way if above.way == below.way else f"{above.way}, {below.way}"
    count = _count(asked, Counts(low, high, way, detail), "saturate", work)
    return _beside_certificate(model, asked, count)


def reaching(
    model: Model,
    of: str,
    value: float,
    side: Literal["at least", "at most"] = "at least",
    *,
    where: Conditions = (),
    within_limits: bool = False,
    work: float | Work = WORK,
    limit: float | None = None,
) -> Count:
    """Return how many states give at least (or at most) a value, in the unit of what is asked about.

    Outputs are counted over all states of the model, by the values of their words. Terms, words and blocks are
    counted over all states of the words they read. The other arguments are those of `largest`.
    """
    asked, work = subject(model, of, where, within_limits), work_of(work, limit)
    if not math.isfinite(value):
        raise BddTorqueError(f"ask: the value to reach must be finite, got {value}")
    choice(side, ("at least", "at most"), "side")

    def reaches(word: int) -> bool:
        own = asked.value(word)
        own = word if own is None else own
        return own >= value if side == "at least" else own <= value

    upward = (side == "at least") == asked.rising  # whether the words that reach it are the higher ones
    lowest, beyond = (asked.word.lowest, asked.word.highest + 1) if asked.word else (-MAX_WORD, MAX_WORD)
    # the lowest word that all higher ones are as; a range is searched as any list is
    first = lowest + bisect_left(range(lowest, beyond), True, key=lambda word: reaches(word) == upward)
    if first in (lowest, beyond):
        count = asked.states if (first == lowest) == upward else 0
        counts = Counts(count, count, "range", "the value lies beyond the range of the word")
    else:
        counts = (states_at_least if upward else _below)(asked, asked.least_total(first), work)
    refutes = ""
    if asked.kind == "output" and counts.low:
        refutes = _beyond_certificate(model, value, "largest" if side == "at least" else "smallest", asked)
    return replace(_count(asked, counts, f"give {side} {value:g} {asked.unit}".rstrip(), work), refutes=refutes)


def _count(asked: Subject, counts: Counts, what: str, work: Work) -> Count:
    exact = counts.low == counts.high
    return Count(
        asked.name, asked.title, exact, counts.way, counts.detail + work.note(exact), what, counts.low, counts.high,
        asked.states, stopped=work.why(exact), where=asked.where,
    )  # fmt: skip


def _below(asked: Subject, threshold: int, work: Work) -> Counts:
    """Return how many states have a sum below the threshold."""
    others = states_at_least(asked, threshold, work)
    return others._replace(low=asked.states - others.high, high=asked.states - others.low)


def _beyond(model: Model, asked: Subject, direction: int, work: Work) -> Counts:
    """Return how many states saturate at one end: at the highest word (`direction` 1) or the lowest (−1)."""

    def counted(own: Work) -> Counts:
        if direction > 0:
            return states_at_least(asked, asked.least_total(asked.output.high + 1), own)
        return _below(asked, asked.least_total(asked.output.low), own)

    if asked.bits <= MAX_BITS:
        return counted(work)
    first = work.part(PATIENCE)
    counts = counted(first)
    if counts.low == counts.high or work.stopped:
        return counts
    own = work.part(BOX_SHARE)
    none = excludes_saturation(model, asked, direction, own)
    if none:
        return Counts(0, 0, "branch and bound", none)
    return counted(work) if work.goes_on() else counts


def _extreme(model: Model, asked: Subject, which: str, work: Work) -> Extreme:
    direction = 1 if (which == "largest") == asked.rising else -1
    bracket = _searched(model, asked, direction, work)
    total, state = direction * bracket.found, bracket.state
    word, bound_word = int(asked.rounded(total)), int(asked.rounded(direction * bracket.bound))
    if asked.kind == "output":
        held = {name: first for name, (first, _) in asked.within.items()}
        state = {**dict.fromkeys(model.formats.words, 0), **held, **state}
        check_witness(model, asked, state, word)
    exact, value = word == bound_word, asked.value(word)
    refutes = _beyond_certificate(model, value, which, asked) if asked.kind == "output" and value is not None else ""
    return Extreme(
        asked.name, asked.title, exact, bracket.way, bracket.detail + work.note(exact), which, word, value, bound_word,
        asked.value(bound_word), asked.unit, state, asked.unclamped(total) != word, stopped=work.why(exact),
        refutes=refutes, **asked.about(state),
    )  # fmt: skip


def _beyond_certificate(model: Model, value: float, which: str, asked: Subject) -> str:
    """Return what a value refutes that lies beyond the range that the certificate states, by more than a rounding."""
    proved = model.certificate.outputs[asked.place]
    beyond = value - proved.high if which == "largest" else proved.low - value
    if beyond <= proved.lsb:
        return ""
    return f"{value:.7g} {asked.unit} found, beyond the proved range of {proved.low:.7g} to {proved.high:.7g}"


def _searched(model: Model, asked: Subject, direction: int, work: Work) -> Bracket:
    """Return a bracket of the largest sum (`direction` 1), or of minus the smallest: by boxes, or by all states."""
    if asked.bits <= EASY_BITS:
        return _run(asked, direction, work)[0]
    few = asked.bits <= MAX_BITS
    own = work.part(PATIENCE if few or _free_words(asked) <= MAX_FREE_WORDS else 0.0)
    bracket = largest_sum(asked, direction, own)
    if not few and own.stopped and not work.stopped:
        bracket = sharpen(model, asked, direction, bracket, work)
    if few and own.stopped and not work.stopped:
        with work.interruptible():
            best, run = _run(asked, direction, work)
            if run == asked.read_states:
                return best
    undecided = asked.rounded(direction * bracket.found) != asked.rounded(direction * bracket.bound)
    if work.stopped not in ("time", "interrupt") and undecided:
        with work.interruptible():
            bracket = recall(model, asked, direction, bracket)
    return bracket


def _free_words(asked: Subject) -> int:
    """Return how many of the words that are read can be more than one."""
    return sum(first < last for first, last in map(asked.ends, asked.inputs))


def _run(asked: Subject, direction: int, work: Work) -> tuple[Bracket, int]:
    """Return the largest (`direction` 1) or smallest sum of as many states as work allows, and how many these are."""
    best, run = 0, 0
    state: State = {}
    for piece, totals in runs(asked, work):
        place = int((direction * totals).argmax())
        total = direction * int(totals.reshape(-1)[place])
        if not run or total > best:
            best, state = total, piece.state(place)
        run += totals.size
    return Bracket(best, state, best, f"all {run:,} states of its words were run", "enumeration"), run


def check_witness(model: Model, asked: Subject, state: State, word: int) -> None:
    """Run a state by the model's own evaluator; a different word would be a bug of one of the two."""
    given = run_state(model, state)[asked.place]
    if given != word:
        raise BddTorqueError(
            f"ask: {asked.name} is {word} at {state}, but the evaluator gives {given}: this is a bug, please report it"
        )


def run_state(model: Model, state: State) -> list[int]:
    """Return the output words of one state, by the model's own evaluator."""
    grouped = model.formats.grouped(state)
    arrays = {array.name: array.shaped(np.array([grouped[array.name]])) for array in model.formats.inputs}
    return [int(word) for word in model.evaluator("words").output_words(**arrays)[0]]


def _beside_certificate(model: Model, asked: Subject, count: Count) -> Count:
    """Return a count of saturating states with what the certificate says of it, which is about all states."""
    stated = model.certificate.outputs[asked.place].saturation
    if (stated == "cannot" and count.low) or (stated == "can" and not count.high and not count.where):
        refutes = f"the certificate says that it {stated} saturate, but {count.low:,} to {count.high:,} states do"
        return replace(count, certificate=f"the certificate says {stated}", refutes=refutes)
    if stated != "not excluded" or (count.where and not count.low):
        said_of_all = f"{'over all states, ' if count.where else ''}the certificate says {stated}"
    elif not count.high:
        said_of_all = "the certificate says not excluded; this proves that it cannot"
    else:
        said_of_all = f"the certificate says not excluded{'; this proves that it can' if count.low else ''}"
    return replace(count, certificate=said_of_all)
