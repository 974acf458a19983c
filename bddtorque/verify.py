"""Verify a file: prove its bound again from the file alone, and check every table, diagram and digest.

Nothing of the certificate is taken on trust. The robot in the file is expanded into its terms again; the plan made of
them must be the plan in the file; every table is tabulated anew, exactly rounded, and compared entry by entry; every
diagram is rebuilt from its table; the certificate is composed again from the errors just found.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from bddtorque.artefact import from_bytes, read_entries, read_file, read_header, to_bytes
from bddtorque.compiler import certify, planned
from bddtorque.diagrams.bdd import build
from bddtorque.diagrams.forms import FORMS, lower
from bddtorque.errors import BddTorqueError
from bddtorque.model import Model
from bddtorque.plan.bound import BlockFacts
from bddtorque.plan.plan import Block
from bddtorque.plan.tabulate import tabulate
from bddtorque.work import Progress, Task, Workers


@dataclass(frozen=True)
class Check:
    """One thing that was checked: what, whether it holds, and what was found."""

    name: str
    passed: bool
    detail: str


def verify(path: str | PathLike[str], workers: int | None = None, progress: Progress | None = None) -> list[Check]:
    """Return every check of a file; all of them hold for a file that `compile` wrote and nobody touched.

    A file that cannot be read at all gives the one check that failed.
    """
    try:
        data = read_file(path)
    except BddTorqueError as problem:
        return [Check("file", False, str(problem))]
    return verify_bytes(data, str(path), workers, progress)


def verify_bytes(
    data: bytes, where: str = "model", workers: int | None = None, progress: Progress | None = None
) -> list[Check]:
    """Do what `verify` does for the bytes of a file."""
    try:
        header = read_header(read_entries(data, where), where)
        model = from_bytes(data, where)
    except BddTorqueError as problem:
        return [Check("file", False, str(problem))]
    checks = [Check("file", True, f"digest {model.digest[:16]}, {len(data):,} bytes")]
    same = to_bytes(model, str(header["package"])) == data
    checks.append(Check("bytes", same, "written again, the same" if same else "written again, the file differs"))
    with Workers(workers, progress=progress) as team:
        tasks = [
            Task(check_block, (block, table.values, diagram.arrays()), name=f"block {k}", cost=len(table.values))
            for k, (block, table, diagram) in enumerate(
                zip(model.plan.blocks, model.tables, model.diagrams, strict=True)
            )
        ]
        found = team.run(tasks, "verifying")
    for kind in ("tables", "diagrams", "forms"):
        wrong = [f"block {k}: {each[kind]}" for k, each in enumerate(found) if each[kind]]
        checks.append(Check(kind, not wrong, wrong[0] if wrong else f"{len(found)} right on every entry"))
    return [*checks, *_proofs(model, [BlockFacts(each["error"], each["low"], each["high"]) for each in found])]


def check_block(block: Block, values: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """Tabulate a block anew and compare; a pure function for any worker. Empty text means nothing was found wrong."""
    table, facts = tabulate(block)
    wrong = {"tables": "", "diagrams": "", "forms": ""}
    differs = np.asarray(values) != table.values
    if differs.any():
        at = int(differs.argmax())
        wrong["tables"] = f"entry {at} must be {table.values[at]}, it is {values[at]}"
    order = tuple(int(variable) for variable in arrays["order"])
    rebuilt = build(table, order)
    if any(not np.array_equal(array, arrays[name]) for name, array in rebuilt.arrays().items()):
        wrong["diagrams"] = f"the reduced diagram under order {order} differs"
    try:
        for form in FORMS:
            lower(form, table, order)
    except BddTorqueError as problem:
        wrong["forms"] = str(problem)
    return {**wrong, "error": facts.error, "low": facts.low, "high": facts.high}


def _proofs(model: Model, facts: list[BlockFacts]) -> list[Check]:
    """Check that words and plan are what the robot and the spec give, and compose the certificate again."""
    try:
        _, formats, origin, plan = planned(model.spec, model.robot)
        certificate = certify(origin, formats, model.plan, facts, model.tables)
    except BddTorqueError as problem:
        return [Check("proof", False, str(problem))]
    same_plan = plan == model.plan and formats == model.formats
    same = certificate == model.certificate
    bounds = ", ".join(f"{torque.joint} {torque.bound:.4f}" for torque in certificate.torques)
    return [
        Check("plan", same_plan, "made again from robot and spec" if same_plan else "robot and spec give another plan"),
        Check("certificate", same, f"proved again: {bounds}" if same else f"the proof gives other figures: {bounds}"),
    ]
