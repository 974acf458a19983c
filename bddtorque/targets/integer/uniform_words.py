"""One length for all words, as a plain fixed-point circuit has them: the shortest that keeps the error budget.

Only for comparison (chip ``uniform``): every table and every sum is rounded to so many bits of its own range.
"""

from __future__ import annotations

import math

from bddtorque.targets.integer.integer_search import WordChoice
from bddtorque.targets.integer.integer_sizing import Sizer
from bddtorque.targets.sizing import Floats

MAX_BITS = 40
"""Products of longer words outgrow integers."""


class UniformWords:
    """Chooses the exponents of all words; the interface is that of `WordSearch`."""

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
            if (choice.errors <= allowed).all() or self.bits >= MAX_BITS:
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
