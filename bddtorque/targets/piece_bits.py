"""Lengths of the pieces of partial products: few loads from a large table, or more from a small one."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.plan.blocks import ProductBlock, output_format
from bddtorque.plan.load_latency import latency
from bddtorque.plan.plan_operations import partial_look_ups
from bddtorque.plan.table import word_dtype
from bddtorque.words.integer_range import Range


def piece_table_bytes(bits: int) -> int:
    """Return the bytes of the table of all products of two pieces of so many bits."""
    return word_dtype(*output_format(ProductBlock.of_pieces(bits))).itemsize << (2 * bits)


def partial_cost(words: Sequence[tuple[Range, Range]], bits: int) -> int:
    """Return what partial products of pairs of words cost, in pieces of so many bits: see `load_latency`."""
    waiting = latency(piece_table_bytes(bits)) - 1
    return sum(partial_look_ups(left, right, bits) + waiting for left, right in words)


def piece_bits(words: Sequence[tuple[Range, Range]], block_bits: int) -> int:
    """Return the bits of the pieces that pairs of words are best multiplied in.

    Halves of the widest word take four loads for a product, yet the table of two 10-bit pieces has 2^20 entries, which
    neither a cache nor a chip holds; thirds take nine from a table of a few kilobytes.
    """
    widest = max(word.bits for pair in words for word in pair)
    most = min(block_bits // 2, widest)
    return min(range(1, most + 1), key=lambda bits: partial_cost(words, bits))
