"""Forms that give whole words, of which one is chosen for each block of exported C.

`dense`: the table itself; one load gives the word.

`folded`: the table without its mirrored parts; one load, and a sign. Half or a quarter of a table is left where the
function is even, odd or mirrored in an input word.

A word w of n bits is two's complement; h = 2**(n-1) is half a turn if the word is an angle, q = h/2 a quarter.
A fold goes in two steps, each an exact reflection with a sign (+1 or -1):

1. about a centre c, which is 0 (even and odd functions) or q (mirrored ones: f(h - w) = ±f(w)):
   t = w - c, wrapped to n bits; f depends on m = abs(t) alone, times the first sign if -h < t < 0.
   The magnitudes 0 to h inclusive are stored: the lowest word t = -h has no mirror and keeps its own entry, unsigned.
2. (optional) about the middle of those magnitudes: m > q becomes h - m, times the second sign. Now 0 to q are stored.
   An even or odd function that is mirrored as well (sine, cosine) thus folds to a quarter wave.

A fold that does not give back every entry is not made. Folded lengths are 2**k + 1, so diagrams, which need
powers of two, take whole tables. A *rule* is one row of integers a word: ``bits, length, centre, first sign, second
sign``; a sign of 0 means the step is not made, and length is the number of entries stored along the word. An evaluator
needs integer arithmetic only.

`runs`: where the table takes one word for many indices in a row, the runs of equal words; the run of an index is found
by halving, always in as many steps. A step function, such as dry friction, has few.

`edge_valued`: one diagram whose edges carry weights; the word is the sum of the weights on its path. Such a diagram
(EVBDD) has one terminal, 0. Of a node's two edges the low one weighs nothing, which makes it canonical: two functions
that differ by a constant share one node. A function linear in its bits has one node a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import inlined, njit
from bddtorque.plan.bdd import check_order
from bddtorque.plan.engine import DEFAULT_MEMORY_LIMIT, MemoryLimit
from bddtorque.plan.forms.bit_forms import Int8Array, node_levels
from bddtorque.plan.forms.form import Form, Int64Array
from bddtorque.plan.rows import merge_rows
from bddtorque.plan.table import Int32Array, IntegerArray, Table, restore_bits, word_dtype

CYCLES_A_WORD, CYCLES_A_FOLD = 2, 8
"""Integer operations, each waiting for the one before, to cut a word out of the index and to fold it."""
BYTES_AN_ENTRY = 56
"""Bytes that building takes for each entry of the table: its node and offset, rows merged, and nodes found, at most."""


@dataclass(frozen=True, eq=False)
class Dense(Form):
    """A table as it is: the entry at the index, bits above the table's ignored."""

    name: ClassVar[str] = "dense"
    constant: ClassVar[bool] = True

    values: IntegerArray  # (2**input_bits,), in the table's type

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Take the values of a table."""
        return cls(table.values)

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which the one load lies."""
        return (self.values.nbytes,)

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``."""
        return self.values

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, looked up."""
        return self.values.take(indices & (len(self.values) - 1)).astype(np.int64)


@inlined
def fold_word(word: Any, bits: Any, centre: Any, first: Any, second: Any) -> Any:
    """Return the folded index of a word (or any integer equal to it modulo 2**bits) and the sign of the entry there.

    Nothing branches on the word itself: half of the guesses of a processor would be wrong. Masks are -1 for yes and 0
    for no. The rule's numbers come one by one, since a view of its row would cost more than all of this.
    """
    full = np.int64(1) << bits
    magnitude, flip = word & (full - 1), np.int64(0)
    if first != 0:
        half = full >> 1
        signed = ((word - centre + half) & (full - 1)) - half
        below = signed >> 63
        magnitude = (signed ^ below) - below
        flip = below & (first >> 63) & ((-half - signed) >> 63)  # the lowest word keeps its sign
        beyond = (((half >> 1) - magnitude) >> 63) & ((second | -second) >> 63)
        magnitude ^= (magnitude ^ (half - magnitude)) & beyond
        flip ^= beyond & (second >> 63)
    return magnitude, 1 | flip


@njit
def _look_up(indices: Int64Array, values: IntegerArray, rules: Int64Array, words: Int64Array) -> None:
    """Look up whole (unfolded) indices; bits above the table's are ignored."""
    for i in range(len(indices)):
        place, sign, shift = 0, 1, rules[:, 0].sum()
        for word in range(len(rules)):
            bits = rules[word, 0]
            shift -= bits
            part, part_sign = fold_word(indices[i] >> shift, bits, rules[word, 2], rules[word, 3], rules[word, 4])
            place = place * rules[word, 1] + part
            sign *= part_sign
        words[i] = sign * values[place]


@dataclass(frozen=True, eq=False)
class Folded(Form):
    """A table stored without its mirrored parts."""

    name: ClassVar[str] = "folded"
    constant: ClassVar[bool] = True

    # (product of lengths,): the entries kept, the first word slowest, in the table's type
    values: IntegerArray
    rules: Int64Array  # (words, 5), int64: see the module

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Fold a table along every word in which it is even, odd or mirrored; other words stay whole.

        Where several folds apply, the shortest is taken, among equals the first of: even, odd, mirrored.
        """
        rules = [find_rule(table, word) for word in range(len(table.input_widths))]
        kept = table.values.reshape([1 << width for width in table.input_widths])
        for axis, rule in enumerate(rules):
            if rule[3] != 0:
                kept = kept.take(_kept_words(rule), axis)
        return cls(np.ascontiguousarray(kept).reshape(-1), np.array(rules, np.int64))

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which the one load lies."""
        return (self.values.nbytes,)

    @property
    def arithmetic(self) -> int:
        """Cycles for which a word waits beside its load: to pick the words apart, and to fold."""
        return CYCLES_A_WORD * len(self.rules) + CYCLES_A_FOLD * int(np.count_nonzero(self.rules[:, 3]))

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``, unfolded word by word."""
        values = self.values.reshape([int(rule[1]) for rule in self.rules])
        for axis, rule in enumerate(self.rules):
            if rule[3] != 0:
                index, negative = np.empty(1 << rule[0], np.int64), np.empty(1 << rule[0], np.bool_)
                _fold_words(rule, index, negative)
                values = values.take(index, axis)
                beside = [1] * values.ndim
                beside[axis] = -1
                np.negative(values, out=values, where=negative.reshape(beside))
        return np.ascontiguousarray(values).reshape(-1)

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, looked up one by one."""
        words = np.empty(len(indices), np.int64)
        _look_up(indices, self.values, self.rules, words)
        return words


def find_rule(table: Table, word: int) -> tuple[int, ...]:
    """Return the rule that folds a table most along one of its input words; the one that folds nothing if none does."""
    bits = table.input_widths[word]
    inner = sum(table.input_widths[word + 1 :])
    values = table.values.reshape(-1, 1 << bits, 1 << inner)

    def holds(rule: tuple[int, ...]) -> bool:
        return bool(_gives_back(values, np.array(rule, np.int64)))

    half, quarter = 1 << (bits - 1), 1 << bits >> 2
    centres = (0, quarter) if bits > 1 else ()  # a word of one bit has nothing to mirror
    once = [(bits, half + 1, centre, sign, 0) for centre in centres for sign in (1, -1)]
    once = [rule for rule in once if holds(rule)]
    twice = [(bits, quarter + 1, centre, first, second) for _, _, centre, first, _ in once for second in (1, -1)]
    for rule in twice:
        if holds(rule):
            return rule
    return once[0] if once else (bits, 1 << bits, 0, 0, 0)


def _kept_words(rule: tuple[int, ...]) -> Int64Array:
    """Return the words, modulo 2**bits, whose entries a fold keeps, by folded index."""
    bits, length, centre = rule[:3]
    return (np.arange(length, dtype=np.int64) + centre) & ((1 << bits) - 1)


@njit
def _fold_words(rule: Int64Array, index: Int64Array, negative: npt.NDArray[np.bool_]) -> None:
    for word in range(len(index)):
        place, sign = fold_word(word, rule[0], rule[2], rule[3], rule[4])
        index[word] = place
        negative[word] = sign < 0


@njit
def _gives_back(values: IntegerArray, rule: Int64Array) -> bool:
    """Tell whether the entries that a rule keeps give back all others; values have shape (before, 2**bits, after)."""
    before, size, after = values.shape
    for i in range(before):
        for word in range(size):
            place, sign = fold_word(word, rule[0], rule[2], rule[3], rule[4])
            kept = (place + rule[2]) & (size - 1)
            if kept != word:
                for k in range(after):
                    # sign is an int64, so that the lowest number of a narrower type has a negative
                    if values[i, word, k] != sign * values[i, kept, k]:
                        return False
    return True


@dataclass(frozen=True, eq=False)
class Runs(Form):
    """A table as runs of equal words."""

    name: ClassVar[str] = "runs"
    constant: ClassVar[bool] = True

    starts: Int32Array  # (runs,): the index at which each run begins
    values: IntegerArray  # (runs,): its word, in the table's type
    input_bits: int

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Find the runs of a table."""
        starts = np.flatnonzero(np.concatenate(([True], table.values[1:] != table.values[:-1])))
        return cls(starts.astype(np.int32), table.values[starts], table.input_bits)

    @property
    def steps(self) -> int:
        """Comparisons that find a run."""
        return (len(self.starts) - 1).bit_length()

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which each load lies: the starts that the index is compared with, then the word."""
        return (self.starts.nbytes,) * self.steps + (self.values.nbytes,)

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``."""
        return np.repeat(self.values, np.diff(self.starts, append=1 << self.input_bits))

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices; bits above the table's are ignored."""
        places = np.searchsorted(self.starts, indices & ((1 << self.input_bits) - 1), side="right") - 1
        return self.values[places].astype(np.int64)


@njit
def _walk_words(
    indices: Int64Array,
    root: int,
    positions: Int8Array,
    successors: Int32Array,
    weights: IntegerArray,
    words: Int64Array,
) -> None:
    """Add up the weights on the path of each index; bits above the table's are ignored."""
    for i in range(len(indices)):
        node = root
        while node > 0:
            side = (indices[i] >> positions[node]) & 1
            words[i] += weights[node] * side
            node = successors[2 * node + side]


@dataclass(frozen=True, eq=False)
class EdgeValued(Form):
    """An edge-valued diagram in packed arrays; node 0 is the terminal, children come before parents."""

    name: ClassVar[str] = "edge_valued"
    constant: ClassVar[bool] = False

    # (nodes + 1,), int8: position in the index (0 = least significant) of the bit each node tests
    positions: Int8Array
    # (2 * (nodes + 1),), int32: the nodes that follow node k on 0 and 1, at 2k and 2k + 1
    successors: Int32Array
    weights: IntegerArray  # (nodes + 1,): what the high edge of each node adds to the word
    root: int  # node to start at
    offset: int  # word at index 0: where every sum starts
    order: tuple[int, ...]  # variable at each level, top first
    dtype: np.dtype[np.signedinteger[Any]]  # type of the table's words

    @classmethod
    def from_table(
        cls, table: Table, order: tuple[int, ...] | None = None, memory_limit: int = DEFAULT_MEMORY_LIMIT
    ) -> Self:
        """Build the diagram of a table under an order (by default the table's own) within `memory_limit` bytes."""
        order = check_order(order, table.input_bits)
        if BYTES_AN_ENTRY << table.input_bits > memory_limit:
            raise MemoryLimit(
                f"form '{cls.name}': a table of {table.input_bits} input bits needs "
                f"{BYTES_AN_ENTRY << table.input_bits} bytes to merge, the limit is {memory_limit}; use smaller blocks "
                "or raise the memory limit"
            )
        dtype = word_dtype(table.output_bits + 1, True)  # holds any difference of two words
        nodes, offsets = np.zeros(1 << table.input_bits, np.int32), table.reordered(order).astype(np.int64)
        positions, pairs, weights = [np.zeros(1, np.int8)], [np.zeros((1, 2), np.int32)], [np.zeros(1, dtype)]
        total = 1
        for variable in reversed(order):
            rows = np.column_stack([nodes.reshape(-1, 2), offsets[1::2] - offsets[::2]])  # low, high, weight
            nodes, offsets = nodes[::2].copy(), offsets[::2]
            tested = (rows[:, 0] != rows[:, 1]) | (rows[:, 2] != 0)
            rows = rows[tested]
            if len(rows):
                classes, rows = merge_rows(rows)
                nodes[tested] = total + classes
            positions.append(np.full(len(rows), table.input_bits - 1 - variable, np.int8))
            pairs.append(rows[:, :2].astype(np.int32))
            weights.append(rows[:, 2].astype(dtype))
            total += len(rows)
        return cls(
            positions=np.concatenate(positions),
            successors=np.concatenate(pairs).reshape(-1),
            weights=np.concatenate(weights),
            root=int(nodes[0]),
            offset=int(offsets[0]),
            order=order,
            dtype=table.values.dtype,
        )

    @property
    def node_count(self) -> int:
        """Number of decision nodes; the terminal is not counted."""
        return len(self.positions) - 1

    @property
    def loads(self) -> int:
        """Loads a word at most: position, successor and weight at each level."""
        return 3 * len(self.order)

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which each load lies that waits for the one before: position, then successor, at each level."""
        return (self.positions.nbytes, self.successors.nbytes) * len(self.order)

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``, level by level."""
        level = node_levels(self.positions, self.order)
        level[0] = len(self.order)
        nodes, words = np.array([self.root]), np.array([self.offset], np.int64)
        for depth in range(len(self.order)):
            tested = level[nodes] == depth
            added = np.where(tested, self.weights[nodes], 0)
            low = np.where(tested, self.successors[2 * nodes], nodes)
            high = np.where(tested, self.successors[2 * nodes + 1], nodes)
            nodes = np.stack([low, high], axis=1).reshape(-1)
            words = np.stack([words, words + added], axis=1).reshape(-1)
        return restore_bits(words.astype(self.dtype), self.order)

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, each by a walk of its own."""
        words = np.full(len(indices), self.offset, np.int64)
        _walk_words(indices, self.root, self.positions, self.successors, self.weights, words)
        return words
