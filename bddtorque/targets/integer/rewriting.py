"""The same function in the form that machine integers take best: one sine table, and as little friction in tables.

A sine of an angle and a constant is that of the angle, turned: sin(q + δ) = cos δ·sin q + sin δ·cos q. So the words of
all angles share one table, wherever encoders and links have their zeros. Viscous friction is a product of a word and a
number; only what is left of the law is a table. What the constants are rounded by is charged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph, Op
from bddtorque.dynamics.node_ranges import carry_errors, folding_errors, node_ranges
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.targets.angles import Combination
from bddtorque.targets.network import node_supports
from bddtorque.targets.sizing import Floats
from bddtorque.targets.target import PlanTask, TracedOutputs
from bddtorque.words.argument import Argument, intervals
from bddtorque.words.bounded import ROUND_UP, Interval
from bddtorque.words.friction import Friction
from bddtorque.words.portable import sine_cosine

TURN_ERROR = 8e-15
"""How far a turned sine can be off for the sine and cosine of its constant, and for the rounding of that: per radian
beyond the first. One that is no larger is that of a right angle, and 0."""


def rewritten(task: PlanTask, trace: TracedOutputs) -> tuple[PlanTask, TracedOutputs]:
    """Return a task and a trace of the same outputs, in words whose angles have neither constants nor signs."""
    viscous = {term: term.law for term in task.laws if isinstance(term.law, Friction) and term.law.viscous}
    given = task.arguments
    plain = {name: Argument("angle", each.bits) if _is_whole(each) else each for name, each in given.items()}
    arithmetic = _TurningArithmetic()
    inputs = {name: arithmetic.input(name, given[name]) for name in trace.graph.input_names}
    outputs = trace.graph.evaluate(inputs, arithmetic)
    for term, law in viscous.items():
        outputs[term.output] = outputs[term.output] + arithmetic.tracer.input(term.name) * law.viscous
    if plain == given and not viscous and not arithmetic.errors:
        return task, trace
    graph = arithmetic.tracer.graph(outputs, trace.graph.output_names)
    errors = _errors(graph, intervals(given), arithmetic.errors) / [float(output.lsb) for output in task.outputs]
    charged = tuple(((np.array(trace.errors) + errors) * ROUND_UP).tolist())
    dry = {term: replace(law, viscous=0.0) for term, law in viscous.items()}
    left = [term for term in task.laws if term not in dry or not dry[term].nothing]
    laws = [replace(term, law=dry.get(term, term.law)) for term in left]
    return task._replace(arguments=plain, laws=laws), replace(trace, graph=graph, errors=charged)


def _is_whole(argument: Argument) -> bool:
    """Return whether a word stands for an angle, times an integer, and a constant."""
    return argument.kind == "angle" and argument.scale.denominator == 1


class _TurningArithmetic:
    """Traces a graph again, over the angles of words; sines and cosines of angles with constants are turned."""

    def __init__(self) -> None:
        self.tracer = Tracer()
        self.errors: dict[frozenset[str], float] = {}
        """How far sines and cosines can be off, by the names of their angles."""

    def input(self, name: str, argument: Argument) -> Any:
        """Return the number that an input word stands for."""
        if argument.kind != "angle":
            return self.tracer.input(name)
        if not _is_whole(argument):
            return Combination(((name, 1),))
        return Combination(((name, int(argument.scale)),), argument.centre)

    def sin(self, angle: Any) -> Number:
        return self._pair(angle)[0]

    def cos(self, angle: Any) -> Number:
        return self._pair(angle)[1]

    def _pair(self, angle: Combination) -> tuple[Number, Number]:
        """Return the sine and the cosine of an angle."""
        if not isinstance(angle, Combination):
            raise BddTorqueError("plan: sines and cosines may be taken of sums of angles only")
        if not angle.multipliers:  # the angles cancelled
            return math.sin(angle.rest), math.cos(angle.rest)
        word: Number = 0.0
        for name, multiplier in angle.multipliers:
            word = word + self.tracer.input(name) * float(multiplier)
        sine, cosine = self.tracer.sin(word), self.tracer.cos(word)
        if not angle.rest:
            return sine, cosine
        rest = float(angle.rest)
        key, error = frozenset(name for name, _ in angle.multipliers), TURN_ERROR * max(1.0, abs(rest))
        self.errors[key] = max(self.errors.get(key, 0.0), error)
        s, c = (0.0 if abs(part) <= error else float(part) for part in sine_cosine(np.array(rest)))
        return sine * c + cosine * s, cosine * c - sine * s


def _errors(graph: Graph, inputs: Mapping[str, Interval], sines: Mapping[frozenset[str], float]) -> Floats:
    """Return how far outputs can be off if sines of angles are, and if constants were folded."""
    sizes = [each.magnitude for each in node_ranges(graph, inputs)]
    supports = node_supports(graph)
    turned = (Op.SINE, Op.COSINE)
    own = {k: sines.get(supports[k], 0.0) for k, node in enumerate(graph.nodes) if node.op in turned}
    return np.add(carry_errors(graph, sizes, own), folding_errors(graph, inputs), dtype=np.float64)
