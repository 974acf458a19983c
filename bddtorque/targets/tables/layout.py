"""Lay a sized network out as a plan: tables, products, and sums rounded once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from bddtorque.dynamics.graph import Graph, Op
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.plan import CentredProduct, ExactSum, Plan
from bddtorque.plan.wires import AngleSum, Output, Product, Sum
from bddtorque.targets.angles import Combination
from bddtorque.targets.builder import OutputFormat, PlanBuilder
from bddtorque.targets.network import Monomial, MonomialSum, Network, TableValue
from bddtorque.targets.sizing import WordSizes
from bddtorque.words.argument import Argument
from bddtorque.words.integer_range import Range
from bddtorque.words.rounding import half_up, nearest_words

FACTOR_TOLERANCE = Fraction(1, 64)
"""Units: what rounding the factors of one sum may cost it."""
PRODUCT_TOLERANCE = Fraction(1, 256)
"""Units of the sum it enters: how coarse a product with an inexact factor may be, so that the sum stays narrow."""
SHARED_BITS = 6
"""A product rounded for one sum serves another that could do with so many bits fewer."""
SUM_BITS = 61


class SumPart(NamedTuple):
    """A summand on its way into a sum: its word, its factor before that is rounded, and the most its word can be."""

    monomial: Monomial
    wire: int
    ratio: Fraction
    most: int


class NetworkLayout(PlanBuilder):
    """Lays out a network, word by word; how sums are rounded may be decided otherwise by a subclass.

    `share` is what roundings may cost an output.
    """

    target = "tables"

    def __init__(
        self,
        network: Network,
        sizes: WordSizes,
        sums: Mapping[str, Combination],
        block_bits: int,
        share: float,
        products: str,
    ) -> None:
        super().__init__(network.arguments, sums, block_bits, products)
        self.network = network
        self.sizes = sizes
        # a small budget wants finer factors as well as finer words; powers of two, so that plans do not change with it
        finer = Fraction(2) ** min(0, math.floor(math.log2(share)) + 3)
        self.factor_tolerance, self.product_tolerance = FACTOR_TOLERANCE * finer, PRODUCT_TOLERANCE * finer
        self.nothing: set[int] = set()
        """Nodes whose tables would be all zeros: they are left out, and charged."""
        self.words: dict[int, int] = {}
        """By node."""
        self.lsb: dict[int, Fraction] = {}
        """Of each wire: the value of one unit; 1 for inputs, whose scale is in the coefficients."""
        self.error: dict[int, Fraction] = {}
        """Of each wire: a bound on its error, in values."""
        self.offset: dict[int, Fraction] = {}
        """Of some wires: what is left out of their words, in values, and added where they are read."""
        self.shifts: dict[Monomial, set[int]] = {}
        """Of each product of two words: how much coarser than exact it may be for each sum it enters."""

    def plan(self, targets: Sequence[OutputFormat], source: str) -> Plan:
        """Lay out every word that matters, then the outputs."""
        self.nothing = {node for node in self.network.tables if self._is_nothing(node)}
        for k, (form, each) in enumerate(zip(self.network.outputs, targets, strict=True)):
            self._find_shifts(-1 - k, form, each.lsb)
        for node in self.sizes.exponents:
            if node in self.network.sums:
                self._find_shifts(node, self.network.sums[node], self.step_of(node))
        for node in self.network.order:
            if node in self.sizes.exponents and node not in self.nothing:
                lsb = self.step_of(node)
                if node in self.network.tables:
                    self.words[node] = self._table(node, self.network.tables[node], lsb)
                else:
                    self.words[node] = self._sum(node, self.network.sums[node], lsb)
        outputs = []
        for k, (form, each) in enumerate(zip(self.network.outputs, targets, strict=True)):
            signed = {monomial: coefficient * each.sign for monomial, coefficient in form.items()}
            signed[()] = signed.get((), Fraction(0)) - each.centre
            total, _, _ = self._joined(-1 - k, signed, each.lsb, each.name, each.sign)
            whole = (total.parts, total.constant, total.constant_error, total.shift)
            outputs.append(Output(each.name, *whole, each.low, each.high, each.lsb, total.dropped))
        wires, blocks = self.with_shared_tables()
        exact = {key if key < 0 else self.words[key]: each for key, each in self.exact.items()}
        return Plan(wires, blocks, tuple(outputs), source, self.target, self.block_bits, exact)

    def step_of(self, node: int) -> Fraction:
        """Return the value of one unit of a word."""
        return Fraction(2) ** self.sizes.exponents[node]

    def _is_nothing(self, node: int) -> bool:
        """Return whether a table would be all zeros: its values are all below half a unit of its word."""
        reach = self.network.ranges[node]
        return node in self.sizes.exponents and nearest_words(reach.low, reach.high, self.step_of(node)) == (0, 0)

    def _is_left_out(self, key: int, monomial: Monomial) -> bool:
        """Return whether a monomial is left out of a sum: too small to matter, or with a table of zeros."""
        return monomial in self.sizes.dropped.get(key, frozenset()) or not self.nothing.isdisjoint(monomial)

    def _find_shifts(self, key: int, form: MonomialSum, lsb: Fraction) -> None:
        """Note how coarse the products of a form may be: exact where a shift aligns them, else nearly so."""
        for monomial, coefficient in form.items():
            if len(monomial) == 2 and not self._is_left_out(key, monomial):
                self.shifts.setdefault(monomial, set()).add(self.coarser(monomial, coefficient, lsb))

    def coarser(self, monomial: Monomial, coefficient: Fraction, lsb: Fraction) -> int:
        """Return how many bits a product may lose on its way into one sum."""
        units = math.prod((self.step_of(word) for word in monomial if not isinstance(word, str)), start=Fraction(1))
        ratio = abs(coefficient * units / lsb)
        return 0 if self.is_power(ratio) else max(0, math.floor(math.log2(self.product_tolerance / ratio)))

    def is_power(self, ratio: Fraction) -> bool:
        """Return whether a factor is a power of two, so that a shift aligns what it multiplies."""
        return _is_power(ratio.numerator) and _is_power(ratio.denominator)

    def _shared_shift(self, monomial: Monomial, wanted: int) -> int:
        """Return the shift of a product for one sum: that of another sum's, if it is not much finer than wanted."""
        kept: list[int] = []
        for shift in sorted(self.shifts[monomial]):
            if not kept or shift > kept[-1] + SHARED_BITS:
                kept.append(shift)
        return max(shift for shift in kept if shift <= wanted)

    def _table(self, node: int, value: TableValue, lsb: Fraction) -> int:
        """Return the wire of a table; a sine is the cosine of a quarter turn less, so that both share one table."""
        graph, sources = value.function, tuple(self.word(name) for name in value.names)
        arguments = tuple(self.arguments[name] for name in value.names)
        label = _label(self.network.graph, node, value.names)
        if self.network.graph.nodes[node].op is Op.SINE and len(graph.nodes) == 2 and _plain_angle(arguments[0]):
            sources = (self._behind(value.names[0], sources[0]),)
            tracer = Tracer()
            graph = tracer.graph([tracer.cos(tracer.input("x0"))], ["f"])
        flip = graph.outputs[0] & 1
        label = f"-{label}" if flip else label  # a wire of its own: what its unit is worth has the other sign
        graph = Graph(graph.nodes, (graph.outputs[0] & ~1,), graph.output_names)
        reach = -self.network.ranges[node] if flip else self.network.ranges[node]
        wire = self.table(label, graph, arguments, sources, lsb, reach)
        self.lsb[wire], self.error[wire] = (-lsb if flip else lsb), lsb / 2
        return wire

    def _sum(self, node: int, form: MonomialSum, lsb: Fraction) -> int:
        name = f"s{node}"
        total, error, offset = self._joined(node, form, lsb, name)
        reach = self.network.ranges[node]
        low = max(total.low, math.floor((Fraction(reach.low) - offset - error) / lsb))
        high = min(total.high, math.ceil((Fraction(reach.high) - offset + error) / lsb))
        wire = self.wire(replace(total, low=low, high=high))
        self.lsb[wire], self.error[wire] = lsb, error
        if offset:
            self.offset[wire] = offset
        return wire

    def _joined(
        self, key: int, form: MonomialSum, lsb: Fraction, name: str, sign: int = 1
    ) -> tuple[Sum, Fraction, Fraction]:
        """Return a form as a sum in units of `lsb`, a bound on its error, and what is left out of it, in values.

        `sign` is what the network's own form was multiplied with.
        """
        parts: list[SumPart] = []
        dropped_terms: list[tuple[Fraction, Fraction]] = []
        names: list[str] = []
        error, constant = Fraction(0), form.get((), Fraction(0)) / lsb
        for monomial, coefficient in form.items():
            if not monomial:
                continue
            if self._is_left_out(key, monomial):
                size = math.prod((Fraction(self.network.size_of(word)) for word in monomial), start=Fraction(1))
                dropped_terms.append((coefficient / lsb, size))
                names.append("·".join((f"{float(coefficient):.3g}", *map(self._name, monomial))))
                continue
            wire = self._monomial(monomial, coefficient, lsb)
            # the true word may lie beyond the word's range by its error
            most = self.range_of(wire).magnitude + math.ceil(self.error[wire] / abs(self.lsb[wire]))
            parts.append(SumPart(monomial, wire, coefficient * self.lsb[wire] / lsb, most))
            error += abs(coefficient) * self.error[wire]
            constant += coefficient * self.offset.get(wire, 0) / lsb
        dropped = sum((abs(factor) * size for factor, size in dropped_terms), Fraction(0))
        kept = self.keeps_constant(key)
        shift, factors = self.factors(key, parts, constant if kept else Fraction(0))
        # less the half that it is rounded by, a sum is cut off as it is
        whole = self.whole_constant(constant, shift) if kept else -(1 << shift >> 1)
        rest = constant - Fraction(whole, 1 << shift)
        off, left_out = (abs(rest), Fraction(0)) if kept else (Fraction(0), rest * lsb)
        meant = constant if kept else Fraction(whole, 1 << shift)
        ratios = tuple((part.wire, part.ratio) for part in parts)
        centred = tuple(self._centred(key, {part.monomial: part.wire for part in parts}, sign / lsb))
        self.exact[key] = ExactSum(ratios, meant, tuple(dropped_terms), tuple(names), centred)
        exact = Range(whole, whole)
        for part, factor in zip(parts, factors, strict=True):
            off += abs(part.ratio - Fraction(factor, 1 << shift)) * part.most
            exact += self.range_of(part.wire) * factor
        error += lsb * (off + dropped) + (lsb / 2 if shift else 0)
        joined = tuple((part.wire, factor) for part, factor in zip(parts, factors, strict=True) if factor)
        low, high = exact.rounded(shift)
        charged = _rounded_up(off), _rounded_up(dropped)
        return Sum(name, joined, whole, shift, low, high, lsb, *charged), error, left_out

    def _centred(self, key: int, wires: Mapping[Monomial, int], scale: Fraction) -> Iterator[CentredProduct]:
        """Yield the products of a sum as they were before they were multiplied out, of those that are not left out."""
        for ((left, left_centre), (right, right_centre)), coefficient in self.network.centred[key].items():
            place = wires.get((left, right))
            if place is not None:
                wire = self.wires[place]
                assert isinstance(wire, Product)
                units = self.lsb[wire.left], self.lsb[wire.right]
                centres = left_centre / units[0], right_centre / units[1]
                yield CentredProduct(place, coefficient * units[0] * units[1] * scale, centres)

    def _name(self, word: int | str) -> str:
        """Return what people call a word of the network."""
        if isinstance(word, str):
            return word
        table = self.network.tables.get(word)
        return f"s{word}" if table is None else _label(self.network.graph, word, table.names)

    def whole_constant(self, constant: Fraction, shift: int) -> int:
        """Return constant·2^shift, about."""
        return half_up(constant * (1 << shift))

    def keeps_constant(self, key: int) -> bool:
        """Return whether a sum has its own constant and half; else both are left to the sums that read it."""
        return True

    def factors(self, key: int, parts: Sequence[SumPart], constant: Fraction) -> tuple[int, list[int]]:
        """Return the shift of a sum and its whole factors, about ratio·2^shift each."""
        shift = _shift(parts, constant, self.factor_tolerance)
        return shift, [half_up(part.ratio * (1 << shift)) for part in parts]

    def _monomial(self, monomial: Monomial, coefficient: Fraction, lsb: Fraction) -> int:
        """Return the wire of one word, or of the exact product of two (rounded only where its factor is inexact)."""
        wires = [self.words[word] if not isinstance(word, str) else self.word(word) for word in monomial]
        for wire in wires:
            self.lsb.setdefault(wire, Fraction(1))
            self.error.setdefault(wire, Fraction(0))
        if len(wires) == 1:
            return wires[0]
        left, right = wires
        shift = self._shared_shift(monomial, self.coarser(monomial, coefficient, lsb))
        wire = self.product(left, right, shift)
        most = [self.range_of(each).magnitude * abs(self.lsb[each]) + self.error[each] for each in wires]
        self.lsb[wire] = self.lsb[left] * self.lsb[right] * (1 << shift)
        self.error[wire] = most[0] * self.error[right] + most[1] * self.error[left]
        self.error[wire] += abs(self.lsb[wire]) / 2 if shift else 0
        return wire

    def _behind(self, name: str, wire: int) -> int:
        """Return the wire of an angle less a quarter turn."""
        bits = self.arguments[name].bits
        quarter = -(1 << bits >> 2)
        angle = self.wires[wire]
        parts = angle.parts if isinstance(angle, AngleSum) else ((wire, 1, 0),)
        return self.wire(AngleSum(f"{name}-90°", bits, parts, quarter))


def _shift(parts: Sequence[SumPart], constant: Fraction, tolerance: Fraction) -> int:
    """Return the shift of a sum: none of its factors is rounded if that costs few bits, else all finely enough."""
    numbers = [*(part.ratio for part in parts), constant]
    exact = max(number.denominator.bit_length() - 1 for number in numbers)
    reach = sum((abs(part.ratio) * part.most for part in parts), abs(constant)) + 1
    room = SUM_BITS - math.ceil(math.log2(reach))
    if all(_is_power(number.denominator) for number in numbers) and exact <= room:
        return exact
    wanted = math.ceil(math.log2((sum(part.most for part in parts) + 1) / (2 * tolerance)))
    return max(1, min(wanted, room))


def _is_power(number: int) -> bool:
    return number & (number - 1) == 0


def _rounded_up(units: Fraction) -> Fraction:
    """Return a short rational that is no smaller: 2^-40 units are nothing, and files stay readable."""
    return Fraction(math.ceil(units * (1 << 40)), 1 << 40)


def _plain_angle(argument: Argument) -> bool:
    return argument.kind == "angle" and argument.scale == 1 and argument.centre == 0 and argument.bits >= 2


def _label(graph: Graph, node: int, names: Sequence[str]) -> str:
    inside = ",".join(names)
    match graph.nodes[node].op:
        case Op.SINE:
            return f"sin({inside})"
        case Op.COSINE:
            return f"cos({inside})"
        case _:
            return f"f({inside})"
