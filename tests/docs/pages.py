"""The pages of the documentation, taken apart: fenced blocks, headings, links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md", "experiments/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

_FENCE = re.compile(r"^(?P<mark>```+)(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=mark)[ \t]*$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run: (?P<why>[^>]+) -->\s*\Z")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text and line; why it is not run, where a comment before it says so; and whether
    nothing stands between it and the block before."""

    language: str
    text: str
    line: int
    not_run: str | None
    follows: bool


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    text, found, end = text_of(name), [], 0
    for fence in _FENCE.finditer(text):
        between = text[end : fence.start()]
        marked = _NOT_RUN.search(between)
        found.append(
            Block(
                fence["language"].strip(),
                fence["text"],
                text.count("\n", 0, fence.start()) + 1,
                marked["why"].strip() if marked else None,
                bool(found) and not between.strip(),
            )
        )
        end = fence.end()
    return found


def prose(name: str) -> str:
    """Return a page without its fenced and indented blocks."""
    text = _FENCE.sub("", text_of(name))
    return "\n".join(line for line in text.splitlines() if not line.startswith("    "))


def anchors(name: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MkDocs make them, and of its generated reference."""
    found = set(directives(name))
    for heading in re.findall(r"^#+ +(.+?) *#*$", _FENCE.sub("", text_of(name)), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        found.add(slug)
    return found


def directives(name: str) -> list[str]:
    """Return what mkdocstrings documents on a page: names of Python objects."""
    return re.findall(r"^::: (\S+)$", text_of(name), re.MULTILINE)


def links(name: str) -> list[str]:
    """Return the targets of all links and pictures of a page."""
    without_code = re.sub(r"`[^`\n]*`", "", prose(name))
    return re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", without_code)
