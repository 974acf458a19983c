"""Requests for compiled functions: words as people give them, options, and the function under trace.

A function under trace is called with `Symbol`s. They support sums, products, integer powers, division by constants, and
NumPy's sine and cosine. Anything else raises `UntraceableError`, and the function is then compiled from its float
values instead. So does a test such as ``x > 0``, whose answer would be that of one value only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

import bddtorque.spec.field_values as fv
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import as_range
from bddtorque.base.plain import is_list, is_whole, name_of, of_type, real, whole
from bddtorque.compiler.draft import PlanDraft
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Number, Traced, Tracer
from bddtorque.model.exhaustive import value_at
from bddtorque.model.provenance import Provenance
from bddtorque.plan.plan import Plan
from bddtorque.targets import check_options
from bddtorque.words.argument import Argument, argument_of
from bddtorque.words.bounded import ROUND_UP
from bddtorque.words.formats import MAX_INPUTS, Format
from bddtorque.words.interface import Interface, word_number
from bddtorque.words.samples import Samples, read_samples

DEFAULT_BITS = 12
FLOAT_BITS = 42
"""Bits of a float that words may resolve: what varies by less than their last unit is taken for constant."""
_HOW = "bits, (bits, range) or (bits, range, unit), the range a positive number, (low, high) or 'angle'"
BLOCK_BITS, MAX_BLOCK_BITS = 20, 26
"""Input bits of one table, by default and at most."""
MAX_NODES = 100_000
MAX_POWER = 64
TRIED = 2048
"""Words on which a function under trace is compared with itself in floats."""


@dataclass(frozen=True)
class RequestedWord:
    """A word as it was asked for: its format, or one whose range is still to be found."""

    name: str
    bits: int
    ends: tuple[float, float] | str | None  # (low, high), "angle", or None: to be found from the values
    unit: str = ""
    given: Format | None = None

    def format(self, low: float = math.nan, high: float = math.nan) -> Format:
        """Return the format; `low` and `high` are the ends of the values where no range was asked for.

        Values on both sides of zero get a range about zero, so that zero is a word; else the lowest and the highest
        word stand for the ends. A constant gets a range about it. Words of a range that begins at 0 or above are
        unsigned.
        """
        if self.given is not None:
            return self.given
        if self.ends == "angle":
            return Format("angle", self.bits, name=self.name, unit=self.unit or "rad")
        if isinstance(self.ends, tuple):
            low, high = self.ends
        elif high - low < max(abs(low), abs(high)) * 2.0 ** (self.bits - FLOAT_BITS) or low == high:
            low, high = low - max(abs(low), 1.0), high + max(abs(high), 1.0)
        elif low < 0 < high:
            half = 1 << (self.bits - 1)
            reach = max(-low, high * half / (half - 1))
            low, high = -reach, reach
        else:
            high = high + (high - low) / ((1 << self.bits) - 1)
        return Format("range", self.bits, low, high, name=self.name, unit=self.unit, signed=low < 0)


@dataclass(frozen=True)
class Request:
    """Request for a compiled function."""

    name: str  # of the function
    inputs: Mapping[str, Format]  # formats of the input words, by name
    output: RequestedWord  # the output word, perhaps with a range still to be found
    accuracy: float | str = "faithful"  # "faithful", or the largest error allowed, in units
    assumed_error: float = 0.0  # how far the values of the function are off themselves, in the unit of the output
    block_bits: int = BLOCK_BITS  # input bits of one table, at most
    target: str = "tables"  # "tables", "integer" or "float"
    where: str = ""  # what messages start with; by default the name
    # rules, spread: how samples were read, and how far those of the same words lie apart
    rules: Mapping[str, Any] = field(default_factory=dict)
    spread: float = 0.0
    products: str = "auto"  # how tables multiply two words, as in `Spec`; for cascades of a traced function
    chip: str | None = None  # for the target "integer": the processor whose costs words are chosen by
    precision: ClassVar[None] = None  # for the target "float": the one that is enough

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", self.where or f"function '{self.name:.60}'")
        accuracy = 1.0 if self.accuracy == "faithful" else self.accuracy
        if isinstance(accuracy, str | bool) or not 0.5 < accuracy < math.inf:
            raise BddTorqueError(
                f"{self.where}, accuracy must be 'faithful' or above 0.5 units (rounding takes that), got {accuracy!r}"
            )
        real(self.assumed_error, f"{self.where}, assumed_error", low=0)
        whole(self.block_bits, 2, MAX_BLOCK_BITS, f"{self.where}, block_bits")
        object.__setattr__(self, "target", fv.as_target(self.target, f"{self.where}, target"))
        fv.as_products(self.products, f"{self.where}, products")
        if self.chip is not None:
            object.__setattr__(self, "chip", fv.as_chip(self.chip, f"{self.where}, chip"))
        check_options(self, where=f"{self.where}: ")
        object.__setattr__(self, "accuracy", float(accuracy))

    @property
    def bits(self) -> int:
        """Input bits in all."""
        return sum(word.bits for word in self.inputs.values())

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """Meaning of the input words, by name."""
        return {name: argument_of(word) for name, word in self.inputs.items()}

    def draft(
        self, plan: Plan, output: Format, arithmetic: float = 0.0, graph: Graph | None = None, **known: Any
    ) -> PlanDraft:
        """Return a plan as the draft of this function; `arithmetic` is in the unit of the output."""
        inputs = tuple(word_number(name, word) for name, word in self.inputs.items())
        formats = Interface(inputs, (word_number(output.name, output),))
        chosen = {"products": self.products if self.products != "auto" else None, "chip": self.chip}
        rules = {**self.rules, **{key: value for key, value in chosen.items() if value is not None}}
        provenance = Provenance(self.name, float(self.accuracy), graph=graph, rules=rules)
        errors, assumed = (arithmetic / output.lsb * ROUND_UP,), self.assumed_error / output.lsb * ROUND_UP
        return PlanDraft(formats, provenance, plan, errors, plan.source, assumed=assumed, spread=self.spread, **known)


def requested_inputs(inputs: Any, where: str) -> tuple[RequestedWord, ...]:
    """Return the input words from a mapping of names, or a list of formats or words without names (x1, x2, ...)."""
    if isinstance(inputs, Format) or is_whole(inputs) or (isinstance(inputs, tuple) and inputs and is_whole(inputs[0])):
        inputs = [inputs]  # one word by itself
    if isinstance(inputs, Mapping):
        asked = tuple(
            requested_word(str(name), given, f"{where}, input {name!r:.40}") for name, given in inputs.items()
        )
    elif isinstance(inputs, Sequence) and not isinstance(inputs, str):
        asked = tuple(requested_word(f"x{k}", given, f"{where}, input {k}") for k, given in enumerate(inputs, 1))
    else:
        raise BddTorqueError(f"{where}: inputs must be given by name, or as a list, got {inputs!r:.60}")
    if not 1 <= len(asked) <= MAX_INPUTS:
        raise BddTorqueError(f"{where} must have 1 to {MAX_INPUTS} input words, got {len(asked)}")
    names = [each.name for each in asked]
    if len(set(names)) < len(names):
        raise BddTorqueError(f"{where}: input words must have different names, got {', '.join(names)}")
    return asked


def requested_output(output: Any, where: str) -> RequestedWord:
    """Return the output word from ``(12, 5.0)``, ``{"torque": (12, 5.0, "N·m")}``, bits or a format."""
    if isinstance(output, Mapping):
        if len(output) != 1:
            raise BddTorqueError(f"{where} must have one output word, got {len(output)}")
        ((name, given),) = output.items()
        asked = requested_word(str(name), given, f"{where}, output {name!r:.40}")
    else:
        asked = requested_word("y", output, f"{where}, output")
    if asked.ends == "angle" or (asked.given is not None and asked.given.kind == "angle"):
        raise BddTorqueError(f"{where}, output must have a range: an angle would wrap")
    return asked


def requested_word(name: str, given: Any, where: str) -> RequestedWord:
    """Return one word as it was asked for."""
    name_of(name, f"{where}: a name")
    if isinstance(given, Format):
        return RequestedWord(
            name, given.bits, None, given.unit, given if given.name != "word" else replace(given, name=name)
        )
    parts = (given,) if is_whole(given) else given
    if not is_list(parts) or not 1 <= len(parts) <= 3 or not is_whole(parts[0]):
        raise BddTorqueError(f"{where} must be {_HOW}, got {given!r:.60}")
    bits = whole(parts[0], fv.SMALLEST_BITS, fv.LARGEST_BITS, f"{where}: bits")
    ends = parts[1] if len(parts) > 1 else None
    if ends is not None and ends != "angle":
        ends = as_range(ends, where)
    return RequestedWord(name, bits, ends, of_type(parts[2], str, f"{where}: a unit") if len(parts) > 2 else "")


def requested_samples(
    samples: Any, inputs: Any, output: Any
) -> tuple[tuple[RequestedWord, ...], RequestedWord, Samples]:
    """Return the words asked for, by the columns of the samples where nothing else is said, and the samples."""
    out = None if output is None else requested_output(output, "samples")
    if inputs is None:
        read = read_samples(samples)
        if out is not None and out.name not in ("y", read.names[-1]):
            raise BddTorqueError(
                f"{read.where}: without inputs the last column is the output, and '{out.name}' is not the last"
            )
        words = tuple(requested_word(name, DEFAULT_BITS, read.where) for name in read.names[:-1])
    else:
        words = requested_inputs(inputs, "samples")
        in_file = isinstance(samples, str | PathLike)
        if in_file and isinstance(inputs, dict) and (out is None or isinstance(output, dict)):
            names = [each.name for each in words]
            read = read_samples(samples, [*names, out.name if out else _last_column(samples, names)])
        else:
            read = read_samples(samples)
            if len(read.names) != len(words) + 1:
                raise BddTorqueError(
                    f"{read.where} must have {len(words)} columns of inputs and one of values, got {len(read.names)}"
                )
            if in_file:
                words = tuple(replace(each, name=name) for each, name in zip(words, read.names, strict=False))
    if out is None:
        out = requested_word(read.names[-1], DEFAULT_BITS, read.where)
    elif not isinstance(output, dict):
        out = replace(out, name=read.names[-1])
    return words, out, read


def _last_column(path: str | PathLike[str], names: list[str]) -> str:
    """Return the one column of a file that is none of the inputs."""
    read = read_samples(path)
    others = [column for column in read.names if column not in names]
    if len(others) != 1:
        raise BddTorqueError(
            f"{read.where}, line 1 must have one column besides {', '.join(names)}, got {', '.join(others) or 'none'}: "
            "output = {name: bits} says which"
        )
    return others[0]


def check_within_words(samples: Samples, formats: Mapping[str, Format]) -> None:
    """Refuse samples of which none lies within the range of its words: they would say nothing."""
    for axis, (name, word) in enumerate(formats.items()):
        low, high = word.span
        column = samples.points[:, axis]
        if word.kind == "range" and not ((column >= low - word.lsb) & (column <= high + word.lsb)).any():
            raise BddTorqueError(
                f"{samples.where}: no sample of {name} is within {low:.6g} to {high:.6g}, they reach from "
                f"{column.min():.6g} to {column.max():.6g}"
            )


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
