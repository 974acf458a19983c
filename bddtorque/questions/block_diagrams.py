"""Questions to a block's diagram: counts of its words, extremes with an index, and the input bits that matter.

A diagram answers them in one pass over its nodes, however many entries its table has: half of the inputs that reach a
node go on along each of its edges.
"""

from __future__ import annotations

import numpy as np

from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.forms import MultiTerminal
from bddtorque.plan.table import Table
from bddtorque.questions.subjects import Integers, State


def words_and_counts(table: Table, diagram: Diagram) -> tuple[Integers, Integers]:
    """Return the words of a block, rising, and how many entries have each: model counting on its diagram."""
    shape = MultiTerminal.from_table(table, diagram.order)
    counts = np.zeros(len(shape.words), dtype=np.int64)
    nodes = len(shape.positions)
    reach = [0] * nodes
    if shape.root < 0:
        counts[~shape.root] = len(table.values)
        return shape.words.astype(np.int64), counts
    reach[shape.root] = len(table.values)
    successors = shape.successors.tolist()
    for node in range(nodes - 1, -1, -1):  # children come before parents
        for child in successors[2 * node : 2 * node + 2]:
            if child < 0:
                counts[~child] += reach[node] >> 1
            else:
                reach[child] += reach[node] >> 1
    return shape.words.astype(np.int64), counts


def index_of(table: Table, diagram: Diagram, word: int) -> int:
    """Return an index of the table that holds a word, found along the diagram; the word must be there."""
    shape = MultiTerminal.from_table(table, diagram.order)
    place = ~int(np.flatnonzero(shape.words == word)[0])
    successors = shape.successors.tolist()
    leads = [False] * len(shape.positions)
    for node in range(len(leads)):
        children = successors[2 * node : 2 * node + 2]
        leads[node] = any(child == place if child < 0 else leads[child] for child in children)
    index, node = 0, shape.root
    while node >= 0:
        low = successors[2 * node]
        taken = 0 if (low == place if low < 0 else leads[low]) else 1
        index |= taken << int(shape.positions[node])
        node = successors[2 * node + taken]
    return index


def state_of(table: Table, index: int) -> State:
    """Return the words of an index, two's complement, as x0, x1, ..."""
    words, left = {}, table.input_bits
    for k, width in enumerate(table.input_widths):
        left -= width
        word = (index >> left) & ((1 << width) - 1)
        words[f"x{k}"] = word - ((word >> (width - 1)) << width)
    return words


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
