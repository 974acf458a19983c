"""Truth of its own for words and graphs: mpmath for a few values, long doubles for many, never the package's bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from bddtorque.dynamics.graph import Graph
from bddtorque.words.argument import Argument
from bddtorque.words.formats import Format

LONG = np.longdouble
TURN = 2 * LONG("3.14159265358979323846264338327950288419716939937510582")

if np.finfo(LONG).nmant < 63:  # pragma: no cover
    raise ImportError("these tests need a long double of 64 bits: run them on x86")


def long(number: Fraction) -> np.longdouble:
    """Return a rational as a long double, to its last place."""
    whole = number.numerator // number.denominator
    rest = number - whole
    return LONG(str(whole)) + LONG(str(mpmath.nstr(mpmath.mpf(rest.numerator) / rest.denominator, 40)))


def long_value(argument: Argument, words: Any) -> np.ndarray:
    """Return what words stand for, in long doubles."""
    words = np.asarray(words).astype(LONG)
    if argument.kind == "angle":
        return TURN * (words * int(argument.scale) / (1 << argument.bits)) + long(argument.centre)
    return words * long(argument.scale) + long(argument.centre)


def long_outputs(graph: Graph, arguments: dict[str, Argument], words: dict[str, Any]) -> list[np.ndarray]:
    """Return the outputs of a graph at input words, in long doubles."""
    return graph.evaluate({name: long_value(arguments[name], words[name]) for name in graph.input_names})


def exact_value(argument: Argument, word: int) -> mpmath.mpf:
    """Return what a word stands for, in the working precision of mpmath."""
    scaled = mpmath.mpf(argument.scale.numerator) / argument.scale.denominator * word
    centre = mpmath.mpf(argument.centre.numerator) / argument.centre.denominator
    if argument.kind == "angle":
        return 2 * mpmath.pi * scaled / (1 << argument.bits) + centre
    return scaled + centre


def all_words(bits: list[int]) -> list[np.ndarray]:
    """Return every combination of two's complement words of these lengths, one array a word, last word fastest."""
    axes = [np.arange(-(1 << (b - 1)), 1 << (b - 1)) for b in bits]
    return [grid.reshape(-1) for grid in np.meshgrid(*axes, indexing="ij")]


def exact_parts(word: Format, value: int) -> tuple[Fraction, Fraction]:
    """Return the value at the joint of a word of a format, turns · 2π + rest, from what the format says."""
    if word.kind == "angle":
        return Fraction(word.sign * value, 1 << word.bits), Fraction(word.offset)
    raw = Fraction(word.centre) + value * Fraction(word.lsb)
    return Fraction(0), Fraction(word.offset) + word.sign * raw
