"""Sizes of the words of a network: an error budget by adjoint bounds.

The adjoint of a word for an output bounds how far one unit of error in the word moves that output. Every rounding gets
an equal share of each output's budget, which is the choice that needs the fewest bits in all; what the powers of two
leave over is given back to the widest words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.graph import Op
from bddtorque.plan.blocks import MAX_TABLE_BITS
from bddtorque.plan.fields import MAX_BITS
from bddtorque.targets.network import Monomial, MonomialSum, Network
from bddtorque.words.turning import rotated

Floats = npt.NDArray[np.float64]

MAX_FACTOR_BITS = min(MAX_TABLE_BITS, MAX_BITS // 2 - 1)
"""Bits of a word that a table gives or that is multiplied, at most: a few products still fit one sum."""
DUST = 2.0**-16
"""Of the largest summand of a sum: what is no more is dust, most likely a rounded zero."""
DUST_SHARE = 1 / 16
"""Of the budget, for all dust together."""
DROP_SHARE = 1 / 8
"""Of the budget, for all that is left out together; each sum, and each summand in it, has an equal part of it."""


@dataclass(frozen=True)
class WordSizes:
    """The sizes of the words of a network."""

    exponents: dict[int, int]  # by node number: one unit is 2^exponent
    dropped: dict[int, frozenset[Monomial]]  # by node number (−1 − k for output k): the monomials left out


def size(network: Network, units: Sequence[float], budget: float) -> WordSizes:
    """Return sizes with which all roundings together cost each output at most `budget`, in units of its last bit.

    `units` is the value of one unit of each output.
    """
    allowed = np.full(len(units), budget)
    adjoints, dropped = adjoint_bounds(network, np.asarray(units), allowed)
    sources = [node for node in network.order if adjoints[node].any()]
    exponents = _equal_shares(sources, adjoints, allowed)
    share_finest(exponents, network)
    _fit(network, exponents)
    _give_back(network, exponents, adjoints, allowed)
    return WordSizes(exponents, dropped)


def adjoint_bounds(
    network: Network, units: Floats, allowed: Floats
) -> tuple[dict[int, Floats], dict[int, frozenset[Monomial]]]:
    """Return the adjoint of each word, (outputs,) in output units per unit of value, and the monomials left out.

    The way goes back from the outputs; what cannot matter is left out, by node number (−1 − k for output k). Then what
    is dust beside its neighbours, the least first, as long as all of it together keeps to its share of the budget.
    """
    share = allowed * DROP_SHARE / (len(network.order) + len(network.outputs))
    way = _AdjointPass(network, units, share, frozenset())
    dust, spent = set(), np.zeros(len(allowed))
    for charge, key, monomial in sorted(way.dust, key=lambda each: float((each[0] / allowed).max())):
        spent = spent + charge
        if (spent > allowed * DUST_SHARE).any():
            break
        dust.add((key, monomial))
    if dust:
        way = _AdjointPass(network, units, share, frozenset(dust))
    return way.adjoints, way.dropped


class _AdjointPass:
    """Adjoints from the outputs back to the tables."""

    def __init__(self, network: Network, units: Floats, share: Floats, excluded: frozenset[tuple[int, Monomial]]):
        self.network, self.share, self.excluded = network, share, excluded
        outputs = len(network.outputs)
        self.adjoints = {node: np.zeros(outputs) for node in network.order}  # of each word
        # the monomials left out of each form: `excluded` ones, and those within `share`
        self.dropped: dict[int, frozenset[Monomial]] = {}
        # kept monomials that are next to nothing beside their neighbours: what each would cost the outputs, in units
        self.dust: list[tuple[Floats, int, Monomial]] = []
        self._turned: dict[int, dict[int, Floats]] = {node: {} for node in network.order}
        for k, form in enumerate(network.outputs):
            own = np.zeros(outputs)
            own[k] = 1 / units[k]
            self._pass_on(-1 - k, form, own)
        for node in reversed(network.order):
            for pair in self._turned[node].values():
                self.adjoints[node] += rotated(pair[0], pair[1])
            if node in network.sums and self.adjoints[node].any():
                self._pass_on(node, network.sums[node], self.adjoints[node])

    def _pass_on(self, key: int, form: MonomialSum, adjoint: Floats) -> None:
        """Give the words of a form what an error of theirs costs."""
        reaches = {each: abs(float(form[each])) * math.prod(map(self.network.size_of, each)) for each in form}
        largest = max(reaches.values(), default=0.0)
        small = set()
        for monomial, reach in reaches.items():
            charge = reach * adjoint
            if monomial and ((key, monomial) in self.excluded or (charge <= self.share / len(form)).all()):
                small.add(monomial)
                continue
            if monomial and reach <= DUST * largest:
                self.dust.append((charge, key, monomial))
            for place, word in enumerate(monomial):
                if not isinstance(word, str):
                    others = [other for k, other in enumerate(monomial) if k != place]
                    self._give(word, others, abs(float(form[monomial])) * adjoint)
        if small:
            self.dropped[key] = frozenset(small)

    def _give(self, word: int, others: Sequence[int | str], weight: Floats) -> None:
        angle = _angle(self.network, others)
        if angle is None:
            self.adjoints[word] += weight * math.prod(map(self.network.size_of, others))
        else:  # of a sine and a cosine of one angle, not both are 1
            pair = self._turned[word].setdefault(angle[0], np.zeros((2, len(weight))))
            pair[angle[1]] += weight


def _angle(network: Network, words: Sequence[int | str]) -> tuple[int, int] | None:
    """Return the angle of a single word that is its sine (1) or cosine (0)."""
    if len(words) != 1 or isinstance(words[0], str):
        return None
    node = network.graph.nodes[words[0]]
    return (node.left >> 1, int(node.op is Op.SINE)) if node.op in (Op.SINE, Op.COSINE) else None


def _equal_shares(sources: Sequence[int], adjoints: Mapping[int, Floats], allowed: Floats) -> dict[int, int]:
    """Return the exponents with which every rounding takes the same part of each budget."""
    count = sum(((adjoints[node] > 0).astype(np.int64) for node in sources), np.zeros(len(allowed), np.int64))
    exponents = {}
    for node in sources:
        reached = adjoints[node] > 0
        half_units = (allowed[reached] / count[reached] / adjoints[node][reached]).min()
        exponents[node] = math.floor(math.log2(2 * half_units))
    return exponents


def share_finest(exponents: dict[int, int], network: Network) -> None:
    """Make sines and cosines equally fine, so that they share one table."""
    turned = [node for node in network.turned if node in exponents]
    exponents.update(dict.fromkeys(turned, min((exponents[node] for node in turned), default=0)))


def _fit(network: Network, exponents: dict[int, int]) -> None:
    """Make words coarser that no table holds, or whose products no integer does; the others must do with less."""
    forms = [*network.sums.values(), *network.outputs]
    factors = {word for form in forms for monomial in form if len(monomial) == 2 for word in monomial}
    for node, exponent in exponents.items():
        if node in network.tables or node in factors:
            whole = math.ceil(math.log2(max(network.size_of(node), 1e-300)))
            exponents[node] = max(exponent, whole + 2 - MAX_FACTOR_BITS)  # a sign, and the end itself


def _give_back(network: Network, exponents: dict[int, int], adjoints: Mapping[int, Floats], allowed: Floats) -> None:
    """Make words coarser, the widest first, while every budget still holds."""
    spent = sum(
        (adjoints[node] * 2.0 ** (exponent - 1) for node, exponent in exponents.items()), np.zeros(len(allowed))
    )

    def width(node: int) -> float:
        return math.log2(max(network.size_of(node), 1e-300)) - exponents[node]

    movable = [node for node in exponents if node in network.sums]
    while movable:
        movable.sort(key=lambda node: (width(node), node))
        node = movable.pop()
        more = adjoints[node] * 2.0 ** (exponents[node] - 1)
        if (spent + more <= allowed).all():
            spent = spent + more
            exponents[node] += 1
            movable.append(node)
