"""Prove the bound of a model with Gappa: the plan as lemmas, one or more per wire, each closed by `gappa`.

What is proved of every output is |word − t| ≤ bound, clamping aside, t being the function that was planned with its
constants as they were before any rounding. To this comes how far that function can be from the robot's own torque, the
certificate's *arithmetic* before floats, which is proved elsewhere (docs/assurance.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np

from bddtorque.assurance.coq_tables import cosine_tables
from bddtorque.assurance.coq_theorem import coq_file
from bddtorque.assurance.float_lemmas import FORMATS, FloatLemmas, compared_sines
from bddtorque.assurance.lemmas import Ends, GappaToolError, Prover, proof_script
from bddtorque.assurance.word_lemmas import WordLemmas
from bddtorque.base.archive import read_file
from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.workers import NoProgress, Progress, step
from bddtorque.compiler.draft import PlanDraft, certify, within_floats
from bddtorque.compiler.verify import Check, redraft, wrongly_stated
from bddtorque.model.model import Model, from_bytes
from bddtorque.plan.blocks import GivenBlock
from bddtorque.plan.bound import BlockFacts
from bddtorque.plan.tabulate import tabulate
from bddtorque.proof.proved_bound import Parts


@dataclass(frozen=True)
class GappaBound:
    """One output: what Gappa proves, and what the certificate says, in units of its last bit."""

    name: str  # of the joint, or of the output of a function
    gappa: float  # of |word − t|
    arithmetic: float  # how far t can be from the true function
    certificate: float  # the bound in the file

    @property
    def total(self) -> float:
        """The sum of Gappa's bound and the distance to the true function."""
        return _rounded_up(Fraction(self.gappa) + Fraction(self.arithmetic))

    @property
    def holds(self) -> bool:
        """True if this shows the bound in the file."""
        return self.total <= self.certificate


@dataclass(frozen=True)
class GappaProof:
    """The checks, and the bounds that Gappa reached."""

    checks: tuple[Check, ...]  # what holds
    bounds: tuple[GappaBound, ...] = ()  # by output
    lemmas: int = 0  # how many Gappa closed
    script: str = ""  # all of them as a shell script
    theorem: str = ""  # all of them and the theorem that they make as a file for Coq, if asked for
    unchecked: tuple[str, ...] = ()  # what in the file was not looked at: that is left to `verify`

    @property
    def passed(self) -> bool:
        """True if everything holds."""
        return all(check.passed for check in self.checks)


def prove_with_gappa(
    file: str | PathLike[str] | Model, progress: Progress | None = None, coq: bool = False
) -> GappaProof:
    """Have Gappa prove the bound of every output of a model.

    Parameters
    ----------
    file
        A .bdt file or a model.
    progress
        Receives a call for every closed lemma.
    coq
        Whether to write the theorem for Coq too.

    Raises
    ------
    BddTorqueError
        If `gappa` is not installed or does not work, or the words of the model come from a function that its file does
        not hold. A file that cannot be read gives a single failed check.
    """
    prover = Prover()
    checks = []
    if isinstance(file, Model):
        model = file
    else:
        try:
            data = read_file(file)
            model = from_bytes(data, str(file))
        except BddTorqueError as problem:
            return GappaProof((Check("file", False, one_line(str(problem))),))
        checks.append(Check("file", True, f"digest {model.digest[:16]}, {len(data):,} bytes"))
    plan = model.plan
    if any(isinstance(block, GivenBlock) for block in plan.blocks):
        raise BddTorqueError(
            "Gappa cannot prove this model: its words come from a function that the file does not hold"
        )
    try:
        with within_floats(model.provenance.kind, model.name):
            draft, how = redraft(model)
    except BddTorqueError as problem:
        return GappaProof((*checks, Check("plan", False, one_line(str(problem)))))
    if (draft.formats, draft.provenance, draft.plan) != (model.formats, model.provenance, plan):
        return GappaProof((*checks, Check("plan", False, f"another plan, or other words, made from {how}")))
    checks.append(Check("plan", True, f"made again from {how}"))
    facts, wrong = _table_facts(model)
    checks.append(Check("tables", not wrong, wrong or _compared(model)))
    if wrong:
        return GappaProof(tuple(checks))
    steps = progress or NoProgress()
    with step(steps, "composing the certificate again"):
        checks.append(_certificate_check(model, draft, facts))
    prover.on_lemma = lambda lemma: steps.advance(lemma.name, 1.0, False)
    try:
        with step(steps, "proving with gappa"):
            lemmas = _lemmas(draft, facts, prover)
            bounds = _bounds(lemmas.prove(), draft, model)
    except GappaToolError:  # says nothing of the file
        raise
    except BddTorqueError as problem:
        return GappaProof((*checks, Check("lemmas", False, one_line(str(problem)))), (), len(prover.lemmas))
    checks.append(Check("lemmas", True, f"{len(prover.lemmas)} closed by Gappa from {_count(prover)}"))
    for bound in bounds:
        detail = f"{bound.total:.4f} by Gappa, {bound.certificate:.4f} in the file"
        checks.append(Check(bound.name, bound.holds, detail))
    errors = lemmas.output_errors()
    theorem = ""
    if coq:
        title = f"{one_line(model.name)}, {model.digest}"
        checked = cosine_tables(lemmas, model.tables) if isinstance(lemmas, WordLemmas) else []
        theorem = coq_file(title, prover, lemmas.angles(), [each for each in errors if each], checked)
    claims = [(bound.name, bound.gappa, error) for bound, error in zip(bounds, errors, strict=True)]
    script = proof_script(model.name, model.digest, prover, claims)
    unchecked = ("diagrams",) if model.diagrams else ()
    return GappaProof(tuple(checks), bounds, len(prover.lemmas), script, theorem, unchecked)


def _table_facts(model: Model) -> tuple[list[BlockFacts], str]:
    """Return the range and the error of every table, made anew; and where a table in the file differs."""
    facts: list[BlockFacts] = []
    for k, (block, table) in enumerate(zip(model.plan.blocks, model.tables, strict=True)):
        anew, fact = tabulate(block)
        if not np.array_equal(anew.values, table.values):
            return facts, f"block {k} holds other words than its function gives"
        facts.append(fact)
    return facts, ""


def _compared(model: Model) -> str:
    """Say how many entries of tables were compared, or in floats, how many sines."""
    count, entries = len(model.tables), sum(len(table.values) for table in model.tables)
    said = [f"{count} table{'s' * (count != 1)}, {entries:,} entries compared"] if count else []
    if model.plan.in_floats:
        counts = compared_sines(model.plan)
        if any(counts):
            said.append(f"floats of {sum(counts):,} sines and cosines compared")
        if not all(counts):
            said.append("the polynomial of sines and cosines bounded")
    return "; ".join(said) or "none"


def _certificate_check(model: Model, draft: PlanDraft, facts: list[BlockFacts]) -> Check:
    """Compare the certificate with the one that plan and tables give; Gappa's bound comes in addition."""
    try:
        with within_floats(model.provenance.kind, model.name):
            outputs = certify(draft, facts, model.tables).outputs
    except BddTorqueError as problem:
        return Check("certificate", False, one_line(str(problem)))
    if model.provenance.robot is None and (wrong := wrongly_stated(model)):
        return Check("certificate", False, one_line(wrong))
    stated = model.certificate.outputs
    if len(stated) != len(outputs):
        return Check("certificate", False, f"{len(outputs)} outputs were expected, got {len(stated)}")
    for output, other in zip(outputs, stated, strict=True):
        for each in fields(output):
            right, found = getattr(output, each.name), getattr(other, each.name)
            if each.compare and right != found:
                return Check("certificate", False, one_line(f"{output.name}: {_difference(each.name, right, found)}"))
        if other.parts.total >= model.accuracy:
            detail = f"{output.name}: the bound {other.parts.total:.4f} is not below the accuracy asked"
            return Check("certificate", False, one_line(detail))
    return Check("certificate", True, "names, units, ranges and saturation as composed again")


def _difference(name: str, right: Any, found: Any) -> str:
    """Say which field of a certificate is wrong."""
    if isinstance(right, Parts):
        for each in fields(Parts):
            one, other = getattr(right, each.name), getattr(found, each.name)
            if one != other:
                return f"parts, {each.name} must be {one!r}, got {other!r}"
    return f"{name} must be {right!r:.80}, got {found!r:.80}"


def _lemmas(draft: PlanDraft, facts: list[BlockFacts], prover: Prover) -> FloatLemmas | WordLemmas:
    plan = draft.plan
    if not plan.in_floats:
        return WordLemmas(plan, facts, prover)
    prover.float_format = FORMATS[plan.floats.name]
    return FloatLemmas(plan, facts, prover)


def _bounds(found: list[Ends], draft: PlanDraft, model: Model) -> tuple[GappaBound, ...]:
    return tuple(
        GappaBound(
            output.name,
            _rounded_up(ends.magnitude),
            _rounded_up(Fraction(arithmetic) + Fraction(dropped)),
            output.parts.total,
        )
        for output, ends, arithmetic, dropped in zip(
            model.certificate.outputs, found, draft.arithmetic, draft.dropped or (0.0,) * len(found), strict=True
        )
    )


def _rounded_up(value: Fraction) -> float:
    """Return the smallest float that is no smaller: an output without any error has none here either."""
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _count(prover: Prover) -> str:
    """Say how many premises there are of each kind."""
    kinds = {"input": 0, "table": 0, "float": 0, "circle": 0, "left out": 0}
    for reason in prover.reasons.values():
        kind = "input" if reason.startswith("input") else "left out" if "left out" in reason else "table"
        kind = "float" if reason in ("a sine", "a cosine") or reason.startswith("floats of") else kind
        kinds["circle" if "one angle" in reason else kind] += 1
    said = {"input": "input range{}", "table": "fact{} on tables", "circle": "pair{} of cosine and sine"}
    said |= {"float": "fact{} on sines and cosines", "left out": "sum{} of terms left out"}
    return ", ".join(f"{count} {said[kind].format('s' * (count != 1))}" for kind, count in kinds.items() if count)
