"""Names in generated files. Robots and joints may be called anything, and C and make would take some of it literally.

No text from a model reaches a generated file but through these functions: what they return holds letters, digits and
underscores, or is one of a few words of our own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bddtorque.base.errors import BddTorqueError

LONGEST_NAME = 40
UNITS = {
    "rad": "rad", "rad/s": "rad/s", "rad/s²": "rad/s^2", "N·m": "N*m",
    "m": "m", "m/s": "m/s", "m/s²": "m/s^2", "N": "N",
}  # fmt: skip
"""Units in ASCII; others are not shown."""


def prefix_of(robot: str, chosen: str | None = None) -> str:
    """Return what all public names and file names begin with: `chosen`, or something like the robot's name."""
    if chosen is not None:
        if not re.fullmatch(f"[A-Za-z][A-Za-z0-9_]{{0,{LONGEST_NAME - 1}}}", chosen):
            raise BddTorqueError(
                f"name must be up to {LONGEST_NAME} letters, digits and underscores, a letter first, got {chosen!r:.60}"
            )
        return chosen
    name = safe_name(robot).lower().strip("_")
    return name if name[:1].isalpha() else f"robot_{name}".rstrip("_")[:LONGEST_NAME]


def safe_name(text: str) -> str:
    """Return ASCII letters, digits and underscores only, at most 40: anything else becomes one underscore a run."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text[: 10 * LONGEST_NAME])[:LONGEST_NAME] or "_"


def safe_names(texts: Sequence[str]) -> list[str]:
    """Return safe names that all differ: one that was there before, or says nothing, gets its place beside it."""
    found: list[str] = []
    for place, text in enumerate(texts, 1):
        name = safe_name(text)
        found.append(f"{name}_{place}" if name in found or not name.strip("_") else name)
    return found


def safe_unit(unit: str) -> str:
    """Return a unit in ASCII."""
    return UNITS.get(unit, "units")


def one_of(text: str, known: Sequence[str]) -> str:
    """Return a word that is among those known, or ``other``."""
    return text if text in known else "other"


def safe_comment(text: str) -> str:
    """Return what a wire is called for a comment of one line, in ASCII."""
    plain = text[: 10 * LONGEST_NAME].replace("·", "*").replace("°", " deg").replace("²", "^2")
    return re.sub(r"[^A-Za-z0-9 _.,()+*^-]+", "_", plain)[:LONGEST_NAME]
