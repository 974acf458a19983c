"""Products that a plan multiplies out: a·x·y + a·q·x + a·p·y + a·p·q is a·(x + p)·(y + q).

The range of the product is what the planner knows of it: (x + p)² is not negative, but x² + 2p·x + p² read summand by
summand may be. So the lemmas write such sums both ways. Whatever p and q are, both ways are equal as polynomials: what
the product accounts for is subtracted from the other summands. Gappa checks that, and nothing is taken from the planner
but where to look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from bddtorque.plan.plan import CentredProduct, Plan
from bddtorque.plan.wires import Product


def factors_of(plan: Plan, product: CentredProduct) -> tuple[int, int, int]:
    """Return the words of a product, and its shift."""
    wire = plan.wires[product.wire]
    assert isinstance(wire, Product)
    return wire.left, wire.right, wire.shift


def remainder(
    plan: Plan, parts: Mapping[int, Fraction], constant: Fraction, centred: Sequence[CentredProduct]
) -> tuple[dict[int, Fraction], Fraction]:
    """Return the summands and the constant of a sum without those that products were multiplied out to."""
    rest = dict(parts)
    for product in centred:
        left, right, shift = factors_of(plan, product)
        p, q = product.centres
        for wire, factor in ((product.wire, Fraction(1 << shift)), (left, q), (right, p)):
            rest[wire] = rest.get(wire, Fraction(0)) - product.factor * factor
        constant -= product.factor * p * q
    return {wire: factor for wire, factor in rest.items() if factor}, constant


def grouped(plan: Plan, parts: Sequence[int], centred: Sequence[CentredProduct], most: int) -> list[list[int]]:
    """Return summands in groups of at most `most`, or more if products multiplied out share their factors."""
    together = [[i] for i in parts]
    for product in centred:
        if product.wire in parts:
            linked = {product.wire, *factors_of(plan, product)[:2]}
            joined = [i for group in together if not linked.isdisjoint(group) for i in group]
            together = [*(group for group in together if linked.isdisjoint(group)), joined]
    groups: list[list[int]] = []
    for group in together:
        if not groups or len(groups[-1]) + len(group) > most:
            groups.append([])
        groups[-1] += group
    return groups
