"""Blocks that are no sums of products: tables of a law, and tables whose words are given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bddtorque.laws.law import Law
from bddtorque.words.argument import Argument


@dataclass(frozen=True)
class LawBlock:
    """A truth table of a law: sign·f − centre, rounded once to the nearest word, ties away from zero, and clamped.

    Attributes
    ----------
    law : the function f of the values that the input words stand for
    arguments : what these are
    lsb : the value of one unit of the output word
    low, high : where the words are clamped
    centre, sign : the value of the output word is sign·(centre + word·lsb)
    """

    law: Law
    arguments: tuple[Argument, ...]
    lsb: Fraction
    low: int
    high: int
    centre: Fraction = Fraction(0)
    sign: int = 1

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return tuple(argument.bits for argument in self.arguments)

    @property
    def kind(self) -> str:
        """``"law"``."""
        return "law"

    def to_plain(self) -> dict[str, Any]:
        """Return what defines the table, for files and content keys."""
        return {
            "kind": self.kind,
            "law": self.law.to_plain(),
            "arguments": [argument.to_plain() for argument in self.arguments],
            "lsb": str(self.lsb),
            "low": self.low,
            "high": self.high,
            "centre": str(self.centre),
            "sign": self.sign,
        }


@dataclass(frozen=True)
class GivenBlock:
    """A truth table whose words are given, and known by the key of the table: nobody else can make it.

    Attributes
    ----------
    widths : bits of each input word
    lsb : the value of one unit of the output word
    low, high : the lowest and the highest word
    table : the content key of the table
    error : how far a word can be from the value that it was made of, in values
    """

    widths: tuple[int, ...]
    lsb: Fraction
    low: int
    high: int
    table: str
    error: float

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return self.widths

    @property
    def kind(self) -> str:
        """``"given"``."""
        return "given"

    def to_plain(self) -> dict[str, Any]:
        """Return what defines the table, for files and content keys."""
        return {
            "kind": self.kind,
            "widths": list(self.widths),
            "lsb": str(self.lsb),
            "low": self.low,
            "high": self.high,
            "table": self.table,
            "error": self.error,
        }
