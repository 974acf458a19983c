"""Which input bits matter: read from a block's diagram, shown by pairs of states, or decided by every state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bddtorque.diagrams.bdd import Diagram
from bddtorque.plan.table import Table
from bddtorque.questions.answers import Support
from bddtorque.questions.enumeration import EASY_BITS, every_word, random_words
from bddtorque.questions.subjects import Subject, subject
from bddtorque.words.integer_range import wrap

if TYPE_CHECKING:
    from bddtorque.model.model import Model

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
    matters, left = _seen(asked, inputs)
    if any(left.values()) and asked.bits <= EASY_BITS:
        whole = every_word(asked)
        for axis, wire in enumerate(asked.inputs):
            for bit in list(left[wire.name]):
                # the word with the bit turned around, in the order lowest first
                flipped = np.arange(1 << wire.bits) ^ (1 << bit)
                if (np.take(whole, flipped, axis=axis) != whole).any():
                    matters[wire.name] = sorted([*matters[wire.name], bit])
                    left[wire.name].remove(bit)
        idle, left = left, none
        way, detail = "enumeration", f"all {1 << asked.bits:,} states of its words were run"
    else:
        idle, way = none, "states"
        detail = "a pair of states shows every bit that matters"
    exact = not any(left.values())
    return Support(asked.name, asked.title, exact, way, detail, matters, {**idle, **unread}, left)


def _seen(asked: Subject, inputs: dict[str, list[int]]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the bits that some random state shows to matter, and the others."""
    words = random_words(asked.inputs, TRIED)
    here = asked.rounded(asked.total(words))
    matters: dict[str, list[int]] = {}
    for name, bits in inputs.items():
        matters[name] = []
        for bit in bits:
            turned = wrap(words[name] ^ (1 << bit), len(bits))
            if (asked.rounded(asked.total({**words, name: turned})) != here).any():
                matters[name].append(bit)
    return matters, {name: [bit for bit in bits if bit not in matters[name]] for name, bits in inputs.items()}


def bits_that_matter(table: Table, diagram: Diagram) -> tuple[dict[str, list[int]], list[int]]:
    """Return the bits of each input word that the diagram tests, and for each output bit how many of them."""
    tested: set[int] = set()
    by_output_bit = []
    for root in diagram.roots.tolist():
        own, waiting, seen = set(), [root >> 1], {0}
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                own.add(diagram.order[int(diagram.level[node])])
                waiting += [int(diagram.low[node]) >> 1, int(diagram.high[node]) >> 1]
        by_output_bit.append(len(own))
        tested |= own
    matters, first = {}, 0
    for k, width in enumerate(table.input_widths):  # variable 0 is the most significant bit of the first word
        matters[f"x{k}"] = sorted(width - 1 - (v - first) for v in tested if first <= v < first + width)
        first += width
    return matters, by_output_bit
