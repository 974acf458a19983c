"""Memory that diagrams take: limits, and estimates before anything is made."""

from __future__ import annotations

from bddtorque.base.errors import BddTorqueError

DEFAULT_MEMORY_LIMIT = 2 << 30
MAX_NODES = 1 << 29
"""Of a diagram: edges are int32, with one bit for the sign."""
NODE_BYTES = 224
"""Of a node while three start orders are built in CUDD, 48 each, and one is read back: Python holds a function of dd
(64, and 8 in a list) and then the node's number, level and edges (130)."""
ENTRY_BYTES = 40
"""Of a table's entry while its bits are permuted, packed and compared."""


class MemoryLimit(BddTorqueError):  # noqa: N818 - it names what happened
    """A diagram would take more memory than it may."""


def max_nodes(input_bits: int, output_bits: int) -> int:
    """Return the most nodes that a shared diagram with complement edges can have.

    A level has no more nodes than there are paths to it, nor than functions (up to complement) of what lies below.
    """
    return sum(min(output_bits << level, 1 << min(60, (1 << (input_bits - level)) - 1)) for level in range(input_bits))


def memory_needed(input_bits: int, output_bits: int, nodes: int | None = None) -> int:
    """Return the bytes that building a shared diagram can take at its peak.

    Parameters
    ----------
    input_bits, output_bits
        Size of the table.
    nodes
        Number of nodes expected; by default the most there can be (`max_nodes`).
    """
    if nodes is None:
        nodes = max_nodes(input_bits, output_bits)
    return (ENTRY_BYTES << input_bits) + nodes * NODE_BYTES


def nodes_within(input_bits: int, memory_limit: int, node_bytes: int = NODE_BYTES) -> int:
    """Return the number of nodes, of `node_bytes` each, that `memory_limit` bytes leave room for.

    Raise `MemoryLimit` if not even the entries of the table fit.
    """
    left = memory_limit - (ENTRY_BYTES << input_bits)
    if left < 0:
        raise MemoryLimit(
            f"diagram: a table of {input_bits} input bits needs {ENTRY_BYTES << input_bits} bytes to reduce, "
            f"the limit is {memory_limit}; use smaller blocks or raise the memory limit"
        )
    return min(left // node_bytes, MAX_NODES)
