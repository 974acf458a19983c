"""The network of a graph for machine integers: every sum that is read more than once is made once."""

from __future__ import annotations

from collections.abc import Mapping

from bddtorque.dynamics.graph import Graph, Op
from bddtorque.targets.network import Network, NetworkReader
from bddtorque.words.argument import Argument


def integer_network_of(
    graph: Graph, arguments: Mapping[str, Argument], block_bits: int, scaled_outputs: bool
) -> Network:
    """Return the network of a graph for a processor that multiplies.

    Only sines and cosines become tables, and one table serves them all. Sums cost what they cost, so each is made
    once, wherever it is read twice or scaled. With `scaled_outputs` a sum that is given out is made in its own unit,
    and then scaled to that of the output; else its summands are scaled, one by one.
    """
    return _IntegerReader(graph, arguments, block_bits, scaled_outputs).network()


class _IntegerReader(NetworkReader):
    def __init__(self, graph: Graph, arguments: Mapping[str, Argument], block_bits: int, scaled_outputs: bool) -> None:
        self.scaled_outputs = scaled_outputs
        super().__init__(graph, arguments, block_bits, direct_summands=False)

    def must_be_words(self) -> set[int]:
        words = super().must_be_words()
        nodes = self.graph.nodes
        readers = [0] * len(nodes)
        for reference in [*self.graph.outputs, *(operand for node in nodes for operand in node.operands)]:
            readers[reference >> 1] += 1
        shared = {index for index, count in enumerate(readers) if count > 1}
        products = [node for node in nodes if node.op is Op.PRODUCT]
        scaled = {node.right >> 1 for node in products if nodes[node.left >> 1].op is Op.CONSTANT}
        given = {reference >> 1 for reference in self.graph.outputs} if self.scaled_outputs else set()
        sums = {index for index, node in enumerate(nodes) if node.op is Op.SUM}
        return words | (sums & (shared | scaled | given))

    def is_table(self, index: int) -> bool:
        return self.graph.nodes[index].op in (Op.SINE, Op.COSINE)
