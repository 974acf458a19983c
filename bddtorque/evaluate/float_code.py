"""Words held exactly in floats: what a PC multiplies and adds fastest.

A float64 holds every whole number below 2^53, times any power of two. As long as no sum outgrows that, products and
sums of words are exact whether or not they are contracted, and in whatever order; and

    floor(x/2^s + 1/2)  =  ((x + 1/4) + 1.5·2^(52+s)) − 1.5·2^(52+s),

the quarter deciding ties upward: one constant to begin the sum with, and two additions. Powers of two are chosen for
every word, so that shifts vanish and most factors are 1 (`bddtorque.planner.units`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.planner.units import INPUT, Equation, spare_factors
from bddtorque.words.integer_range import Range

MANTISSA = 53
SINGLE_MANTISSA = 24
QUARTER = Fraction(1, 4)
LARGEST_SCALE = Fraction(2) ** 200
"""Products of scaled words stay far from what a float64 cannot hold."""
MAGIC = Fraction(3, 2) * 2**52
"""Times one unit: adding it leaves no bit below the unit."""

Term = tuple[Fraction, int, int | None]
"""factor · word, or factor · word · word."""


def held_in_floats(plan: Plan) -> bool:
    """Whether every product and every partial sum of a plan, and a quarter of its last bit, fit a float64 exactly.

    And whether tables are read at input words alone: others would have to become integers first.
    """
    read = {source for wire in plan.wires if isinstance(wire, Lookup) for source in wire.wires}
    if not all(isinstance(plan.wires[k], Input | AngleSum) for k in read):
        return False
    return all(
        most.bit_length() <= MANTISSA - 2
        for most in [
            *(_most(plan, k) for k, wire in enumerate(plan.wires) if isinstance(wire, Product | Sum)),
            *(_largest_sum(plan, wire) for wire in plan.wires if isinstance(wire, Sum)),
            *(_largest_sum(plan, output) for output in plan.outputs),
            *(_largest_product(plan, wire) for wire in plan.wires if isinstance(wire, Product)),
        ]
    )


def _most(plan: Plan, wire: int) -> int:
    return plan.range_of(wire).magnitude


def _largest_sum(plan: Plan, each: Sum | Output) -> int:
    return sum(abs(factor) * _most(plan, wire) for wire, factor in each.parts) + abs(each.constant) + 1


def _largest_product(plan: Plan, wire: Product) -> int:
    return _most(plan, wire.left) * _most(plan, wire.right) + 1


class FloatCode:
    """The statements that compute a plan in floats, from the integers x0, x1, ... of its inputs.

    Attributes
    ----------
    scales : by wire (−2 − k for output k): its float is the word times this power of two
    body : statements that make everything else; torque words are r0, r1, ...
    constants : what the body reads as `constants`. A compiler would load literals before the loop, and store most of
        them away again: much work for a single state
    vector_body : the same with literals, for a loop over many states
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.constants: list[float] = []
        self.inside = _products_inside_sums(plan)
        self.scales = self._scales()
        self.sums = {k: self._terms(k, wire) for k, wire in enumerate(plan.wires) if isinstance(wire, Sum)}
        self.given = [self._terms(-2 - k, output) for k, output in enumerate(plan.outputs)]
        everything = [term for terms in [*self.sums.values(), *self.given] for term in terms]
        self.products = Counter((a, b) for _, a, b in everything if b is not None)
        self.scaled = Counter(
            (abs(factor), word) for factor, a, b in everything if b is not None and abs(factor) != 1 for word in {a, b}
        )
        self.made: set[str] = set()
        self._literal = False
        self.body = list(self._statements())
        self.made, self._literal = set(), True
        self.vector_body = list(self._statements())

    def floats_read(self) -> list[int]:
        """Return the inputs and look-ups whose floats the body reads."""
        used = {word for _, a, b in self._all_terms() for word in (a, b) if word is not None}
        used |= {side for wire in self.plan.wires if isinstance(wire, Product) for side in (wire.left, wire.right)}
        return sorted(k for k in used if isinstance(self.plan.wires[k], Input | Lookup))

    def block_scale(self, block: int) -> float:
        """Return the power of two that the words of a table are held times."""
        return float(self.scales[len(self.plan.wires) + block])

    def _all_terms(self) -> Iterator[Term]:
        for terms in [*self.sums.values(), *self.given]:
            yield from terms

    def _node(self, wire: int) -> int:
        """Return what a wire's scale is known by: look-ups of one table have the same."""
        match self.plan.wires[wire]:
            case Input() | AngleSum():
                return INPUT
            case Lookup(block=block):
                return len(self.plan.wires) + block
            case _:
                return wire

    def _scales(self) -> dict[int, Fraction]:
        equations = []
        sums: list[tuple[int, Sum | Output]] = [(k, w) for k, w in enumerate(self.plan.wires) if isinstance(w, Sum)]
        for key, each in [*sums, *((-2 - k, output) for k, output in enumerate(self.plan.outputs))]:
            for wire, factor in each.parts:
                if abs(factor) & (abs(factor) - 1) == 0:
                    words = tuple(self._node(word) for word in self._factors(wire))
                    equations.append(Equation(key, words, abs(factor).bit_length() - 1 - each.shift))
        nodes = {word for equation in equations for word in (equation.total, *equation.words)} - {INPUT}
        found = spare_factors(equations, (), nodes)
        wires = range(len(self.plan.wires))
        every = [*nodes, *(-2 - k for k in range(len(self.plan.outputs))), *wires]
        every += [len(wires) + block for block in range(len(self.plan.blocks))]
        scales = {node: Fraction(2) ** -round(found.get(node, 0.0)) for node in every}
        scales.update({k: scales[self._node(k)] for k in wires if self._node(k) > k})
        if not all(1 / LARGEST_SCALE <= scale <= LARGEST_SCALE for scale in scales.values()):
            raise ArithmeticError("the words of this plan are of too different sizes for floats")
        return scales

    def _factors(self, wire: int) -> tuple[int, ...]:
        each = self.plan.wires[wire]
        return (each.left, each.right) if isinstance(each, Product) and wire in self.inside else (wire,)

    def _terms(self, key: int, each: Sum | Output) -> list[Term]:
        terms: list[Term] = []
        for wire, factor in each.parts:
            words = self._factors(wire)
            ratio = Fraction(factor, 1 << each.shift) * self.scales[key]
            ratio /= math.prod((self.scales[word] for word in words), start=Fraction(1))
            terms.append((ratio, words[0], words[1] if len(words) > 1 else None))
        return terms

    def _statements(self) -> Iterator[str]:
        for k, wire in enumerate(self.plan.wires):
            match wire:
                case Sum():
                    yield from self._summed(f"w{k}", self.sums[k], wire, self.scales[k])
                case Product() if k not in self.inside:
                    ratio = self.scales[k] / (self.scales[wire.left] * self.scales[wire.right]) / (1 << wire.shift)
                    term: Term = (ratio, wire.left, wire.right)
                    whole = Sum("", (), 0, wire.shift, 0, 0, Fraction(1))
                    yield from self._summed(f"w{k}", [term], whole, self.scales[k])
                case _:
                    pass
        for k, output in enumerate(self.plan.outputs):
            yield from self._summed(f"r{k}", self.given[k], output, self.scales[-2 - k])

    def _summed(self, name: str, terms: Sequence[Term], each: Sum | Output, scale: Fraction) -> Iterator[str]:
        """Yield the statements of one sum, rounded; an output's becomes the integer in the float's last bits."""
        step = scale / (1 << each.shift)
        begin = each.constant * step + (QUARTER * step if each.shift else 0)
        pieces = [self._number(begin)] if begin else []
        for factor, a, b in sorted(terms, key=lambda term: max(term[1], term[2] or 0)):  # what is late comes last
            before, text = self._term(abs(factor), a, b)
            yield from before
            pieces.append(f"{'-' if factor < 0 else '+'} {text}" if pieces else f"{'-' if factor < 0 else ''}({text})")
        total = " ".join(pieces) or "0.0"
        magic = MAGIC * scale
        if isinstance(each, Output):
            clamped = f"t{name[1:]}"
            yield f"{clamped} = {total}"
            for word, compare in ((each.low, "<"), (each.high, ">")):
                end = self._number(word * scale)
                yield f"{clamped} = {end} if {clamped} {compare} {end} else {clamped}"
            begin_bits = int(np.float64(float(magic)).view(np.int64))
            yield f"{name} = bits_of({clamped} + {self._number(magic)}) - {begin_bits}"
        elif each.shift:
            yield f"{name} = (({total}) + {self._number(magic)}) - {self._number(magic)}"
        else:
            yield f"{name} = {total}"

    def _term(self, factor: Fraction, a: int, b: int | None) -> tuple[list[str], str]:
        """Return a summand, with statements that must stand before it: a scaled word or a product, made once."""
        if b is None:
            return [], f"w{a}" if factor == 1 else f"{self._number(factor)} * w{a}"
        if factor == 1:
            return [], f"w{a} * w{b}"
        if max(self.scaled[factor, a], self.scaled[factor, b]) <= 1 < self.products[a, b]:
            name = f"p{a}_{b}"
            return self._once(name, f"w{a} * w{b}"), f"{self._number(factor)} * {name}"
        one, other = (a, b) if self.scaled[factor, a] >= self.scaled[factor, b] else (b, a)
        name = f"m{one}_{format(abs(hash_of(factor)), 'x')}"
        return self._once(name, f"{self._number(factor)} * w{one}"), f"{name} * w{other}"

    def _number(self, value: Fraction) -> str:
        exact = exact_float(value)
        if self._literal:
            return repr(exact)
        if exact not in self.constants:
            self.constants.append(exact)
        return f"constants[{self.constants.index(exact)}]"

    def _once(self, name: str, value: str) -> list[str]:
        if name in self.made:
            return []
        self.made.add(name)
        return [f"{name} = {value}"]


def hash_of(factor: Fraction) -> int:
    """Return a whole number that is the same for the same factor, in every process."""
    return int(np.float64(float(factor)).view(np.int64))


def exact_float(value: Fraction) -> float:
    """Return a number as a float that is exactly it."""
    exact = float(value)
    if Fraction(exact) != value:
        raise ArithmeticError(f"{value} is no float64")
    return exact


def single_precision(plan: Plan, code: FloatCode, blocks: Sequence[int]) -> bool:
    """Whether float32 holds all words of some tables exactly, times their scale."""
    return all(
        Range(plan.blocks[k].low, plan.blocks[k].high).bits - 1 <= SINGLE_MANTISSA
        and 2.0**-90 <= code.block_scale(k) <= 2.0**90
        for k in blocks
    )


def _products_inside_sums(plan: Plan) -> set[int]:
    """Return the exact products that are only summands: they have no float of their own."""
    products = {k for k, wire in enumerate(plan.wires) if isinstance(wire, Product) and not wire.shift}
    read = {side for wire in plan.wires if isinstance(wire, Product) for side in (wire.left, wire.right)}
    return products - read
