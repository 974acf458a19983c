"""A graph as a network of words: which values become words, and each as a sum of products of others.

Sums and constant factors cost no rounding, so they are merged as far as they go. What remains to become a word is what
a table gives (sines and cosines, whole functions of few input bits) and what is multiplied with something else. Each
such value is then

    Σ c · word · word  +  Σ c · word  +  c

rounded once. The graph is read in the order it is computed; nothing here knows about bits yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph, Op, kept
from bddtorque.dynamics.node_ranges import node_ranges
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.words.argument import Argument, intervals
from bddtorque.words.bounded import Interval

DIRECT_BITS = (16, 14, 12, 0)
"""Input bits of the table of a summand of two words, at most, as planners try them: beyond, their product from quarter
squares takes a fraction of the rows. Every further word saves one more product, and may bring two bits more."""

Monomial = tuple[int | str, ...]
"""A product of at most two words: node numbers of the graph, or names of inputs. Empty for a constant."""
MonomialSum = dict[Monomial, Fraction]
"""A sum of monomials with exact coefficients."""
Centred = dict[tuple[tuple[int | str, Fraction], tuple[int | str, Fraction]], Fraction]
"""Products (word + number)·(word + number) as the graph takes them, before they are multiplied out, with coefficients.
Ranges come from these: (x + c)² is not negative, and in x² + 2c·x that cannot be seen any more."""

Key = TypeVar("Key")


@dataclass(frozen=True)
class TableValue:
    """A value that a table gives: a function of the words `names`."""

    function: Graph
    names: tuple[str, ...]


@dataclass
class Network:
    """Values that become words, in the order they are computed, and how."""

    graph: Graph
    arguments: Mapping[str, Argument]  # what the words of the graph's inputs stand for
    tables: dict[int, TableValue] = field(default_factory=dict)  # by node number
    sums: dict[int, MonomialSum] = field(default_factory=dict)  # by node number
    outputs: list[MonomialSum] = field(default_factory=list)  # one form an output
    order: list[int] = field(default_factory=list)  # the node numbers of both, operands before readers
    centred: dict[int, Centred] = field(default_factory=dict)  # of sums by node number, of outputs as −1, −2, ...

    @cached_property
    def ranges(self) -> list[Interval]:
        """The range of each node of the graph."""
        return node_ranges(self.graph, intervals(self.arguments))

    def size_of(self, word: int | str) -> float:
        """Return the largest magnitude of a word: of an input in its units, whose scale is in the coefficients."""
        return float(self.arguments[word].range.magnitude) if isinstance(word, str) else self.ranges[word].magnitude

    @cached_property
    def turned(self) -> list[int]:
        """The sines and cosines, in order: one table serves them all."""
        return [node for node in self.order if self.graph.nodes[node].op in (Op.SINE, Op.COSINE)]


class NetworkReader:
    """Reads a graph, node by node; which values become words and which tables, a subclass may decide otherwise.

    Functions of one input word become tables. With `direct_summands`, so does every summand of an output whose input
    words together have at most `block_bits` bits, at most `direct_bits` for two words, two more for each further.
    """

    def __init__(
        self,
        graph: Graph,
        arguments: Mapping[str, Argument],
        block_bits: int,
        direct_summands: bool,
        direct_bits: int = DIRECT_BITS[0],
    ) -> None:
        self.graph = graph
        self.arguments = arguments
        self.block_bits = block_bits
        self.direct_bits = direct_bits
        self.support = node_supports(graph)
        self.direct = self._direct_nodes() if direct_summands else set()
        self.words = self.must_be_words()
        self.result = Network(graph, arguments)
        self.forms: dict[int, MonomialSum] = {}
        self.centred: dict[int, Centred] = {}

    def network(self) -> Network:
        """Read every node that the outputs need, in order: each as a sum of monomials over words."""
        for index in self._needed():
            self.forms[index] = self._read(index)
        self.result.outputs += [self._form(reference) for reference in self.graph.outputs]
        for k, reference in enumerate(self.graph.outputs):
            self.result.centred[-1 - k] = self._centred(reference)
        return self.result

    def _needed(self) -> list[int]:
        """Return the nodes that are not inside a table, operands before readers."""
        needed: set[int] = set()
        waiting = [reference >> 1 for reference in self.graph.outputs]
        while waiting:
            index = waiting.pop()
            if index not in needed:
                needed.add(index)
                if not self.is_table(index):
                    waiting += [operand >> 1 for operand in self.graph.nodes[index].operands]
        return sorted(needed)

    def _direct_nodes(self) -> set[int]:
        """Return the summands of outputs that fit one table."""
        found = set()
        for reference in self.graph.outputs:
            for summand in _summands(self.graph, reference >> 1):
                inputs = self.support[summand]
                if self.graph.nodes[summand].op is Op.PRODUCT and self._linear(summand):
                    continue  # a constant times an input needs no table
                bits = sum(self.arguments[name].bits for name in inputs)
                most = self.block_bits if len(inputs) < 2 else self.direct_bits + 2 * (len(inputs) - 2)
                if inputs and bits <= min(self.block_bits, most):
                    found.add(summand)
        return found

    def _linear(self, node: int) -> bool:
        """Return whether a node is a constant times an input word."""
        current = self.graph.nodes[node]
        while current.op is Op.PRODUCT and self.graph.nodes[current.left >> 1].op is Op.CONSTANT:
            current = self.graph.nodes[current.right >> 1]
        return current.op is Op.INPUT

    def must_be_words(self) -> set[int]:
        """Return the nodes that are factors of a product with something else, seen through constant factors."""
        words: set[int] = set()
        readers = [0] * len(self.graph.nodes)
        for node in self.graph.nodes:
            for operand in node.operands:
                readers[operand >> 1] += 1
        for node in self.graph.nodes:
            if node.op is Op.PRODUCT and self.graph.nodes[node.left >> 1].op is not Op.CONSTANT:
                words.update(self._unscaled(operand >> 1) for operand in node.operands)
        summands: list[int] = []
        for index, node in enumerate(self.graph.nodes):  # a long sum that is read twice is summed once
            summands.append(summands[node.left >> 1] + summands[node.right >> 1] if node.op is Op.SUM else 1)
            if readers[index] > 1 and summands[index] > 3:
                words.add(index)
        return words

    def _unscaled(self, node: int) -> int:
        current = self.graph.nodes[node]
        if current.op is Op.PRODUCT and self.graph.nodes[current.left >> 1].op is Op.CONSTANT:
            return self._unscaled(current.right >> 1)
        if current.op is Op.SUM and self.graph.nodes[current.left >> 1].op is Op.CONSTANT:
            return self._unscaled(current.right >> 1)
        return node

    def _form(self, reference: int) -> MonomialSum:
        form = self.forms[reference >> 1]
        return {monomial: -coefficient for monomial, coefficient in form.items()} if reference & 1 else form

    def _centred(self, reference: int) -> Centred:
        products = self.centred.get(reference >> 1, {})
        return {pair: -coefficient for pair, coefficient in products.items()} if reference & 1 else products

    def _read(self, index: int) -> MonomialSum:
        """Return a node as a sum of monomials, from those of its operands; what must be a word becomes one."""
        node = self.graph.nodes[index]
        if node.op is Op.CONSTANT:
            return {(): Fraction(node.value)}
        if node.op is Op.INPUT:
            argument = self.arguments[node.name]
            return _added({(node.name,): argument.scale}, {(): argument.centre})
        if self.is_table(index):
            self.result.tables[index] = self._table(index)
            self.result.order.append(index)
            return {(index,): Fraction(1)}
        if node.op is Op.SUM:
            form = _added(self._form(node.left), self.forms[node.right >> 1], negative=bool(node.right & 1))
            centred = _added(self._centred(node.left), self._centred(node.right))
        else:
            form = _multiplied(self._form(node.left), self._form(node.right))
            centred = self._product(node.left, node.right)
        if index in self.words and any(form) and not _is_one_word(form):
            self.result.sums[index], self.result.centred[index] = form, centred
            self.result.order.append(index)
            return {(index,): Fraction(1)}
        self.centred[index] = centred
        return form

    def _product(self, left: int, right: int) -> Centred:
        """Return the centred products of a product: of two words with numbers added, or of anything with a number."""
        forms = self._form(left), self._form(right)
        for form, other in zip(forms, (right, left), strict=True):
            if not any(form):
                return {pair: coefficient * form.get((), 0) for pair, coefficient in self._centred(other).items()}
        # what is multiplied is a word each, scaled, with a number added
        affine = [(word, form[word,], form.get((), Fraction(0))) for form in forms for key in form for word in key]
        first, second = sorted(
            ((word, added / scale) for word, scale, added in affine), key=lambda each: _order(each[0])
        )
        return {(first, second): affine[0][1] * affine[1][1]} if first[1] or second[1] else {}

    def is_table(self, index: int) -> bool:
        """Return whether a node is a function that becomes a table, and not just a multiple of a word."""
        node = self.graph.nodes[index]
        if node.op in (Op.SINE, Op.COSINE):
            return True
        if node.op in (Op.INPUT, Op.CONSTANT):
            return False
        if index in self.direct:
            return True
        if len(self.support[index]) != 1 or node.op is not Op.PRODUCT:
            return False
        (name,) = self.support[index]
        return not self._linear(index) and self.arguments[name].bits <= self.block_bits and self._has_input(index)

    def _has_input(self, index: int) -> bool:
        """Return whether a product of one word's functions reads more than a scaled sine or cosine."""
        node = self.graph.nodes[index]
        return self.graph.nodes[node.left >> 1].op is not Op.CONSTANT

    def _table(self, index: int) -> TableValue:
        names = ordered(self.support[index], self.arguments)
        bits = sum(self.arguments[name].bits for name in names)
        if bits > self.block_bits:
            raise BddTorqueError(
                f"plan: a function of {', '.join(names)} needs {bits} input bits and block_bits is {self.block_bits}: "
                "raise block_bits or lower input_bits"
            )
        return TableValue(rebuilt(self.graph, index, names), names)


def node_supports(graph: Graph) -> list[frozenset[str]]:
    """Return the inputs that each node depends on."""
    return Graph(graph.nodes, tuple(2 * k for k in range(len(graph.nodes))), ()).supports()


def ordered(names: frozenset[str], arguments: Mapping[str, Argument]) -> tuple[str, ...]:
    """Angles first, then by name: equal functions of different joints then have equal tables."""
    return tuple(sorted(names, key=lambda name: (arguments[name].kind != "angle", name)))


def rebuilt(graph: Graph, node: int, names: Sequence[str]) -> Graph:
    """Return one node as a graph of its own over x0, x1, ... in the order of `names`."""
    tracer = Tracer()
    inputs = {name: tracer.input(f"x{k}") for k, name in enumerate(names)}
    result: Number = kept(graph.nodes, [2 * node], ["f"]).evaluate(inputs, tracer)[0]
    return tracer.graph([result], ["f"])


def _summands(graph: Graph, node: int) -> set[int]:
    """Return what a node is the sum of; sums may be longer than the stack is deep."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            if graph.nodes[index].op is Op.SUM:
                waiting += [operand >> 1 for operand in graph.nodes[index].operands]
    return {index for index in seen if graph.nodes[index].op is not Op.SUM}


def _added(left: dict[Key, Fraction], right: dict[Key, Fraction], negative: bool = False) -> dict[Key, Fraction]:
    """Return left ± right. Sums have thousands of summands, added one by one: what is not in `right` is not touched."""
    total = dict(left)
    for key, coefficient in right.items():
        total[key] = total.get(key, Fraction(0)) + (-coefficient if negative else coefficient)
        if not total[key]:
            del total[key]
    return total


def _multiplied(left: MonomialSum, right: MonomialSum) -> MonomialSum:
    """Return the product of two forms, of at most one word each."""
    total: MonomialSum = {}
    for first, a in left.items():
        for second, b in right.items():
            monomial = tuple(sorted((*first, *second), key=_order))
            if len(monomial) > 2:
                raise ArithmeticError(f"a product of more than two words: {monomial}")
            total[monomial] = total.get(monomial, Fraction(0)) + a * b
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _order(word: int | str) -> tuple[bool, int | str]:
    return isinstance(word, str), word


def _is_one_word(form: MonomialSum) -> bool:
    """Return whether a form is linear in a single word, so that it can be a factor as it is."""
    monomials = [monomial for monomial in form if monomial]
    return len(monomials) == 1 and len(monomials[0]) == 1
