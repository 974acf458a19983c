"""Refuse turns of phrase that readers had to decode, and docstrings that the reference misreads: part of ``make lint``.

python tests/plain_english.py     print every place, exit 1 if there is one
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EVERYWHERE = {
    r"\brequired,\s[^|\n]*\s?[^|\n]*\bgiven\b": "write 'bits must be between 2 and 24, got 25'",
    r"\b(one|one table|a (table|row|line|state)) a (joint|block|row|file|word|term|arm|column|robot)\b": "write 'per'",
    r"\bfound wanting\b": "write 'a check failed'",
    r"\bof strangers\b": "write 'untrusted'",
    r"\ba person would write\b": "name the baseline",
    r"\bdoes as well\b": "write 'works too'",
    r"(?m)^(<{7}|>{7}) ": "a merge was left unresolved",
}
PAGES_ONLY = {
    r"\bwhole[ -]numbers?\b": "write 'integer'",
    r"\b(needs|takes|holds|reads|loads|with) [\w, ]+ alone\b": "write 'only'",
    r"\bfrom the file alone\b": "write 'from the file'",
}
PARTICIPLE = re.compile(r"[a-z]+(ed|wn|de)")
"""A public function is called for what it does, or for what it returns: not by a bare participle."""

SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"\*{0,2}\w+(?:, \*{0,2}\w+)*")


def entries(docstring: str) -> list[str]:
    """Return the lines of a docstring that name parameters or attributes."""
    sections = SECTION.findall(docstring + "\n")
    return [line for section in sections for line in section.splitlines() if line and not line.startswith(" ")]


def docstring_findings(name: str, text: str) -> list[str]:
    """Return lines of Parameters and Attributes that are not just names: annotations give the types."""
    if "-----" not in text:
        return []
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    lines = ((node, line) for node in nodes for line in entries(ast.get_docstring(node) or ""))
    wrong = [(node, line) for node, line in lines if not ENTRY.fullmatch(line)]
    return [
        f"{name}:{node.lineno}: {node.name}: '{line[:60]}': write the name, and below it a text" for node, line in wrong
    ]


def findings() -> list[str]:
    """Return every place that is to be written otherwise."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    found = []
    for name in listed:
        page = name.endswith(".md") and not name.startswith(("docs/papers", "tests/"))
        if not page and not (name.startswith("bddtorque/") and name.endswith(".py")):
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        for pattern, advice in {**EVERYWHERE, **(PAGES_ONLY if page else {})}.items():
            for place in re.finditer(pattern, text, re.IGNORECASE):
                line = text.count("\n", 0, place.start()) + 1
                found.append(f"{name}:{line}: '{' '.join(place[0].split())[:60]}': {advice}")
        found += docstring_findings(name, text) if name.endswith(".py") else []
    public = re.search(
        r"__all__ = \[(.*?)\]", (ROOT / "bddtorque" / "__init__.py").read_text(encoding="utf-8"), re.DOTALL
    )
    names = re.findall(r'"(\w+)"', public[1]) if public else []
    return found + [f"bddtorque.{name}: a bare participle" for name in names if PARTICIPLE.fullmatch(name)]


if __name__ == "__main__":
    problems = findings()
    sys.stdout.write("".join(f"{problem}\n" for problem in problems))
    sys.exit(1 if problems else 0)
