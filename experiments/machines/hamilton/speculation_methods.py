"""Methods of speculative computation: how old each operand of the recursion is, as data.

A `Method` says for every operand of every equation whether it is the value of this control iteration, of the one
before, of the one before that, or extrapolated from those two. Positions, rates, commanded accelerations and what
follows from them directly (rotations, gravity) are always current. Everything else about a method follows from that and
from the equations: how many time steps a loop takes, how many iterations until a torque is exact, which messages are
sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from machines.hamilton.speculation_equations import Kind, Operand, Recursion


class Reading(IntEnum):
    """The value of a recursion variable that an equation reads."""

    CURRENT = 0
    PREVIOUS = 1
    """x(k−1), of the control iteration before: zero-order prediction"""
    BEFORE_PREVIOUS = 2
    """x(k−2)"""
    EXTRAPOLATED = 3
    """2 x(k−1) − x(k−2): first-order prediction"""


DEPTH = {Reading.CURRENT: 0, Reading.PREVIOUS: 1, Reading.BEFORE_PREVIOUS: 2, Reading.EXTRAPOLATED: 2}
"""Age in iterations of the oldest value that a reading uses."""


@dataclass(frozen=True)
class Method:
    """A way to compute the torques from operands of different ages."""

    name: str
    # neighbour, own, unboxed: the reading of each class of operands
    neighbour: Reading = Reading.CURRENT
    own: Reading = Reading.CURRENT
    unboxed: Reading = Reading.CURRENT
    # variables that everybody reads at their current value all the same (the mixed method)
    exact: frozenset[str] = frozenset()
    # (reader, operand, reading) for single operands; they go before all others
    exceptions: tuple[tuple[str, str, Reading], ...] = ()
    output_prediction: bool = False  # whether the torques are extrapolated, 2 τ(k) − τ(k−1)
    one_step_ahead: bool = False  # whether joint angles are predicted, q̂ = q_d(k+1) − (q_d − q)(k−1)

    def reading(self, reader: str, operand: Operand) -> Reading:
        """Return which value of the operand the equation of `reader` takes."""
        for variable, read, reading in self.exceptions:
            if (variable, read) == (reader, operand.variable):
                return reading
        if operand.variable in self.exact:
            return Reading.CURRENT
        return {"neighbour": self.neighbour, "own": self.own, "unboxed": self.unboxed}[operand.kind]

    def with_output_prediction(self) -> Method:
        """Return the method with its torques extrapolated (Vuskovic)."""
        return replace(self, name=f"{self.name}, output prediction", output_prediction=True)

    def with_one_step_ahead(self) -> Method:
        """Return the method on predicted joint angles (Yamakita)."""
        return replace(self, name=f"{self.name}, one step ahead", one_step_ahead=True)


SERIAL = Method("serial")
"""The conventional recursion: every operand current."""
BINDER_HERZOG = Method("bh", neighbour=Reading.PREVIOUS)
"""Zero-order prediction: operands of other links are old. Vuskovic's decoupled recursion is the same."""
FIRST_ORDER = Method("bh first order", neighbour=Reading.EXTRAPOLATED)
"""First-order prediction: operands of other links extrapolated; the difference is our reading of "correction terms"."""
NEWBOX = Method("newbox", neighbour=Reading.PREVIOUS, own=Reading.PREVIOUS)
"""HAM Table 1 as printed: boxed operands old; ac_i in f_i and al_i in t_i have no box."""
NEW = Method("new", neighbour=Reading.PREVIOUS, own=Reading.PREVIOUS, unboxed=Reading.PREVIOUS)
"""HAM by its text and by its Table 7: every recursion variable old."""
YAMAKITA = replace(
    NEW,
    name="yamakita",
    exceptions=(
        ("f", "ac", Reading.BEFORE_PREVIOUS),
        ("t", "al", Reading.BEFORE_PREVIOUS),
        ("f", "F", Reading.BEFORE_PREVIOUS),
        ("n", "N", Reading.BEFORE_PREVIOUS),
    ),
)
"""Yamakita's buffering: all old, and two terms two iterations old. Which two is not told; here, those handed from the
outward to the inward sweep, as a buffer between the sweeps would do."""


def mixed(*exact: str, base: Method = BINDER_HERZOG) -> Method:
    """Return Binder and Herzog's third method: some variables read at their current value, the rest as `base` says."""
    return replace(base, name=f"{base.name}, exact {' '.join(exact)}", exact=frozenset(exact))


METHODS = (SERIAL, BINDER_HERZOG, FIRST_ORDER, NEWBOX, NEW, YAMAKITA)

Place = tuple[str, int]
"""A variable of a link; links count from 1."""


@dataclass(frozen=True)
class Dependence:
    """One reading among the links of an arm: `reader` takes `source` as `reading` says."""

    reader: Place
    source: Place
    reading: Reading


def dependences(recursion: Recursion, method: Method, kinds: Sequence[Kind]) -> list[Dependence]:
    """Return every reading of a variable of the arm whose joints are of the given kinds (none of base or tip)."""
    n = len(kinds)
    return [
        Dependence((variable, link), (operand.variable, link + operand.offset), method.reading(variable, operand))
        for link in range(1, n + 1)
        for variable in recursion.variables
        for operand in recursion.of(kinds[link - 1])[variable].operands()
        if 1 <= link + operand.offset <= n
    ]


def places(recursion: Recursion, n: int) -> list[Place]:
    """Return all variables of n links in the order of a serial machine: outward by link, then inward from the tip."""
    outward = [(variable, link) for link in range(1, n + 1) for variable in recursion.outward]
    return outward + [(variable, link) for link in range(n, 0, -1) for variable in recursion.inward]


def ages(recursion: Recursion, method: Method, kinds: Sequence[Kind]) -> dict[Place, int]:
    """Return, for each variable, how many iterations back the oldest joint data lie that its value rests on."""
    sources: dict[Place, list[Dependence]] = {}
    for dependence in dependences(recursion, method, kinds):
        sources.setdefault(dependence.reader, []).append(dependence)
    oldest: dict[Place, int] = {}
    for place in places(recursion, len(kinds)):
        oldest[place] = max((oldest[each.source] + DEPTH[each.reading] for each in sources.get(place, ())), default=0)
    return oldest


def iterations_to_exact(recursion: Recursion, method: Method, kinds: Sequence[Kind]) -> int:
    """Return after how many evaluations on frozen joint data every torque is that of the serial recursion (F29)."""
    oldest = ages(recursion, method, kinds)
    outputs = [
        (recursion.moment if kind == "revolute" else recursion.force, link) for link, kind in enumerate(kinds, start=1)
    ]
    return 1 + max(oldest[place] for place in outputs) + method.output_prediction
