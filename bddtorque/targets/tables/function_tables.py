"""`FunctionTables`: tables of what the nodes of a graph compute, each of as few input bits as there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from bddtorque.dynamics.graph import Graph, Op, kept
from bddtorque.dynamics.node_ranges import output_ranges
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.targets.angles import Combination
from bddtorque.targets.builder import PlanBuilder
from bddtorque.targets.network import node_supports, ordered
from bddtorque.words.argument import Argument


class FunctionTables(PlanBuilder):
    """Makes tables of products and sums of a graph's nodes, which are meant by their references."""

    def __init__(
        self,
        graph: Graph,
        sums: Mapping[str, Combination],
        arguments: Mapping[str, Argument],
        block_bits: int,
        products: str,
    ) -> None:
        super().__init__(arguments, sums, block_bits, products)
        self.graph = graph  # over the inputs and the sums of angles
        self.support = node_supports(graph)  # of each node, the words that it depends on

    def inputs_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the input words that some words depend on: sums of angles are taken apart."""
        inputs = {n for name in names for n, _ in (self.sums[name].multipliers if name in self.sums else ((name, 1),))}
        return ordered(frozenset(inputs), self.arguments)

    def words_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the words that a table of some words reads: those, or the inputs behind them if they have fewer bits.

        q2, q3 and q2+q3 are two words; q1+q2 alone is one.
        """
        given = ordered(frozenset(names), self.arguments)
        if any(self.sums[name].rest or self.sums[name].fractional for name in given if name in self.sums):
            return given
        return min(given, self.inputs_of(given), key=lambda words: sum(self.arguments[name].bits for name in words))

    def bits_of(self, names: Iterable[str]) -> int:
        """Return the bits of the distinct words."""
        return sum(self.arguments[name].bits for name in self.words_of(names))

    def _traced(self, products: Sequence[Sequence[int]], constant: float, names: Sequence[str]) -> Graph:
        """Return constant times a sum of products of references as a graph of its own, over x0, x1, ..."""
        tracer = Tracer()
        inputs: dict[str, Number] = {name: tracer.input(f"x{k}") for k, name in enumerate(names)}
        for name, combination in self.sums.items():
            if (
                name not in inputs
                and not combination.fractional
                and all(n in inputs for n, _ in combination.multipliers)
            ):
                inputs[name] = sum((m * inputs[n] for n, m in combination.multipliers), 0.0)
        total: Number = 0.0
        for references in products:
            part = kept(self.graph.nodes, references, [str(r) for r in references])
            product: Number = 1.0
            for factor in part.evaluate(inputs, tracer):
                product = tracer.product(product, factor)
            total = tracer.sum(total, product)
        return tracer.graph([tracer.product(constant, total)], ["f"])  # last, so that x·x is seen as a square

    def magnitude(self, references: Sequence[int], constant: float) -> float:
        """Return a sound bound on |constant · product|."""
        names = sorted(frozenset().union(*(self.support[r >> 1] for r in references)))
        graph = self._traced([references], constant, names)
        inputs = {f"x{k}": self.arguments[name].interval() for k, name in enumerate(names)}
        return output_ranges(graph, inputs)[0].magnitude

    def lookup(
        self, products: Sequence[Sequence[int]], constant: float, names: Iterable[str], lsb: Fraction
    ) -> tuple[int, int]:
        """Return the wire of a table of constant · sum of products in units of |lsb|, and its sign."""
        names = self.words_of(names)
        graph = self._traced(products, constant, names)
        sign = -1 if (graph.outputs[0] & 1) != (lsb < 0) else 1
        graph = Graph(graph.nodes, (graph.outputs[0] & ~1,), graph.output_names)
        arguments = tuple(self.arguments[name] for name in names)
        reach = output_ranges(graph, {f"x{k}": a.interval() for k, a in enumerate(arguments)})[0]
        one = len(products) == 1
        label = "·".join(self.label(r) for r in products[0]) if one else f"f({','.join(names)})"
        words = tuple(self.word(name) for name in names)
        return self.table(label, graph, arguments, words, abs(lsb), reach), sign

    def label(self, reference: int) -> str:
        """Return what people read of a node: ``qd1``, ``sin(q2)``, ``f(q2,q3)``."""
        node = self.graph.nodes[reference >> 1]
        if node.op is Op.INPUT:
            return node.name
        names = ",".join(self.words_of(self.support[reference >> 1]))
        if node.op in (Op.SINE, Op.COSINE) and self.graph.nodes[node.left >> 1].op is Op.INPUT:
            return f"{'sin' if node.op is Op.SINE else 'cos'}({names})"
        return f"f({names})"
