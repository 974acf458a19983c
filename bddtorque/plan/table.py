"""The truth table of a block: what the diagrams and every lowered form are made of and checked against."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.integer_range import Range, word_range

MAX_INPUT_BITS = 26
MAX_OUTPUT_BITS = 62

IntegerArray = npt.NDArray[np.signedinteger[Any]]
Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]


def frozen(array: npt.ArrayLike, dtype: npt.DTypeLike) -> IntegerArray:
    """Return `array` as a contiguous read-only array of `dtype`; a writable one is copied, never frozen in place."""
    given = np.asarray(array)
    result = np.ascontiguousarray(given, dtype=dtype)
    if result.flags.writeable:
        if np.may_share_memory(result, given):
            result = result.copy()
        result.flags.writeable = False
    return result


def word_dtype(bits: int, signed: bool) -> np.dtype[np.signedinteger[Any]]:
    """Return the smallest signed NumPy type that holds every word of `bits` bits."""
    needed = bits if signed else bits + 1
    for kind in (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(kind).bits >= needed:
            return np.dtype(kind)
    raise BddTorqueError(f"table: output bits must be 1 to {MAX_OUTPUT_BITS}, not {bits}")


@dataclass(frozen=True, eq=False)
class FrozenArrays:
    """Base of dataclasses that hold arrays: the arrays are read-only, and stay so in a copy made by pickle."""

    def __post_init__(self) -> None:
        for name, value in tuple(vars(self).items()):
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, frozen(value, value.dtype))

    def __repr__(self) -> str:
        return f"<bddtorque {type(self).__name__.lower()}, {self.bytes:,} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def bytes(self) -> int:
        """Bytes of all arrays."""
        held = (getattr(self, field.name) for field in fields(self))
        return sum(value.nbytes for value in held if isinstance(value, np.ndarray))


@dataclass(frozen=True, eq=False, repr=False)
class Table(FrozenArrays):
    """A function from input words to one output word, listed entry by entry.

    Parameters
    ----------
    values
        Shape ``(2**input_bits,)``, integers; made read-only, in the smallest type that holds the output format.
        The index is the concatenation of the input words' bits, most significant first; a two's complement
        input word w of n bits takes part as w modulo 2**n.
    input_widths
        Bits of each input word; the first word is the most significant part of the index.
    output_bits
        Bits of the output word, 1 to 62.
    signed
        Whether the output word is two's complement.

    Raises
    ------
    BddTorqueError
        If the shape does not match the widths, a value does not fit, or there are more than 26 input bits.
    """

    values: IntegerArray
    input_widths: tuple[int, ...]
    output_bits: int
    signed: bool

    def __post_init__(self) -> None:
        widths = tuple(int(width) for width in self.input_widths)
        if not widths or min(widths) < 1 or sum(widths) > MAX_INPUT_BITS:
            raise BddTorqueError(
                f"table: input widths must be at least 1 bit each and 1 to {MAX_INPUT_BITS} together, not {widths}"
            )
        if not 1 <= self.output_bits <= MAX_OUTPUT_BITS:
            raise BddTorqueError(f"table: output bits must be 1 to {MAX_OUTPUT_BITS}, not {self.output_bits}")
        values = np.asarray(self.values)
        if values.dtype.kind not in "iu":
            raise BddTorqueError(f"table: values must be integers, not {values.dtype}")
        if values.shape != (1 << sum(widths),):
            raise BddTorqueError(
                f"table: {sum(widths)} input bits need shape ({1 << sum(widths)},), not {values.shape}"
            )
        lowest, highest = word_range(self.output_bits, self.signed)
        for found, where in ((int(values.min()), values.argmin), (int(values.max()), values.argmax)):
            if not lowest <= found <= highest:
                raise BddTorqueError(
                    f"table: values must be {lowest} to {highest} ({self.output_bits} bits, "
                    f"{'signed' if self.signed else 'unsigned'}), not {found} at index {int(where())}"
                )
        object.__setattr__(self, "input_widths", widths)
        object.__setattr__(self, "values", frozen(values, word_dtype(self.output_bits, self.signed)))

    @property
    def input_bits(self) -> int:
        """Number of input bits of all words together."""
        return sum(self.input_widths)

    @cached_property
    def range(self) -> Range:
        """The lowest and the highest entry."""
        return Range(int(self.values.min()), int(self.values.max()))

    @property
    def stored_bytes(self) -> int:
        """Bytes of the entries in the smallest whole-number type of C that holds them, as exported code stores them."""
        low, high = self.range
        for size in (1, 2, 4):
            half = 1 << (8 * size - 1)
            if (low >= 0 and high < 2 * half) or (-half <= low and high < half):
                return size * len(self.values)
        return 8 * len(self.values)

    def index(self, words: Iterable[Any]) -> Any:
        """Return the places of integers or int64 arrays, one an input word; bits above the input widths are ignored."""
        index: Any = 0
        for word, width in zip(words, self.input_widths, strict=True):
            index = (index << width) | (word & ((1 << width) - 1))
        return index

    @cached_property
    def content_key(self) -> str:
        """SHA-256 (hexadecimal) of the widths, the output format and the values: the same on every machine."""
        header = f"table:{','.join(map(str, self.input_widths))}:{self.output_bits}:{int(self.signed)}:"
        canonical = self.values.astype(self.values.dtype.newbyteorder("<"), copy=False)
        return hashlib.sha256(header.encode() + canonical.tobytes()).hexdigest()

    def reordered(self, order: tuple[int, ...]) -> IntegerArray:
        """Return the values with index bits permuted: bit i of the new index (0 = most significant) is `order[i]`."""
        return permute_bits(self.values, order)


def permute_bits(values: IntegerArray, order: tuple[int, ...]) -> IntegerArray:
    """Permute the index bits of a list of 2**v entries.

    `values`: shape ``(2**v,)``; `order`: for each bit of the new index, most significant first, the bit of the old
    index it is (0 = most significant).
    """
    if order == tuple(range(len(order))):
        return values
    return values.reshape((2,) * len(order)).transpose(order).reshape(-1)


def restore_bits(values: IntegerArray, order: tuple[int, ...]) -> IntegerArray:
    """Undo `permute_bits` with the same `order`."""
    return permute_bits(values, tuple(order.index(variable) for variable in range(len(order))))
