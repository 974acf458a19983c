"""Text of generated files, from the folder `templates`: what stands there between two signs @ is filled in."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("templates")
SECTION = "//: "
"""What a line begins with that names the section below it."""


@cache
def template(name: str) -> str:
    """Return a template as it is."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def template_sections(name: str) -> dict[str, str]:
    """Return the sections of a template by name, each with its last line's end."""
    parts = template(name).split(SECTION)[1:]
    named = (part.partition("\n") for part in parts)
    return {title.strip(): text.rstrip("\n") + "\n" for title, _, text in named}


def fill(text: str, **values: object) -> str:
    """Return the text of a template with values in their places, ``@bits@``, or ``@bits-1@``; each must be given."""

    def value(place: re.Match[str]) -> str:
        number: Any = values[place[1]]
        return str(number + int(place[2]) if place[2] else number)

    return re.sub(r"@(\w+?)([+-]\d+)?@", value, text)
