"""Verify a file: prove its bound again from the file alone, and check every table, diagram and digest.

Nothing of the certificate is taken on trust. The robot in the file is expanded into its terms again; the plan made of
them must be the plan in the file; every table is tabulated anew, exactly rounded, and compared entry by entry; every
diagram is rebuilt from its table; the certificate is composed again from the errors just found. The plan comes first:
no table is worth making for a plan that is not the robot's.

A compiled function is verified likewise, from the graph or the law in its file. Words that were given, because they are
those of any function at all, cannot be made again: then table, diagrams and forms are compared with one another.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from bddtorque.base.archive import read_file
from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.tasks import Task
from bddtorque.base.workers import Progress, WorkError, Workers, step
from bddtorque.compiler.draft import PlanDraft, certify, within_floats
from bddtorque.compiler.function_draft import draft_again
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.dynamics.graph import Op
from bddtorque.model.model import Model, from_bytes, to_bytes
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import Block, GivenBlock, output_format
from bddtorque.plan.bound import BlockFacts
from bddtorque.plan.forms import FORMS, check_form, make_form
from bddtorque.plan.reduction import check_diagram
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import tabulate
from bddtorque.proof.certificate import Certificate
from bddtorque.spec.spec_files import as_specified


@dataclass(frozen=True)
class Check:
    """One check of `verify`.

    Attributes
    ----------
    name
        What was checked.
    passed
        Whether it holds.
    detail
        What was found.
    """

    name: str
    passed: bool
    detail: str


def verify(
    file: str | PathLike[str] | Model | bytes,
    workers: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[Check]:
    """Prove a compiled file again and return every check; all pass for an unaltered file written by `compile`.

    A file that cannot be read at all gives a single failed check.

    Parameters
    ----------
    file
        A .bdt file, its bytes, or a model, which is checked as `Model.save` would write it.
    workers
        Number of processes; all available processors by default. With `executor`: how many blocks to submit at a time.
    progress
        Receives a call for every finished block.
    executor
        Any `concurrent.futures.Executor` that checks the blocks instead.

    Returns
    -------
    list of Check
        Each with `name`, `passed` and `detail`.

    Raises
    ------
    BddTorqueError
        A worker failed, so nothing can be said about the file.
    """
    team = Workers(workers, executor=executor, progress=progress)
    where = "model" if isinstance(file, bytes) else f"model of {file.name}" if isinstance(file, Model) else str(file)
    try:
        data = file if isinstance(file, bytes) else to_bytes(file) if isinstance(file, Model) else read_file(file)
        model = from_bytes(data, where)
    except BddTorqueError as problem:
        return [Check("file", False, str(problem))]
    checks = [
        Check("file", True, f"digest {model.digest[:16]}, {len(data):,} bytes"),
        Check("bytes", True, "written again, the same"),  # or it would not have been read
    ]
    try:
        with step(team.progress, f"planning {model.name} again"), within_floats(model.provenance.kind, model.name):
            draft, how = redraft(model)
    except BddTorqueError as problem:
        return [*checks, Check("plan", False, one_line(str(problem)))]
    if (draft.formats, draft.provenance, draft.plan) != (model.formats, model.provenance, model.plan):
        return [*checks, Check("plan", False, f"another plan, or other words, made from {how}")]
    checks.append(Check("plan", True, f"made again from {how}"))
    given = any(isinstance(block, GivenBlock) for block in model.plan.blocks)
    if executor is None and model.provenance.robot is None:
        team = Workers(1, progress=progress)  # most are one table: processes of our own would take longer to start
    try:
        found = _checked_blocks(model, team)
        facts = [BlockFacts(each["error"], each["low"], each["high"]) for each in found]
        with step(team.progress, f"proving {model.name} again"), within_floats(model.provenance.kind, model.name):
            certificate = certify(draft, facts, model.tables)
    except WorkError:  # says nothing of the file
        raise
    except BddTorqueError as problem:
        return [*checks, Check("proof", False, one_line(str(problem)))]
    for kind in ("tables", "diagrams", "forms"):
        wrong = [f"block {k}: {each[kind]}" for k, each in enumerate(found) if each[kind]]
        right = f"{len(found)} right on every entry"
        if given and kind == "tables":
            right = "the words that were given, by their key; only the function itself can tell whether they are right"
        checks.append(Check(kind, not wrong, wrong[0] if wrong else right))
    if model.provenance.robot is None:
        stated = wrongly_stated(model)
        checks.append(Check("stated", not stated, stated or "spread, range and graph are what they can be"))
    if given:  # the reach of the function itself is only stated
        (proved,), stated_range = certificate.outputs, model.certificate
        certificate = Certificate((replace(proved, low=stated_range.low, high=stated_range.high),))
    same = certificate == model.certificate
    kept = all(output.parts.total < model.accuracy for output in certificate.outputs)
    how = "composed again from the error that is stated" if given else "proved again"
    detail = "the proof gives other figures" if not same else how if kept else "not below the accuracy asked"
    bounds = ", ".join(f"{output.name} {output.bound:.4f}" for output in certificate.outputs)
    return [*checks, Check("certificate", same and kept, one_line(f"{detail}: {bounds}"))]


def redraft(model: Model) -> tuple[PlanDraft, str]:
    """Return the plan of a model made anew from what its file holds, and what it was made from."""
    if model.provenance.robot is None:
        return draft_again(model)
    robot, spec = model.provenance.require_robot()
    draft = draft_of_robot(spec, robot)
    if as_specified(spec, robot) != robot:
        raise BddTorqueError("spec and robot differ in gravity, payload or friction")
    return draft, "robot and spec"


def wrongly_stated(model: Model) -> str:
    """Return what is wrong with that which a file states and nothing is made from, or empty text."""
    certificate, (word,) = model.certificate, model.formats.results.values()
    if certificate.spread < 0 or certificate.assumed < 0:
        return "spread and assumed error must be at least 0"
    for k, (block, table) in enumerate(zip(model.plan.blocks, model.tables, strict=True)):
        ends = int(table.values.min()), int(table.values.max())
        if isinstance(block, GivenBlock) and (block.low, block.high) != ends:
            return f"block {k} must have the range {ends} of its words, not {(block.low, block.high)}"
        values = sorted(word.value(end) for end in ends)
        # a word beyond an end of the output stands for all values beyond it
        least, most = sorted(word.value(end) for end in (word.lowest - 1, word.highest + 1))
        held = min(certificate.low, most) <= values[0] and values[1] <= max(certificate.high, least)
        if isinstance(block, GivenBlock) and not (held and certificate.low <= certificate.high):
            return f"the range must hold {values}, and is {[certificate.low, certificate.high]}"
    for k, node in enumerate(model.graph.nodes if model.graph else ()):
        if (node.name and node.op is not Op.INPUT) or (node.value and node.op is not Op.CONSTANT):
            return f"graph, node {k} has a name or a value that says nothing"
    return ""


def _checked_blocks(model: Model, team: Workers) -> list[dict[str, Any]]:
    blocks = zip(model.plan.blocks, model.tables, model.diagrams, strict=True)
    half = model.memory // 2  # what compiling allowed for one block
    with team:
        tasks = [
            Task(check_block, (block, table.values, diagram.arrays(), half), name=f"block {k}", cost=len(table.values))
            for k, (block, table, diagram) in enumerate(blocks)
        ]
        return team.run(tasks, f"verifying {model.name}")


def check_block(block: Block, values: Any, arrays: dict[str, Any], memory: int) -> dict[str, Any]:
    """Tabulate a block anew and compare; a pure function for any worker. Empty text means nothing was found wrong."""
    if isinstance(block, GivenBlock):  # known by the key of its table, which was compared when the file was read
        table = Table(values, block.input_widths, *output_format(block))
        facts = BlockFacts(block.error, int(table.values.min()), int(table.values.max()))
    else:
        table, facts = tabulate(block)
    wrong = {"tables": "", "diagrams": "", "forms": ""}
    differs = np.asarray(values) != table.values
    if differs.any():
        at = int(differs.argmax())
        wrong["tables"] = f"entry {at} must be {table.values[at]}, it is {values[at]}"
    try:
        # reduced and ordered, which the arrays are checked for, it is the only diagram of its table under this order
        diagram = Diagram.from_arrays(**arrays, signed=table.signed)
        check_diagram(diagram, table)
        for form in FORMS:
            try:
                check_form(make_form(form, table, diagram, memory), table)
            except BddTorqueError as problem:
                wrong["forms"] = str(problem)
    except BddTorqueError as problem:
        wrong["diagrams"] = str(problem)
    return {**wrong, "error": facts.error, "low": facts.low, "high": facts.high}
