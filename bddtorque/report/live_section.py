"""The part of a page that moves: the arm, its sliders, its torques, and a map around the present state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bddtorque.model.model import Model
from bddtorque.proof.proved_bound import ProvedBound
from bddtorque.proof.torque_range import TorqueRange
from bddtorque.report.arm_picture import arm_picture
from bddtorque.report.markup import Markup, element, table
from bddtorque.report.view import View
from bddtorque.sweeps.measuring import subject_of
from bddtorque.words.formats import Format, limit_run

QUANTITIES = (("q", "Position", "q"), ("qd", "Velocity", "q̇"), ("qdd", "Acceleration", "q̈"))
TORQUE_HEADS = (
    "torque", "compiled ± bound", "Newton-Euler", "word", "error, units", "within ± bound", "effective bits", ""
)  # fmt: skip
MAPS = (
    ("torque", "torque"),
    ("margin", "margin to the torque range"),
    ("gravity", "gravity load"),
    ("error", "error"),
)
"""What a map can show, and what it is called."""
STOPS = (
    (21, 60, 120),
    (55, 120, 184),
    (150, 195, 222),
    (245, 242, 236),
    (244, 180, 140),
    (209, 92, 68),
    (124, 20, 40),
)
"""Colours of maps from the least to the greatest value, evenly spaced; the style's scale has the same."""
Axis = tuple[int, int]
"""A quantity (0 position, 1 velocity, 2 acceleration) and a joint."""


def live_section(
    model: Model, start: Sequence[Sequence[int]], view: View, ranges: Sequence[TorqueRange], too_large: str | None
) -> Markup:
    """Return the section, from its first q, qd and qdd words; `too_large`: why the page has no tables, if so."""
    q = [float(word.dequantise(place)) for word, place in zip(model.formats.q, start[0], strict=True)]
    buttons = [("set-start", "Start"), ("set-rest", "At rest"), ("set-random", "Random"), ("set-view", "Reset view")]
    how = "from the compiled tables" if model.plan.made_of_tables else "operation by operation"
    intro = (
        f"Move the sliders. This page computes the torques {how}, beside Newton-Euler in floats at the same words."
        if too_large is None
        else too_large
    )
    return element(
        "section",
        element("h2", "Arm and torques"),
        element("p", intro, class_="intro"),
        without_script(),
        element(
            "div",
            element(
                "figure",
                arm_picture(model.robot, q, view),
                live_buttons(buttons),
                element("figcaption", "Turn it: drag, or arrow keys.", class_="needs-script"),
                class_="arm",
            ),
            element("div", *(_joint_sliders(model, *each) for each in QUANTITIES), class_="sliders needs-script"),
            class_="stage",
        ),
        _torques(model, start, ranges, tables=too_large is None),
        live_said(too_large),
        _joint_map(model, map_axes(len(model.formats.q))) if too_large is None else Markup(""),
        id="arm-section",
    )


def without_script() -> Markup:
    """Return what readers without scripts are told."""
    return element("noscript", element("p", "Without scripts, the page shows a single state.", class_="note"))


def live_buttons(buttons: Sequence[tuple[str, str]]) -> Markup:
    """Return buttons by their identifiers and texts."""
    made = (element("button", text, type="button", id=name) for name, text in buttons)
    return element("p", *made, class_="buttons needs-script")


def live_said(too_large: str | None) -> Markup:
    """Return where the script says how far it is."""
    said = "" if too_large else "Reading the tables …"
    return element("p", said, id="live-said", class_="note needs-script", role="status")


def _joint_sliders(model: Model, quantity: str, title: str, symbol: str) -> Markup:
    """Return the sliders of one quantity of all joints."""
    labels = [(f"{symbol}{j} ", name) for j, name in enumerate(model.formats.q.labels, 1)]
    return sliders(quantity, title, labels, list(getattr(model.formats, quantity)))


def sliders(quantity: str, title: str, labels: Sequence[tuple[str, str]], words: Sequence[Format]) -> Markup:
    """Return one slider per word, from one limit of the joint to the other; all words where there are none.

    All words end one word beyond the highest: there angles wrap, others stop. `labels` are symbols and names.
    """
    rows = []
    for j, ((symbol, name), word) in enumerate(zip(labels, words, strict=True), 1):
        identifier = f"{quantity}{j}"
        rows.append(
            element(
                "div",
                element("label", symbol, element("span", name), for_=identifier),
                element(
                    "input",
                    type="range",
                    id=identifier,
                    min=str(slider_ends(word)[0]),
                    max=str(slider_ends(word)[1]),
                    step="1",
                    value="0",
                    autocomplete="off",
                ),
                element("output", "", id=f"{identifier}-value", for_=identifier),
                class_="slider",
            )
        )
    return element("fieldset", element("legend", title), *rows)


def slider_ends(word: Format) -> tuple[int, int]:
    """Return the first and the last place of a slider; an angle's goes on beyond half a turn if its limits do."""
    return limit_run(word) or (word.lowest, word.highest + 1)


def _torques(model: Model, start: Sequence[Sequence[int]], ranges: Sequence[TorqueRange], tables: bool) -> Markup:
    """Return the torques of the first state; the script goes on from there."""
    words = [np.array([each], dtype=np.int64) for each in start]
    subject = subject_of(model)
    values = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    units = subject.truth(*values)[0]
    compiled = model.torque_words(*words)[0]
    rows = [
        output_row(
            j, f"τ{j} {proved.joint}", proved, word, compiled[j - 1] if tables else None, true, bits.effective_bits
        )
        for j, (proved, word, true, bits) in enumerate(
            zip(model.certificate.torques, model.formats.tau, units, ranges, strict=True), 1
        )
    ]
    return table("Torques of this state", TORQUE_HEADS, rows, class_="torques")


def output_row(
    place: int,
    title: str,
    proved: ProvedBound,
    word: Format,
    compiled: int | None,
    true: float | None,
    bits: float,
    heads: Sequence[str] = TORQUE_HEADS,
) -> list[object]:
    """Return the row of one output, by the names under which the script goes on with it.

    Parameters
    ----------
    compiled
        The output word of the first state; None if the page has no tables.
    true
        The true value in units; None if nobody knows it.
    bits
        Effective bits.
    heads
        What the columns are called.
    """
    name, unit = f"tau{place}", f" {proved.unit}"
    said, difference = ["–"] * 3, 0.0
    if compiled is not None:
        said = [str(int(compiled)), f"{float(word.dequantise(int(compiled))):.5g}", "–"]
        if true is not None:
            difference = float(compiled) - float(np.clip(true, word.lowest, word.highest))
            said[2] = f"{difference:+.3f}"
    shown = [each.replace("-", "−") for each in said]
    value = "–" if true is None else f"{word.value(float(true)):.6g}".replace("-", "−")
    cells = [
        element("span", element("span", shown[1], id=f"{name}-value"), f" ± {proved.bound_si:.3g}{unit}"),
        element("span", element("span", value, id=f"{name}-true"), unit if true is not None else ""),
        element("span", shown[0], id=f"{name}-word"),
        element("span", shown[2], id=f"{name}-difference"),
        _gauge(name, difference / proved.bound if proved.bound else 0.0, proved.bound),
        f"{bits:.1f}",
        element("span", "", id=f"{name}-note", class_="note"),
    ]
    # where the screen is narrow every cell is a line of its own and says what it is
    return [title, *(element("td", cell, data_name=head) for head, cell in zip(heads[1:], cells, strict=True))]


def _gauge(name: str, share: float, bound: float) -> Markup:
    """Return a line from minus to plus the bound with a mark at the difference."""
    return element(
        "svg",
        element("line", x1=-46.0, x2=46.0, y1=0.0, y2=0.0),
        *(element("line", x1=x, x2=x, y1=-4.0, y2=4.0) for x in (-46.0, 0.0, 46.0)),
        element("circle", cx=46 * max(-1.0, min(1.0, share)), cy=0.0, r=4.0, id=f"{name}-mark"),
        viewbox="-52 -7 104 14",
        class_="gauge",
        role="img",
        aria_label=f"The difference on a line from −{bound:.3f} to {bound:.3f} units",
    )


def map_axes(joints: int) -> tuple[Axis, Axis]:
    """Return what a map is first drawn over: two positions on which gravity usually depends."""
    if joints == 1:
        return (0, 0), (1, 0)
    return ((0, 0), (0, 1)) if joints == 2 else ((0, 1), (0, 2))


def _joint_map(model: Model, taken: tuple[Axis, Axis]) -> Markup:
    """Return the map of torques over two joints' words."""
    names = model.formats.q.labels
    symbols = [symbol for _, _, symbol in QUANTITIES]
    axes = [(f"{k} {j}", f"{symbol}{j + 1} {name}") for k, symbol in enumerate(symbols) for j, name in enumerate(names)]
    outputs = [(str(j), f"τ{j + 1} {name}") for j, name in enumerate(names)]
    first, second = (f"{kind} {joint}" for kind, joint in taken)
    return live_map(MAPS, outputs, axes, (str(min(1, len(names) - 1)), first, second))


def live_map(
    shown: Sequence[tuple[str, str]],
    outputs: Sequence[tuple[str, str]],
    axes: Sequence[tuple[str, str]],
    taken: tuple[str, str, str],
) -> Markup:
    """Return the canvas of the map or curve that the script draws, and the menus for it.

    `shown`, `outputs`, `axes`: what the menus offer: values and what they are called; `taken`: output, axis across and
    axis up that it begins with; no axis up is a curve.
    """
    menus = (
        ("show", "Show", shown, shown[0][0]),
        ("torque", "of", outputs, taken[0]),
        ("across", "Across", axes, taken[1]),
        ("up", "Up", [*(axes if len(axes) > 1 else ()), ("", "nothing: a curve")], taken[2]),
        ("words", "Words", [("whole", "of the whole range"), ("near", "next to this state")], "whole"),
    )
    return element(
        "div",
        element("h3", "Map" if len(axes) > 1 else "Curve"),
        element("p", "Over the words you choose, with everything else as the sliders have it."),
        element("div", *(_menu(*menu) for menu in menus), class_="choices"),
        element(
            "figure",
            element("canvas", id="live-map", width="48", height="48", role="img", aria_label="Map"),
            element(
                "p",
                element("span", "", id="map-low"),
                element("span", class_="scale", role="img", aria_label="Colours from the least to the greatest value"),
                element("span", "", id="map-high"),
                class_="scale-line",
            ),
            element("figcaption", "", id="live-map-said", role="status"),
            class_="live-map",
        ),
        class_="live-map-part needs-script",
    )


def _menu(name: str, title: str, options: Sequence[tuple[str, str]], taken: str) -> Markup:
    shown = [element("option", said, value=value, selected=value == taken) for value, said in options]
    return element("label", title, " ", element("select", *shown, id=f"map-{name}", autocomplete="off"))
