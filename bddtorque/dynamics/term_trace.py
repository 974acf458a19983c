"""Trace the separate terms of a robot into one graph: the source `terms`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bddtorque.dynamics.batch import Floats
from bddtorque.dynamics.terms import Expansion, Terms
from bddtorque.graph.graph import Graph
from bddtorque.graph.tracer import Number, Tracer

AMPLITUDE_BITS = 44
"""Significant bits of an amplitude that is compiled: 10⁻¹³ of it."""


def shortened(terms: Terms) -> Terms:
    """Return terms whose amplitudes have `AMPLITUDE_BITS`: what is equal but for rounding noise becomes equal.

    Equal coefficients are then one node of the graph, and one word of the plan. The certificate charges the difference.
    """
    short = (
        replace(each.expansion, cosine=_rounded(each.expansion.cosine), sine=_rounded(each.expansion.sine))
        for each in terms.terms
    )
    return replace(
        terms, terms=tuple(replace(term, expansion=each) for term, each in zip(terms.terms, short, strict=True))
    )


def _rounded(amplitudes: Floats) -> Floats:
    mantissa, exponent = np.frexp(amplitudes)
    rounded: Floats = np.ldexp(np.rint(np.ldexp(mantissa, AMPLITUDE_BITS)), exponent - AMPLITUDE_BITS)
    return rounded


def trace_terms(terms: Terms) -> Graph:
    """Return the graph of all torques as sums of terms, names as in `trace_torques`."""
    n, tracer = terms.robot.degrees_of_freedom, Tracer()
    tau: list[Number] = [0.0] * n
    for term in terms.terms:
        coefficient = _traced(term.expansion, tracer, n)
        for torque, motion in term.summands():
            moved: Number = 1.0  # the motion first: a product of velocities serves many terms
            for name in motion:
                moved = moved * tracer.input(name)
            tau[torque] = tau[torque] + coefficient * moved
    return tracer.graph(tau, [f"tau{i + 1}" for i in range(n)])


def _traced(expansion: Expansion, tracer: Tracer, n: int) -> Number:
    """Return Σ (A cos m·q + B sin m·q) Π q^power under trace."""
    q: list[Any] = [tracer.input(f"q{j + 1}") for j in range(n)]
    total: Number = 0.0
    for m, powers, A, B in zip(expansion.multipliers, expansion.powers, expansion.cosine, expansion.sine, strict=True):
        phase: Number = 0.0
        for j in np.flatnonzero(m):
            phase = phase + float(m[j]) * q[j]
        harmonic = float(A) * tracer.cos(phase) + float(B) * tracer.sin(phase)
        for j in np.flatnonzero(powers):
            for _ in range(powers[j]):
                harmonic = harmonic * q[j]
        total = total + harmonic
    return total
