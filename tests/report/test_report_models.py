"""Pages of functions, measured data and every quantity: the evaluator's words, the true value, curves and maps."""

import json
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
from browser import needs_chromium
from report_pages import data_of, read
from small_models import own_options

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.report.report import report_page
from bddtorque.targets import TARGETS

FRICTION = bt.Friction(viscous=2.0, coulomb=(3.0, 4.0), static=(6.0, 5.0), stribeck_velocity=0.1)
ANGLES = np.linspace(-3.0, 3.0, 7)


def sampled(**rules: str) -> bt.Model:
    """Return a function of measured data over an angle, which goes round, and a number."""
    points = [(a, x, 10 * np.sin(a) + a * x) for a in ANGLES for x in (0.0, 0.4, 1.0)]
    words = {"inputs": {"a": (6, "angle"), "x": (5, (0.0, 1.0))}, "output": {"y": (8,)}}
    return bt.compile_samples(np.array(points), name="grid", **words, **rules)


MODELS = {
    "traced": lambda: bt.compile_function(
        lambda v, a: 2 * v * np.cos(a) + 0.3 * v * v,
        inputs={"v": (7, (-2.0, 3.0)), "a": (6, "angle")},
        output={"force": (9,)},
        name="push",
    ),
    "cascade": lambda: bt.compile_function(
        lambda q1, qd1: np.sin(q1) * qd1 + 0.3 * qd1 * qd1,  # called as an arm's inputs are
        inputs={"q1": (8, "angle"), "qd1": (8, 2.0)},
        output={"y": (8,)},
        block_bits=10,
    ),
    "float": lambda: bt.compile_function(np.exp, inputs={"x": (8, 1.0)}, output={"y": (8,)}),
    "law": lambda: bt.compile_function(FRICTION, inputs={"v": (9, 1.0)}, output={"torque": (9,)}),
    "samples": sampled,
    "nearest": lambda: sampled(gaps="nearest"),
    "integer": lambda: bt.compile_function(
        lambda a: 3 * np.sin(a) * np.cos(a), inputs={"a": (9, "angle")}, output={"y": (9,)}, target="integer"
    ),
}
PAYLOAD = {"mass": [0.0, 2.0], "centre_of_mass": [[0.0, 0.1], 0.0, 0.0], "runtime": True}
RUN_TIME = {"gravity": "runtime", "payload": PAYLOAD}
RUBBING = {"shoulder": FRICTION, "elbow": FRICTION}
UNKNOWN = "float"
"""Of this function nobody else knows the true value."""


def quantity(name: str, target: str, **options: object) -> bt.Model:
    """Return a quantity of a small arm with friction."""
    robot = bt.load_robot("planar2r").with_friction(RUBBING)
    return bt.compile(robot, bits=6, quantity=name, target=target, workers=1, **own_options(name), **options)


def _quantity_models() -> dict[str, Callable[[], bt.Model]]:
    """Return every quantity for one target each, turn by turn, and those that take inputs at run time."""
    models = {}
    for k, (name, record) in enumerate(QUANTITIES.items()):
        target = list(TARGETS)[k % len(TARGETS)]
        models[f"{name}, {target}"] = partial(quantity, name, target)
        for given in record.accepts:
            models[f"{name}, {given} at run time"] = partial(quantity, name, "float", **{given: RUN_TIME[given]})
    return models


MODELS |= _quantity_models()


@cache
def compiled(name: str) -> bt.Model:
    return MODELS[name]()


@cache
def page_of(name: str) -> bytes:
    return report_page(compiled(name))[0]


def some_words(model: bt.Model, count: int = 150) -> np.ndarray:
    """Return input words (N, inputs), some of them out of range."""
    rng = np.random.default_rng(3)
    words = list(model.formats.words.values())
    wild = [rng.choice([word.lowest - 3, word.lowest, 0, word.highest, word.highest + 5], 40) for word in words]
    inside = [rng.integers(word.lowest, word.highest, count, endpoint=True) for word in words]
    return np.concatenate([np.stack(inside, axis=1), np.stack(wild, axis=1)])


def evaluated(model: bt.Model, words: np.ndarray) -> list[list[int]]:
    inputs = model.formats.inputs
    parts = np.split(words, np.cumsum([len(array) for array in inputs])[:-1], axis=1)
    named = {array.name: part if array.shape else part[:, 0] for array, part in zip(inputs, parts, strict=True)}
    return model.evaluator(on_range="saturate").output_words(**named).tolist()


@needs_chromium
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.everything] * (name == "nearest")) for name in MODELS]
)
def test_the_page_gives_the_words_of_the_evaluator_and_the_true_value(opened, name):
    model, page = compiled(name), opened(page_of(name))
    assert page.run("document.documentElement.className") == "script ready"
    words = some_words(model)
    states = json.dumps(words.tolist())
    assert page.run(f"{states}.map((state) => bddtorque.plan.outputWords(state))") == evaluated(model, words)
    if name == UNKNOWN:
        assert page.run("bddtorque.truth") is None
        assert page.run("document.getElementById('out1-true').textContent") == "–"
        assert page.run("document.getElementById('map-show').options.length") == 2
        return
    held = np.stack([word.held(column) for word, column in zip(model.formats.words.values(), words.T, strict=True)])
    found = page.run(f"{states}.map((state) => bddtorque.truth(state))")
    units = [word.units(np.array(found)[:, k]) for k, word in enumerate(model.formats.results.values())]
    wanted = model.true_units(dict(zip(model.formats.words, held, strict=True)))
    np.testing.assert_allclose(np.stack(units, axis=1), wanted, rtol=0, atol=1e-6)
    page.run("document.getElementById('set-random').click()")
    places = list(range(1, len(model.formats.results) + 1))
    shown = page.run(f"{places}.map((k) => document.getElementById(`out${{k}}-difference`).textContent)")
    for said, bound in zip(shown, model.certificate.bounds, strict=True):
        assert abs(float(said.replace("−", "-"))) <= bound + 0.0005


@needs_chromium
def test_a_curve_of_a_function_and_its_error(opened):
    page = opened(page_of("law"))
    page.wait_until("document.querySelector('canvas.curve') !== null")
    assert page.run("document.getElementById('live-map-said').textContent").startswith("From −")
    page.run("(() => { const m = document.getElementById('map-show'); m.value = 'error'; bddtorque.map.later(0); })()")
    page.wait_until("document.getElementById('live-map-said').textContent.startsWith('Largest here')")
    largest = float(page.run("document.getElementById('live-map-said').textContent").split()[2])
    assert 0.4 < largest <= compiled("law").certificate.bounds[0] + 1e-3


@needs_chromium
def test_sliders_change_the_output_and_a_phone_needs_no_sideways_scrolling(opened):
    page = opened(page_of("traced"), width=360, height=740, phone=True)
    assert page.run("document.documentElement.scrollWidth") <= 360
    before = page.run("document.getElementById('out1-word').textContent")
    page.run(
        "(() => { const s = document.getElementById('in1'); s.value = s.max; s.dispatchEvent(new Event('input')); })()"
    )
    assert page.run("document.getElementById('out1-word').textContent") != before


@pytest.mark.parametrize("name", MODELS)
def test_structure(name):
    model, page = compiled(name), read(page_of(name))
    data = data_of(page_of(name))
    assert (data["robot"] is None) == ("arm" not in page.identifiers) == (model.provenance.robot is None)
    assert (data["truth"] is None) == (name == UNKNOWN)
    moves = any(array.name in ("qd", "qdd") for array in model.formats.inputs) and data["robot"] is not None
    assert (data["rest"] is not None) == ("set-rest" in page.identifiers) == moves
    for k, proved in enumerate(model.certificate.outputs, 1):
        assert f"± {proved.bound_si:.3g}" in page.identifiers[f"out{k}-value"].parent.whole_text
    assert f"{max(model.certificate.bounds):.3f} units" in page.root.all("header")[0].whole_text


def test_what_was_compared_is_told():
    for name, states in (("traced", 2**13), ("float", 0), ("law", 2**9)):
        report = report_page(compiled(name))[1]
        assert report.states == states
        assert all(0.3 < found <= compiled(name).certificate.bounds[0] for found in report.largest_found)
        assert bool(report.largest_found) == bool(states)
