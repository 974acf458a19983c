"""Words for a host: exact as long as a float64 holds them, rounded where they would outgrow it.

A host multiplies and adds floats at no cost that depends on the width of what they hold; what costs is a rounding (two
additions) and a factor that is no power of two (a multiplication). So units are chosen first (`units`), sums are left
exact, and where a sum would need more than 53 bits one of the words in it is rounded, as finely as the budget asks;
fewer roundings leave more of the budget to each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.plan import MOST_TABLE_BITS, Plan, check_widths
from bddtorque.planner.angles import Combination
from bddtorque.planner.builder import Target
from bddtorque.planner.layout import Layout, Part
from bddtorque.planner.network import Form, Monomial, Network
from bddtorque.planner.sizing import Floats, Sizes, adjoint_bounds, equal_shares, share_finest
from bddtorque.planner.units import choose_units
from bddtorque.words.ordered_sums import added
from bddtorque.words.rounding import half_up

MANTISSA = 53
"""Bits that a float64 holds exactly."""
BIAS_BITS = 2
"""Below the last bit of a sum that is rounded: a quarter of it decides ties upward."""
FEWEST_BITS = 8
"""Of a factor: with fewer it would cost more than it can be worth."""
CONSTANT_SHARE = 1 / 4
"""Of the budget, for factors rounded to few bits."""
TABLE_SHARE = 1 / 2
"""Of the budget, for tables: there are few, and their words are in every product; the rest is for rounded sums."""


class Sizer:
    """Decides the words of a network for a host.

    Attributes
    ----------
    units : by node: the value of 1
    steps : by sum (−1 − k for output k) and monomial: its factor is a multiple of 2^step
    """

    def __init__(self, network: Network, units: Sequence[Fraction], budget: float) -> None:
        self.network = network
        self.budget = np.full(len(units), budget)
        self.adjoints, self.dropped = adjoint_bounds(network, np.array([float(unit) for unit in units]), self.budget)
        self.output_units = tuple(units)
        self.units = choose_units(network, units, self.dropped)
        self.live = [node for node in network.order if self.adjoints[node].any()]
        self.forms: dict[int, Form] = {
            **{node: network.sums[node] for node in self.live if node in network.sums},
            **{-1 - k: form for k, form in enumerate(network.outputs)},
        }
        self.factors = {
            (key, monomial): self._factor(key, monomial, coefficient)
            for key, form in self.forms.items()
            for monomial, coefficient in form.items()
            if monomial and monomial not in self.dropped.get(key, frozenset())
        }
        self.steps = self._steps()

    def exponents(self) -> dict[int, int] | None:
        """Return by node: one step of a word is its unit times 2^exponent; or None where no rounding is enough.

        Where a sum is too wide, a word in it is rounded, until all fit; then one after another is left exact again if
        all still fit. What is found depends on the order, so that a few are tried.
        """
        enough = self._enough()
        if enough is None:
            return None
        exponents, _ = self._exponents(enough)
        saved = {node: exponents[node] - self._finest(node, exponents)[0] for node in sorted(enough)}
        orders = [
            sorted(enough, reverse=True),
            sorted(enough),
            sorted(enough, key=lambda node: (saved[node], node)),
            sorted(enough, key=lambda node: (-saved[node], node)),
        ]
        return self._exponents(min((self._fewer(enough, order) for order in orders), key=len))[0]

    def _enough(self) -> frozenset[int] | None:
        """Return sums to round so that all fit, or None."""
        rounded: frozenset[int] = frozenset()
        while True:
            exponents, too_wide = self._exponents(rounded)
            if too_wide is None:
                return rounded
            choice = self._to_round(too_wide, exponents, rounded)
            if choice is not None:
                rounded |= {choice}
            elif not self._coarsen(too_wide, exponents):
                return None

    def _fewer(self, rounded: frozenset[int], order: Sequence[int]) -> frozenset[int]:
        """Return what must still be rounded when as many words as fit are left exact, tried in order."""
        for node in order:
            fewer = rounded - {node}
            if self._exponents(fewer)[1] is None:
                rounded = fewer
        return rounded

    def _unit(self, key: int) -> Fraction:
        return self.output_units[-1 - key] if key < 0 else self.units[key]

    def _factor(self, key: int, monomial: Monomial, coefficient: Fraction) -> float:
        inside = math.prod((self.units[word] for word in monomial if not isinstance(word, str)), start=Fraction(1))
        return abs(float(coefficient * inside / self._unit(key)))

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

    def _steps(self) -> dict[tuple[int, Monomial], int]:
        """Return how fine every factor must be: an equal share of the budget each, and equal factors alike."""
        inexact = [place for place, factor in self.factors.items() if not _is_power(factor)]
        count = sum(((self._adjoint(key) > 0).astype(np.int64) for key, _ in inexact), np.zeros(len(self.budget)))
        steps = {place: _nearest_power(factor) for place, factor in self.factors.items() if _is_power(factor)}
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

    def _exponents(self, rounded: frozenset[int]) -> tuple[dict[int, int], int | None]:
        """Return the exponents of all words if just these sums are rounded, and the first sum that is too wide."""
        exponents = self._shares(rounded)
        for key in [*self.live, *(-1 - k for k in range(len(self.output_units)))]:
            if key >= 0 and key in self.network.tables:
                continue
            finest, reach = self._finest(key, exponents)
            bias = BIAS_BITS if key < 0 or key in rounded else 0
            if math.log2(reach) - finest + bias > MANTISSA:
                return exponents, key
            if key >= 0 and key not in rounded:
                exponents[key] = finest
            elif key >= 0:
                exponents[key] = max(exponents[key], finest)
        return exponents, None

    def _finest(self, key: int, exponents: Mapping[int, int]) -> tuple[int, float]:
        """Return the exponent of the finest summand of a sum, and how far its partial sums can reach, in its unit."""
        places = self._places(key)
        reach = added(self.factors[place] * math.prod(map(self._size, place[1])) for place in places)
        reach += abs(float(self.forms[key].get((), 0) / self._unit(key)))
        return min((self.summand(place, exponents) for place in places), default=0), max(reach, 1e-300) * 1.001

    def _places(self, key: int) -> list[tuple[int, Monomial]]:
        """Return the summands of a sum that are kept."""
        return [(key, monomial) for monomial in self.forms[key] if (key, monomial) in self.factors]

    def summand(self, place: tuple[int, Monomial], exponents: Mapping[int, int]) -> int:
        """Return the exponent of a summand: its word is a multiple of 2^exponent units of the sum."""
        return self.steps[place] + sum(exponents[word] for word in place[1] if not isinstance(word, str))

    def _shares(self, rounded: Iterable[int]) -> dict[int, int]:
        """Give every table and every rounded sum the same part of each budget; sines and cosines share one table."""
        tables = [node for node in self.live if node in self.network.tables]
        exponents: dict[int, int] = {}
        for sources, share in ((tables, TABLE_SHARE), (sorted(rounded), 1 - TABLE_SHARE - CONSTANT_SHARE)):
            exponents |= equal_shares(sources, self.adjoints, share * self.budget, self.units)
        for node in tables:
            exponents[node] = max(exponents[node], math.ceil(math.log2(self._size(node))) + 2 - MOST_TABLE_BITS)
        share_finest(exponents, self.network)
        return exponents

    def _to_round(self, key: int, exponents: Mapping[int, int], rounded: frozenset[int]) -> int | None:
        """Return the word whose rounding helps a sum that is too wide: an exact one in its finest summand."""
        exact = {
            word
            for _, monomial in self._finest_places(key, exponents)
            for word in monomial
            if not isinstance(word, str) and word in self.network.sums and word not in rounded
        }
        if not exact:
            return None
        return max(exact, key=lambda word: (math.log2(self._size(word)) - exponents[word], word))

    def _coarsen(self, key: int, exponents: Mapping[int, int]) -> bool:
        """Give a sum that is too wide coarser factors, in its finest summands, where they have bits to lose."""
        for place in self._finest_places(key, exponents):
            if _is_power(self.factors[place]) or self.steps[place] + FEWEST_BITS > math.log2(self.factors[place]):
                return False
            self.steps[place] += 1
        return True

    def _finest_places(self, key: int, exponents: Mapping[int, int]) -> list[tuple[int, Monomial]]:
        places = self._places(key)
        finest = min(self.summand(place, exponents) for place in places)
        return [place for place in places if self.summand(place, exponents) == finest]


def _coarsest(factor: float, allowed: float) -> int:
    """Return the largest step of which a multiple is as near to a factor as allowed: some have few bits by nature."""
    step = math.floor(math.log2(2 * allowed))
    for coarser in range(_nearest_power(factor), step, -1):
        if abs(factor - round(factor / 2.0**coarser) * 2.0**coarser) <= allowed:
            return coarser
    return step


def _is_power(factor: float) -> bool:
    return abs(factor / 2.0 ** _nearest_power(factor) - 1) < 1e-9


def _nearest_power(factor: float) -> int:
    return round(math.log2(factor))


class HostLayout(Layout):
    """Lays out a network in words for a host."""

    def __init__(
        self, sizer: Sizer, exponents: dict[int, int], sums: Mapping[str, Combination], block_bits: int
    ) -> None:
        sizes = Sizes({node: exponents[node] for node in sizer.live}, sizer.dropped)
        super().__init__(sizer.network, sizes, sums, block_bits, 1.0, "native")
        self.sizer = sizer

    def step_of(self, node: int) -> Fraction:
        """Return the value of one step of a word."""
        return self.sizer.units[node] * super().step_of(node)

    def _coarser(self, monomial: Monomial, coefficient: Fraction, lsb: Fraction) -> int:
        return 0  # products are exact

    def _factors(self, key: int, parts: Sequence[Part], constant: Fraction) -> tuple[int, list[int]]:
        """Return the shift of a sum, from its finest summand, and its factors, each as fine as was decided."""
        exponents = self.sizes.exponents
        own = 0 if key < 0 else exponents[key]
        steps = [self.sizer.summand((key, part.monomial), exponents) - own for part in parts]
        finest = min([0, *steps])
        factors = [
            half_up(part.ratio / Fraction(2) ** step) << (step - finest)
            for part, step in zip(parts, steps, strict=True)
        ]
        return -finest, factors


def plan_for_host(
    network: Network,
    sums: Mapping[str, Combination],
    targets: Sequence[Target],
    block_bits: int,
    source: str,
    share: float,
) -> Plan | None:
    """Return the plan of a network in words that float64 holds, or None where they do not fit."""
    sizer = Sizer(network, [target.lsb for target in targets], share)
    exponents = sizer.exponents()
    if exponents is None:
        return None
    plan = HostLayout(sizer, exponents, sums, block_bits).plan(targets, source, "host")
    try:
        check_widths(plan)
    except BddTorqueError:
        return None
    return plan
