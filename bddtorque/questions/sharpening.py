"""Brackets of a compiled torque made closer by what is proved of the torque itself and of the words' errors.

No compiled word is further from the true torque, clamped to the range of the words, than the certificate says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bddtorque.dynamics.quantity import MOTION
from bddtorque.model.model import Model
from bddtorque.proof.torque_boxes import torque_search
from bddtorque.questions.bounding import Bracket, good_state, largest_sum
from bddtorque.questions.search_work import Work
from bddtorque.questions.subjects import State, Subject
from bddtorque.words.formats import Format, limit_run

WANTED = 0.004
"""Relative to the largest value: how close a bound is aimed at."""
MAX_BOXES = 1_000_000
STILL = Format("range", 2, -1.0, 1.0)
"""Format of motion that is no input: it is held at the word 0."""


@dataclass(frozen=True)
class TorqueBound:
    """Largest torque, or smallest, as far as it is known.

    Attributes
    ----------
    bound
        No torque is larger (smaller), N·m or N.
    state
        Input words of a state with a large one, by name.
    boxes
        Number of boxes that were looked at.
    """

    bound: float
    state: State
    boxes: int


def is_torque_of_motion(model: Model) -> bool:
    """Return whether outputs are the torques of a motion, velocities and accelerations that are no inputs being 0."""
    quantity = model.provenance.quantity
    if quantity is None or model.spec.run_time or not quantity.from_torques or quantity.weightless:
        return False
    return set(quantity.inputs) <= set(MOTION)


def bound_torque(
    model: Model,
    asked: Subject,
    direction: int,
    work: Work,
    enough: float | None = None,
    ends: Callable[[State], bool] = lambda _: False,
) -> TorqueBound | None:
    """Return a bound on a torque over all states that a question is about; None where there are no boxes to look at.

    None, too, if somebody interrupts before the first box.

    Parameters
    ----------
    direction
        1 for the largest torque, −1 for the smallest.
    enough
        A torque, N·m or N, that the bound need not be below (above).
    ends
        Told of states with a large torque as they are found, the first one before any box is looked at; whether one
        answers the question, so that no bound is needed.
    """
    if not is_torque_of_motion(model) or asked.kind != "output":
        return None
    robot, words = model.robot, model.formats.words
    if not model.spec.record.friction:
        robot = replace(robot, joints=tuple(replace(joint, friction=None) for joint in robot.joints))
    names = [f"{kind}{j}" for kind in MOTION for j in range(1, len(robot.joints) + 1)]
    moving = {name: words.get(name, STILL) for name in names}
    still = {name: (0, 0) for name in names if name not in words}
    search = None
    with work.interruptible():
        search = torque_search(robot, moving, asked.place, direction, {**asked.within, **still})
    if search is None:
        return None

    def state() -> State:
        point = zip(names, search.point(), strict=True)
        return {name: int(words[name].quantise(x)) for name, x in point if name in words}

    seen, answered, counted, latest = None, False, 0, {name: 0 for name in names if name in words}

    def goes_on() -> bool:
        nonlocal seen, answered, counted, latest
        work.spend((search.boxes - counted) * search.steps)
        counted = search.boxes
        if search.found != seen:
            latest = state()
            answered = ends(latest)
            seen = search.found  # which the state may have improved
        return work.goes_on() and not answered

    with work.interruptible():
        if not search.run(WANTED, enough, MAX_BOXES, goes_on) and not answered and not work.stopped:
            work.stopped = "work"
    with work.interruptible():
        latest = state()
    return TorqueBound(search.bound, latest, search.boxes)


def sharpen(model: Model, asked: Subject, direction: int, known: Bracket, work: Work) -> Bracket:
    """Return a closer bracket of the largest sum (see `largest_sum`) than is known of it."""
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
        return known
    if extreme is None:  # more boxes of words are all there is
        return largest_sum(asked, direction, work)
    reached = False
    with work.interruptible():
        reached = ends(extreme.state)
    if reached:
        return replace(known, detail="a state reaches the end of the range")
    known = replace(known, detail=f"{known.detail}, and {extreme.boxes:,} of the torque itself")
    return _bounded(model, asked, direction, known, extreme.bound)


def _with_state_near(asked: Subject, direction: int, known: Bracket, state: State, work: Work) -> Bracket:
    """Return a bracket that knows of a state, improved word by word."""
    start = np.array([state[name] for name in asked.names], dtype=np.int64)
    if any(name in asked.within for name in asked.names):  # the nearest words may be just beyond
        ends = asked.box
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
    formats = model.formats.words
    turns = {name: 1 << word.bits for name, word in formats.items()}
    # a word that is not read may be any, within its limits too
    runs = {name: run for name in asked.names if (run := limit_run(formats[name])) is not None}
    limited = all(name in asked.within and _lies_in(asked.within[name], run, turns[name]) for name, run in runs.items())
    extent = stated.within_limits if limited and stated.within_limits else stated.extent
    above = direction * asked.word.sign > 0
    state = dict(zip(formats, extent.high_state if above else extent.low_state, strict=True))
    held = [name for name in asked.names if name in asked.within]
    if all(_lies_in((state[name], state[name]), asked.within[name], turns[name]) for name in held):
        words = np.array([[state[name] for name in asked.names]], dtype=np.int64)
        found = int(direction * asked.sums(words)[0])
        if found > known.found:
            known = replace(known, found=found, state={name: state[name] for name in asked.names})
    return _bounded(model, asked, direction, known, extent.high if above else extent.low)


def _lies_in(words: tuple[int, int], run: tuple[int, int], turn: int) -> bool:
    """Tell if a run of words lies within another one, whole turns of so many words apart."""
    return any(run[0] <= words[0] + k * turn and words[1] + k * turn <= run[1] for k in (-1, 0, 1))


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
