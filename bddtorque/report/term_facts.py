"""The terms of an arm one by one: words, ranges, and the tables and the error of each in a compiled model.

tau_i = Σ_j J_ij q̈_j + Σ_{j<k} C_ijk q̇_j q̇_k + Σ_j C_ijj q̇_j² + G_i (+ friction)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.dynamics.terms import Expansion, terms_of
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.bound import BlockFacts, bound_summands, planned_facts
from bddtorque.plan.wires import Input, Lookup, Product, Wire
from bddtorque.robots.robot import Robot
from bddtorque.sweeps.term_errors import kind_of, name_of, term_summands
from bddtorque.words.bounded import Interval
from bddtorque.words.interface import Interface


@dataclass(frozen=True)
class TermFacts:
    """One term of one torque."""

    torque: int  # the joint, from 0
    # name, kind: ``J12`` and ``"inertial"``, ..
    name: str
    kind: str
    inputs: dict[str, int]  # bits of each input word that the term depends on, by name: q2, qd1, ..
    # low, high: a sound range of the term over all input words, in `unit`
    low: float
    high: float
    unit: str  # N·m or N

    def to_plain(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {**vars(self), "torque": self.torque + 1}


@dataclass(frozen=True)
class RobotTerm(TermFacts):
    """A term before any table exists, and the number of harmonics of its coefficient."""

    harmonics: int


@dataclass(frozen=True)
class BlockOfTerm:
    """A table that a term reads, the words at its inputs where it is first read, and its diagram."""

    block: int
    words: tuple[str, ...]
    input_bits: tuple[int, ...]
    diagram: Diagram

    @property
    def rows(self) -> int:
        """Entries of the table."""
        return 1 << sum(self.input_bits)

    def to_plain(self) -> dict[str, Any]:
        """Return the figures by name; nodes per output bit from the least significant."""
        return {
            "block": self.block,
            "words": list(self.words),
            "input_bits": list(self.input_bits),
            "output_bits": self.diagram.output_bits,
            "rows": self.rows,
            "nodes": self.diagram.node_count,
            "nodes_per_bit": list(self.diagram.bit_nodes),
            "levels": self.diagram.depth,
        }


@dataclass(frozen=True)
class ModelTerm(TermFacts):
    """One term as a compiled model computes it, or for several that one table holds, their names joined with +."""

    # what its tables, products and sums can add to the torque's error, in units, final rounding not counted
    error: float
    share: float  # of the torque's proved bound
    blocks: tuple[BlockOfTerm, ...]  # the tables it reads, in the order of the plan; tables are shared between terms

    def to_plain(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {**super().to_plain(), "blocks": [block.to_plain() for block in self.blocks]}


def robot_terms(robot: Robot, formats: Interface) -> list[RobotTerm]:
    """Return every term of every torque of an arm, for its words; an inertia J_ij stands in torques i and j."""
    words, terms = formats.words, []
    ranges = {name: argument.interval() for name, argument in formats.arguments.items()}
    for term in terms_of(robot).terms:
        positions = [f"q{j + 1}" for j in term.expansion.depends_on]
        coefficient = _coefficient_range(term.expansion, ranges)
        for torque, motion in term.summands():
            bits = {name: words[name].bits for name in (*positions, *dict.fromkeys(motion))}
            reach, unit = coefficient * _motion_range(motion, ranges), formats.tau[torque].unit
            facts = torque, name_of(torque, motion), kind_of(motion), bits, reach.low, reach.high, unit
            terms.append(RobotTerm(*facts, len(term.expansion)))
    for j, joint in enumerate(robot.joints):
        if joint.friction is not None:
            name, unit = f"qd{j + 1}", formats.tau[j].unit
            word = words[name]
            values = joint.friction(word.dequantise(np.arange(word.lowest, word.highest + 1)))
            ends = float(values.min()), float(values.max())
            terms.append(RobotTerm(j, f"F{j + 1}", "friction", {name: word.bits}, *ends, unit, 0))
    return sorted(terms, key=lambda term: term.torque)


def _coefficient_range(expansion: Expansion, ranges: dict[str, Interval]) -> Interval:
    """Return a sound range of Σ (A cos m·q + B sin m·q) · Π q_p^power."""
    total = Interval(0.0, 0.0)
    for multipliers, powers, cosine, sine in zip(
        expansion.multipliers, expansion.powers, expansion.cosine.tolist(), expansion.sine.tolist(), strict=True
    ):
        size = float(np.hypot(cosine, sine))
        part = Interval(-size, size) if multipliers.any() else Interval(cosine, cosine)
        for j in np.flatnonzero(powers):
            at = ranges[f"q{j + 1}"]
            part = part * (at * at if powers[j] == 2 else at)
        total = total + part
    return total


def _motion_range(motion: tuple[str, ...], ranges: dict[str, Interval]) -> Interval:
    product = Interval(1.0, 1.0)
    if len(motion) == 2 and motion[0] == motion[1]:
        return ranges[motion[0]] * ranges[motion[0]]
    for name in motion:
        product = product * ranges[name]
    return product


def model_terms(model: Model, where: str) -> list[ModelTerm]:
    """Return the terms as a model computes them; `where` names it in messages."""
    require(model, "terms of torques", where)
    plan, words = model.plan, model.formats.words
    facts = [
        BlockFacts(known.error, int(table.values.min()), int(table.values.max()))
        for known, table in zip(planned_facts(plan.blocks), model.tables, strict=True)
    ]
    scales = {name: argument.scale for name, argument in model.formats.arguments.items()}
    bounds = bound_summands(plan, scales, facts)
    terms = []
    for term in term_summands(model):
        torque, output = term.torque, plan.outputs[term.torque]
        summands = [bound for part, bound in zip(output.parts, bounds[torque], strict=True) if part in term.parts]
        shift = term.constant / (1 << output.shift)
        word, error = model.formats.tau[torque], sum(summand[0] for summand in summands)
        low, high = sorted(
            word.sign * (float(sum(summand[side] for summand in summands)) + shift) * word.lsb for side in (1, 2)
        )  # the centre of the torque's range is none of the term's
        wires = [plan.wires[wire] for wire in plan.needed(wire for wire, _ in term.parts)]
        read = {wire.name for wire in wires if isinstance(wire, Input)}
        inputs = {name: own.bits for name, own in words.items() if name in read}
        share = error / model.certificate.bounds[torque]
        blocks = tuple(_blocks_of(model, wires))
        terms.append(ModelTerm(torque, term.name, term.kind, inputs, low, high, word.unit, error, share, blocks))
    return terms


def _blocks_of(model: Model, wires: Iterable[Wire]) -> Iterator[BlockOfTerm]:
    """Yield the tables that wires read, in the order of the plan, with the words of their first readers."""
    plan = model.plan
    readers: dict[int, tuple[str, ...]] = {}
    for wire in wires:
        if isinstance(wire, Lookup):
            names = (plan.wires[place].name for place in wire.sources)
            readers.setdefault(wire.block, tuple(f"({name})" if "+" in name else name for name in names))
        elif isinstance(wire, Product):
            readers.setdefault(wire.block, tuple(f"x{k}" for k in range(len(plan.blocks[wire.block].input_widths))))
    for k, read in readers.items():
        yield BlockOfTerm(k, read, plan.blocks[k].input_widths, model.diagrams[k])
