"""Text as C99 writes it: numbers, arrays, long lines, comments, and names.

Robots and joints may be called anything, and C and make would take some of it literally. No text from a model reaches a
generated file but through the functions on names here: what they return holds letters, digits and underscores, or is
one of a few words of our own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError

WIDTH = 118
TYPES = ((8, "uint8_t", "int8_t"), (16, "uint16_t", "int16_t"), (32, "uint32_t", "int32_t"))


class HelperCalls(set[str]):
    """Names of the helper functions that generated statements call."""

    def __call__(self, name: str, *arguments: str) -> str:
        """Return a call, and note the name."""
        self.add(name)
        return f"{name}({', '.join(arguments)})"


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


MAX_NAME = 40
MAKEFILES = ("makefile", "gnumakefile")
SIGNS = {"·": "*", "⋅": "*", "×": "*", "°": "deg", "Ω": "ohm", "µ": "u", "μ": "u", "⁻": "-", "−": "-"}
"""Signs of units, as C writes them."""
DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
"""Digits of powers."""
NO_UNIT = "(no unit)"


def prefix_of(robot: str, chosen: str | None = None) -> str:
    """Return what all public names and file names begin with: `chosen`, or something like the robot's name."""
    if chosen is not None:
        if not re.fullmatch(f"[A-Za-z][A-Za-z0-9_]{{0,{MAX_NAME - 1}}}", chosen):
            raise BddTorqueError(
                f"name must be up to {MAX_NAME} letters, digits and underscores, a letter first, got {chosen!r:.60}",
                option="name",
            )
        if chosen.lower() in MAKEFILES:
            raise BddTorqueError(
                f"name must not be that of a makefile, which make would build from {chosen}.c, got '{chosen}'",
                option="name",
            )
        return chosen
    name = safe_name(robot).lower().strip("_")
    plain = name[:1].isalpha() and name not in MAKEFILES
    return name if plain else f"robot_{name}".rstrip("_")[:MAX_NAME]


def safe_name(text: str) -> str:
    """Return ASCII letters, digits and underscores only, at most 40: anything else becomes one underscore a run."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text[: 10 * MAX_NAME])[:MAX_NAME] or "_"


def safe_names(texts: Sequence[str]) -> list[str]:
    """Return safe names that all differ: one that was there before, or says nothing, gets its place beside it."""
    found: list[str] = []
    for place, text in enumerate(texts, 1):
        name = safe_name(text)
        found.append(f"{name}_{place}" if name in found or not name.strip("_") else name)
    return found


def safe_unit(unit: str) -> str:
    """Return any unit in ASCII, for comments: kg·m² becomes kg*m^2. What it is made of cannot end a comment."""
    plain = ascii_signs(re.sub(f"(⁻?[{DIGITS}]+)", r"^\1", unit[:MAX_NAME]))
    apart = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    safe = re.sub(r"[^A-Za-z0-9 _()+*/^%-]+", "_", apart).replace("*/", "* /").replace("/*", "/ *")
    return safe.replace("//", "/ /").strip()[:MAX_NAME] or NO_UNIT


def ascii_signs(text: str) -> str:
    """Return a text with signs and raised digits as ASCII has them."""
    return "".join(str(DIGITS.index(sign)) if sign in DIGITS else SIGNS.get(sign, sign) for sign in text)


def one_of(text: str, known: Sequence[str]) -> str:
    """Return a word that is among those known, or ``other``."""
    return text if text in known else "other"


def safe_comment(text: str) -> str:
    """Return what a wire is called for a comment of one line, in ASCII."""
    plain = text[: 10 * MAX_NAME].replace("·", "*").replace("°", " deg").replace("²", "^2")
    return re.sub(r"[^A-Za-z0-9 _.,()+*^-]+", "_", plain)[:MAX_NAME]
