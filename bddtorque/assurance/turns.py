"""The lemma of a turn: |cos φ·x + sin φ·y| ≤ √(x² + y²), for ranges and for errors."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.assurance.lemmas import Hint, Lemma


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
        hints=(Hint(square, identity), Hint(f"|{turned}|", f"sqrt({square})", root=True)),
    )
    return lemma, turned


def circle(cosine: str, sine: str) -> str:
    """Return c² + s², which is 1 for the cosine and the sine of one angle."""
    return f"({cosine} * {cosine} + {sine} * {sine})"
