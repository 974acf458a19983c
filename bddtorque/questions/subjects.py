"""What a question is about, by name: an output, a term of one, a word inside the plan, or a block."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.model.applicability import applies, require
from bddtorque.model.model import Model
from bddtorque.plan.blocks import RealBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Input, Lookup, Output, Wire
from bddtorque.questions.subject_kinds import Subject, Within
from bddtorque.sweeps.term_errors import term_summands

INSIDE, TERM = r"([wb])([0-9]{1,9})", r"[JCGF][0-9][0-9_]*(\+.*)?"
"""Names of words and blocks, and of terms."""
UNBOUNDED = 1 << 62
"""Ends of a word that nothing clamps: no sum of a plan needs more bits."""


def sliced(plan: Plan, output: Output, given: Mapping[int, Input] | None = None) -> Plan:
    """Return a plan of one output with no wires but those it needs; wires in `given` become inputs."""
    given = given or {}
    wires: list[Wire] = [given.get(k, wire) for k, wire in enumerate(plan.wires)]
    kept = replace(plan, wires=tuple(wires)).needed(output.sources)
    place = {wire: k for k, wire in enumerate(kept)}
    return replace(plan, wires=tuple(wires[wire].moved(place) for wire in kept), outputs=(output.moved(place),))


def subjects(model: Model, names: Sequence[str] = ()) -> list[Subject]:
    """Return what is asked about, by name; all outputs by default.

    A name is an output (``tau1``), a word (``w15``) or a block (``b3``) as `bddtorque plan` prints them, a term of an
    output (``J12``, ``G1``; torques from the source ``"terms"``), or the label of an output: a joint, for its torque.
    The first that fits is used: ``tau2`` is the second torque, whatever the joints are called.
    """
    if not names:
        return [_output(model, place) for place in range(len(model.plan.outputs))]
    return [subject(model, name) for name in names]


def subject(model: Model, name: str, within: Within | None = None) -> Subject:
    """Return what a name stands for, `subjects` says how, with inputs held to the words that `within` allows."""
    if not within:
        return _named(model, name)
    asked = _named(model, name, within)
    if asked.kind == "block":
        raise BddTorqueError(f"ask: conditions are on the inputs of the model; the words of block {name} have none")
    return replace(asked, within={each: within[each] for each in asked.names if each in within})


def _named(model: Model, name: str, within: Within | None = None) -> Subject:
    plan: Plan = model.plan
    outputs, labels = [output.name for output in plan.outputs], list(model.formats.results)
    if name in outputs:
        return _output(model, outputs.index(name), within)
    numbered = re.fullmatch(INSIDE, name)
    if numbered and (plan.made_of_tables or name not in labels):
        require(model, "words and blocks of the plan", f"ask: {name}")
        return _numbered(model, plan, name, numbered[1], int(numbered[2]))
    terms = _terms(model)
    if name in terms:
        return terms[name]
    if name in labels:
        return _output(model, labels.index(name), within)
    if not terms and re.fullmatch(TERM, name):
        require(model, "terms of torques", f"ask: {name:.40}")
    known = list(dict.fromkeys([*outputs, *labels, *terms]))
    listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    inside = f"; words are w0 to w{len(plan.wires) - 1}, blocks b0 to b{len(plan.blocks) - 1}"
    hint = nearest(name, known) or f"; names are {listed}{inside if plan.made_of_tables else ''}"
    raise BddTorqueError(f"ask: unknown name {name!r:.40}{hint}")


def _numbered(model: Model, plan: Plan, name: str, kind: str, place: int) -> Subject:
    what, count = ("words", len(plan.wires)) if kind == "w" else ("blocks", len(plan.blocks))
    if place >= count:
        raise BddTorqueError(f"ask: the {what} of this model are {kind}0 to {kind}{count - 1}, got {name}")
    return _word(model, place) if kind == "w" else _block(model, place)


def _output(model: Model, place: int, conditions: Within | None = None) -> Subject:
    whole, formats, within = model.plan, model.formats.words, conditions or {}
    title, word = list(model.formats.results.items())[place]
    title = f"torque of {title}" if whole.outputs[place].name.startswith("tau") and _is_joint(model, title) else title

    def unread(plan: Plan) -> int:
        read = {wire.name for wire in plan.inputs}
        ends = (within.get(name, (each.lowest, each.highest)) for name, each in formats.items() if name not in read)
        return math.prod(last - first + 1 for first, last in ends)

    plan = sliced(whole, whole.outputs[place])
    return Subject(
        plan.outputs[0].name, title, "output", plan, model.tables, word, word.unit, formats, unread(plan), place,
        within=within,
    )  # fmt: skip


def _is_joint(model: Model, name: str) -> bool:
    return model.provenance.robot is not None and name in model.robot.joint_names


def unclamped(name: str, parts: tuple[tuple[int, int], ...], constant: int = 0, lsb: Fraction = Fraction(1)) -> Output:
    """Return a sum of wires as an output that is neither rounded nor clamped."""
    return Output(name, parts, constant, Fraction(0), 0, -UNBOUNDED, UNBOUNDED, lsb)


def _word(model: Model, place: int) -> Subject:
    whole = model.plan
    wire = whole.wires[place]
    name = f"w{place}"
    plan = sliced(whole, unclamped(name, ((place, 1),)))
    title = f"{wire.kind.replace('_', ' ')} {wire.name}"
    return Subject(name, title, "word", plan, model.tables, None, "", model.formats.words, 1, place)


def _block(model: Model, place: int) -> Subject:
    block = model.plan.blocks[place]
    name = f"b{place}"
    kinds = [argument.kind for argument in getattr(block, "arguments", ())] or ["word"] * len(block.input_widths)
    inputs = tuple(Input(f"x{k}", bits, kinds[k] == "angle") for k, bits in enumerate(block.input_widths))
    lsb = block.lsb if isinstance(block, RealBlock) else Fraction(1)
    wires: tuple[Wire, ...] = (*inputs, Lookup(name, place, tuple(range(len(inputs)))))
    plan = replace(model.plan, wires=wires, outputs=(unclamped(name, ((len(inputs), 1),), 0, lsb),))
    widths = "+".join(map(str, block.input_widths))
    title = f"{block.kind} block of {widths} bits"
    return Subject(name, title, "block", plan, model.tables, None, "", {}, 1, place)


def _terms(model: Model) -> dict[str, Subject]:
    """Return the terms of all torques by name, of a model of the source `terms`; none of any other."""
    if not applies(model, "terms of torques"):
        return {}
    found = {}
    plan = model.plan
    for term in term_summands(model):
        output, word = plan.outputs[term.torque], model.formats.tau[term.torque]
        whole = unclamped(term.name, term.parts, term.constant, output.lsb / (1 << output.shift))
        found[term.name] = Subject(
            term.name, f"term of {output.name}", "term", sliced(plan, whole), model.tables, None, word.unit,
            model.formats.words, 1, term.torque, term.motions, word,
        )  # fmt: skip
    return found
