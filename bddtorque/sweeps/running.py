"""Run a sweep: the batches spread over threads or any executor, what they found put together in one order.

The kernels hold no lock, so that threads use all processors. Batches are tasks with content keys: a long sweep that was
interrupted goes on from what the cache has of it, and finds the same as one that was not.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bddtorque.base.caching import Cache, cache_named
from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.plain import at_least
from bddtorque.base.tasks import Task
from bddtorque.base.workers import NoProgress, Progress, Workers, step
from bddtorque.evaluate.runners import EVALUATORS
from bddtorque.model.applicability import require
from bddtorque.model.model import Model, to_bytes
from bddtorque.sweeps.figures import ERRORS, PERCENTILES, ErrorFigures, OutputSweep, Sweep, Traces, float_error
from bddtorque.sweeps.measuring import cost_of, joined, measure, percentile, subject_from
from bddtorque.sweeps.searching import search
from bddtorque.sweeps.states import (
    BATCH,
    BUILT_IN,
    CORNER_SHARE,
    Batch,
    Given,
    Part,
    Trajectory,
    batches,
    pieces,
    quantise,
    states_of,
    units_of,
)
from bddtorque.sweeps.term_errors import term_errors

MAX_TASKS = 64
"""Tasks of a round, unless more are done at a time. What they found waits in memory for the others of the round, and
is then put together."""
MAX_TASK_BATCHES = {"straight": 16}
"""Batches of a task at most, by form, else 1: about a second, which is what an interruption waits for, and loses."""
ALONE = 200_000
"""States below which more than one thread, or keeping what was found, is not worth it."""
STRAIGHT = 1_000_000
"""States from which code made for the one plan pays, though it takes seconds to compile the first time."""
SEARCH_SHARE = 8
"""One state is tried by the search for so many random ones, unless somebody says how many."""
MAX_SEARCHED = 240_000
"""States tried by the search, unless somebody says how many."""
TERM_STATES = 4_000
"""Random states on which terms are measured."""
DRAWN_STATES = 4_000
"""States of a trajectory that pictures show, at most."""
REPORT = "this is a bug, please report it"

Job = tuple[bytes, str, str | None, bool, int]
"""Shared by all tasks of one sweep: the .bdt file, the evaluator, its form, whether truths are traced, the seed."""


def sweep(
    model: Model,
    states: int = 100_000,
    seed: int = 0,
    *,
    evaluator: str = "words",
    trajectory: str | Trajectory | None = None,
    searched: int | None = None,
    terms: bool = False,
    cost: bool = False,
    label: str = "",
    workers: int | None = None,
    executor: Executor | None = None,
    cache: Cache | Literal["default"] | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Compare a compiled model with its true values in float64, on random and corner states and the worst it can find.

    Parameters
    ----------
    model
        A compiled model: torques or another quantity of a robot, a function, or samples.
    states
        Number of random states; one corner state is added for every eight. With a built-in trajectory: the number of
        its states.
    seed
        The same seed gives the same states, whatever the number of workers.
    evaluator
        Which evaluator to run; all give the same words.
    trajectory
        States to use in place of random ones: ``"quintic"`` or ``"sine"`` for a model of q, qd and qdd, or a
        `Trajectory` of the inputs of any model. There are then no corner states, and no search unless `searched` asks
        for one.
    searched
        How many states to try in the search for the worst error, over all outputs; by default one for every eight
        random states, up to `MAX_SEARCHED`.
    terms
        Measure each term of the torques separately as well; for torques compiled from separate terms.
    cost
        Measure size and speed as well.
    label
        The name of the model in a comparison with others; by default its own.
    workers
        Number of threads; by default one for a short sweep, else all processors. With `executor`: how many parts to
        submit at a time.
    executor
        Any `concurrent.futures.Executor` to sweep on instead: processes or a cluster
        (`bddtorque.base.cluster.connected`). The figures are the same to the last bit. The executor stays open.
    cache
        Where a long sweep keeps its intermediate results, so that it can be interrupted and resumed.
    progress
        Receives a call for every finished part.

    Returns
    -------
    Sweep
        The errors found per output, beside the proved bound.

    Raises
    ------
    BddTorqueError
        An argument is wrong, or the model is a function whose true values its file does not hold.
    """
    _check(states, seed, searched, evaluator)
    require(model, "sweeps")
    if terms:
        require(model, "terms of torques")
    path = _trajectory(trajectory, model, states, seed)
    given: tuple[Any, ...] = ()
    parts: Sequence[Part]
    if path is None:
        corners = math.ceil(states / CORNER_SHARE)
        parts = batches(states, corners)
        searched = min(math.ceil(states / SEARCH_SHARE), MAX_SEARCHED) if searched is None else searched
    else:
        given = path.of(model.formats)
        states, corners, searched = len(path.time), 0, searched or 0
        parts = pieces(given)
    long = states + corners + searched >= ALONE
    told = progress or NoProgress()
    with step(told, f"preparing {model.name}"):  # code is compiled here, and checked
        job = to_bytes(model), evaluator, _form(model, evaluator, states), states >= STRAIGHT, seed
        if job[3]:
            _check_code(job, parts[0], model.plan.made_of_tables)
        subject_from(*job[:4])  # made once, before threads ask for it
    kept = cache_named(cache) if long else None
    alone = workers is None and executor is None and not long
    with _workers(1 if alone else workers, executor, kept, progress) as team:
        found = _spread(job, model, parts, searched, team)
    with step(told, "measuring terms, size and speed"):
        of_terms = tuple(term_errors(model, _term_words(model, given, seed))) if terms else ()
        of_cost = cost_of(model, len(job[0])) if cost else None
        traces = None if path is None else _traces(job, path, given)
    return Sweep(
        model.name,
        model.provenance.kind if model.provenance.quantity is None else model.quantity,
        model.digest,
        states,
        corners,
        seed,
        _outputs(model, states, found),
        label or model.provenance.title,
        searched=found["tried"],
        along="" if path is None else path.name,
        outside=int(found["outside"].sum()),
        terms=of_terms,
        cost=of_cost,
        traces=traces,
    )


def _check(states: int, seed: int, searched: int | None, evaluator: str) -> None:
    at_least(states, 1, "states")
    at_least(seed, 0, "seed")
    if searched is not None:
        at_least(searched, 0, "searched")
    if evaluator not in EVALUATORS:
        raise BddTorqueError(not_among("evaluator", evaluator, EVALUATORS), option="evaluator")


def _trajectory(given: str | Trajectory | None, model: Model, states: int, seed: int) -> Trajectory | None:
    if not isinstance(given, str):
        return given
    if given not in BUILT_IN:
        raise BddTorqueError(not_among("trajectory", given, BUILT_IN, "states"), option="trajectory")
    require(model, "built-in trajectories")
    return BUILT_IN[given](model.formats, states, seed)


def _form(model: Model, evaluator: str, states: int) -> str | None:
    """Return the form to run: tables as they are, or for long sweeps, and other targets, code made for the plan."""
    if evaluator == "bits":
        return None
    return "straight" if states >= STRAIGHT or not model.plan.made_of_tables else "dense"


def _check_code(job: Job, part: Part, made_of_tables: bool) -> None:
    """Compare code made for the one plan with what it stands for, on one batch: tables, and the recursion."""
    data, evaluator, own, _, seed = job
    fast = subject_from(*job[:4])
    words = quantise(fast.formats, states_of(part, fast.formats, seed))
    units = np.hstack(words).T.astype(np.float64)
    allowed = [float_error(word.bits) for word in fast.formats.results.values()]
    apart = np.abs(fast.truth_of_units(units) - replace(fast, traced=None).truth_of_units(units)).max(axis=1)
    if not (apart <= allowed).all():
        raise BddTorqueError(f"the true values of code and of the quantity differ by {apart.max():.3g} units: {REPORT}")
    if own == "straight" and made_of_tables:
        plain = subject_from(data, evaluator, "dense", False)
        different = np.count_nonzero((fast.run(*words) != plain.run(*words)).any(axis=1))
        if different:
            raise BddTorqueError(
                f"straight-line code and tables give other words for {different} of {part.count} states: {REPORT}"
            )


@contextlib.contextmanager
def _workers(
    workers: int | None, executor: Executor | None, cache: Cache | None, progress: Progress | None
) -> Iterator[Workers]:
    """Give the workers: the executor that was given, else so many threads, else this one."""
    if executor is not None or workers == 1:
        with Workers(workers, executor=executor, cache=cache, progress=progress) as team:
            yield team
        return
    count = Workers(workers).count  # refuses a bad number
    with ThreadPoolExecutor(count) as threads:
        yield Workers(count, executor=threads, cache=cache, progress=progress)


def _spread(job: Job, model: Model, parts: Sequence[Part], searched: int, team: Workers) -> dict[str, Any]:
    """Return the errors of all parts, and those of the search that begins at the worst of them."""
    form = job[2]
    size = min(-(-len(parts) // MAX_TASKS), MAX_TASK_BATCHES.get(form or "", 1))
    tasks = []
    for first in range(0, len(parts), size):
        own = tuple(parts[first : first + size])
        cost = sum(part.count for part in own)
        tasks.append(Task(measure, (*job, own), name=f"states from {first * BATCH:,}", cost=cost))
    found: dict[str, Any] = {}
    with step(team.progress, f"sweeping {model.name}", sum(task.cost for task in tasks)):
        at_a_time = max(MAX_TASKS, team.count)
        for first in range(0, len(tasks), at_a_time):
            # in the order of the parts, whoever measured them and when: sums of floats depend on it
            of_round = team.run(tasks[first : first + at_a_time], "")
            found = joined([found, *of_round] if found else of_round)
    m = len(model.formats.results)
    climbs = []
    for output in range(m if searched else 0):
        budget = searched // m + (output < searched % m)
        start = found["worst_states"][output]
        climbs.append(Task(search, (*job, output, start, budget), name=f"search {output + 1}", cost=budget))
    with step(team.progress, "searching for the worst states", sum(task.cost for task in climbs)):
        climbed = team.run(climbs, "")
    found |= {"search_largest": np.zeros(m), "tried": sum(climb["tried"] for climb in climbed)}
    for output, climb in enumerate(climbed):
        found["search_largest"][output] = max(climb["worst"], 0.0)
        if climb["worst"] > found["worst"][output]:
            found["worst"][output], found["worst_states"][output] = climb["worst"], climb["worst_state"]
    return found


def _outputs(model: Model, states: int, found: dict[str, Any]) -> tuple[OutputSweep, ...]:
    outputs = []
    for k, (proved, word) in enumerate(zip(model.certificate.outputs, model.formats.results.values(), strict=True)):
        errors = {}
        for kind, name in enumerate(ERRORS):
            largest = float(found["largest"][kind, k])
            errors[name] = ErrorFigures(
                largest,
                math.sqrt(float(found["squares"][kind, k]) / states),
                tuple(percentile(found["bins"][kind, k], share / 100, largest) for share in PERCENTILES),
            )
        overshoot = float(found["overshoot"][k])
        outputs.append(
            OutputSweep(
                output=proved.name,
                unit=word.unit,
                bits=word.bits,
                lsb=word.lsb,
                proved=proved.bound,
                **errors,
                corner_largest=float(found["corner_largest"][k]),
                saturated=int(found["saturated"][k]),
                worst=_words(model, found["worst_states"][k]),
                picture=tuple(found["picture"][k].tolist()),
                search_largest=float(found["search_largest"][k]),
                saturation=proved.saturation,
                overshoot=overshoot,
                overshoot_words=_words(model, found["overshoot_states"][k]) if overshoot else {},
            )
        )
    return tuple(outputs)


def _words(model: Model, state: Any) -> dict[str, list[int]]:
    return model.formats.grouped(dict(zip(model.formats.words, state.tolist(), strict=True)))


def _term_words(model: Model, given: tuple[Any, ...], seed: int) -> list[Any]:
    """Return input words to measure terms on: of some random states, or of the given ones at even steps."""
    if given:
        places = _spaced(len(given[0]), TERM_STATES)
        states = tuple(array[places] for array in given)
    else:
        states = states_of(Batch(False, 0, TERM_STATES), model.formats, seed)
    return quantise(model.formats, states)


def _traces(job: Job, trajectory: Trajectory, given: tuple[Any, ...]) -> Traces:
    subject = subject_from(*job[:4])
    places = _spaced(len(trajectory.time), DRAWN_STATES)
    states = Given(tuple(array[places] for array in given))
    true = subject.truth_of_units(units_of(states, subject.formats, 0)).T
    errors = subject.table_errors(quantise(subject.formats, states.arrays))
    return Traces(trajectory.time[places], trajectory.timed, true, errors)


def _spaced(count: int, most: int) -> Any:
    """Return at most so many places from 0 to count − 1, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))
