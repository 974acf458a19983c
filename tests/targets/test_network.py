"""Networks: any graph, however long or shared, becomes words, and its plan keeps its bound."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest
from plan_samples import Sample, found_and_proved

from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.wires import Lookup
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.network import NetworkReader
from bddtorque.targets.tables.budget import plan_network
from bddtorque.words.argument import Argument

ARGUMENTS = {
    "a": Argument("angle", 4),
    "b": Argument("angle", 3, Fraction(-1), Fraction(1, 3)),
    "u": Argument("word", 4, Fraction(1, 3), Fraction(1, 7)),
    "v": Argument("word", 3, Fraction(-1, 5)),
}
BOTH = pytest.mark.parametrize("source", ["terms", "recursive"])


def assert_keeps_its_bound(graph: Graph, source: str, unit: Fraction = Fraction(1, 20)):
    targets = [OutputFormat(name, unit, -(1 << 24), 1 << 24) for name in graph.output_names]
    arguments = {name: ARGUMENTS[name] for name in graph.input_names}
    plan = plan_network(graph, arguments, targets, 1.0, 12, source)
    found, proved = found_and_proved(Sample(graph, arguments, targets), plan)
    assert all(error <= bound < 1.0 for error, bound in zip(found, proved, strict=True))
    return plan


@BOTH
def test_sums_may_be_longer_than_the_stack_is_deep(source):
    tracer = Tracer()
    a, u = tracer.input("a"), tracer.input("u")
    total = 0.0
    for k in range(1100):
        total = total + (1.0 + k / 4096) / 1100 * (tracer.cos(a) * u if k % 2 else tracer.sin(a))
    graph = tracer.graph([total], ["y"])
    assert len(graph.nodes) > 2 * sys.getrecursionlimit()
    plan = assert_keeps_its_bound(graph, source)
    if source == "recursive":  # equal monomials are added up before anything is laid out
        assert len(plan.outputs[0].parts) == 3


@BOTH
def test_sums_shared_over_and_over_are_read_once(source):
    tracer = Tracer()
    u, v = tracer.input("u"), tracer.input("v")
    first, second = u * v, tracer.cos(tracer.input("a")) * v
    for _ in range(60):  # as many summands as the 60th Fibonacci number, if every path were followed
        first, second = 0.5 * (first + second), first
    assert_keeps_its_bound(tracer.graph([first], ["y"]), source)


@BOTH
def test_a_function_and_its_opposite(source):
    tracer = Tracer()
    a, b, u, v = (tracer.input(name) for name in "abuv")
    wave = tracer.sin(a) - 0.3 * tracer.cos(a)
    graph = tracer.graph([wave * u, -wave * v, (0.3 * tracer.cos(a) - tracer.sin(a)) * tracer.sin(b)], ["x", "y", "z"])
    assert_keeps_its_bound(graph, source)


@BOTH
def test_factors_seen_through_constants(source):
    tracer = Tracer()
    a, b, u, v = (tracer.input(name) for name in "abuv")
    inside = (2.5 * (1.25 + tracer.cos(a))) * (0.5 + v)
    graph = tracer.graph([inside * (u - 3.0), (u + v) * (u - v) * tracer.sin(b), u * u * u, 7.0 - u], list("wxyz"))
    assert_keeps_its_bound(graph, source, Fraction(1, 9))


@BOTH
def test_constant_and_single_word_outputs(source):
    tracer = Tracer()
    u = tracer.input("u")
    graph = tracer.graph([3.25, u, -0.125 * u, tracer.cos(tracer.input("a"))], list("wxyz"))
    plan = assert_keeps_its_bound(graph, source)
    assert sum(isinstance(wire, Lookup) for wire in plan.wires) == 1


def test_every_word_comes_after_what_it_reads():
    tracer = Tracer()
    a, b, u, v = (tracer.input(name) for name in "abuv")
    deep = tracer.cos(a) * u + tracer.sin(b) * v
    for _ in range(4):
        deep = deep * (tracer.sin(a) + v) + u
    network = NetworkReader(tracer.graph([deep], ["y"]), ARGUMENTS, 12, direct_summands=False).network()
    known: set[int] = set()
    for node in network.order:
        for monomial in network.sums.get(node, {}):
            assert {word for word in monomial if not isinstance(word, str)} <= known
        known.add(node)
    assert known == {*network.tables, *network.sums}
