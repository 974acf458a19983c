"""Run a sweep: the batches spread over workers, what they found put together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bddtorque.errors import BddTorqueError
from bddtorque.model import Model
from bddtorque.sweep.figures import PERCENTILES, ErrorFigures, JointSweep, Sweep
from bddtorque.sweep.measuring import ERRORS, joined, measure, percentile
from bddtorque.sweep.states import BATCH, CORNER_SHARE, batches
from bddtorque.work import Progress, Task, Workers

MOST_TASKS = 64
"""What a task found waits in memory for the others, and every task is sent the tables: no more tasks than needed."""
ALONE = 500_000
"""States below which starting worker processes takes longer than the sweep."""


def sweep(
    model: Model,
    states: int = 100_000,
    seed: int = 0,
    *,
    evaluator: str = "words",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Compare a compiled model with float Newton-Euler on random states, and on one corner state for every eight.

    Parameters
    ----------
    states : how many random states
    seed : the same seed gives the same states, whatever the number of workers
    evaluator : which evaluator to run; all give the same words
    workers : processes; by default one for a short sweep, else all processors
    progress : told of every finished part
    """
    for name, value, least in (("states", states, 1), ("seed", seed, 0)):
        if type(value) is not int or value < least:
            raise BddTorqueError(f"sweep: {name}, a whole number of at least {least}, required, {value!r:.40} given")
    runner = model.evaluator(evaluator, form="dense" if evaluator == "words" else None)  # arrays, for any worker
    corners = math.ceil(states / CORNER_SHARE)
    parts = batches(states, corners)
    size = -(-len(parts) // MOST_TASKS)
    proved = np.array(model.certificate.bounds)
    fixed = (model.robot, model.formats, tuple(runner.program), len(model.plan.wires), proved, seed)
    tasks = []
    for first in range(0, len(parts), size):
        own = tuple(parts[first : first + size])
        cost = sum(part.count for part in own)
        tasks.append(Task(measure, (*fixed, own), name=f"states from {first * BATCH:,}", cost=cost))
    if workers is None and states < ALONE:
        workers = 1
    with Workers(workers, progress=progress) as team:
        found = joined(team.run(tasks, f"sweeping {model.robot.name}"))
    return Sweep(model.robot.name, model.digest, states, corners, seed, _joints(model, states, found))


def _joints(model: Model, states: int, found: dict[str, Any]) -> tuple[JointSweep, ...]:
    joints = []
    for j, torque in enumerate(model.certificate.torques):
        errors = {}
        for kind, name in enumerate(ERRORS):
            largest = float(found["largest"][kind, j])
            errors[name] = ErrorFigures(
                largest,
                math.sqrt(float(found["squares"][kind, j]) / states),
                tuple(percentile(found["bins"][kind, j], share / 100, largest) for share in PERCENTILES),
            )
        joints.append(
            JointSweep(
                joint=torque.joint,
                unit=torque.unit,
                bits=model.formats.tau[j].bits,
                lsb=torque.lsb,
                proved=torque.bound,
                **errors,
                corner_largest=float(found["corner_largest"][j]),
                saturated=int(found["saturated"][j]),
                worst=tuple(tuple(int(word) for word in words) for words in found["worst_states"][j]),
                picture=tuple(found["picture"][j].tolist()),
            )
        )
    return tuple(joints)
