"""Functions under trace: what a user's function does to its arguments, recorded as a graph.

The arguments are `Symbol`s. They support sums, products, integer powers, division by constants, and NumPy's sine and
cosine. Anything else raises `UntraceableError`, and the function is then compiled from its float values instead. So
does a test such as ``x > 0``, whose answer would be that of one value only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Number, Traced, Tracer
from bddtorque.model.exhaustive import value_at
from bddtorque.words.formats import Format

MAX_NODES = 100_000
MAX_POWER = 64
TRIED = 2048
"""Words on which a function under trace is compared with itself in floats."""


class UntraceableError(TypeError):
    """A function does something that a graph of sums, products, sines and cosines cannot hold."""


class Symbol(Traced):
    """A number under trace that NumPy's functions take too, and that answers no question about its value."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: Tracer, reference: int) -> None:
        super().__init__(tracer, reference)
        if len(tracer.nodes) > MAX_NODES:
            raise UntraceableError("too many operations")

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        """Take NumPy's elementary functions."""
        known = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or options or known is None:
            raise UntraceableError(f"numpy.{ufunc.__name__}")
        return known(*given)

    def __pos__(self) -> Symbol:
        return self

    def __truediv__(self, other: Any) -> Number:
        if isinstance(other, Symbol) or other == 0:
            raise UntraceableError("division by a value that is not constant")
        return self * (1.0 / float(other))  # the rounding of the factor is charged with those of all constants

    def __pow__(self, power: Any) -> Number:
        if not isinstance(power, int | float | np.number) or power != int(power) or not 1 <= power <= MAX_POWER:
            raise UntraceableError(f"a power of {power!r:.20}")
        return math.prod([self] * int(power))

    def sin(self) -> Number:
        """Return the sine."""
        return self.tracer.sin(self)

    def cos(self) -> Number:
        """Return the cosine."""
        return self.tracer.cos(self)

    def _refuse(self, *_: Any) -> NoReturn:
        raise UntraceableError("a test of a value")

    __bool__ = __float__ = __int__ = __index__ = __abs__ = __iter__ = __len__ = __getitem__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __eq__ = __ne__ = _refuse


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b if isinstance(a, Symbol) else b + a,
    "subtract": lambda a, b: a - b if isinstance(a, Symbol) else -b + a,
    "multiply": lambda a, b: a * b if isinstance(a, Symbol) else b * a,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
    "square": lambda a: a * a,
    "negative": lambda a: -a,
    "positive": lambda a: a,
    "sin": lambda a: a.sin(),
    "cos": lambda a: a.cos(),
}


def traced(function: Callable[..., Any], names: Sequence[str]) -> Graph:
    """Return the graph of a function of as many numbers as there are names, or raise `UntraceableError`."""
    tracer = Tracer(Symbol)
    try:
        graph = tracer.graph([function(*map(tracer.input, names))], ["y"])
    except UntraceableError:
        raise
    except Exception as problem:  # whatever a function of floats makes of what is no float
        raise UntraceableError(f"{type(problem).__name__}: {problem}") from None
    for node in graph.nodes:
        if not math.isfinite(node.value):
            raise UntraceableError(f"arithmetic with {node.value}")
    return graph


def largest_off(function: Callable[..., Any], graph: Graph, inputs: Mapping[str, Format], where: str) -> float:
    """Return how far a function and its trace are apart on some words, relative to the largest value among them."""
    rng = np.random.default_rng(0)
    states: Mapping[str, npt.NDArray[np.float64]] = {
        name: word.dequantise(
            np.concatenate(([word.lowest, word.highest, 0], rng.integers(word.lowest, word.highest, TRIED)))
        )
        for name, word in inputs.items()
    }
    rows = zip(*(values.tolist() for values in states.values()), strict=True)
    in_floats = np.array([value_at(function, row, inputs, where) for row in rows])
    under_trace = np.broadcast_to(graph.evaluate(states)[0], in_floats.shape)
    size = max(float(np.abs(in_floats).max()), float(np.abs(under_trace).max()), 1e-300)
    off = np.abs(in_floats - under_trace).max() / size
    return float(off) if math.isfinite(off) else math.inf
