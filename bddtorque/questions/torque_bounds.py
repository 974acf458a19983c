"""A bound of the torque that a question is about, as close as the work allows."""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.model.model import Model
from bddtorque.model.source import RobotSource
from bddtorque.proof.torque_waves import torque_search
from bddtorque.questions.search_work import Work
from bddtorque.questions.subject_kinds import State, Subject

WANTED = 0.004
"""Relative to the largest value: how close a bound is aimed at."""
MOST_BOXES = 1_000_000


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


def bound_torque(
    model: Model, asked: Subject, direction: int, work: Work, enough: float | None = None
) -> TorqueBound | None:
    """Return a bound on a torque over all states that a question is about; None where there are no waves to look at.

    Parameters
    ----------
    direction
        1 for the largest torque, −1 for the smallest.
    enough
        A torque, N·m or N, that the bound need not be below (above).
    """
    if not isinstance(model.source, RobotSource) or asked.kind != "output":
        return None
    words = model.source.words
    search = torque_search(model.robot, words, asked.place, direction, asked.within)
    if search is None:
        return None

    def goes_on(boxes: int) -> bool:
        work.spend(boxes * search.steps)
        return work.goes_on()

    with work.interruptible():
        if not search.run(WANTED, enough, MOST_BOXES, goes_on) and not work.stopped:
            work.stopped = "work"
    point = zip(words.items(), search.point(), strict=True)
    return TorqueBound(search.bound, {name: int(word.quantise(x)) for (name, word), x in point}, search.boxes)
