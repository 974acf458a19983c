"""Identities that Gappa is told: of turns, and of products that a plan multiplies out.

A turn: |cos φ·x + sin φ·y| ≤ √(x² + y²), for ranges and for errors; and which tables have such angles.

A product multiplied out: a·x·y + a·q·x + a·p·y + a·p·q is a·(x + p)·(y + q). Its range is what the planner knows of it:
(x + p)² is not negative, but x² + 2p·x + p² read summand by summand may be. So the lemmas write such sums both ways.
Whatever p and q are, both ways are equal as polynomials: what the product accounts for is subtracted from the other
summands. Gappa checks that, and nothing is taken from the planner but where to look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from bddtorque.assurance.lemmas import Hint, Lemma
from bddtorque.dynamics.graph import Op, kept
from bddtorque.plan.blocks import FunctionBlock
from bddtorque.plan.bound import Angle, quarters_of
from bddtorque.plan.plan import CentredProduct, Plan
from bddtorque.plan.wires import Lookup, Product


def angle_of(plan: Plan, lookup: Lookup) -> tuple[Angle, int] | None:
    """Return an angle and the quarter turns, 0 to 3, of which together a table gives the cosine, or None if it is none.

    Beside the angles that `quarters_of` knows, that is any function of the words: the tables of cos(2·q) and sin(2·q)
    read the same words and have the same function inside.
    """
    block, known = plan.blocks[lookup.block], quarters_of(plan, lookup)
    if known is not None or not isinstance(block, FunctionBlock):
        return known
    (output,), nodes = block.graph.outputs, block.graph.nodes
    node = nodes[output >> 1]
    if output & 1 or node.op not in (Op.SINE, Op.COSINE):
        return None
    return (lookup.wires, block.arguments, kept(nodes, [node.left], ["angle"])), 3 if node.op is Op.SINE else 0


def turn_lemma(name: str, units: Sequence[str], vector: Sequence[str], premises: Sequence[str]) -> tuple[Lemma, str]:
    """Return the lemma that bounds cosine·x + sine·y, and this expression; `units` are cosine and sine, or vice versa.

    Its proof: (c·x + s·y)² = (c² + s²)·(x² + y²) − (c·y − s·x)² for all numbers, as multiplying out shows; c² + s² is
    1, and a square is not negative. So (c·x + s·y)² ≤ x² + y². Gappa is told the identity, which it checks, and that
    |z| = √(z·z); the rest is its own.
    """
    (cosine, sine), (x, y) = units, vector
    turned = f"({cosine} * {x} + {sine} * {y})"
    square = f"{turned} * {turned}"
    across = f"({cosine} * {y} - {sine} * {x})"
    identity = f"{circle(cosine, sine)} * ({x} * {x} + {y} * {y}) - {across} * {across}"
    lemma = Lemma(
        name,
        f"{cosine}, {sine} are cosine and sine of one angle",
        (circle(cosine, sine), cosine, sine, *premises),
        (f"|{turned}|",),
        hints=(Hint(square, identity), Hint(f"|{turned}|", f"sqrt({square})")),
    )
    return lemma, turned


def circle(cosine: str, sine: str) -> str:
    """Return c² + s², which is 1 for the cosine and the sine of one angle."""
    return f"({cosine} * {cosine} + {sine} * {sine})"


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
