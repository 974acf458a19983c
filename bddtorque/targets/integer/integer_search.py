"""Choice of how far each word of a network is rounded, for the fewest cycles of a chip within an error budget.

Cycles change only where a product or a sum no longer fits a register. So words are made finer where that costs nothing,
which leaves more of the budget to those that are made coarser to fit. Errors are estimated to first order here, by
adjoints; the planner composes the bound of what was found, and asks again with a smaller budget if it is too large.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any

from bddtorque.targets.integer.integer_cost import CycleModel
from bddtorque.targets.integer.integer_sizing import FACTORS, PRODUCT_TOLERANCE, TABLES, Sizer
from bddtorque.targets.sizing import Floats

MAX_COARSER_BITS = 4
"""Bits that a word is made coarser by, at once."""
FINER = (4, 2, 1)
"""Bits that a word is made finer by, tried one after the other."""
MIN_SHARE = 2.0**-60
"""Units: with less, words outgrow any integer."""
MAX_UNIFORM_BITS = 40
"""Of words that all have one length: products of longer words outgrow integers."""
SMALL = 1 / 256
"""Of all errors: a word that errs less is not made finer."""


@dataclass(frozen=True)
class WordChoice:
    """Words as they are tried: exponents by node, first-order errors by word and output in units, and cycles.

    `searched` tells a choice that was looked for from one to start with.
    """

    exponents: Mapping[int, int]
    by_word: Floats
    cycles: float
    searched: bool = False

    @cached_property
    def errors(self) -> Floats:
        """The first-order errors of the outputs, in units."""
        total: Floats = self.by_word.sum(axis=0)
        return total


class WordSearch:
    """Chooses the exponents of all words for one chip."""

    def __init__(self, sizer: Sizer, model: CycleModel) -> None:
        self.sizer = sizer
        self.model = model
        self._known: dict[int, dict[Any, float]] = {key: {} for key in sizer.places}
        self.movable = [*([TABLES] if sizer.tables else []), *sorted(sizer.multiplied), *sizer.inexact]

    def start(self, allowed: Floats) -> WordChoice:
        """Return the coarsest words, all roundings costing alike, whose errors are within what is allowed."""
        return self.choice(self._share(allowed), {})

    def find(self, allowed: Floats) -> WordChoice:
        """Return the choice with the fewest cycles found whose errors are within what is allowed to each output."""
        share = self._share(allowed)
        parts = self.model.finer if len(self.movable) <= self.model.few_words else self.model.finer[:1]
        return min((self._search(share * part, allowed) for part in parts), key=lambda choice: choice.cycles)

    def _search(self, share: float, allowed: Floats) -> WordChoice:
        """Return the best choice found from an equal share for each rounding."""
        moved: dict[int, int] = {}
        best = self.choice(share, moved)
        while True:
            before = best.cycles
            best = self._refine(share, moved, best)
            best = self._coarsen(share, moved, best, allowed)
            if best.cycles >= before:
                return replace(self._refine(share, moved, best), searched=True)

    def _share(self, allowed: Floats) -> float:
        """Return the largest share of each rounding with which errors are within what is allowed, if there is one."""
        share = 1.0
        while share > MIN_SHARE and (self.choice(share, {}).errors > allowed).any():
            share *= 2**-0.25
        return share

    def choice(self, share: float, moved: Mapping[int, int]) -> WordChoice:
        """Return the words of an equal share for each rounding, some of them moved by so many bits."""
        exponents = self.sizer.exponents(share, moved)
        return WordChoice(exponents, self.sizer.errors(exponents), self._cycles(exponents))

    def _refine(self, share: float, moved: dict[int, int], best: WordChoice) -> WordChoice:
        """Make words finer where that costs nothing, those that err most first."""
        weights = dict(zip([*self.sizer.live, *self.sizer.inexact], best.by_word.max(axis=1).tolist(), strict=True))
        weights[TABLES] = sum(weights[node] for node in self.sizer.tables)
        worth = [node for node in self.movable if weights[node] >= SMALL * float(best.errors.max())]
        for node in sorted(worth, key=lambda each: (-weights[each], each)):
            for bits in FINER:
                trial = {**moved, node: moved.get(node, 0) - bits}
                found = self.choice(share, trial)
                if found.cycles <= best.cycles and (found.errors <= best.errors).all():
                    moved[node] = trial[node]
                    best = found
                    break
        return best

    def _coarsen(self, share: float, moved: dict[int, int], best: WordChoice, allowed: Floats) -> WordChoice:
        """Make words coarser as long as that saves cycles and the budget holds: most cycles for the error first."""

        def worth(node: int, bits: int) -> tuple[float, WordChoice | None]:
            found = self.choice(share, {**moved, node: moved.get(node, 0) + bits})
            if (found.errors > allowed).any() or found.cycles >= best.cycles:
                return 0.0, None
            more = float(((found.errors - best.errors) / allowed).max())
            return (best.cycles - found.cycles) / max(more, 1e-9), found

        # what a move is worth hardly changes: it is looked at again only when it is the best (lazy greedy)
        steps = range(1, MAX_COARSER_BITS + 1)
        queue = [(-worth(node, bits)[0], node, bits) for node in self.movable for bits in steps]
        queue = [each for each in queue if each[0] < 0]
        heapify(queue)
        while queue:
            _, node, bits = heappop(queue)
            value, found = worth(node, bits)
            if found is None:
                continue
            if queue and value < -queue[0][0]:
                heappush(queue, (-value, node, bits))
                continue
            best = found
            moved[node] = moved.get(node, 0) + bits
            for more in steps:
                heappush(queue, (-value, node, more))
        return best

    def _cycles(self, exponents: Mapping[int, int]) -> float:
        """Return the cycles of products and sums by their bits; what does not depend on these is left out."""
        total = 0.0
        for key, known in self._known.items():
            given = exponents.get(key, 0), self.sizer.exponents_in[key](exponents)
            if given not in known:
                known[given] = self._sum_cycles(key, exponents)
            total += known[given]
        tables = self.sizer.tables
        if tables:  # tables of more than 16 bits take twice the flash: not for nothing
            total += max(self._width(node, exponents) for node in tables) > 15
        return total

    def _sum_cycles(self, key: int, exponents: Mapping[int, int]) -> float:
        """Return the cycles of a sum and the products in it, as `plan_cycles` counts them in a plan."""
        sizer, model, places = self.sizer, self.model, self.sizer.places[key]
        own = exponents.get(key, 0)
        total, finest = 0.0, own
        rounded = []
        for place in places:
            step = sizer.summand(place, exponents)
            factor = math.log2(sizer.factors[place]) - sizer.step(place, exponents.get(FACTORS + key, 0))
            if len(place[1]) == 2 and not sizer.is_power(place):  # rounded before it is multiplied by its factor
                shift = max(0, math.floor(math.log2(PRODUCT_TOLERANCE) + own - step - factor))
                step += shift
                if shift:
                    rounded.append(place)
                    total += model.rounding(shift, 32)
            finest = min(finest, step)
        bits = math.floor(min(sizer.reach[key], sizer.sizes.get(key, math.inf)) - finest) + 2
        for place in places:
            left, *right = (self._width(word, exponents) for word in place[1])
            if not sizer.is_power(place):
                total += model.constant_factor(bits)
            if right:
                exact = math.floor(left + right[0]) + 2
                total += model.product(
                    math.floor(left) + 2, math.floor(right[0]) + 2, exact if place in rounded else bits
                )
        return total + model.sum(len(places), bits) + model.rounding(own - finest, bits)

    def _width(self, word: int | str, exponents: Mapping[int, int]) -> float:
        return self.sizer.sizes[word] - (0 if isinstance(word, str) else exponents[word])


class UniformWords:
    """One length for all words, as a plain fixed-point circuit has them: the shortest that keeps the error budget.

    Only for comparison (chip ``uniform``): every table and every sum is rounded to so many bits of its own range. The
    interface is that of `WordSearch`.
    """

    def __init__(self, sizer: Sizer) -> None:
        self.sizer = sizer
        self.bits = 2

    def start(self, allowed: Floats) -> WordChoice:
        """Return the shortest words whose errors are within what is allowed to each output."""
        return self.find(allowed)

    def find(self, allowed: Floats) -> WordChoice:
        """Return the shortest words, longer than those before, whose errors are within what is allowed."""
        while True:
            self.bits += 1
            exponents = self._exponents()
            choice = WordChoice(exponents, self.sizer.errors(exponents), 0.0, searched=True)
            if (choice.errors <= allowed).all() or self.bits >= MAX_UNIFORM_BITS:
                return choice

    def _exponents(self) -> dict[int, int]:
        """Return the exponents of words of the present length: no finer than what they are computed from."""
        sizer = self.sizer
        exponents = dict.fromkeys(sizer.inexact, 0)
        if sizer.tables:
            finest = max(self._wanted(node) for node in sizer.tables)
            exponents |= dict.fromkeys(sizer.tables, max(finest, sizer.finest_table))
        for node in sizer.live:
            if node not in exponents:
                wanted = self._wanted(node)
                exponents[node] = max(sizer.finest(node, exponents), wanted)
                if exponents[node] > sizer.offsets[node]:  # an exact sum whose constant would be rounded too far
                    exponents[node] = max(wanted, sizer.offsets[node])
        return exponents

    def _wanted(self, node: int) -> int:
        return math.ceil(self.sizer.sizes[node]) + 1 - self.bits
