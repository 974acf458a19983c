"""The part of a page that moves: the arm, its sliders, its torques, and a map of errors around the present state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bddtorque.model.model import Model
from bddtorque.plan.float_plan import FloatPlan
from bddtorque.report.arm_picture import arm_picture
from bddtorque.report.error_maps import Axis
from bddtorque.report.markup import Markup, element, table
from bddtorque.report.view import View
from bddtorque.sweeps.measuring import subject_of
from bddtorque.words import Format

QUANTITIES = (("q", "Position", "q"), ("qd", "Velocity", "q̇"), ("qdd", "Acceleration", "q̈"))
TORQUE_HEADS = ("torque", "word", "compiled, ± bound", "Newton-Euler", "difference, units", "within ± bound", "")


def live_section(
    model: Model, start: Sequence[Sequence[int]], view: View, axes: tuple[Axis, Axis], too_large: str | None
) -> Markup:
    """Return the section.

    Parameters
    ----------
    start : the q, qd and qdd words that it begins with
    axes : what the map of errors is first drawn over
    too_large : why there are no tables in the page, if there are none
    """
    q = [float(word.dequantise(place)) for word, place in zip(model.formats.q, start[0], strict=True)]
    buttons = [("set-start", "Start"), ("set-rest", "At rest"), ("set-random", "Any state"), ("set-view", "First view")]
    floats = isinstance(model.plan, FloatPlan)
    how = "operation by operation as the plan has them" if floats else "from the compiled tables themselves"
    intro = (
        f"The torques below are computed in this page, {how}, and stand beside those of Newton and Euler in floats at "
        "the same words."
        if too_large is None
        else too_large
    )
    said = "Reading the tables …" if too_large is None else ""
    return element(
        "section",
        element("h2", "The arm"),
        element("p", intro),
        element(
            "noscript", element("p", "Without scripts the arm and its torques stand still at one state.", class_="note")
        ),
        element(
            "div",
            element(
                "figure",
                arm_picture(model.robot, q, view),
                element("figcaption", "Drag the picture, or use the arrow keys, to look from elsewhere."),
                class_="arm",
            ),
            element("div", *(_sliders(model, *each) for each in QUANTITIES), class_="sliders needs-script"),
            class_="stage",
        ),
        element(
            "p",
            *(element("button", text, type="button", id=name) for name, text in buttons),
            class_="buttons needs-script",
        ),
        _torques(model, start, tables=too_large is None),
        element("p", said, id="live-said", class_="note needs-script", role="status"),
        _live_map(model, axes) if too_large is None else Markup(""),
        id="arm-section",
    )


def _sliders(model: Model, quantity: str, title: str, symbol: str) -> Markup:
    """Return the sliders of one quantity. They end one word beyond the highest: there angles wrap, others stop."""
    rows = []
    for j, (name, word) in enumerate(zip(model.formats.joint_names, getattr(model.formats, quantity), strict=True), 1):
        identifier = f"{quantity}{j}"
        rows.append(
            element(
                "div",
                element("label", f"{symbol}{j} ", element("span", name), for_=identifier),
                element(
                    "input",
                    type="range",
                    id=identifier,
                    min=str(word.lowest),
                    max=str(word.highest + 1),
                    step="1",
                    value="0",
                    autocomplete="off",
                ),
                element("output", "", id=f"{identifier}-value", for_=identifier),
                class_="slider",
            )
        )
    return element("fieldset", element("legend", title), *rows)


def _torques(model: Model, start: Sequence[Sequence[int]], tables: bool) -> Markup:
    """Return the torques of the first state; the script goes on from there."""
    words = [np.array([each], dtype=np.int64) for each in start]
    subject = subject_of(model)
    values = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    units = subject.truth(*values)[0]
    compiled = model.torque_words(*words)[0]
    rows = []
    for j, (proved, word) in enumerate(zip(model.certificate.torques, model.formats.tau, strict=True)):
        inside = float(np.clip(units[j], word.lowest, word.highest))
        difference = float(compiled[j]) - inside
        true = _value(word, float(units[j]))
        name = f"tau{j + 1}"
        said = [str(int(compiled[j])), f"{float(word.dequantise(int(compiled[j]))):.5g}", f"{difference:+.3f}"]
        shown = [each.replace("-", "−") for each in (said if tables else ["–"] * 3)]
        cells = [
            element("span", shown[0], id=f"{name}-word"),
            element("span", element("span", shown[1], id=f"{name}-value"), f" ± {proved.bound_si:.3g} {proved.unit}"),
            element("span", element("span", f"{true:.6g}".replace("-", "−"), id=f"{name}-true"), f" {proved.unit}"),
            element("span", shown[2], id=f"{name}-difference"),
            _gauge(name, difference / proved.bound if tables and proved.bound else 0.0, proved.bound),
            element("span", "", id=f"{name}-note", class_="note"),
        ]
        # where the screen is narrow every cell is a line of its own and says what it is
        said_cells = [element("td", cell, data_name=head) for head, cell in zip(TORQUE_HEADS[1:], cells, strict=True)]
        rows.append([f"τ{j + 1} {proved.joint}", *said_cells])
    return table("Torques of this state", TORQUE_HEADS, rows, class_="torques")


def _value(word: Format, units: float) -> float:
    return word.sign * (word.centre + units * word.lsb) + word.offset


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


def _live_map(model: Model, taken: tuple[Axis, Axis]) -> Markup:
    """Return the canvas of the map that the script draws, and what is chosen for it."""
    names = model.formats.joint_names
    symbols = [symbol for _, _, symbol in QUANTITIES]
    axes = [(k, j, f"{symbol}{j + 1} {name}") for k, symbol in enumerate(symbols) for j, name in enumerate(names)]

    def choice(name: str, title: str, taken: Axis) -> Markup:
        options = [element("option", said, value=f"{kind} {j}", selected=(kind, j) == taken) for kind, j, said in axes]
        return element("label", title, " ", element("select", *options, id=f"map-{name}", autocomplete="off"))

    torques = [element("option", f"τ{j + 1} {name}", value=str(j)) for j, name in enumerate(names)]
    return element(
        "div",
        element("h3", "Errors around this state"),
        element("p", "Compiled − true torque over two words, everything else as the sliders have it."),
        element(
            "div",
            choice("across", "Across", taken[0]),
            choice("up", "Up", taken[1]),
            element("label", "Torque ", element("select", *torques, id="map-torque", autocomplete="off")),
            element(
                "label",
                "Words ",
                element(
                    "select",
                    element("option", "of the whole range", value="whole"),
                    element("option", "next to this state", value="near"),
                    id="map-words",
                    autocomplete="off",
                ),
            ),
            class_="choices",
        ),
        element(
            "figure",
            element("canvas", id="live-map", width="48", height="48", role="img", aria_label="Map of errors"),
            scale_picture(),
            element("figcaption", "", id="live-map-said", role="status"),
            class_="live-map",
        ),
        class_="live-map-part needs-script",
    )


def scale_picture() -> Markup:
    """Return the colours from minus to plus the bound."""
    return element(
        "p",
        element("span", "− bound"),
        element("span", class_="scale", role="img", aria_label="Colours from minus to plus the proved bound"),
        element("span", "+ bound"),
        class_="scale-line",
    )
