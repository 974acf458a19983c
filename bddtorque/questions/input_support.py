"""Which input bits matter: read from a block's diagram, shown by pairs of states, or decided by every state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bddtorque.plan.bdd import Diagram
from bddtorque.plan.table import Table
from bddtorque.questions.answers import Support
from bddtorque.questions.enumeration import EASY_BITS, every_state, random_words
from bddtorque.questions.subject_kinds import Subject, Words
from bddtorque.questions.subjects import subject
from bddtorque.words.integer_range import wrap

if TYPE_CHECKING:
    from bddtorque.model.model import Model

Bits = dict[str, list[int]]
"""Bits of input words by name, from the least significant (0) on."""

TRIED = 1 << 14
"""Random states on which every bit is turned around."""


def support(model: Model, of: str) -> Support:
    """Return which bits of which input words matter to an output, term, word or block."""
    asked = subject(model, of)
    inputs = {wire.name: list(range(wire.bits)) for wire in asked.inputs}
    none: dict[str, list[int]] = {name: [] for name in inputs}
    if asked.kind == "block":
        table, diagram = model.tables[asked.place], model.diagrams[asked.place]
        matters, by_bit = bits_that_matter(table, diagram)
        idle = {name: [bit for bit in bits if bit not in matters[name]] for name, bits in inputs.items()}
        detail = f"read from the {diagram.node_count:,} nodes of its diagram"
        return Support(asked.name, asked.title, True, "diagram", detail, matters, idle, none, by_bit)
    unread = {name: list(range(word.bits)) for name, word in asked.formats.items() if name not in inputs}
    unread = unread if asked.kind == "output" else {}
    matters, left = _seen(asked, random_words(asked.inputs, TRIED), inputs)
    way, idle = "states", none
    if not any(left.values()):
        detail = "a pair of states shows every bit that matters"
    elif asked.bits <= EASY_BITS:
        more, idle = _seen(asked, every_state(asked), left)
        matters, left = {name: sorted(matters[name] + more[name]) for name in inputs}, none
        way, detail = "enumeration", f"all {1 << asked.bits:,} states of its words were run"
    else:
        detail = f"{TRIED:,} random states show which bits matter, but not that others do not"
    exact = not any(left.values())
    return Support(asked.name, asked.title, exact, way, detail, matters, {**idle, **unread}, left)


def _seen(asked: Subject, words: Words, bits: Bits) -> tuple[Bits, Bits]:
    """Return which of some bits matter in some of these states, and which in none."""
    here = asked.rounded(asked.total(words))
    matters: Bits = {name: [] for name in bits}
    for wire in asked.inputs:
        for bit in bits[wire.name]:
            turned = wrap(words[wire.name] ^ (1 << bit), wire.bits)
            if (asked.rounded(asked.total({**words, wire.name: turned})) != here).any():
                matters[wire.name].append(bit)
    return matters, {name: [bit for bit in own if bit not in matters[name]] for name, own in bits.items()}


def bits_that_matter(table: Table, diagram: Diagram) -> tuple[dict[str, list[int]], list[int]]:
    """Return the bits of each input word that the diagram tests, and for each output bit how many of them."""
    tested = {variable for _, own in diagram.paths for variable in own}
    matters, first = {}, 0
    for k, width in enumerate(table.input_widths):  # variable 0 is the most significant bit of the first word
        matters[f"x{k}"] = sorted(width - 1 - (v - first) for v in tested if first <= v < first + width)
        first += width
    return matters, [len(own) for _, own in diagram.paths]
