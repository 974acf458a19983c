"""Numbers, arrays and long lines as C99 writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

WIDTH = 118
TYPES = ((8, "uint8_t", "int8_t"), (16, "uint16_t", "int16_t"), (32, "uint32_t", "int32_t"))


@dataclass(frozen=True, eq=False)
class ConstantArray:
    """A const array of a C file: its name, its type, its numbers."""

    name: str
    type: str
    values: npt.NDArray[Any]

    @property
    def bytes(self) -> int:
        """Bytes it takes in memory."""
        digits = "".join(filter(str.isdigit, self.type))
        return len(self.values) * int(digits) // 8 if digits else self.values.nbytes

    def text(self) -> str:
        """Return its definition."""
        return (
            f"static const BDDTORQUE_ROM {self.type} {self.name}[{len(self.values)}] = {{\n{filled(self.values)}\n}};\n"
        )


def constant_array(name: str, values: npt.ArrayLike) -> ConstantArray:
    """Return an array in the smallest C type that holds its numbers, which fit 32 bits; never an empty one."""
    numbers = np.asarray(values).reshape(-1)
    numbers = numbers if len(numbers) else np.zeros(1, np.int64)  # C has no arrays without elements
    low, high = int(numbers.min()), int(numbers.max())
    for bits, unsigned, signed in TYPES:
        if low >= 0 and high < 1 << bits:
            return ConstantArray(name, unsigned, numbers)
        if -(1 << (bits - 1)) <= low and high < 1 << (bits - 1):
            return ConstantArray(name, signed, numbers)
    raise ValueError(f"array {name}: numbers must fit into 32 bits, got {low} to {high}")


def filled(values: npt.ArrayLike) -> str:
    """Return numbers with commas between them, as many a line as fit."""
    numbers = np.asarray(values).reshape(-1)
    if numbers.dtype.kind == "f":
        texts = [real(number, "f" if numbers.dtype == np.float32 else "") for number in numbers.tolist()]
    else:
        # the lowest number of a type is written as a sum: its digits alone are beyond the type
        texts = [str(number) if number > -(2**31) else "-2147483647 - 1" for number in numbers.tolist()]
    count = max((WIDTH - 4) // (max(map(len, texts), default=1) + 2), 1)
    lines = (", ".join(texts[first : first + count]) for first in range(0, len(texts), count))
    return ",\n".join(f"    {line}" for line in lines)


def rows(values: npt.NDArray[Any]) -> str:
    """Return the rows of an array in braces, one per line."""
    return ",\n".join(f"    {{{', '.join(map(str, row))}}}" for row in values.tolist()).replace(
        "-2147483648", "-2147483647 - 1"
    )


def integer(value: int, bits: int, unsigned: bool = False) -> str:
    """Return a whole number as a constant of a type of 32 or 64 bits; its magnitude is below 2^63."""
    macro = f"UINT{bits}_C" if unsigned else f"INT{bits}_C"
    return f"-{macro}({-value})" if value < 0 else f"{macro}({value})"


def unsigned(value: int) -> str:
    """Return a number from 0 to 2^32 - 1 as an unsigned constant: of 16 bits where that does, for small processors."""
    return f"{value}u" if value < 1 << 16 else f"UINT32_C({value})"


def real(value: float, suffix: str = "") -> str:
    """Return a finite float64, or with suffix ``f`` a float32, exactly."""
    digits, exponent = float(value).hex().split("p")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}p{exponent}{suffix}"


def statement(first: str, terms: Sequence[str], last: str = ";", indent: str = "    ") -> str:
    """Return one statement, `first` and `last` around terms, broken into lines between the terms."""
    lines, line = [], f"{indent}{first}"
    for k, term in enumerate(terms):
        end = last if k == len(terms) - 1 else ""
        joined = f"{line} {term}{end}" if k else f"{line}{term}{end}"
        if len(joined) > WIDTH and k:
            lines.append(line)
            joined = f"{indent}    {term}{end}"
        line = joined
    return "\n".join([*lines, line])


def comment(lines: Sequence[str]) -> str:
    """Return a comment of several lines; whatever they hold, they cannot end it or begin another."""
    safe = [line.replace("*/", "* /").replace("/*", "/ *") for line in lines]
    return "\n".join([f"/* {safe[0]}", *(f" * {line}".rstrip() for line in safe[1:]), " */"])
