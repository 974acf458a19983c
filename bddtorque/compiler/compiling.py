"""Compile a robot: from a specification to a proved model. Functions go the same way from their draft on."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from os import PathLike
from typing import Unpack

from bddtorque.base.caching import Cache, cache_named
from bddtorque.base.processors import usable_processors
from bddtorque.base.workers import NoProgress, Progress, Workers, step
from bddtorque.compiler.block_building import build_blocks, check_memory
from bddtorque.compiler.draft import PlanDraft, certify, check_accuracy, within_floats
from bddtorque.compiler.pinning import check_pinned, load_plan
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.compiler.torque_ranges import range_notes
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.spec.chips import chip_named
from bddtorque.spec.compile_options import CompileOptions
from bddtorque.spec.loading import Source, spec_and_robot


def compile(
    source: Source,
    /,  # `source` is also the name of an option
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    cache: Cache | str | None = "default",
    progress: Progress | None = None,
    engine: str = "auto",
    plan: Plan | str | PathLike[str] | None = None,
    **options: Unpack[CompileOptions],
) -> Model:
    """Compile a robot into fixed-point code with a proved worst-case error for every output.

    Parameters
    ----------
    source
        What to compile: the name of a built-in robot, the path of a spec or robot file, a `Spec` or a `Robot`.
    workers
        Number of processes; all available processors by default. With `executor`: how many blocks to submit at a time.
    executor
        Any `concurrent.futures.Executor` that builds the blocks instead: threads, processes or a cluster
        (`bddtorque.base.cluster.connected`). The model is the same. The executor stays open.
    cache
        Where finished blocks are kept: ``"default"``, a `Cache`, or None for no cache.
    progress
        Receives a call for every finished block.
    engine
        The decision-diagram engine: ``"cudd"``, ``"autoref"``, or ``"auto"`` for the fastest one that is installed.
    plan
        A `Plan`, or a file written by `bddtorque plan`. It is rejected unless the planner still produces exactly
        this plan.
    **options
        Keys of the specification that replace those of `source`: bits, target, velocity, payload, ... See
        `CompileOptions`.

    Returns
    -------
    Model
        The compiled robot, with its certificate.

    Raises
    ------
    BddTorqueError
        The input is wrong, or the requested accuracy cannot be proved within the given limits.

    Examples
    --------
    >>> import bddtorque as bt
    >>> model = bt.compile("planar2r", bits=6)
    >>> model.certificate.faithful
    True
    """
    started = time.perf_counter()
    pinned = plan if plan is None or isinstance(plan, Plan) else load_plan(plan)
    kept = cache_named(cache)
    team = Workers(workers, executor=executor, cache=kept, progress=progress)
    spec, robot, notes = spec_and_robot(source, options)
    with step(progress or NoProgress(), f"planning {robot.name}"), within_floats("robot", robot.name):
        draft = draft_of_robot(spec, robot)
    if pinned is not None:
        check_pinned(pinned, draft.plan, "plan" if isinstance(plan, Plan) else str(plan))
    at_a_time = (workers or usable_processors()) if executor is None else 1
    return finish_model(draft, team, started, notes, engine=engine, at_a_time=at_a_time)


def finish_model(
    draft: PlanDraft,
    team: Workers | None = None,
    started: float | None = None,
    notes: Sequence[str] = (),
    *,
    engine: str = "auto",
    memory: int | None = None,
    at_a_time: int = 1,
) -> Model:
    """Make the blocks of a plan, prove the bound, and return the model.

    Parameters
    ----------
    team
        Makes the blocks, and is ended; None makes them here and now.
    started
        When compiling started, by `time.perf_counter`; now unless given.
    notes
        What people should know.
    engine
        As `compile` takes it.
    memory
        Bytes that all may take; those of the source unless given.
    at_a_time
        Blocks that take memory at the same time.
    """
    name, room = draft.provenance.name, draft.provenance.memory if memory is None else memory
    check_memory(draft.plan, room, at_a_time)
    planned = time.perf_counter()
    started = planned if started is None else started
    with team or nullcontext():
        blocks = build_blocks(draft.plan, draft.table, engine, room, team, f"compiling {name}")
    told = NoProgress() if team is None else team.progress
    with step(told, f"proving {name}"), within_floats(draft.provenance.kind, name):
        certificate = certify(draft, blocks.facts, blocks.tables)
    check_accuracy(draft.provenance, certificate)
    wide = range_notes(draft.formats, certificate) if draft.provenance.is_torque else []
    report = {
        "seconds": time.perf_counter() - started,
        "planning_seconds": planned - started,
        "peak_bytes": _peak_memory(),
        "engine": blocks.engine,
        "notes": [*notes, *_dust_notes(draft), *blocks.notes, *wide, *chip_notes(draft.provenance.chip)],
    }
    return Model(draft.formats, draft.provenance, draft.plan, blocks.tables, blocks.diagrams, certificate, report)


def _dust_notes(draft: PlanDraft) -> list[str]:
    """Return what a plan in floats leaves out."""
    if not draft.dust:
        return []
    return [
        f"{draft.dust} summand{'s' * (draft.dust > 1)} of at most 2⁻¹⁶ of their neighbours left out as numerical dust, "
        f"charged as dropped: {max(draft.dropped):.2g} units at most"
    ]


def chip_notes(chip: str | None) -> list[str]:
    """Return what to know of planning for a chip: look-ups may be faster where nothing multiplies."""
    if chip is None or chip_named(chip).multiplier:
        return []
    return [
        f"chip '{chip}' has no fast multiplier, so tables may be faster: "
        f"`bddtorque bench FILE --chip {chip}` measures both and says which to take"
    ]


def _peak_memory() -> int:
    """Return the largest resident memory so far, of this process and of the largest worker together, in bytes."""
    factor = 1 if sys.platform == "darwin" else 1024
    return factor * sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
