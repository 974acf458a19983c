"""Random plans for tests: sums of products of sines, cosines and words, their formats, and every state of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from exact import all_words, long, long_outputs
from hypothesis import strategies as st

from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.bound import compose_bounds
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_plan
from bddtorque.plan.tabulate import tabulate
from bddtorque.targets.builder import OutputFormat
from bddtorque.words.argument import Argument

LARGEST = 1 << 30
TRUTH = 1e-12
"""Units; what the long doubles that stand for the truth may be off."""


@dataclass(frozen=True)
class Sample:
    """A graph, what its input words stand for, and what its output words mean."""

    graph: Graph
    arguments: dict[str, Argument]
    targets: list[OutputFormat]


@st.composite
def samples(draw: st.DrawFn, outputs: int = 2, most_bits: int = 4) -> Sample:
    """Draw sums of terms: a constant, times sines or cosines of whole combinations of angles, times words."""
    real = st.floats(0.01, 10.0).map(lambda x: round(x, 6)) | st.sampled_from([0.5, 1.0, 2.0, 0.1])
    centre = st.sampled_from([0.0, 0.0, 0.3, -1.25])
    arguments = {}
    for name in ("a", "b"):
        sign, offset = draw(st.sampled_from([1, -1])), draw(centre)
        arguments[name] = Argument("angle", draw(st.integers(2, most_bits)), Fraction(sign), Fraction(offset))
    for name in ("u", "v"):
        lsb = Fraction(draw(real)) * draw(st.sampled_from([1, -1]))
        arguments[name] = Argument("word", draw(st.integers(2, most_bits)), lsb, Fraction(draw(centre)))
    tracer = Tracer()
    inputs = {name: tracer.input(name) for name in arguments}
    multiples = st.integers(-2, 2)
    totals = []
    for _ in range(outputs):
        total = draw(st.sampled_from([0.0, 1.0, -2.7]))
        for _ in range(draw(st.integers(1, 4))):
            waves = 0.0
            for _ in range(draw(st.integers(0, 2))):
                m, k = draw(multiples), draw(multiples)
                phase = m * inputs["a"] + k * inputs["b"]
                wave = tracer.cos(phase) if draw(st.booleans()) else tracer.sin(phase)
                waves = waves + draw(real) * draw(st.sampled_from([1, -1])) * wave
            term = waves if draw(st.booleans()) else waves + draw(real)
            for name in draw(st.sampled_from(["", "u", "v", "uv", "uu", "vv", "uuv"])):
                term = term * inputs[name]
            total = total + term
        totals.append(total)
    graph = tracer.graph(totals, [f"y{k}" for k in range(outputs)])
    targets = [
        OutputFormat(
            f"y{k}", Fraction(draw(real)), -LARGEST, LARGEST, Fraction(draw(centre)), draw(st.sampled_from([1, -1]))
        )
        for k in range(outputs)
    ]
    return Sample(graph, arguments, targets)


def every_state(sample: Sample) -> dict[str, np.ndarray]:
    """Return all combinations of the words of all inputs."""
    words = all_words([argument.bits for argument in sample.arguments.values()])
    return dict(zip(sample.arguments, words, strict=True))


def found_and_proved(sample: Sample, plan: Plan) -> tuple[list[float], list[float]]:
    """Return, for each output, the largest error over every state (at least), and the composed bound, in units."""
    tables, facts = zip(*map(tabulate, plan.blocks), strict=True) if plan.blocks else ((), ())
    scales = {name: argument.scale for name, argument in sample.arguments.items()}
    bounds = compose_bounds(plan, scales, facts)
    states = every_state(sample)
    words = run_plan(plan, tables, states)
    true = long_outputs(sample.graph, sample.arguments, states)
    found = []
    for target, word, value in zip(sample.targets, words, true, strict=True):
        units = (target.sign * value - long(target.centre)) / long(target.lsb)
        units = np.clip(units, target.low, target.high)
        found.append(float(np.abs(word - units).max()) - TRUTH)
    return found, [bound.total for bound in bounds]
