"""Small processors: how each is compiled for, what it holds, what its operations cost. The numbers are in chips.toml.

AVR cycles are simavr's, which executes every instruction with the cycles of the data sheet. The others run in unicorn,
which knows no time: their instructions are exact, and cycles follow from them by the model named here
(`bench.emulators`). Flash and RAM are those of a common large part with that core.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bddtorque.base.errors import BddTorqueError, not_among

WIDTHS = (16, 32, 64)
"""Bits that costs are listed for."""


@dataclass(frozen=True)
class Costs:
    """Cycles of an operation on words of 16, 32 and 64 bits."""

    add: tuple[int, int, int]  # of two words
    multiply: tuple[int, int, int]  # of two words of 16 bits into 32; of 32 into 32; of 32 into 64
    shift: tuple[int, int, int]  # to the right by a constant, whole bytes on an 8-bit processor
    load: tuple[int, int, int]  # of a table's word of 8, 16 and 32 bits at a computed index
    constant: int  # of a constant that no instruction holds
    # for each bit beyond whole bytes; 0 where a shift takes the same for any number of bits
    shift_bit: tuple[int, int, int] = (0, 0, 0)

    def shift_by(self, count: int, bits: int = 32) -> int:
        """Return the cycles of a shift to the right by `count`, of a word of 16, 32 or 64 bits."""
        width = WIDTHS.index(bits)
        if count % 8 == 0 or not self.shift_bit[width]:
            return self.shift[width] if count else 0
        if bits == 32 and count > 16:  # what is left are 16 bits
            return self.shift[1] + self.shift_by(count - 16, 16)
        if bits == 64:  # a library function
            return self.shift[2] + self.shift_bit[2] * (count % 8)
        return self.shift_bit[width] * count


@dataclass(frozen=True)
class Chip:
    """A processor."""

    name: str  # what it is called
    about: str  # what it is, in a line
    register: int  # bits that it computes with at once: 8 or 32
    costs: Costs  # cycles of its operations
    flash: int
    ram: int
    products: tuple[str, ...] = ()  # families of microcontrollers with this core, whose names stand for it
    # what the names of its compiler and its binary tools begin with; empty where there are none to measure with
    tools: str = ""
    flags: tuple[str, ...] = ()  # of the compiler
    packages: str = ""  # Debian packages that bring its compiler and its C library
    # of its cycles: "avr", or a model of `bench.emulators`; else "area", where every bit costs, or
    # "uniform", where all words have one length
    model: str = ""
    part: str = ""  # what simavr calls it
    code_per_cycle: float = 3.1  # bytes of code for each cycle of straight-line arithmetic, about
    multiplier: bool = True  # whether it multiplies in a few cycles; where not, look-ups may be faster
    # largest_array, largest_tables: bytes that the compiler takes for one array in flash, and for all; 0 if any number
    largest_array: int = 0
    largest_tables: int = 0


@cache
def chips() -> Mapping[str, Chip]:
    """Return every chip by its name."""
    read = tomllib.loads(Path(__file__).with_name("chips.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: _chip(name, fields) for name, fields in read.items()})


def _chip(name: str, fields: dict[str, Any]) -> Chip:
    listed: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.pop("costs").items()
    }
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Chip(name, costs=Costs(**listed), **{**fields, **lists})


@cache
def chip_names() -> Mapping[str, str]:
    """Return the chip that each name stands for: its own, or that of a family of microcontrollers with its core."""
    own = {name: name for name in chips()}
    return MappingProxyType(own | {product: name for name, chip in chips().items() for product in chip.products})


def chip_named(name: str) -> Chip:
    """Return a chip by its name or that of a family of microcontrollers, or refuse an unknown name."""
    if name not in chip_names():
        raise BddTorqueError(not_among("chip", name, tuple(chip_names())), option="chip")
    return chips()[chip_names()[name]]
