"""The part of a page that moves: inputs on sliders, an arm that follows them, the outputs, and a map around them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from bddtorque.model.model import Model
from bddtorque.proof.proved_bound import ProvedBound
from bddtorque.report.arm_picture import View, arm_picture
from bddtorque.report.compared_states import ComparedStates
from bddtorque.report.markup import Markup, element, section, table
from bddtorque.report.model_tables import effective_bits_of
from bddtorque.words.formats import Format, limit_run
from bddtorque.words.interface import WordArray

TITLES = {"q": "Position q", "qd": "Velocity q̇", "qdd": "Acceleration q̈"}
"""Of the sliders of an array; others are called as the array is."""
HEADS = (
    "output", "compiled ± bound", "true value", "word", "error, units", "within ± bound", "effective bits", ""
)  # fmt: skip
MAPS = {"value": "value", "margin": "margin to the range", "rest": "value at rest", "error": "error"}
"""Values that a map can show, and their names."""
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


def live_section(states: ComparedStates, view: View | None, too_large: str | None) -> Markup:
    """Return the section; `view`: from where an arm is seen, if there is one; `too_large`: why it has no tables."""
    model, live = states.model, too_large is None
    buttons = [("set-start", "Start"), *([("set-rest", "At rest")] if states.rest else []), ("set-random", "Random")]
    how = "from the compiled tables" if model.plan.made_of_tables else "operation by operation"
    beside = ", beside the true values in floats." if states.truth else "; it cannot compute the true values."
    inputs = element("div", *_all_sliders(model), class_="sliders needs-script")
    if view is None:
        stage = Markup(inputs + _buttons(buttons))
    else:
        positions = zip(model.formats.q, states.start, strict=False)  # the first of all words
        figure = element(
            "figure",
            arm_picture(model.robot, [float(word.dequantise(place)) for word, place in positions], view),
            _buttons([*buttons, ("set-view", "Reset view")]),
            element("figcaption", "Turn it: drag, or arrow keys.", class_="needs-script"),
            class_="arm",
        )
        stage = element("div", figure, inputs, class_="stage")
    return section(
        "live",
        "Inputs and outputs" if view is None else "Arm and outputs",
        element(
            "p",
            too_large or f"Move the sliders. This page computes the output words {how}{beside}",
            class_="intro",
        ),
        element("noscript", element("p", "Without scripts, the page shows a single state.", class_="note")),
        stage,
        _outputs(states, live),
        element("p", "Reading the tables …" if live else "", id="live-said", class_="note needs-script", role="status"),
        _live_map(states) if live else Markup(""),
    )


def _buttons(buttons: Sequence[tuple[str, str]]) -> Markup:
    """Return buttons by their identifiers and texts."""
    made = (element("button", text, type="button", id=name) for name, text in buttons)
    return element("p", *made, class_="buttons needs-script")


def _all_sliders(model: Model) -> list[Markup]:
    """Return the sliders of all input words: an array each, and numbers together."""
    made, first = [], 1
    for numbers, group in groupby(model.formats.inputs, lambda array: not array.shape):
        arrays = list(group)
        for title, beside in [("Inputs", arrays)] if numbers else [(_title(array), [array]) for array in arrays]:
            words = [(*label, word) for array in beside for label, word in zip(_labels(array), array, strict=True)]
            rows = [_slider(f"in{k}", *word) for k, word in enumerate(words, first)]
            made.append(element("fieldset", element("legend", title), *rows))
            first += len(rows)
    return made


def _title(array: WordArray) -> str:
    """Return the name of an array of input words, as people read it."""
    return TITLES.get(array.name) or array.name.replace("_", " ").capitalize()


def _labels(array: WordArray) -> list[tuple[str, str]]:
    """Return the symbol and the name of each word of an array."""
    if not array.shape:
        return [("", array.name)]
    return [(f"{name} ", label) for name, label in zip(array.word_names, array.labels, strict=True)]


def _slider(identifier: str, symbol: str, name: str, word: Format) -> Markup:
    """Return the slider of a word, from one limit of the joint to the other; all words where there are none.

    All words end one word beyond the highest: there angles wrap, others stop.
    """
    low, high = map(str, slider_ends(word))
    places = {"min": low, "max": high, "step": "1", "value": "0", "autocomplete": "off"}
    return element(
        "div",
        element("label", symbol, element("span", name), for_=identifier),
        element("input", type="range", id=identifier, **places),
        element("output", "", id=f"{identifier}-value", for_=identifier),
        class_="slider",
    )


def slider_ends(word: Format) -> tuple[int, int]:
    """Return the first and the last place of a slider; an angle's goes on beyond half a turn if its limits do."""
    return limit_run(word) or (word.lowest, word.highest + 1)


def _outputs(states: ComparedStates, live: bool) -> Markup:
    """Return the outputs of the first state; the script goes on from there."""
    start = np.array([states.start], dtype=np.int64)
    words = states.output_words(start)[0].tolist() if live else [None] * len(states.outputs)
    true = None if states.truth is None else states.true_units(start)
    values = [None] * len(states.outputs) if true is None else true[0].tolist()
    columns = states.model.certificate.outputs, states.outputs, words, values, effective_bits_of(states.model)
    rows = [_output_row(f"out{k}", *output) for k, output in enumerate(zip(*columns, strict=True), 1)]
    return table("Outputs of this state", HEADS, rows, class_="outputs")


def _output_row(
    name: str, proved: ProvedBound, word: Format, compiled: int | None, true: float | None, bits: float
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
    """
    unit, value, said, difference = f" {proved.unit}", "–", ["–"] * 3, 0.0
    if true is not None:
        value = f"{word.value(true):.6g}".replace("-", "−")
    if compiled is not None:
        said[:2] = str(compiled), f"{float(word.dequantise(compiled)):.5g}"
        if true is not None:
            difference = compiled - float(np.clip(true, word.lowest, word.highest))
            said[2] = f"{difference:+.3f}"
    shown = [text.replace("-", "−") for text in said]
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
    return [proved.name, *(element("td", cell, data_name=head) for head, cell in zip(HEADS[1:], cells, strict=True))]


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


def map_axes(first: int, words: int) -> tuple[int, int | None]:
    """Return which input words a map is first drawn over, given how many the first array has and how many there are.

    Of an arm they are positions on which gravity usually depends.
    """
    if words == 1:
        return 0, None
    return (1, 2) if first > 2 else (0, 1)


def _live_map(states: ComparedStates) -> Markup:
    """Return the canvas of the map or curve that the script draws, and the menus for it."""
    formats = states.model.formats
    possible = {"rest": states.rest is not None, "error": states.truth is not None}
    shown = [(name, text) for name, text in MAPS.items() if possible.get(name, True)]
    outputs = [(str(k), proved.name) for k, proved in enumerate(states.model.certificate.outputs)]
    labels = [label for array in formats.inputs for label in _labels(array)]
    axes = [(str(k), f"{symbol}{name}") for k, (symbol, name) in enumerate(labels)]
    across, up = map_axes(len(formats.inputs[0]), len(axes))
    menus = (
        ("show", "Show", shown, shown[0][0]),
        ("output", "of", outputs, str(min(1, len(outputs) - 1))),
        ("across", "Across", axes, str(across)),
        ("up", "Up", [*(axes if len(axes) > 1 else ()), ("", "nothing: a curve")], "" if up is None else str(up)),
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
