"""A bound of the torque that a question is about, as close as the work allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bddtorque.dynamics.quantity import MOTION
from bddtorque.model.model import Model
from bddtorque.proof.torque_boxes import torque_search
from bddtorque.questions.search_work import Work
from bddtorque.questions.subject_kinds import State, Subject
from bddtorque.words.formats import Format

WANTED = 0.004
"""Relative to the largest value: how close a bound is aimed at."""
MAX_BOXES = 1_000_000
STILL = Format("range", 2, -1.0, 1.0)
"""What motion that is no input is held at the word 0 of."""


@dataclass(frozen=True)
class TorqueBound:
    """What is known of a torque in one direction.

    Attributes
    ----------
    bound
        No torque is larger (smaller), N·m or N.
    state
        Input words of a state with a large one, by name.
    boxes
        How many boxes were looked at.
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

    seen, answered, latest = None, False, {name: 0 for name in names if name in words}

    def goes_on(boxes: int) -> bool:
        nonlocal seen, answered, latest
        work.spend(boxes * search.steps)
        if search.found != seen:
            latest = state()
            answered = ends(latest)
            seen = search.found  # which the state may have improved
        return work.goes_on() and not answered

    with work.interruptible():
        if goes_on(0) and not search.run(WANTED, enough, MAX_BOXES, goes_on) and not answered and not work.stopped:
            work.stopped = "work"
    with work.interruptible():
        latest = state()
    return TorqueBound(search.bound, latest, search.boxes)
