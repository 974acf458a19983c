"""Reports of small models, each written once a process, and pages taken apart."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np

import bddtorque as bt
from bddtorque.report.report import Report, report_page

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<b>]]>"
VOID = {"img", "input", "link", "meta"}
SECTIONS = ["live", "proved", "costs", "plan", "blocks", "words", "file"]
MODELS = {
    "planar2r": {"bits": 6},
    "planar2r partial": {"bits": 6, "source": "recursive", "products": "partial"},
    "planar2r recursive": {"bits": 6, "source": "recursive"},
    "planar2r saturating": {"bits": 5, "torque": [[-20.0, 20.0], [-30.0, 30.0]]},
    "planar2r paper": {"bits": 4, "accuracy": "paper"},
    "scara": {"bits": 6, "block_bits": 12},
    "ur5": {"bits": 6, "block_bits": 12},
}


@cache
def compiled(name: str) -> bt.Model:
    return bt.compile(name.split(maxsplit=1)[0], workers=1, **MODELS[name])


@cache
def written(name: str) -> tuple[bytes, Report]:
    return report_page(compiled(name))


@cache
def hostile_model() -> bt.Model:
    """Return an arm whose every name tries to break out of the page."""
    robot = bt.load_robot("planar2r")
    joints = [replace(joint, name=f"{HOSTILE}{k}") for k, joint in enumerate(robot.joints)]
    links = [replace(link, name=HOSTILE) for link in robot.links]
    named = replace(robot, name=HOSTILE, joints=tuple(joints), links=tuple(links), source=HOSTILE)
    return bt.compile(named, bits=4, workers=1)


@cache
def rubbing_model() -> bt.Model:
    """Return an arm with both kinds of friction."""
    robot = bt.load_robot("planar2r")
    first = bt.Friction(viscous=2.0, coulomb=(3.0, 4.0), static=(6.0, 5.0), stribeck_velocity=0.1)
    knots = {"knots": [[-1.0, -0.2, 0.3, 1.0]], "values": [-4.0, -1.0, 2.0, 3.0]}
    second = {"kind": "interpolant", **knots, "around": [False], "hold": True}
    return bt.compile(robot.with_friction({"shoulder": first, "elbow": second}), bits=6, workers=1)


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, name: str) -> list[Element]:
        own = [self] if self.name == name else []
        return own + [each for child in self.children for each in child.all(name)]

    @property
    def whole_text(self) -> str:
        return self.text + "".join(child.whole_text for child in self.children)


class Reader(HTMLParser):
    """Reads a page strictly: every element must be closed, in order, and no id used twice."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("root", {})
        self.identifiers: dict[str, Element] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]], closed: bool = False) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        found = Element(tag, dict(attrs), self.at)
        self.at.children.append(found)
        if "id" in found.attributes:
            assert found.attributes["id"] not in self.identifiers
            self.identifiers[found.attributes["id"]] = found
        if tag not in VOID and not closed:
            self.at = found

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs, closed=True)

    def handle_endtag(self, tag: str) -> None:
        assert self.at.name == tag, f"</{tag}> closes <{self.at.name}>"
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.text += data


def read(page: bytes) -> Reader:
    reader = Reader()
    reader.feed(page.decode("utf-8"))
    reader.close()
    assert reader.at is reader.root, f"<{reader.at.name}> is not closed"
    return reader


def data_of(page: bytes) -> dict[str, Any]:
    return json.loads(read(page).identifiers["data"].text)


def wild_states(model: bt.Model, count: int = 200, seed: int = 0) -> list[np.ndarray]:
    """Return q, qd and qdd words (N, n): random ones, corners, the ends of the sliders, and words far out of range."""
    rng = np.random.default_rng(seed)
    columns = []
    for word in (word for kind in model.formats.inputs for word in kind):
        ends = [word.lowest, -1, 0, 1, word.highest, word.highest + 1]
        wild = [*ends, word.lowest - 1, -3 * word.highest, 5 * word.highest, 2**31, -(2**31), 2**40 + 3]
        inside = rng.integers(word.lowest, word.highest, count, endpoint=True)
        columns.append(np.concatenate([inside, rng.choice(ends, count // 2), rng.choice(wild, count // 2)]))
    n = len(model.formats.q)
    return [np.stack(columns[k * n : (k + 1) * n], axis=1) for k in range(3)]
