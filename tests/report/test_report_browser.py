"""The page in headless Chromium: words as the evaluator has them, floats as the dynamics, and no complaints."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
from browser import needs_chromium, page_words
from report_pages import HOSTILE, compiled, data_of, hostile_model, rubbing_model, wild_states, written
from sample_robots import TREE

import bddtorque as bt
from bddtorque.plan.blocks import ProductBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_plan
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import AngleSum, Input, Output, Product, Sum
from bddtorque.report.arm_picture import HALF_HEIGHT, HALF_WIDTH, ROOM, placed_joints
from bddtorque.report.live_section import slider_ends
from bddtorque.report.report import report_page
from bddtorque.report.script_data import plan_data
from bddtorque.robots import from_urdf

pytestmark = needs_chromium
LARGER = pytest.mark.everything
MOVE = """
%s.forEach((word, k) => {
  const slider = document.getElementById(`in${k + 1}`);
  slider.value = String(word);
  slider.dispatchEvent(new Event("input"));
})"""
"""Puts the sliders where somebody would have drawn them."""


@pytest.mark.parametrize(
    "name",
    [
        "planar2r",
        "planar2r recursive",
        "planar2r paper",
        *(pytest.param(name, marks=LARGER) for name in ("planar2r partial", "planar2r saturating", "scara", "ur5")),
    ],
)
def test_the_page_gives_the_words_of_the_evaluator(opened, name):
    model = compiled(name)
    page = opened(written(name)[0])
    assert page.run("document.documentElement.className") == "script ready"
    states = wild_states(model)
    assert page_words(page, states) == model.torque_words(*states).tolist()


def test_the_page_checks_its_tables_and_words(opened):
    page = opened(written("planar2r")[0])
    said = page.run("document.getElementById('live-said').textContent")
    tables = len(compiled("planar2r").tables)
    assert f"{tables} of {tables} tables in this page have the SHA-256" in said
    assert "On all 96 test states the page computes the evaluator's words" in said


def test_a_page_with_another_table_says_so_and_gives_no_torques(browser, tmp_path):
    data, _ = written("planar2r")
    key = compiled("planar2r").tables[0].content_key.encode()
    wrong = tmp_path / "wrong.html"
    wrong.write_bytes(data.replace(b'"key":"' + key, b'"key":"' + b"0" * 64))
    with browser.page(wrong) as page:
        assert page.run("document.documentElement.className") == "script failed"
        assert "Live values are off: a table" in page.run("document.getElementById('live-said').textContent")
        assert page.run("bddtorque.plan") is None


def test_a_page_with_other_words_says_so(browser, tmp_path):
    data, _ = written("planar2r")
    head, tail = data.split(b'"words":[[', 1)
    first, rest = tail.split(b",", 1)
    wrong = tmp_path / "wrong.html"
    wrong.write_bytes(head + b'"words":[[' + str(int(first) + 1).encode() + b"," + rest)
    with browser.page(wrong) as page:
        assert page.run("document.documentElement.className") == "script failed"
        assert "only 95 of 96 states" in page.run("document.getElementById('live-said').textContent")


@pytest.mark.parametrize("name", ["scara", pytest.param("ur5", marks=LARGER), "friction"])
def test_floats_of_the_page_are_those_of_the_dynamics(opened, name):
    model = rubbing_model() if name == "friction" else compiled(name)
    page = opened(report_page(model)[0] if name == "friction" else written(name)[0])
    words = [each[:100] for each in wild_states(model)]
    values = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    true = bt.inverse_dynamics(model.robot, *values)
    states = json.dumps(np.concatenate(words, axis=1).tolist())
    found = np.array(page.run(f"{states}.map((state) => bddtorque.truth(state))"))
    assert np.abs(found - true).max() <= 1e-11 * np.abs(true).max()
    tips = page.run(
        f"{json.dumps(values[0].tolist())}.map((q) => bddtorque.placedJoints(bddtorque.data.robot, q).tip.origin)"
    )
    for q, tip in zip(values[0], tips, strict=True):
        assert np.allclose(placed_joints(model.robot, q)[1].translation, tip, atol=1e-12)


def test_the_page_of_a_tree(opened):
    model = bt.compile(from_urdf(TREE), bits=6, target="float", workers=1, cache=None)
    page = opened(report_page(model)[0])
    assert page.run("document.documentElement.className") == "script ready"
    states = wild_states(model)
    assert page_words(page, states) == model.torque_words(*states).tolist()
    drawn = page.run("document.getElementById('arm-shapes').innerHTML")
    assert drawn.count('class="link"') == 7  # five joints, and two bodies at the ends
    q = model.formats.q.dequantise(states[0][0]).tolist()
    found = page.run(
        f"bddtorque.placedJoints(bddtorque.data.robot, {json.dumps(q)}).joints.map((each) => each.moved.origin)"
    )
    assert np.allclose(found, [joint.moved.translation for joint in placed_joints(model.robot, q)[0]], atol=1e-12)


def test_sliders_move_the_arm_and_its_torques(opened):
    model = compiled("scara")
    page = opened(written("scara")[0])
    before = page.run("document.getElementById('arm-shapes').innerHTML")
    states = [each[200:212] for each in wild_states(model, seed=3)]
    ends = [kind.highest + 1 for kind in model.formats.inputs[1:]]
    for k in range(len(states[0])):
        words = [kind[k] for kind in states]
        page.run(MOVE % json.dumps(np.concatenate(words).tolist()))
        set_words = np.array(page.run("bddtorque.sliders.words()")).reshape(3, -1).tolist()
        # positions stop at the limits of their joints
        assert set_words[1:] == [np.clip(row, -half, half).tolist() for row, half in zip(words[1:], ends, strict=True)]
        assert all(
            first <= word <= last
            for word, (first, last) in zip(set_words[0], map(slider_ends, model.formats.q), strict=True)
        )
        shown = page.run("[1, 2, 3, 4].map((j) => document.getElementById(`out${j}-word`).textContent)")
        assert [int(each.replace("−", "-")) for each in shown] == model.torque_words(*set_words).tolist()
    assert page.run("document.getElementById('arm-shapes').innerHTML") != before
    differences = page.run("[1, 2, 3, 4].map((j) => document.getElementById(`out${j}-difference`).textContent)")
    for said, bound in zip(differences, model.certificate.bounds, strict=True):
        assert abs(float(said.replace("−", "-"))) <= bound + 0.0005
    page.run("document.getElementById('set-start').click()")
    assert page.run("bddtorque.sliders.words()") == page.run("bddtorque.data.start")
    page.run("document.getElementById('set-rest').click()")
    assert "0.000" in page.run("document.getElementById('in5-value').textContent")


def test_sliders_and_view_by_keyboard(opened):
    page = opened(written("planar2r")[0])
    word = "Number(document.getElementById('in2').value)"
    start = page.run(word)
    page.run("document.getElementById('in2').focus()")
    press(page, "ArrowRight", 39)
    assert page.run(word) == start + 1
    press(page, "Home", 36)
    assert page.run(word) == compiled("planar2r").formats.q[1].lowest
    assert "word -32" in page.run("document.getElementById('in2').getAttribute('aria-valuetext')")
    press(page, "End", 35)  # one beyond the highest: half a turn, which is the lowest
    assert "word -32" in page.run("document.getElementById('in2').getAttribute('aria-valuetext')")
    page.run("document.getElementById('arm').focus()")
    press(page, "ArrowUp", 38)
    assert page.run("bddtorque.arm.view.elevation") == pytest.approx(0.1)


def press(page, key: str, code: int) -> None:
    for kind in ("rawKeyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def choose(page, **choices: object) -> str:
    """Choose from the menus of the map, and return what it says once it is drawn."""
    said = "document.getElementById('live-map-said').textContent"
    page.wait_until(said)
    page.run(f"{said} = ''")
    for name, value in choices.items():
        page.run(
            f"(() => {{ const menu = document.getElementById('map-{name}'); menu.value = '{value}';"
            " menu.dispatchEvent(new Event('change')); })()"
        )
    page.wait_until(said)
    return page.run(said)


def test_the_map_of_errors_stays_within_the_bound(opened):
    model = compiled("planar2r")
    page = opened(written("planar2r")[0])
    for torque, words in ((0, "whole"), (1, "near")):
        found = choose(page, show="error", output=torque, words=words)
        assert f"{model.certificate.bounds[torque]:.3f} proved" in found
        assert 0.3 < float(found.split()[2]) <= model.certificate.bounds[torque]
    assert page.run("document.getElementById('live-map').width") == 48


def test_maps_of_values_margin_and_rest_are_those_of_the_words(opened):
    model = compiled("planar2r")
    page = opened(written("planar2r")[0])
    grid = model.formats.q[0].lowest + (2 * np.arange(48) + 1) * 64 // 96  # 48 of the 64 words, evenly spaced
    q = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    start = data_of(written("planar2r")[0])["start"]
    moving, still = [np.broadcast_to(start[k : k + 2], q.shape) for k in (2, 4)], [np.zeros_like(q)] * 2
    words = model.torque_words(q, *moving)[:, 1]
    values = model.formats.tau[1].dequantise(words)
    held = model.formats.tau[1].dequantise(model.torque_words(q, *still)[:, 1])
    for show, shown in (("value", values), ("rest", held)):
        found = choose(page, show=show, output=1, words="whole").replace("−", "-").split()
        assert [float(found[1]), float(found[3])] == pytest.approx([shown.min(), shown.max()], rel=1e-3)
        assert found[4] == "N·m."
    least = 1 - np.abs(words).max() / 32
    assert f"{100 * least:.1f} %" in choose(page, show="margin", output=1, words="whole")


def test_pictures_are_zoomed_by_a_click(opened):
    page = opened(written("planar2r")[0])
    page.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    width = "document.querySelector('#plan .zoom svg').getBoundingClientRect().width"
    room = page.run("document.querySelector('#plan .zoom').clientWidth")
    assert page.run(width) <= room
    page.run("document.querySelector('#plan .zoom').click()")
    assert page.run(width) == pytest.approx(
        page.run("Number(document.querySelector('#plan .zoom svg').getAttribute('width'))")
    )


def test_the_whole_arm_is_always_seen(opened):
    page = opened(written("ur5")[0])
    corners = "[...document.querySelectorAll('#arm-shapes .link')].flatMap((each) => [...each.points])"
    for state in np.random.default_rng(5).uniform(-3, 3, (8, 6)).tolist():
        page.run(f"bddtorque.arm.show({state})")
        assert page.run(f"Math.max(...{corners}.map((each) => Math.abs(each.x)))") <= HALF_WIDTH - ROOM + 0.1
        assert page.run(f"Math.max(...{corners}.map((each) => Math.abs(each.y)))") <= HALF_HEIGHT - ROOM + 0.1
        labels = "[...document.querySelectorAll('.joint-name')].map((each) => each.getBBox())"
        inside = "Math.abs(each.x + each.width / 2) + each.width / 2 <= 200"
        assert page.run(f"{labels}.every((each) => {inside})")


def test_the_script_begins_with_the_picture_that_stands_there(opened):
    shapes = "[...document.querySelectorAll('#arm-shapes > *')].map((each) => [each.getAttribute('class'), "
    shapes += "(each.getAttribute('points') ?? `${each.getAttribute('x')},${each.getAttribute('y')}`)])"
    drawn = []
    for script in (True, False):
        found = opened(written("ur5")[0], script=script).run(shapes)
        drawn.append(sorted((class_, [float(each) for each in re.split("[ ,]", points)]) for class_, points in found))
    moved, still = drawn
    assert [class_ for class_, _ in moved] == [class_ for class_, _ in still]
    for (_, points), (_, others) in zip(moved, still, strict=True):
        assert np.allclose(points, others, atol=0.11)


def test_names_cannot_break_out(opened):
    model = hostile_model()
    page = opened(report_page(model)[0])
    assert page.run("document.documentElement.className") == "script ready"
    assert page.run("document.querySelector('h1').textContent") == HOSTILE
    assert page.run("document.title") == f"{HOSTILE} · bddtorque report"
    assert page.run("document.querySelectorAll('img, b, script:not(body > script)').length") == 0
    states = wild_states(model, 20)
    assert page_words(page, states) == model.torque_words(*states).tolist()


@pytest.mark.parametrize("name", ["ur5", *(pytest.param(name, marks=LARGER) for name in ("planar2r", "scara"))])
def test_a_phone_needs_no_sideways_scrolling(opened, name):
    page = opened(written(name)[0], width=390, height=844, phone=True)
    assert page.run("document.documentElement.scrollWidth") <= 390
    assert page.run("Math.min(...[...document.querySelectorAll('.slider input')].map((each) => each.clientWidth))") > 90
    assert page.run("document.documentElement.scrollHeight") < 8000


def test_dark_and_light_differ_and_can_be_read(opened):
    def contrast(page) -> float:
        style = "getComputedStyle(document.body)"
        tones = []
        for colour in (page.run(f"{style}.color"), page.run(f"{style}.backgroundColor")):
            parts = [int(each) / 255 for each in colour.removeprefix("rgb(").rstrip(")").split(",")]
            linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
            tones.append(float(np.dot(linear, [0.2126, 0.7152, 0.0722])))
        return (max(tones) + 0.05) / (min(tones) + 0.05)

    pages = {scheme: opened(written("planar2r")[0], scheme=scheme) for scheme in ("light", "dark")}
    grounds = {scheme: page.run("getComputedStyle(document.body).backgroundColor") for scheme, page in pages.items()}
    assert grounds["light"] != grounds["dark"]
    assert all(contrast(page) > 7 for page in pages.values())


def test_it_prints(opened, tmp_path):
    page = opened(written("planar2r")[0])
    page.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    page.call("Emulation.setEmulatedMedia", media="print")
    hidden = "['nav', '.sliders', '.buttons'].map((each) => getComputedStyle(document.querySelector(each)).display)"
    assert page.run(hidden) == ["none"] * 3
    assert page.run("getComputedStyle(document.getElementById('arm')).display") != "none"


def test_nothing_is_cut_off_on_paper(opened):
    page = opened(written("ur5")[0], width=718, height=1000)  # A4 between its margins
    page.call("Emulation.setEmulatedMedia", media="print")
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("[...document.querySelectorAll('details')].every((each) => each.open)")
    assert page.run("document.documentElement.scrollWidth") <= 718


def test_a_page_without_tables_says_so_and_moves(opened):
    data, report = report_page(compiled("planar2r"), max_table_bytes=100)
    assert not report.live
    page = opened(data)
    assert page.run("document.documentElement.className") == "script ready"
    assert page.run("bddtorque.plan") is None
    assert "too large for a page" in page.run("document.getElementById('live').textContent")
    page.run("document.getElementById('set-random').click()")
    assert page.run("document.getElementById('out1-word').textContent") == "–"
    assert page.run("document.getElementById('out1-true').textContent") != ""


def test_without_scripts_the_page_stands_still_and_says_so(opened):
    page = opened(written("planar2r")[0], script=False)
    assert page.run("getComputedStyle(document.querySelector('.sliders')).display") == "none"
    assert "Without scripts" in page.run("document.querySelector('noscript').innerText")
    assert page.run("document.getElementById('out1-word').getBoundingClientRect().height") > 0
    assert page.run("document.querySelectorAll('#arm-shapes > *').length") > 8


def test_steps_beyond_53_bits_are_exact(opened):
    """A plan made by hand whose sums and products need up to 62 bits, by every method that can."""
    limb = ProductBlock((8, 8), signed=False, shift=0, low=0, high=255 * 255)
    big, unit = 2**61, Fraction(1)
    wires = (
        Input("q1", 32, wraps=True),
        Input("qd1", 30, wraps=False),
        AngleSum("a", 32, ((0, 2**22 + 1, 2),), 5),
        Product("p", 0, 1, 0, "partial", 0, 8, -big, big),
        Product("l", 0, 1, 0, "partial", 0, 8, -big, big),
        Product("r", 0, 1, 20, "partial", 0, 8, -(2**41), 2**41),
        Input("qdd1", 20, wraps=False),
        Product("n", 6, 6, 1, "partial", 0, 8, 0, 2**37),
        Product("m", 0, 6, 3, "partial", 0, 8, -(2**47), 2**47),
        Sum("s", ((3, 1), (4, -3), (1, 2**29 + 1), (2, 7)), 2**58 + 1, 3, -(2**60), 2**60, unit),
        Sum("t", ((9, 1), (5, 1)), -1, 0, -(2**61), 2**61, unit),
    )
    outputs = (
        Output("tau1", ((9, 1), (2, 1)), 3, Fraction(0), 40, -(2**31), 2**31 - 1, unit),
        Output("tau2", ((10, 1),), 0, Fraction(0), 31, -(2**31), 2**31 - 1, unit),
        Output("tau3", ((5, 1), (2, 1)), 0, Fraction(0), 12, -(2**31), 2**31 - 1, unit),
        Output("tau4", ((7, 1), (8, -1)), 0, Fraction(0), 17, -(2**31), 2**31 - 1, unit),
    )
    plan = Plan(wires, (limb,), outputs, "terms", "tables", 16)
    table = tabulate(limb)[0]
    places = {"q1": 0, "qd1": 1, "qdd1": 2}
    data = plan_data(plan, [table], places)
    assert [wire[1] for wire in data["wires"] if wire[0] != "input"] == [1, 1, 1, 1, 0, 0, 1, 1]
    rng = np.random.default_rng(1)
    ends = [[-(2**31), 2**31 - 1, -1, 0, 1], [-(2**29), 2**29 - 1, -1, 0, 1]]
    corners = [[x, y, z] for x in ends[0] for y in ends[1] for z in (-(2**19), 2**19 - 1, 0)]
    states = np.array(corners + rng.integers(-(2**29), 2**29, (200, 3)).tolist())
    inputs = dict(zip(("q1", "qd1", "qdd1"), states.T, strict=True))
    wanted = np.stack(run_plan(plan, [table], inputs), axis=1)
    page = opened(written("planar2r")[0])
    words = json.dumps(table.values.tolist())
    found = page.run(
        f"(() => {{ const table = {{ widths: [8, 8], words: Int32Array.from({words}) }};"
        f" const plan = new bddtorque.Plan({json.dumps(data)}, [table]);"
        f" return {json.dumps(states.tolist())}.map((state) => plan.outputWords(state)); }})()"
    )
    assert found == wanted.tolist()
