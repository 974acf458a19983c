"""Plans in floats: the graph itself, operation by operation, with products contracted into the sums that they feed.

Precision is the only choice: binary32 where its proved bound keeps the accuracy asked for, else binary64.

Numerical dust, summands far below their neighbours, is left out before, and charged: files have rotations that miss a
right angle by a millionth, and products of inertia that are rounded zeros. Each of them costs operations, and moves no
word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

import bddtorque.plan.wires as w
from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph, Op
from bddtorque.dynamics.node_ranges import ERROR_SLACK, carry_errors, node_ranges
from bddtorque.dynamics.tracer import Number as TracedNumber
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.blocks import Block, FunctionBlock, LawBlock
from bddtorque.plan.bound import compose_bounds, planned_facts
from bddtorque.plan.plan import FLOAT, Plan
from bddtorque.targets.angles import Combination, with_angle_sums
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.sizing import DUST
from bddtorque.targets.target import LawTerm
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import Bounded, Interval
from bddtorque.words.ieee import DOUBLE, PRECISIONS, SINGLE
from bddtorque.words.rounding import nearest_words

LAW_BITS = 23
"""Bits of the magnitude of a law's words: the finest unit with which every float holds them."""
MAX_LAW_BITS = 20
"""Bits of the word that a law is tabulated over."""


DUST_BUDGET = 0.01
"""In units of an output's last bit: what all dust that is left out may cost."""
MAX_DUST_ANGLES = 7
"""Of one output. Beyond, the independent checker has no grid to show on what was left out, and nothing is: for whole
humanoids that costs one operation in a hundred (docs/planner.md)."""


class _FloatWriter:
    """Writes the wires of a graph in the order they are needed, equal ones once."""

    def __init__(self, graph: Graph, arguments: Mapping[str, Argument]) -> None:
        self.graph, self.sums = with_angle_sums(graph, arguments)
        self.arguments = arguments
        self.wires: list[w.Wire] = []
        self.blocks: list[Block] = []
        self._places: dict[w.Wire, int] = {}
        self._values: dict[int, int] = {}
        self._contracted = _contractions(self.graph, {k for k in range(len(self.graph.nodes)) if self._is_scaled(k)})

    def wire(self, wire: w.Wire) -> int:
        """Return the place of a wire."""
        if wire not in self._places:
            self._places[wire] = len(self.wires)
            self.wires.append(wire)
        return self._places[wire]

    def constant(self, value: Fraction) -> int:
        """Return the wire of a constant."""
        return self.wire(w.Constant(value))

    def value(self, node: int) -> int:
        """Return the wire of a node of the graph; those before it are written first, without recursion."""
        waiting = [node]
        while waiting:
            top = waiting[-1]
            missing = [each for each in self._needs(top) if each not in self._values]
            if top in self._values:
                waiting.pop()
            elif missing:
                waiting.extend(reversed(missing))
            else:
                self._values[top] = self._write(top)
        return self._values[node]

    def _needs(self, node: int) -> Iterator[int]:
        """Yield the nodes whose wires a node reads."""
        operation, contracted = self.graph.nodes[node], self._contracted.get(node)
        if operation.op in (Op.SINE, Op.COSINE):
            return
        for side, operand in enumerate(operation.operands):
            if contracted and side == contracted[0]:
                if not self._is_scaled(contracted[1]):
                    yield from (each >> 1 for each in self.graph.nodes[contracted[1]].operands)
            else:
                yield operand >> 1

    def _write(self, node: int) -> int:
        operation = self.graph.nodes[node]
        left, right = operation.left >> 1, operation.right >> 1
        match operation.op:
            case Op.INPUT:
                return self._input(node)
            case Op.CONSTANT:
                return self.constant(Fraction(operation.value))
            case Op.SINE | Op.COSINE:
                return self._sine(operation.left >> 1, operation.op is Op.COSINE)
            case Op.PRODUCT:  # the tracer pulls signs out of products
                return self.wire(w.Multiply(*self._factors(node)))
        signs = [-1 if operand & 1 else 1 for operand in operation.operands]
        contracted = self._contracted.get(node)
        if contracted is None:
            first, second = self._values[left], self._values[right]
            if signs[0] > 0:
                return self.wire(w.Add(first, second, signs[1]))
            return self.wire(w.Add(second, first, -1))
        side, product = contracted
        first, second = self._factors(product)
        addend = self._values[(left, right)[1 - side]]
        return self.wire(w.Fused(first, second, addend, signs[side], signs[1 - side]))

    def _is_scaled(self, node: int) -> bool:
        """Return whether a node is an input that is its word times its unit: a product like others."""
        operation = self.graph.nodes[node]
        argument = self.arguments.get(operation.name) if operation.op is Op.INPUT else None
        return argument is not None and argument.kind != "angle" and not argument.centre

    def _factors(self, product: int) -> tuple[int, int]:
        """Return the factors of a product, or of an input that is its word times its unit."""
        operation = self.graph.nodes[product]
        if self._is_scaled(product):
            name = operation.name
            return self.wire(w.Number(self.word(name))), self.constant(self.arguments[name].scale)
        return self._values[operation.left >> 1], self._values[operation.right >> 1]

    def _input(self, node: int) -> int:
        """Return the value of an input: its word times its unit, plus what the word 0 stands for."""
        if self._is_scaled(node):
            return self.wire(w.Multiply(*self._factors(node)))
        argument = self.arguments[self.graph.nodes[node].name]
        word = self.wire(w.Number(self.word(self.graph.nodes[node].name)))
        return self.wire(w.Fused(word, self.constant(argument.scale), self.constant(argument.centre)))

    def word(self, name: str) -> int:
        """Return the wire of an input word."""
        argument = self.arguments[name]
        if argument.bits > w.MAX_FLOAT_WORD_BITS:
            raise BddTorqueError(
                f"plan: input {name} must have at most {w.MAX_FLOAT_WORD_BITS} bits for target 'float', "
                f"got {argument.bits}"
            )
        return self.wire(w.Input.of(name, argument))

    def _sine(self, node: int, cosine: bool) -> int:
        """Return the sine or cosine of a sum of angles, or of a multiple of one."""
        operation, factor = self.graph.nodes[node], 1
        if operation.op is Op.PRODUCT:
            factor = int(self.graph.nodes[operation.left >> 1].value)
            operation = self.graph.nodes[operation.right >> 1]
        combination = self.sums.get(operation.name, Combination(((operation.name, factor),)))
        if combination.fractional:
            return self._tabled_sine(operation.name, combination, cosine)
        whole = [(name, int(multiplier * self.arguments[name].scale)) for name, multiplier in combination.multipliers]
        rest = combination.argument(self.arguments).centre
        if len(whole) == 1 and whole[0][1] == 1:
            return self.wire(w.Sine(self.word(whole[0][0]), cosine, rest))
        bits = max(self.arguments[name].bits for name, _ in whole)
        parts = tuple((self.word(name), factor, bits - self.arguments[name].bits) for name, factor in whole)
        return self.wire(w.Sine(self.wire(w.AngleSum(operation.name, bits, parts)), cosine, rest))

    def _tabled_sine(self, label: str, combination: Combination, cosine: bool) -> int:
        """Return the sine or cosine of a fraction of an angle, which no word can hold: from a table over the angle."""
        ((name, _),) = combination.multipliers
        self._check_bits(f"the sine of {label}", name)
        tracer = Tracer()
        turned = tracer.cos(tracer.input("x0")) if cosine else tracer.sin(tracer.input("x0"))
        most = 1 << (LAW_BITS - 1)
        lsb = Fraction(1, most)
        argument = combination.argument(self.arguments)
        block = FunctionBlock(tracer.graph([turned], ["f"]), (argument,), lsb, -most, most)
        number = self._looked_up(f"{'cos' if cosine else 'sin'}({label})", block, name)
        return self.wire(w.Multiply(number, self.constant(lsb)))

    def _check_bits(self, what: str, name: str) -> None:
        bits = self.arguments[name].bits
        if bits > MAX_LAW_BITS:
            raise BddTorqueError(
                f"plan: {what} needs {bits} input bits and a table has at most {MAX_LAW_BITS}: lower input_bits"
            )

    def _looked_up(self, label: str, block: Block, name: str) -> int:
        """Return the words of a table over an input word, as numbers."""
        if block not in self.blocks:
            self.blocks.append(block)
        return self.wire(w.Number(self.wire(w.Lookup(label, self.blocks.index(block), (self.word(name),)))))

    def output(self, reference: int, target: OutputFormat, laws: Sequence[LawTerm]) -> w.Output:
        """Return an output: the value of a reference, and the laws added to it, in units of its word."""
        value, sign = self.value(reference >> 1), -1 if reference & 1 else 1
        scale = sign * target.sign / target.lsb
        units = self.constant(scale)
        total: int | None = None
        for term in laws:
            total = self._law(term, target, total)
        if target.centre:
            centre = -target.centre / target.lsb
            total = self.constant(centre) if total is None else self.wire(w.Add(total, self.constant(centre)))
        wire = w.Multiply(value, units) if total is None else w.Fused(value, units, total)
        return w.Output.of_float(target.name, self.wire(wire), target.low, target.high, target.lsb)

    def _law(self, term: LawTerm, target: OutputFormat, total: int | None) -> int:
        """Return a law in units of an output, added to what is there: its table, times the unit of its words."""
        argument = self.arguments[term.name]
        self._check_bits(f"a {term.law.kind} of {term.name}", term.name)
        found = argument.bounded(argument.words())
        if not isinstance(found, Bounded):
            raise BddTorqueError(f"plan: a term of kind {term.law.kind} must be of a word with a range, got an angle")
        value = term.law.bounded([found])
        low, high = float(np.min(value.value - value.radius)), float(np.max(value.value + value.radius))
        largest = max(abs(low), abs(high), float(target.lsb))
        lsb = Fraction(2) ** (int(np.frexp(largest)[1]) - LAW_BITS)
        block = LawBlock(term.law, (argument,), lsb, *nearest_words(low, high, lsb))
        number = self._looked_up(f"{term.law.kind}({term.name})", block, term.name)
        scale = self.constant(target.sign * lsb / target.lsb)
        return self.wire(w.Multiply(number, scale) if total is None else w.Fused(number, scale, total))


def _contractions(graph: Graph, scaled: set[int]) -> dict[int, tuple[int, int]]:
    """Return the sums that are fused with a product: by node, the side that it is on (0 or 1) and the product.

    Inputs in `scaled` are products of their word and its unit.

    A product is fused where one sum reads it and nothing else does. With more sums it could be fused with each of them:
    one operation less on a PC, but small processors take longer for a fused one than for a product and a sum. Of two
    products in one sum, the one that is there last is fused: the sum waits for one operation after it, and not for two.
    """
    readers: dict[int, list[tuple[int, int]]] = {}
    for k, node in enumerate(graph.nodes):
        for side, operand in enumerate(node.operands):
            readers.setdefault(operand >> 1, []).append((k, side))
    given = {reference >> 1 for reference in graph.outputs}
    products = [
        k
        for k, node in enumerate(graph.nodes)
        if (node.op is Op.PRODUCT or k in scaled)
        and k not in given
        and [graph.nodes[reader].op for reader, _ in readers.get(k, ())] == [Op.SUM]
    ]
    depths: list[int] = []
    for node in graph.nodes:
        depths.append(max((depths[operand >> 1] + 1 for operand in node.operands), default=0))
    fused: dict[int, tuple[int, int]] = {}
    for product in sorted(products, key=lambda k: (depths[k], k)):  # what comes last replaces others
        ((reader, side),) = readers[product]
        fused[reader] = side, product
    return fused


def plan_floats(
    graph: Graph,
    arguments: Mapping[str, Argument],
    targets: Sequence[OutputFormat],
    accuracy: float,
    source: str,
    precision: str = "auto",
    spent: Sequence[float] = (),
    laws: Sequence[LawTerm] = (),
) -> Plan:
    """Return the plan of a graph in floats.

    Parameters
    ----------
    arguments, targets
        What the words of inputs and outputs stand for.
    accuracy
        The bound that every output must keep, in units.
    precision
        ``"single"``, ``"double"``, or ``"auto"``: single if its bound keeps the accuracy.
    spent
        What the graph itself can be off, for each output, in units.
    laws
        What is added to outputs.
    """
    writer = _FloatWriter(graph, arguments)
    outputs = tuple(
        writer.output(reference, target, [term for term in laws if term.output == place])
        for place, (reference, target) in enumerate(zip(writer.graph.outputs, targets, strict=True))
    )
    plan = Plan(tuple(writer.wires), tuple(writer.blocks), outputs, source, FLOAT, precision=DOUBLE)
    if precision != "auto":
        return replace(plan, precision=PRECISIONS[precision])
    single = replace(plan, precision=SINGLE)
    return single if _keeps(single, accuracy, spent or [0.0] * len(outputs)) else plan


def _keeps(plan: Plan, accuracy: float, spent: Sequence[float]) -> bool:
    """Return whether the bounds of a plan are below an accuracy."""
    try:
        bounds = compose_bounds(plan, {}, planned_facts(plan.blocks))
    except BddTorqueError:  # values beyond this precision
        return False
    return all(bound.total + other < accuracy for bound, other in zip(bounds, spent, strict=True))


def without_dust(
    graph: Graph, inputs: Mapping[str, Interval], units: Sequence[float]
) -> tuple[Graph, tuple[float, ...], int]:
    """Return the graph without dust, what that costs each output at most, in units, and how many summands are gone.

    The smallest go first, as long as all together cost no output more than `DUST_BUDGET`. A graph without dust, or with
    an output of more than `MAX_DUST_ANGLES`, is returned as it is.

    Parameters
    ----------
    inputs
        Ranges of the inputs that are no angles.
    units
        The unit of each output.
    """
    if max(len(names - inputs.keys()) for names in graph.supports()) > MAX_DUST_ANGLES:
        return graph, (0.0,) * len(units), 0
    size = [each.magnitude for each in node_ranges(graph, inputs)]
    dust = _find_dust(graph, size, units)
    gone = {place: size[graph.nodes[place].operands[side] >> 1] for place, side in dust.items()}
    charges = tuple(error / unit for error, unit in zip(carry_errors(graph, size, gone), units, strict=True))
    if not dust or max(charges) > DUST_BUDGET * ERROR_SLACK:
        return graph, (0.0,) * len(units), 0
    return _leave_out(graph, dust), charges, len(dust)


def _find_dust(graph: Graph, size: Sequence[float], units: Sequence[float]) -> dict[int, int]:
    """Return the sums with dust that is left out, and which operand it is (0 or 1)."""
    adjoint = np.zeros((len(size), len(units)))
    for k, (reference, unit) in enumerate(zip(graph.outputs, units, strict=True)):
        adjoint[reference >> 1, k] += 1 / unit
    found = []
    for place in range(len(size) - 1, -1, -1):
        node = graph.nodes[place]
        if node.op not in (Op.SUM, Op.PRODUCT) or not adjoint[place].any():
            continue  # what an angle is made of has no adjoint, and stays
        pair = [operand >> 1 for operand in node.operands]
        for side, (own, other) in enumerate((pair, pair[::-1])):
            adjoint[own] += adjoint[place] * (1.0 if node.op is Op.SUM else size[other])
            if node.op is Op.SUM and size[own] <= DUST * size[other]:
                found.append((size[own] * adjoint[place], place, side))
    spent, dust = np.zeros(len(units)), {}
    for charge, place, side in sorted(found, key=lambda each: (float(each[0].max()), each[1])):
        # products of two errors are left out of the adjoints, and counted in the end: hence a little less than all
        if place not in dust and (spent + charge <= 0.99 * DUST_BUDGET).all():
            spent, dust[place] = spent + charge, side
    return dust


def _leave_out(graph: Graph, dust: Mapping[int, int]) -> Graph:
    """Return the graph with these summands left out."""
    tracer = Tracer()
    values: list[TracedNumber] = []

    def take(reference: int) -> TracedNumber:
        return -values[reference >> 1] if reference & 1 else values[reference >> 1]

    for place, node in enumerate(graph.nodes):
        match node.op:
            case Op.INPUT:
                values.append(tracer.input(node.name))
            case Op.CONSTANT:
                values.append(node.value)
            case Op.SUM if place in dust:
                values.append(take(node.operands[1 - dust[place]]))
            case Op.SUM:
                values.append(take(node.left) + take(node.right))
            case Op.PRODUCT:
                values.append(take(node.left) * take(node.right))
            case _:
                values.append((tracer.cos if node.op is Op.COSINE else tracer.sin)(take(node.left)))
    return tracer.graph([take(reference) for reference in graph.outputs], list(graph.output_names))
