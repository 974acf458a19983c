"""Pictures of the page as files of their own: SVG with its colours within, a heading, and what the lines mean."""

from __future__ import annotations

import re
from importlib import resources

from bddtorque.report.markup import Markup, element

HEADING, LINE = 26.0, 18.0
"""Height above a picture, and of each line below it."""
FONT = "text { font-family: Helvetica, Arial, sans-serif; } .heading { font-size: 13px; } .note { font-size: 11px; }"
DIAGRAM_NOTES = (
    "dashed: the bit is 0; solid: it is 1",
    "dotted: it is 1, and what lies below is negated",
)


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
        element("style", Markup(_style())),
        element("rect", x=0.0, y=0.0, width=width, height=height, fill="white"),
        element("text", heading, x=8.0, y=17.0, class_="heading"),
        Markup(f'<svg x="8" y="{HEADING:g}" {picture.removeprefix("<svg ")}'),
    ]
    for k, note in enumerate(notes):
        parts.append(element("text", note, x=8.0, y=HEADING + inner + LINE * (k + 1) - 4, class_="note"))
    size = {"viewbox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    return f"{element('svg', *parts, xmlns='http://www.w3.org/2000/svg', **size)}\n".encode()


def _style() -> str:
    """Return the page's rules for diagrams and plans with its light colours in place of variables."""
    css = resources.files("bddtorque.report").joinpath("page/style.css").read_text("utf-8")
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
