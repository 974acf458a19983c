"""HTML and SVG as text: every word and every attribute is escaped here, so that no name of a robot can say more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

VOID = ("circle", "ellipse", "img", "input", "line", "link", "meta", "path", "polygon", "polyline", "rect")
"""Elements that hold nothing."""


class Markup(str):
    """Text that is markup already; everything else is escaped when it is put into an element."""

    __slots__ = ()


def element(name: str, /, *content: object, **attributes: object) -> Markup:
    """Return an element; ``class_`` and ``for_`` stand for class and for, underscores within names for hyphens.

    Attributes that are None or False are left out, True ones stand by their name alone.
    """
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{said}>" if name in ("img", "input", "link", "meta") else f"<{name}{said}/>")
    return Markup(f"<{name}{said}>{joined(content)}</{name}>")


def joined(content: Iterable[object]) -> Markup:
    """Return pieces of markup and text one after another, the text escaped."""
    return Markup("".join(each if isinstance(each, Markup) else escape(str(each)) for each in content))


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    class_: str | None = None,
) -> Markup:
    """Return a table that scrolls by itself where it is too wide; the first column names the rows.

    Where names of columns begin with ``>``, those hold numbers, and the others text.
    """
    marked = any(name.startswith(">") for name in head)
    kinds = ["text" if marked and not name.startswith(">") else None for name in head]
    names = [element("th", n.removeprefix(">"), scope="col", class_=kind) for n, kind in zip(head, kinds, strict=True)]
    made = []
    for first, *cells in rows:
        pairs = zip(cells, kinds[1:], strict=True)
        made.append(element("tr", element("th", first, scope="row"), *(_cell(*pair) for pair in pairs)))
    parts = [element("caption", caption), element("thead", element("tr", *names)), element("tbody", *made)]
    return scrolling(element("table", *parts, class_=class_), caption)


def scrolling(wide: Markup, label: str) -> Markup:
    """Return something wide in a part of the page that scrolls by itself."""
    return element("div", wide, class_="scroll", tabindex="0", role="region", aria_label=label)


def section(identifier: str, title: str, *inside: object) -> Markup:
    """Return a part of the page under a heading."""
    return element("section", element("h2", title), *inside, id=identifier)


def details(summary: str, *inside: Markup) -> Markup:
    """Return a part that is folded away until a reader asks for it."""
    return element("details", element("summary", summary), *inside)


def zoomable(wide: Markup, label: str) -> Markup:
    """Return a picture that fits the page, and shows at its own size when it is clicked."""
    return element(
        "div", wide, class_="zoom scroll", tabindex="0", role="region", aria_label=f"{label}. Click to zoom."
    )


def picture(shapes: Iterable[Markup], width: float, height: float, class_: str, label: str) -> Markup:
    """Return shapes as SVG of this size; `label` is for those who cannot see it."""
    return element(
        "svg",
        *shapes,
        viewbox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        class_=class_,
        role="img",
        aria_label=label,
    )


def legend(kinds: Iterable[tuple[str, str]]) -> Markup:
    """Return what colours mean, from classes and words."""
    items = (element("li", element("span", class_=f"swatch {kind}"), f" {what}") for kind, what in kinds)
    return element("ul", *items, class_="legend")


def json_script(identifier: str, data: Any) -> Markup:
    """Return data for the page's script; no text in it can end the element or begin another."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(f'<script type="application/json" id="{escape(identifier)}">{text}</script>')


def number(value: float) -> str:
    """Return a coordinate or size in few characters."""
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0", "0" if abs(value) < 0.005 else "-0")


def _cell(cell: object, kind: str | None) -> Markup:
    return cell if isinstance(cell, Markup) and cell.startswith("<td") else element("td", cell, class_=kind)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    name = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}.get(name, name)
    if value is True:
        return f" {name}"
    shown = number(value) if isinstance(value, float) else str(value)
    return f' {name}="{escape(shown)}"'
