"""Diagrams: that each is reduced and in its one canonical form, and the table that it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .archive import ARRAYS, array_of, sha256
from .findings import require
from .plan import Block

Integers = npt.NDArray[Any]


def table_of(entries: dict[str, bytes], place: int, block: Block) -> npt.NDArray[np.int32]:
    """Return the words of a block in the order of the index, from a diagram found canonical."""
    arrays = {name: array_of(entries, f"blocks/{place}/{name}.npy", descr) for name, descr in ARRAYS.items()}
    where = f"block {place}, diagram"
    variables, bits = sum(block.widths), block.output_bits
    require(len(arrays["roots"]) == bits, f"{where}: expected {bits} output bits, got {len(arrays['roots'])}")
    require(
        len(arrays["order"]) == variables and sorted(arrays["order"].tolist()) == list(range(variables)),
        f"{where}: expected an order of {variables} variables",
    )
    check_canonical(arrays, variables, where)
    return _expanded(arrays, variables, bits, block.signed)


def check_canonical(arrays: dict[str, Integers], variables: int, where: str) -> None:
    """Refuse a diagram that is not reduced, or whose nodes are not sorted, or that holds nodes nobody reaches."""
    level, low, high, roots = (arrays[name].astype(np.int64) for name in ("level", "low", "high", "roots"))
    count = len(level)
    require(count > 0 and len(low) == len(high) == count, f"{where}: expected as many edges as nodes")
    require((level[0], low[0], high[0]) == (variables, 0, 0), f"{where}: expected node 0 as the constant")
    edges = np.concatenate([low, high, roots])
    require(bool(((edges >= 0) & (edges < 2 * count)).all()), f"{where}: expected edges to nodes of the diagram")
    rest = slice(1, None)
    require(bool(((level[rest] >= 0) & (level[rest] < variables)).all()), f"{where}: expected levels of variables")
    require(not (low & 1).any(), f"{where}: expected low edges without complement")
    require(bool((low[rest] != high[rest]).all()), f"{where}: expected nodes that test something")
    for edge in (low, high):
        require(bool((level[edge[rest] >> 1] > level[rest]).all()), f"{where}: expected children on deeper levels")
    order = np.lexsort((high[rest], low[rest], -level[rest]))
    require(bool((order == np.arange(count - 1)).all()), f"{where}: expected sorted nodes")
    keys = np.stack([level[rest], low[rest], high[rest]])
    require(not (keys[:, 1:] == keys[:, :-1]).all(axis=0).any(), f"{where}: expected no two equal nodes")
    reached = np.zeros(count, dtype=bool)
    reached[0] = True
    reached[roots >> 1] = True
    for each in range(variables):  # children lie deeper: level by level from the top, all are marked
        here = np.flatnonzero((level == each) & reached)
        reached[low[here] >> 1] = True
        reached[high[here] >> 1] = True
    require(bool(reached.all()), f"{where}: expected nodes that a root reaches")


def _expanded(arrays: dict[str, Integers], variables: int, bits: int, signed: bool) -> npt.NDArray[np.int32]:
    """Return the words; edges are spread level by level, then the axes put in the order of the index."""
    level, low, high = arrays["level"], arrays["low"], arrays["high"]
    words = np.zeros(1 << variables, dtype=np.int32)
    for bit, root in enumerate(arrays["roots"].tolist()):
        edges = np.array([root], dtype=np.int32)
        for each in range(variables):
            node, complement = edges >> 1, edges & 1
            tests = level[node] == each
            spread = np.empty(2 * len(edges), dtype=np.int32)
            spread[0::2] = np.where(tests, low[node] ^ complement, edges)
            spread[1::2] = np.where(tests, high[node] ^ complement, edges)
            edges = spread
        weight = -(1 << bit) if signed and bit == bits - 1 else 1 << bit
        words += (edges & 1) * np.int32(weight)
    axes = np.argsort(arrays["order"])
    return words.reshape((2,) * variables).transpose(axes).reshape(-1)


def table_key(words: Integers, block: Block) -> str:
    """Return the key of a table."""
    bits = block.output_bits
    size = next(size for size in (1, 2, 4) if 8 * size >= bits + (not block.signed))
    widths = ",".join(map(str, block.widths))
    return sha256(f"table:{widths}:{bits}:{int(block.signed)}:".encode() + words.astype(f"<i{size}").tobytes())
