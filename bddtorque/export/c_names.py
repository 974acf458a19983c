"""Names in generated files. Robots and joints may be called anything, and C and make would take some of it literally.

No text from a model reaches a generated file but through these functions: what they return holds letters, digits and
underscores, or is one of a few words of our own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from bddtorque.base.errors import BddTorqueError

MAX_NAME = 40
SIGNS = {"·": "*", "⋅": "*", "×": "*", "°": "deg", "Ω": "ohm", "µ": "u", "μ": "u", "⁻": "-", "−": "-"}
"""Signs of units, as C writes them."""
DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
"""Digits of powers."""
NO_UNIT = "(no unit)"


def prefix_of(robot: str, chosen: str | None = None) -> str:
    """Return what all public names and file names begin with: `chosen`, or something like the robot's name."""
    if chosen is not None:
        if not re.fullmatch(f"[A-Za-z][A-Za-z0-9_]{{0,{MAX_NAME - 1}}}", chosen):
            raise BddTorqueError(
                f"name must be up to {MAX_NAME} letters, digits and underscores, a letter first, got {chosen!r:.60}",
                option="name",
            )
        return chosen
    name = safe_name(robot).lower().strip("_")
    return name if name[:1].isalpha() else f"robot_{name}".rstrip("_")[:MAX_NAME]


def safe_name(text: str) -> str:
    """Return ASCII letters, digits and underscores only, at most 40: anything else becomes one underscore a run."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text[: 10 * MAX_NAME])[:MAX_NAME] or "_"


def safe_names(texts: Sequence[str]) -> list[str]:
    """Return safe names that all differ: one that was there before, or says nothing, gets its place beside it."""
    found: list[str] = []
    for place, text in enumerate(texts, 1):
        name = safe_name(text)
        found.append(f"{name}_{place}" if name in found or not name.strip("_") else name)
    return found


def safe_unit(unit: str) -> str:
    """Return any unit in ASCII, for comments: kg·m² becomes kg*m^2. What it is made of cannot end a comment."""
    plain = ascii_signs(re.sub(f"(⁻?[{DIGITS}]+)", r"^\1", unit[:MAX_NAME]))
    apart = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    safe = re.sub(r"[^A-Za-z0-9 _()+*/^%-]+", "_", apart).replace("*/", "* /").replace("/*", "/ *")
    return safe.replace("//", "/ /").strip()[:MAX_NAME] or NO_UNIT


def ascii_signs(text: str) -> str:
    """Return a text with signs and raised digits as ASCII has them."""
    return "".join(str(DIGITS.index(sign)) if sign in DIGITS else SIGNS.get(sign, sign) for sign in text)


def one_of(text: str, known: Sequence[str]) -> str:
    """Return a word that is among those known, or ``other``."""
    return text if text in known else "other"


def safe_comment(text: str) -> str:
    """Return what a wire is called for a comment of one line, in ASCII."""
    plain = text[: 10 * MAX_NAME].replace("·", "*").replace("°", " deg").replace("²", "^2")
    return re.sub(r"[^A-Za-z0-9 _.,()+*^-]+", "_", plain)[:MAX_NAME]
