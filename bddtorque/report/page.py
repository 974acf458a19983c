"""The page put together: one file that needs nothing else, and may load nothing else.

A content security policy names the page's own script and style by their hashes and forbids every address but pictures
that are part of the page, so that no browser asks the network for anything, whatever a robot is called.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

from bddtorque.report.markup import Markup, element, joined, json_script

SCRIPTS = ("plan.js", "floats.js", "words.js", "truth.js", "poses.js", "arm.js", "controls.js", "start.js")
STYLE = "style.css"
MARK = "bddtorque report"
"""What the generator of every report is called; how a report is known."""


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
