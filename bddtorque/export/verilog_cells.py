"""Modules that a circuit is made of: a multiplier, and a line that delays a word.

Each is written twice. `NAME_multiply.v` and `NAME_delay.v` are plain registers, which any tool takes: on the 7 series
they become registers of multipliers and shift registers in look-up tables. `NAME_ecp5.v` has modules of the same names
and meaning for the ECP5, where Yosys packs no registers into multipliers and knows no shift registers: the registers
are those of the multiplier, and a line is a ring in distributed memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bddtorque.export.template_files import fill, template

MULTIPLIER_BITS = 18
"""Of the signed words that one multiplier takes: on the ECP5 18 by 18, on the 7 series 18 by 25."""
MULTIPLIER_CLOCKS = 2
"""Registers before and behind a multiplier."""
MAX_DELAY = 17
"""Clocks of one line: 16 words of memory, and the register behind it."""
MEMORY_BITS = 4
"""Of a word of the smallest distributed memory, which takes 6 look-up tables: 4, and 2 for its inputs."""
COUNTER_BITS = 4


def is_long(bits: int, clocks: int) -> bool:
    """Whether a word should wait in a line: whether memory saves three registers per look-up table it takes."""
    saved = bits * (clocks - 1) - COUNTER_BITS
    taken = 6 * -(-bits // MEMORY_BITS) + COUNTER_BITS
    return saved >= 3 * taken


def pieces(clocks: int) -> list[int]:
    """Return a delay as those of lines one after the other, of about the same length."""
    count = -(-clocks // MAX_DELAY)
    return [clocks // count + (k < clocks % count) for k in range(count)]


def multiply_text(name: str) -> str:
    """Return the multiplier in plain Verilog."""
    return fill(template("multiply.v"), name=name, multiplier_clocks=MULTIPLIER_CLOCKS, multiply=_multiply_head(name))


def delay_text(name: str) -> str:
    """Return the delay line in plain Verilog."""
    return fill(template("delay.v"), name=name, delay=_delay_head(name))


def ecp5_text(name: str) -> str:
    """Return both modules for the ECP5."""
    ports = ",\n".join(
        f"        {', '.join(f'.{port}{k}({signal}[{k}])' for k in range(start, start + 9))}"
        for port, signal, bits in (("A", "x", 18), ("B", "y", 18), ("P", "p", 36))
        for start in range(0, bits, 9)
    )
    return fill(template("ecp5.v"), name=name, multiply=_multiply_head(name), ports=ports, delay=_delay_head(name))


def _multiply_head(name: str) -> str:
    return fill(template("multiply_head.v"), name=name, multiplier_bits=MULTIPLIER_BITS)


def _delay_head(name: str) -> str:
    return fill(template("delay_head.v"), name=name, max_delay=MAX_DELAY)


CELLS: Mapping[str, Callable[[str], str]] = MappingProxyType({"multiply": multiply_text, "delay": delay_text})
"""The plain modules: what is written into `NAME_multiply.v` and `NAME_delay.v`."""
