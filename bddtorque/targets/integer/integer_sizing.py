"""Word lengths for machine integers: as short as the error budget allows, where length costs anything.

A word costs nothing by itself. What costs is a product beyond the processor's multiplier and a sum beyond its register,
so a word is rounded where it is multiplied, by another word or by a factor that is no power of two; all others stay
exact. What one rounding may cost an output is the same for all at first; then the words of what does not fit the
processor are made coarser, one bit after the other, as long as the proof holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np

from bddtorque.plan.blocks import MAX_TABLE_BITS
from bddtorque.targets.integer.integer_units import choose_units
from bddtorque.targets.network import Monomial, MonomialSum, Network
from bddtorque.targets.sizing import Floats, adjoint_bounds
from bddtorque.words.portable import added

CONSTANT_SHARE = 1 / 8
"""Of the budget, for factors rounded to few bits."""
PRODUCT_TOLERANCE = Fraction(1, 8)
"""Units of the sum it enters: how coarse a product with an inexact factor may be."""
EXACT_BITS = 30
"""A sum that nothing multiplies stays exact up to here: it fits a register with its sign and a half to round by."""
TABLES = -(1 << 30)
"""Stands for all tables together: sines and cosines share one."""

FACTORS = 1 << 28
"""FACTORS + a sum stands for its factors: how many bits they are coarser than at first."""
FAR = 1 << 30
"""Beyond every exponent."""

Place = tuple[int, Monomial]
"""A summand: the node of its sum (−1 − k for output k), and what is summed."""


class Sizer:
    """Decides the words of a network."""

    def __init__(self, network: Network, units: Sequence[Fraction], budget: float) -> None:
        self.network = network
        self.budget = np.full(len(units), budget)
        self.adjoints, self.dropped = adjoint_bounds(network, np.array([float(unit) for unit in units]), self.budget)
        self.output_units = tuple(units)
        self.units = choose_units(network, units, self.dropped)  # by node: the value of 1
        # the nodes that matter to an output, in order
        self.live = [node for node in network.order if self.adjoints[node].any()]
        self.tables = [node for node in self.live if node in network.tables]
        self.forms: dict[int, MonomialSum] = {
            **{node: network.sums[node] for node in self.live if node in network.sums},
            **{-1 - k: form for k, form in enumerate(network.outputs)},
        }
        # by summand: the magnitude of its factor, with all words in their units
        self.factors = {
            (key, monomial): self._factor(key, monomial, coefficient)
            for key, form in self.forms.items()
            for monomial, coefficient in form.items()
            if monomial and monomial not in self.dropped.get(key, frozenset())
        }
        # by sum: its summands
        self.places: dict[int, list[Place]] = {
            key: [(key, monomial) for monomial in form if (key, monomial) in self.factors]
            for key, form in self.forms.items()
        }
        self.steps = self._steps()  # by summand: its factor is a multiple of 2^step, at first
        # by sum: log2 of how far its partial sums can go, in its unit
        self.reach = {key: math.log2(self._sum_reach(key)) for key in self.forms}
        words = {word for _, monomial in self.factors for word in monomial} | {*self.live}
        # by word: log2 of its largest magnitude, in its unit
        self.sizes = {word: math.log2(self._size(word)) for word in words}
        # the sums that are rounded, for something multiplies them
        self.multiplied = {
            word
            for (_, monomial), factor in self.factors.items()
            if len(monomial) == 2 or not is_power(factor)
            for word in monomial
            if not isinstance(word, str) and word in network.sums
        }
        # by sum: the words among its summands
        self.words_of = {
            key: sorted({word for place in places for word in place[1] if not isinstance(word, str)})
            for key, places in self.places.items()
        }
        # by FACTORS + sum: the summands whose factors are rounded
        self.inexact = {
            FACTORS + key: rough
            for key, places in self.places.items()
            if (rough := [place for place in places if not is_power(self.factors[place])])
        }
        # by sum: what its words and factors have for exponents; asked for millions of times
        self.exponents_in: dict[int, Callable[[Mapping[int, int]], Any]] = {
            key: itemgetter(*names) if (names := [*words, *({FACTORS + key} & self.inexact.keys())]) else _nothing
            for key, words in self.words_of.items()
        }
        self._reaches = {
            place: self._adjoint(key) * math.prod(map(self._size, monomial)) * float(self._unit(key))
            for key, monomial in self.factors
            if not is_power(self.factors[place := (key, monomial)])
        }
        self._coarse: dict[int, dict[int, Floats]] = {key: {} for key in self.inexact}
        self._finest: dict[int, dict[Any, int]] = {key: {} for key in self.places}
        halves = [self.adjoints[node] * float(self.units[node]) / 2 for node in self.live]
        self._halves = np.array(halves).reshape(len(self.live), len(units))
        self._weight = {node: math.log2(half.max() * 2) for node, half in zip(self.live, self._halves, strict=True)}
        # by sum: the largest exponent that its constant is a multiple of
        self.offsets = {node: self._offset(node) for node in self.live if node in network.sums}
        self._is_table = [node in network.tables for node in self.live]
        widest = max((self.sizes[node] for node in self.tables), default=0.0)
        self.finest_table = math.ceil(widest) + 2 - MAX_TABLE_BITS  # the smallest exponent of a table

    def exponents(self, share: float, moved: Mapping[int, int]) -> dict[int, int]:
        """Return by node: one step of a word is its unit times 2^exponent.

        `share` is what one rounding may cost the output that it costs most, in units of it; `moved` makes some words,
        or `TABLES`, so many bits coarser.
        """
        exponents = {key: moved.get(key, 0) for key in self.inexact}
        allowed = math.log2(2 * share)
        if self.tables:
            finest = min(math.floor(allowed - self._weight[node]) for node in self.tables) + moved.get(TABLES, 0)
            exponents |= dict.fromkeys(self.tables, max(finest, self.finest_table))
        for node in self.live:
            if node in exponents:
                continue
            finest = self.finest(node, exponents)
            exact = node not in self.multiplied and self.reach[node] - finest <= EXACT_BITS
            wanted = math.floor(allowed - self._weight[node]) + moved.get(node, 0)
            exponents[node] = finest if exact else max(finest, wanted)
            if exponents[node] > self.offsets[node]:  # an exact sum whose constant would be rounded too far
                exponents[node] = max(min(exponents[node], wanted), self.offsets[node])
        return exponents

    def errors(self, exponents: Mapping[int, int]) -> Floats:
        """Return what rounding costs each output, to first order in units: by live word, then by sum of `inexact`."""
        rounded = [
            self._is_table[k] or exponents[node] > min(self.finest(node, exponents), self.offsets[node])
            for k, node in enumerate(self.live)
        ]
        steps = np.array([exponents[node] for node in self.live])
        found: Floats = np.where(rounded, 2.0**steps, 0.0)[:, None] * self._halves
        return np.concatenate([found, *(self._factor_errors(key, exponents[key])[None] for key in self.inexact)])

    def _factor_errors(self, key: int, coarser: int) -> Floats:
        """Return what rounding the factors of a sum costs each output."""
        known = self._coarse[key]
        if coarser not in known:
            off = np.zeros(len(self.budget))
            for place in self.inexact[key]:
                factor, step = self.factors[place], 2.0 ** self.step(place, coarser)
                off += abs(factor - round(factor / step) * step) * self._reaches[place]
            known[coarser] = off
        return known[coarser]

    def step(self, place: Place, coarser: int) -> int:
        """Return what the factor of a summand is a multiple of, as an exponent; no factor is rounded to nothing."""
        if self.is_power(place):
            return self.steps[place]
        return min(self.steps[place] + coarser, _nearest_power(self.factors[place]))

    def finest(self, key: int, exponents: Mapping[int, int]) -> int:
        """Return the exponent of the finest summand of a sum."""
        known, given = self._finest[key], self.exponents_in[key](exponents)
        if given not in known:
            known[given] = min((self.summand(place, exponents) for place in self.places[key]), default=0)
        return known[given]

    def only_summed(self, exponents: Mapping[int, int]) -> set[int]:
        """Return the words that are read only by themselves, in sums that are rounded or read like that as well."""
        read: dict[int, list[Place]] = {}
        for key, places in self.places.items():
            for place in places:
                for word in place[1]:
                    if not isinstance(word, str):
                        read.setdefault(word, []).append((key, place[1]))
        found: set[int] = set()
        for node in reversed(self.live):
            if node in self.network.sums and all(
                len(monomial) == 1 and (key in found or self.is_rounded(key, exponents))
                for key, monomial in read.get(node, ())
            ):
                found.add(node)
        return found

    def is_rounded(self, key: int, exponents: Mapping[int, int]) -> bool:
        """Return whether a sum is rounded, whatever is rounded before it."""
        own = exponents.get(key, 0)
        return any(
            self.summand(place, exponents) < own
            for place in self.places[key]
            if len(place[1]) == 1 or self.is_power(place)
        )

    def summand(self, place: Place, exponents: Mapping[int, int]) -> int:
        """Return the exponent of a summand: its word is a multiple of 2^exponent units of the sum."""
        step = self.step(place, exponents.get(FACTORS + place[0], 0))
        return step + sum(exponents[word] for word in place[1] if not isinstance(word, str))

    def is_power(self, place: Place) -> bool:
        """Return whether the factor of a summand is a power of two."""
        return is_power(self.factors[place])

    def _unit(self, key: int) -> Fraction:
        return self.output_units[-1 - key] if key < 0 else self.units[key]

    def _factor(self, key: int, monomial: Monomial, coefficient: Fraction) -> float:
        inside = math.prod((self.units[word] for word in monomial if not isinstance(word, str)), start=Fraction(1))
        return abs(float(coefficient * inside / self._unit(key)))

    def _offset(self, node: int) -> int:
        """Return the largest exponent that the constant of a sum is a multiple of; far away if there is none."""
        constant = self.forms[node].get((), Fraction(0)) / self.units[node]
        if not constant:
            return FAR
        twos = (constant.numerator & -constant.numerator).bit_length() - constant.denominator.bit_length()
        return twos if constant.denominator & (constant.denominator - 1) == 0 else -FAR

    def _adjoint(self, key: int) -> Floats:
        if key >= 0:
            return self.adjoints[key]
        own = np.zeros(len(self.budget))
        own[-1 - key] = 1 / float(self.output_units[-1 - key])
        return own

    def _size(self, word: int | str) -> float:
        """Return the largest magnitude of a word, in its unit."""
        size = self.network.size_of(word)
        return size if isinstance(word, str) else max(size, 1e-300) / float(self.units[word])

    def _steps(self) -> dict[Place, int]:
        """Return how fine every factor must be: an equal share of the budget each, and equal factors alike."""
        inexact = [place for place, factor in self.factors.items() if not is_power(factor)]
        count = sum(((self._adjoint(key) > 0).astype(np.int64) for key, _ in inexact), np.zeros(len(self.budget)))
        steps = {place: _nearest_power(factor) for place, factor in self.factors.items() if is_power(factor)}
        finest: dict[str, int] = {}
        for key, monomial in inexact:
            adjoint = self._adjoint(key)
            reached = adjoint > 0
            weight = adjoint[reached] * math.prod(map(self._size, monomial)) * float(self._unit(key))
            allowed = (self.budget[reached] * CONSTANT_SHARE / count[reached] / weight).min()
            step = _coarsest(self.factors[key, monomial], allowed)
            steps[key, monomial] = step
            name = f"{self.factors[key, monomial]:.9e}"
            finest[name] = min(step, finest.get(name, step))
        for key, monomial in inexact:
            steps[key, monomial] = finest[f"{self.factors[key, monomial]:.9e}"]
        return steps

    def _sum_reach(self, key: int) -> float:
        reach = added(self.factors[place] * math.prod(map(self._size, place[1])) for place in self.places[key])
        return max(reach + abs(float(self.forms[key].get((), 0) / self._unit(key))), 1e-300) * 1.001


def _nothing(exponents: Mapping[int, int]) -> None:
    """Return the exponents of a sum of input words with exact factors: none."""


def _coarsest(factor: float, allowed: float) -> int:
    """Return the largest step of which a multiple is as near to a factor as allowed: some have few bits by nature."""
    step = math.floor(math.log2(2 * allowed))
    for coarser in range(_nearest_power(factor), step, -1):
        if abs(factor - round(factor / 2.0**coarser) * 2.0**coarser) <= allowed:
            return coarser
    return step


def is_power(factor: float) -> bool:
    """Return whether a factor is a power of two, or next to one."""
    return abs(factor / 2.0 ** _nearest_power(factor) - 1) < 1e-9


def _nearest_power(factor: float) -> int:
    return round(math.log2(factor))
