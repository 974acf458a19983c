"""Units that spare factors: chosen so that as many summands as possible need none.

A word may be counted in any unit, so that the factor of x·y in a sum s,

    coefficient · unit(x) · unit(y) / unit(s),

is 1 for one summand of s at least, and mostly for more. Such a summand is added as it is, or shifted; any other takes a
multiplication more, and a rounding before it. The search moves the unit of one word after the other, with all that
hangs on it, as long as that leaves fewer factors.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.graph import Op
from bddtorque.targets.network import Monomial, Network
from bddtorque.words.portable import added

NEAR = 1e-10
"""A factor whose logarithm is so near to 0 is made 1: units are kept to 40 bits."""
UNIT_BITS = 40
LINEAR = 1 / 16
"""Cost of a factor of a single word, beside that of a product: nothing is rounded before it."""
INPUT = -1
"""Stands for any word whose unit is given."""


@dataclass(frozen=True)
class Equation:
    """One summand: log2 of its factor is `logarithm` + the logarithms of the units of `words` − that of `total`."""

    total: int
    words: tuple[int, ...]
    logarithm: float

    @property
    def weight(self) -> float:
        """Cost of a factor here."""
        return 1.0 if len(self.words) > 1 else LINEAR

    def times(self, word: int) -> int:
        """Return how often the logarithm of a word's unit is counted."""
        return self.words.count(word) - (self.total == word)


def choose_units(
    network: Network, outputs: Sequence[Fraction], dropped: Mapping[int, frozenset[Monomial]]
) -> dict[int, Fraction]:
    """Return the unit of every word of a network, by node; `outputs` are those of the outputs.

    Sines and cosines keep 1, so that all angles share one table. An output may be held in any power of two.
    """
    fixed = {node for node in network.tables if network.graph.nodes[node].op in (Op.SINE, Op.COSINE)}
    equations = list(_equations(network, outputs, dropped))
    found = spare_factors(equations, {*network.order} - fixed, {-2 - k for k in range(len(outputs))})
    return {node: _short(found.get(node, 0.0)) for node in network.order}


def spare_factors(equations: Sequence[Equation], free: Collection[int], whole: Collection[int]) -> dict[int, float]:
    """Return the logarithms of units with which few equations leave a factor; those of `whole` are whole numbers."""
    search = _UnitSearch(equations, free, whole)
    search.run()
    return search.units


def _short(logarithm: float) -> Fraction:
    """Return 2^logarithm to a few bits."""
    whole = math.floor(logarithm + NEAR)
    part = round(2 ** (logarithm - whole) * 2**UNIT_BITS) if logarithm - whole > NEAR else 2**UNIT_BITS
    return Fraction(part, 2**UNIT_BITS) * Fraction(2) ** whole


def _equations(
    network: Network, outputs: Sequence[Fraction], dropped: Mapping[int, frozenset[Monomial]]
) -> Iterator[Equation]:
    for key, unit, form in [
        *((node, Fraction(1), form) for node, form in network.sums.items()),
        *((-1 - k, unit, form) for k, (unit, form) in enumerate(zip(outputs, network.outputs, strict=True))),
    ]:
        for monomial, coefficient in form.items():
            if monomial and monomial not in dropped.get(key, frozenset()):
                words = tuple(INPUT if isinstance(word, str) else word for word in monomial)
                yield Equation(key if key >= 0 else key - 1, words, math.log2(abs(coefficient / unit)))


class _UnitSearch:
    def __init__(self, equations: Sequence[Equation], free: Collection[int], whole: Collection[int]) -> None:
        self.equations = equations
        self.whole = frozenset(whole)
        self.movable = {*free, *whole}
        self.units: dict[int, float] = {}
        self.of: dict[int, list[int]] = {}
        self.offs = [equation.logarithm for equation in equations]
        """The logarithm of every factor, as the units are."""
        self.times: list[dict[int, int]] = []
        for k, equation in enumerate(equations):
            words = sorted({*equation.words, equation.total} & self.movable)
            self.times.append({word: equation.times(word) for word in words})
            for word in words:
                self.of.setdefault(word, []).append(k)

    def run(self) -> None:
        """Move words while that spares factors: one at a time, then all that can move together."""
        while True:
            while self._improve_words():
                pass
            if not self._improve_together():
                return

    def _improve_words(self) -> bool:
        improved = False
        for word in sorted(self.of):
            for step in sorted({self._step(k, word, {}) for k in self.of[word]} - {0.0}):
                for moves in ({word: step}, self._with_dependents(word, step)):
                    if self._gain(moves) > 1e-6:
                        self._move(moves)
                        improved = True
                        break
        return improved

    def _improve_together(self) -> bool:
        """Change the units of many words as one, as a unit of time or mass would: no product gains a factor by it."""
        words = [word for word in sorted(self.of) if word not in self.whole]
        spared = [k for k, each in enumerate(self.equations) if each.weight == 1.0 and abs(self.offs[k]) < NEAR]
        rows = np.array([[self.equations[k].times(word) for word in words] for k in spared], dtype=np.float64)
        best: dict[int, float] = {}
        most = 1e-6
        for direction in _directions(rows.reshape(len(spared), len(words))):
            together = {word: float(part) for word, part in zip(words, direction, strict=True) if part}
            for step in sorted({self._step_along(k, together) for k in range(len(self.equations))} - {0.0}):
                moves = {word: part * step for word, part in together.items()}
                gain = self._gain(moves)
                if gain > most:
                    best, most = moves, gain
        self._move(best)
        return bool(best)

    def _step_along(self, k: int, together: Mapping[int, float]) -> float:
        """Return how far words must move together to spare a factor; 0 where that cannot be."""
        off = self.offs[k]
        rate = added(times * together.get(word, 0.0) for word, times in self.times[k].items())
        return 0.0 if abs(rate) < NEAR or abs(off) < NEAR else round(-off / rate, 12)

    def _move(self, moves: Mapping[int, float]) -> None:
        for k in sorted({k for word in moves for k in self.of[word]}):
            self.offs[k] = self._off(k, moves)
        for moved, by in moves.items():
            self.units[moved] = self.units.get(moved, 0.0) + by

    def _off(self, k: int, moves: Mapping[int, float]) -> float:
        """Return the logarithm of a factor after some moves."""
        value = self.offs[k]
        if moves:
            for word, times in self.times[k].items():
                if word in moves:
                    value += times * moves[word]
        return value

    def _step(self, k: int, word: int, moves: Mapping[int, float]) -> float:
        """Return the move of a word that spares a factor; 0 where there is none."""
        times, off = self.times[k].get(word, 0), self._off(k, moves)
        if not times or abs(off) < NEAR:
            return 0.0
        step = round(-off / times, 12)
        if word in self.whole:
            return float(round(step)) if abs(step - round(step)) < NEAR else 0.0
        return step

    def _with_dependents(self, word: int, step: float) -> dict[int, float]:
        """Return the move of a word with the moves of others that keep spared what is spared already."""
        moves = {word: step}
        waiting = deque([word])
        while waiting:
            for k in self.of[waiting.popleft()]:
                if abs(self.offs[k]) >= NEAR or abs(self._off(k, moves)) < NEAR:
                    continue
                equation = self.equations[k]
                # the sum itself first, then another sum in it, and the latest of them: that leaves most as it is
                others = [each for each in (*sorted(equation.words), equation.total) if each in self.of]
                for other in reversed(others):
                    follow = 0.0 if other in moves else self._step(k, other, moves)
                    if follow:
                        moves[other] = follow
                        waiting.append(other)
                        break
        return moves

    def _gain(self, moves: Mapping[int, float]) -> float:
        """Return how much the factors spared by some moves are worth."""
        gain = 0.0
        for k in sorted({k for word in moves for k in self.of[word]}):
            spared = (abs(self._off(k, moves)) < NEAR) - (abs(self.offs[k]) < NEAR)
            if spared:
                gain += self.equations[k].weight * spared
        return gain


def _directions(rows: npt.NDArray[np.float64]) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the moves of all words that leave every row at zero, one for each word that is free (Gauss and Jordan)."""
    rows = rows.copy()
    pivots: list[int] = []
    for column in range(rows.shape[1]):
        top = len(pivots)
        below = np.flatnonzero(np.abs(rows[top:, column]) > NEAR)
        if not len(below):
            continue
        rows[[top, top + below[0]]] = rows[[top + below[0], top]]
        rows[top] /= rows[top, column]
        others = np.flatnonzero(rows[:, column])  # few: a row has the words of one product
        others = others[others != top]
        rows[others] -= rows[others, column][:, None] * rows[top]
        pivots.append(column)
    for free in sorted(set(range(rows.shape[1])) - set(pivots)):
        direction = np.zeros(rows.shape[1])
        direction[free] = 1.0
        direction[pivots] = -rows[: len(pivots), free]
        yield np.where(np.abs(direction) < NEAR, 0.0, direction)
