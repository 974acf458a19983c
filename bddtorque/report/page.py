"""The page put together: one file that needs nothing else, and may load nothing else.

A content security policy names the page's own script and style by their hashes and forbids every address but pictures
that are part of the page, so that no browser asks the network for anything, whatever a robot is called.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

from bddtorque.report.markup import Markup, element, joined, json_script

SCRIPTS = ("plan.js", "floats.js", "words.js", "truth.js", "poses.js", "arm.js", "controls.js", "start.js")
STYLE = "style.css"
MARK = "bddtorque report"
"""The generator that every report names; how a report is known."""
HEADING, LINE = 26.0, 18.0
"""Height above a picture, and of each line below it."""
FONT = "text { font-family: Helvetica, Arial, sans-serif; } .heading { font-size: 13px; } .note { font-size: 11px; }"
DIAGRAM_NOTES = (
    "dashed: the bit is 0; solid: it is 1",
    "dotted: it is 1, and what lies below is negated",
)


def whole_page(title: str, header: Markup, sections: Sequence[tuple[str, str, Markup]], data: Any) -> str:
    """Return the page as text.

    `sections`: each with what the contents call it, and its identifier; `data`: what the script reads.
    """
    script, style = page_script(), _asset(STYLE)
    policy = "; ".join(
        [
            "default-src 'none'",
            "img-src data:",
            f"script-src 'sha256-{_hash(script)}'",
            f"style-src 'sha256-{_hash(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=MARK),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),  # or a browser would ask the server of the page for one
        element("title", title),
        Markup(f"<style>{style}</style>"),
    )
    links = [element("a", name, href=f"#{identifier}") for name, identifier, _ in sections]
    contents = element("nav", *links, aria_label="Contents")
    body = element(
        "body",
        header,
        contents,
        element("main", *(section for _, _, section in sections)),
        json_script("data", data),
        Markup(f"<script>{script}</script>"),
    )
    page = joined([Markup("<!DOCTYPE html>\n"), element("html", head, Markup("\n"), body, lang="en"), Markup("\n")])
    return str(page)


def page_script() -> str:
    """Return the script of the page; all its names stay its own."""
    inside = "\n".join(_asset(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{inside}\n}})();\n'


def _asset(name: str) -> str:
    return (resources.files("bddtorque.report") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def standalone_svg(picture: Markup, heading: str, notes: tuple[str, ...] = ()) -> bytes:
    """Return a picture as an SVG file on white ground, a heading above it and notes below."""
    found = re.match(r'<svg viewBox="0 0 ([0-9.]+) ([0-9.]+)"', picture)
    if found is None:
        raise ValueError("a picture begins with its size")
    letters = max(map(len, (heading, *notes)))
    width, inner = max(float(found[1]), 7.0 * letters) + 16, float(found[2])
    height = HEADING + inner + LINE * len(notes) + 8
    parts = [
        element("title", heading),
        element("style", Markup(_drawing_style())),
        element("rect", x=0.0, y=0.0, width=width, height=height, fill="white"),
        element("text", heading, x=8.0, y=17.0, class_="heading"),
        Markup(f'<svg x="8" y="{HEADING:g}" {picture.removeprefix("<svg ")}'),
    ]
    for k, note in enumerate(notes):
        parts.append(element("text", note, x=8.0, y=HEADING + inner + LINE * (k + 1) - 4, class_="note"))
    size = {"viewbox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    return f"{element('svg', *parts, xmlns='http://www.w3.org/2000/svg', **size)}\n".encode()


def _drawing_style() -> str:
    """Return the page's rules for diagrams and plans with its light colours in place of variables."""
    css = _asset(STYLE)
    colours = dict(re.findall(r"--(\w+): (#\w+);", css.partition("}")[0]))
    swatches = dict(re.findall(r"\.(\w+) \{ --swatch: var\(--(\w+)\); \}", css))
    rules = [FONT]
    for line in css.splitlines():
        if not line.startswith((".diagram ", ".plan ")) or ":hover" in line:
            continue
        if "--swatch" in line:  # the colour of the kind that a shape or its group has
            for kind, colour in swatches.items():
                own = line.replace("var(--swatch)", colours[colour])
                rules.append(own.replace(".plan rect", f".plan .{kind} rect").replace(".wire", f".wire.{kind}"))
        else:
            rules.append(re.sub(r"var\(--(\w+)\)", lambda match: colours[match[1]], line))
    return "\n".join(re.sub(r"var\(--(\w+)\)", lambda match: colours[match[1]], rule) for rule in rules)
