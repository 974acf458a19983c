"""The lemma of a turn: |cos φ·x + sin φ·y| ≤ √(x² + y²), for ranges and for errors; which tables have such angles."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.assurance.lemmas import Hint, Lemma
from bddtorque.dynamics.graph import Op, kept
from bddtorque.plan.blocks import FunctionBlock
from bddtorque.plan.bound import Angle, quarters_of
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Lookup


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
