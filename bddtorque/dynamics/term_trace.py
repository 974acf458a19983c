"""Trace the separate terms of a robot into one graph: the source `terms`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.batch import Floats
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.terms import Expansion, Terms, known_terms
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.robots.robot import Robot

MAX_HARMONICS = 20_000
"""Beyond, a plan of separate terms has no use: every harmonic is a product with a constant."""
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


@lru_cache(maxsize=1)  # what the torques range over is found from it a moment before they are planned
def traced_terms(robot: Robot, by_powers: bool = False) -> tuple[Terms, Graph]:
    """Return the terms of a robot and their graph; refused, with the counts, where there are too many harmonics."""
    terms = shortened(known_terms(robot))
    counts = terms.counts()
    if counts["harmonics"] > MAX_HARMONICS:
        raise BddTorqueError(
            f"robot '{robot.name}' has {counts['harmonics']:,} harmonics in its {counts['terms']} terms "
            f"({counts['phases']:,} phases) and source 'terms' takes {MAX_HARMONICS:,} at most: "
            'source = "recursive" would work (with accuracy "faithful")'
        )
    return terms, trace_terms(terms, by_powers)


def trace_terms(terms: Terms, by_powers: bool = False) -> Graph:
    """Return the graph of all torques as sums of terms, names as in `trace_torques`.

    With `by_powers`, all harmonics that are multiplied with the same powers of positions are summed first.
    """
    n, tracer = terms.robot.degrees_of_freedom, Tracer()
    tau: list[Number] = [0.0] * n
    for term in terms.terms:
        coefficient = _traced(term.expansion, tracer, n, by_powers)
        for torque, motion in term.summands():
            moved: Number = 1.0  # the motion first: a product of velocities serves many terms
            for name in motion:
                moved = moved * tracer.input(name)
            tau[torque] = tau[torque] + coefficient * moved
    return tracer.graph(tau, [f"tau{i + 1}" for i in range(n)])


def _traced(expansion: Expansion, tracer: Tracer, n: int, by_powers: bool) -> Number:
    """Return Σ (A cos m·q + B sin m·q) Π q^power under trace; harmonics of the same powers stand side by side."""
    q: list[Any] = [tracer.input(f"q{j + 1}") for j in range(n)]
    places = range(len(expansion))
    total: Number = 0.0
    for _, alike in groupby(places, lambda k: tuple(expansion.powers[k]) if by_powers else k):
        group = list(alike)
        waves: Number = 0.0
        for k in group:
            phase: Number = 0.0
            for j in np.flatnonzero(expansion.multipliers[k]):
                phase = phase + float(expansion.multipliers[k, j]) * q[j]
            cosine, sine = float(expansion.cosine[k]), float(expansion.sine[k])
            waves = waves + (cosine * tracer.cos(phase) + sine * tracer.sin(phase))
        powers = expansion.powers[group[0]]
        for j in np.flatnonzero(powers):
            for _ in range(powers[j]):
                waves = waves * q[j]
        total = total + waves
    return total
