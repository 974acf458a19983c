"""Brackets of a compiled torque made closer by what is proved of the torque itself and of the words' errors.

No compiled word is further from the true torque, clamped to the range of the words, than the certificate says.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bddtorque.model.model import Model
from bddtorque.questions.bounding import Bracket, boxes_looked_at, good_state, largest_sum
from bddtorque.questions.search_work import Work
from bddtorque.questions.subject_kinds import State, Subject
from bddtorque.questions.torque_bounds import bound_torque
from bddtorque.words.formats import limit_run


def sharpen(model: Model, asked: Subject, direction: int, known: Bracket, work: Work) -> tuple[Bracket, str]:
    """Return a closer bracket of the largest sum (see `largest_sum`) than is known of it, and what was done."""
    end = asked.output.high if direction > 0 else asked.output.low

    def ends(state: State) -> bool:
        """Take up what can be made of a state, and return whether its word is the last one of the range."""
        nonlocal known
        known = _with_state_near(asked, direction, known, state, work)
        return bool(asked.rounded(direction * known.found) == end)

    extreme = None
    if asked.word is not None:
        extreme = bound_torque(model, asked, direction * asked.word.sign, work, ends=ends)
    if extreme is None and work.stopped:
        return known, boxes_looked_at(known.boxes)
    if extreme is None:  # more boxes of words are all there is
        again = largest_sum(asked, direction, work)
        return again, boxes_looked_at(again.boxes)
    reached = False
    with work.interruptible():
        reached = ends(extreme.state)
    if reached:
        return known, "a state reaches the end of the range"
    done = f"{boxes_looked_at(known.boxes)}, and {extreme.boxes:,} of the torque itself"
    return _bounded(model, asked, direction, known, extreme.bound), done


def _with_state_near(asked: Subject, direction: int, known: Bracket, state: State, work: Work) -> Bracket:
    """Return a bracket that knows of a state, improved word by word."""
    start = np.array([state[name] for name in asked.names], dtype=np.int64)
    if any(name in asked.within for name in asked.names):  # the nearest words may be just beyond
        ends = np.array([asked.ends(wire) for wire in asked.inputs], dtype=np.int64).reshape(-1, 2).T
        size = np.array([1 << wire.bits if wire.wraps else 0 for wire in asked.inputs])
        start = np.clip(np.where((size > 0) & (start < ends[0]), start + size, start), *ends)
    best = good_state(asked, direction, work, start)
    found = int(direction * asked.sums(best[None])[0])
    if found <= known.found:
        return known
    words = asked.wrapped(best[None])[0].tolist()
    return replace(known, found=found, state=dict(zip(asked.names, words, strict=True)))


def recall(model: Model, asked: Subject, direction: int, known: Bracket) -> Bracket:
    """Return a bracket that is no wider than what the certificate shows of the torque, see `torque_extents`."""
    if asked.word is None or asked.kind != "output" or not model.certificate.ranges:
        return known
    stated = model.certificate.ranges[asked.place]
    runs = {name: limit_run(word) for name, word in model.formats.words.items()}
    # a word that is not read may be any, within its limits too
    limited = all(run is None or name not in asked.names or _holds(asked, name, run) for name, run in runs.items())
    extent = stated.within_limits if limited and stated.within_limits else stated.extent
    above = direction * asked.word.sign > 0
    state = dict(zip(runs, extent.high_state if above else extent.low_state, strict=True))
    if all(_may_be(asked, name, state[name]) for name in asked.within):
        words = np.array([[state[name] for name in asked.names]], dtype=np.int64)
        found = int(direction * asked.sums(words)[0])
        if found > known.found:
            known = replace(known, found=found, state={name: state[name] for name in asked.names})
    return _bounded(model, asked, direction, known, extent.high if above else extent.low)


def _holds(asked: Subject, name: str, run: tuple[int, int]) -> bool:
    """Whether a question is about no other words of an input than those of a run."""
    if name not in asked.within:
        return False
    (first, last), turn = asked.within[name], 1 << asked.formats[name].bits
    return any(run[0] <= first + k * turn and last + k * turn <= run[1] for k in (-1, 0, 1))


def _may_be(asked: Subject, name: str, word: int) -> bool:
    """Whether a question is about a word of an input."""
    (first, last), turn = asked.within[name], 1 << asked.formats[name].bits
    return any(first <= word + k * turn <= last for k in (0, 1))


def _bounded(model: Model, asked: Subject, direction: int, known: Bracket, torque: float) -> Bracket:
    """Return a bracket of a sum, given that no torque is larger (`direction` of the word 1) or smaller."""
    assert asked.word is not None
    units, error = asked.word.units(torque), model.certificate.outputs[asked.place].bound
    if direction > 0:
        top = math.floor(units + error)
        bound = asked.least_total(top + 1) - 1 if top < asked.output.high else known.bound
    else:
        bottom = math.ceil(units - error)
        bound = -asked.least_total(bottom) if bottom > asked.output.low else known.bound
    return replace(known, bound=max(known.found, min(known.bound, bound)))


def excludes_saturation(model: Model, asked: Subject, direction: int, work: Work) -> str:
    """Return what was done if it shows that no state saturates at the highest word (`direction` 1) or the lowest."""
    word = asked.word
    if word is None:
        return ""
    error = model.certificate.outputs[asked.place].bound * (1 + 1e-9)
    end = asked.output.high - error if direction > 0 else asked.output.low + error
    enough = word.sign * (word.centre + end * word.lsb) + word.offset
    extreme = bound_torque(model, asked, direction * word.sign, work, enough)
    if extreme is None:
        return ""
    units = word.units(extreme.bound)
    excluded = units < end if direction > 0 else units > end
    return f"{extreme.boxes:,} boxes of the torque itself looked at" if excluded else ""
