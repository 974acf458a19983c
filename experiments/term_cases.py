"""Terms as cases to compare, for `term_times.py`: their formulas, the ways to compute them, and what each way takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from term_code import time_here, true_words

import bddtorque as bt
from bddtorque.bench.emulation import measure
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.graph import Graph, kept
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.dynamics.term_trace import trace_terms
from bddtorque.dynamics.terms import Term, Terms
from bddtorque.dynamics.tracer import Tracer, traced_inputs
from bddtorque.export.c_blocks import BYTES_A_TEST
from bddtorque.export.c_exporter import c_files
from bddtorque.export.c_term import TermFunction
from bddtorque.spec.chips import chips as known_chips

FORMS = ("dense", "folded")
"""Forms of tables that are tried: the fastest that fits is shown."""
GRAVITY = 9.81


@dataclass(frozen=True)
class Case:
    """A term to be compared: its compiled form, its real formula, the states it is tried on, where C is written."""

    term: TermFunction
    graph: Graph
    states: Any
    folder: Path


def paper_graphs() -> dict[str, Graph]:
    """Return the formulas of a, b, c, d."""
    tracer = Tracer()
    q1, q2, qd1, qd2, qdd2 = (tracer.input(name) for name in ("q1", "q2", "qd1", "qd2", "qdd2"))
    sine: Any = tracer.sin(q2)
    cosine: Any = tracer.cos(q1)
    values = {
        "a": -5.0 * sine * qd2 * qd2,
        "b": 6.75 * GRAVITY * cosine,
        "c": 9.0 * qdd2,
        "d": 5.0 * sine * qd1 * qd1,
    }
    return {letter: tracer.graph([value], ["tau1"]) for letter, value in values.items()}


def heaviest(terms: Terms, kind: str, model: bt.Model) -> Term:
    """Return the term of a kind with the most harmonics, of those that are not below half a unit wherever they are."""
    mine = sorted((term for term in terms.terms if term.kind == kind), key=lambda term: -len(term.expansion))
    ends = [(TermFunction.of(model, term.name), term) for term in mine]
    return next(term for word, term in ends if any(word.vectors(1000)[1]))


def term_graphs(terms: Terms, term: Term) -> list[Graph]:
    """Return the formulas of a term: its harmonics, and the recursion with everything else at rest."""
    n = terms.robot.degrees_of_freedom
    whole = trace_terms(replace(terms, terms=(term,)))
    made = [kept(whole.nodes, [whole.outputs[term.joint]], ["tau1"])]
    chain, tracer = chain_of(terms.robot), Tracer()
    q = traced_inputs(tracer, "q", n)
    sine, cosine = (np.array([turn(angle) for angle in q], dtype=object) for turn in (tracer.sin, tracer.cos))

    def torque(which: Any, qd: dict[int, Any], qdd: dict[int, Any]) -> Any:
        motion = [np.array([moved.get(j, 0.0) for j in range(n)], dtype=object) for moved in (qd, qdd)]
        tau = np.zeros(n, dtype=object)
        newton_euler(which, sine, cosine, np.array(q, dtype=object), *motion, tau, np.zeros((n, WRENCH), dtype=object))
        return tau[term.joint]

    if term.kind == "gravity":
        value = torque(chain, {}, {})
    elif term.kind == "inertial":
        (j,) = term.motion
        value = torque(weightless(chain), {}, {j: tracer.input(f"qdd{j + 1}")})
    else:  # C q̇j q̇k is half of what τ(q̇j, q̇k) differs from τ(q̇j, −q̇k)
        j, k = term.motion
        qdj, qdk = tracer.input(f"qd{j + 1}"), tracer.input(f"qd{k + 1}")
        floating = weightless(chain)
        value = 0.5 * (torque(floating, {j: qdj, k: qdk}, {}) - torque(floating, {j: qdj, k: -qdk}, {}))
    return [*made, tracer.graph([value], ["tau1"])]


def case_of(model: bt.Model, name: str, graph: Graph, count: int, folder: Path) -> Case:
    """Return a term of a model with random states."""
    term, rng = TermFunction.of(model, name), np.random.default_rng(0)
    states = np.stack([rng.integers(word.lowest, word.highest, count, endpoint=True) for word in term.formats], axis=1)
    return Case(term, graph, states, folder)


def export(case: Case, form: str) -> tuple[Path, int]:
    """Export a term in a form; return the folder and the bytes of its tables, or of its code as estimated."""
    folder = case.folder / form
    folder.mkdir()
    code = c_files(case.term.model, term=case.term.name, form=form, vectors=1)
    for name, text in code.files.items():
        (folder / name).write_text(text, encoding="ascii")
    tests = code.files[f"{code.prefix}.c"].count("if (") if form == "ifs" else 0
    return folder, sum(block.bytes for block in code.blocks) + tests * BYTES_A_TEST * 2 // 3  # at least


def run_on(chip: str, folder: Path, states: Any) -> Any:
    """Return what a folder took: cycles on a chip, nanoseconds here."""
    return time_here(folder, states) if chip == "pc" else measure(folder, chip, states, ("-O2",))


def row_of(case: Case, chip: str, way: str, form: str, found: Any) -> dict[str, Any]:
    """Return the figures of one way on one chip."""
    error = float(np.abs(found.words[:, 0] - true_words(case.graph, case.term, case.states)).max())
    return {
        "chip": chip, "way": way, "form": form,
        **{name: round(float(value), 1) for name, value in
           (("mean", found.net.mean()), ("low", found.net.min()), ("high", found.net.max()))},
        "flash": found.flash, "error": round(error, 3),
        "bound": round(case.term.bound, 3) if way in ("tables", "ifs") else "",
        "net": found.net, "words": found.words[:, 0],
    }  # fmt: skip


def compare(case: Case, chips: tuple[str, ...], others: dict[str, list[Callable[[], Path]]]) -> list[dict[str, Any]]:
    """Return a row for every chip and way: the others, of each its fastest folder, then tables and ifs."""
    rows = []
    made = {way: [make() for make in makers] for way, makers in others.items()}
    exported = {form: export(case, form) for form in FORMS}
    try:
        exported["ifs"] = export(case, "ifs")
    except bt.BddTorqueError as problem:
        print(f"  {case.term.name}: {problem}")
    for chip in chips:
        room = known_chips()[chip].flash if chip in known_chips() else 1 << 24
        for way, folders in made.items():
            rows.append(min((row_of(case, chip, way, "", run_on(chip, folder, case.states)) for folder in folders),
                            key=lambda row: row["mean"]))  # fmt: skip
        tables = []
        for form, (folder, size) in exported.items():
            if size > room:
                continue
            try:
                row = row_of(case, chip, "ifs" if form == "ifs" else "tables", form, run_on(chip, folder, case.states))
            except bt.BddTorqueError:  # it does not fit after all
                continue
            (rows if form == "ifs" else tables).append(row)
        rows += [min(tables, key=lambda row: row["mean"])] if tables else []
    return rows


def gains(rows: list[dict[str, Any]], way: str = "ifs") -> list[float]:
    """Return the mean of soft float over that of a way, where the way fits; NaN if there is nothing to compute.

    With few bits a term may be less than half a unit everywhere: its word is always 0.
    """
    cases = dict.fromkeys(tuple(row.get(key) for key in ("W", "arm", "kind", "term", "chip")) for row in rows)
    found = []
    for case in cases:
        mine = {row["way"]: row["mean"] for row in rows
                if tuple(row.get(key) for key in ("W", "arm", "kind", "term", "chip")) == case}  # fmt: skip
        if way in mine:
            found.append(mine["float"] / mine[way] if mine[way] else float("nan"))
    return found
