"""The pieces of a report by themselves: packed tables, pictures, what targets and forms cost."""

import base64
import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from diagrams import build
from hypothesis import given, settings
from hypothesis import strategies as st
from report_pages import compiled, read, written

import bddtorque as bt
from bddtorque.plan.table import Table
from bddtorque.report.arm_picture import (
    HALF_HEIGHT,
    HALF_WIDTH,
    LETTER,
    LINE,
    LINK,
    ROOM,
    arm_picture,
    clearance,
    placed_joints,
    view_of,
)
from bddtorque.report.diagram_picture import drawable_part, layout
from bddtorque.report.live_section import map_axes, slider_ends
from bddtorque.report.markup import Markup, element, json_script, number, table
from bddtorque.report.plan_picture import MAX_WIRES, plan_picture
from bddtorque.report.script_data import pack
from bddtorque.robots.library import builtin_names
from bddtorque.words.formats import Format


def unpack(packed: dict) -> np.ndarray:
    """Return the words again, as the script of the page does."""
    data = zlib.decompress(base64.b64decode(packed["data"]))
    planes = np.frombuffer(data, dtype=np.uint8).reshape(packed["planes"], packed["rows"])
    folded = sum(planes[k].astype(np.int64) << (8 * k) for k in range(packed["planes"]))
    words = np.asarray((folded >> 1) ^ -(folded & 1))
    for _ in range(packed["differences"]):
        words = np.cumsum(words)
    return words.astype(np.int32).astype(np.int64)


@given(st.data())
def test_packed_tables_come_back(data):
    bits = data.draw(st.integers(1, 7))
    output_bits = data.draw(st.integers(1, 31))
    signed = data.draw(st.booleans())
    low, high = (-(1 << (output_bits - 1)), (1 << (output_bits - 1)) - 1) if signed else (0, (1 << output_bits) - 1)
    values = data.draw(st.lists(st.integers(low, high), min_size=1 << bits, max_size=1 << bits))
    words = Table(np.array(values), (bits,), output_bits, signed)
    packed = pack(words)
    assert unpack(packed).tolist() == values
    assert 1 <= packed["planes"] <= 4
    assert packed["rows"] == len(values)


@pytest.mark.parametrize(
    "function", [lambda x: x * x // 4, lambda x: np.rint(20000 * np.cos(x / 650)), lambda x: 3 * x]
)
def test_smooth_tables_take_little_room(function):
    x = np.arange(-2048, 2048)
    words = Table(np.asarray(function(x)).astype(np.int64), (12,), 24, True)
    assert len(pack(words)["data"]) < 4 / 3 * 0.2 * 2 * len(x)


@given(st.text(), st.text())
def test_no_text_leaves_its_element(text, other):
    page = element("p", text, title=other)
    reader = read(f"<div>{page}</div>".encode("utf-8", "backslashreplace")) if "\x00" not in text + other else None
    if reader is not None and "\r" not in text + other and text.isprintable() and other.isprintable():
        (found,) = reader.root.all("p")
        assert (found.text, found.attributes["title"]) == (text, other)
    assert str(page).count("<") == 2
    assert (
        "<"
        not in str(json_script("data", [text]))[len('<script type="application/json" id="data">') : -len("</script>")]
    )


def test_markup_is_not_escaped_twice():
    inside = element("b", "a & b")
    assert element("p", inside, " < ") == "<p><b>a &amp; b</b> &lt; </p>"
    assert isinstance(inside, Markup)
    assert "<td>1</td>" in table("t", ["a", "b"], [["x", 1]])


@given(st.floats(-1e6, 1e6))
def test_numbers_are_short_and_near(value):
    assert abs(float(number(value)) - value) <= 0.0051
    assert number(value) != "-0"


@given(st.data())
def test_lines_go_from_layer_to_layer_and_nothing_overlaps(data):
    counts = data.draw(st.lists(st.integers(1, 5), min_size=2, max_size=5))
    layers = [[(place, k) for k in range(count)] for place, count in enumerate(counts)]
    nodes = [node for layer in layers for node in layer]
    pairs = [(one, other) for one in nodes for other in nodes if one[0] < other[0]]
    lines = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=20))
    size, passing = 4.0, 1.0
    at, routes, length = layout(layers, lines, size, passing, together=data.draw(st.booleans()))
    assert {node: layer for node, (layer, _) in at.items()} == {node: node[0] for node in nodes}
    for (one, other), route in zip(lines, routes, strict=True):
        assert (route[0], route[-1]) == (at[one], at[other])
        assert [layer for layer, _ in route] == list(range(one[0], other[0] + 1))
    room = {point: passing for route in routes for point in route} | dict.fromkeys(at.values(), size)
    for one, other in pairwise(sorted(room)):
        if one[0] == other[0]:
            assert other[1] - one[1] >= (room[one] + room[other]) / 2 - 1e-9
    assert all(room[each] / 2 - 1e-9 <= each[1] <= length - room[each] / 2 + 1e-9 for each in room)
    assert len(set(at.values())) == len(nodes)


def test_the_arm_stands_where_geometry_puts_it():
    robot = bt.load_robot("planar2r")
    joints, tip = placed_joints(robot, [0.4, -1.1])
    assert np.allclose(joints[1].fixed.translation, [np.cos(0.4), np.sin(0.4), 0])
    assert np.allclose(tip.translation, [np.cos(0.4) + 0.8 * np.cos(-0.7), np.sin(0.4) + 0.8 * np.sin(-0.7), 0])
    right, down, _ = view_of(robot, [0.4, -1.1]).screen(tip.translation)
    assert np.allclose([right, -down], tip.translation[:2])  # seen along its axes, up is up
    quill, _ = placed_joints(bt.load_robot("scara"), [0.0, 0.0, 0.15, 0.0])
    assert np.linalg.norm(quill[2].moved.translation - quill[2].fixed.translation) == pytest.approx(0.15)


def test_costs_stand_by_target_and_no_chip_is_guessed_at():
    model, costs = compiled("planar2r"), read(written("planar2r")[0]).identifiers["costs"]
    (shown,) = costs.all("table")
    targets = shown.all("tbody")[0].all("tr")
    assert [row.all("th")[0].text for row in targets] == ["tables *", "integer", "float"]
    assert f"{sum(table.stored_bytes for table in model.tables) / 1000:,.1f} kB" in targets[0].whole_text
    assert not {"fpga", "uniform", "cycles"} & set(shown.whole_text.split())


def drawn(robot: bt.Robot, q: Sequence[float]) -> tuple[list[tuple[str, float, float]], list[list[float]]]:
    """Return the labels of an arm's picture with their middles, and the ends of its links."""
    picture = read(f"<div>{arm_picture(robot, q, view_of(robot, q))}</div>".encode()).root
    labels = [(each.text, *(float(each.attributes[at]) for at in "xy")) for each in picture.all("text")]
    links = [each for each in picture.all("polyline") if each.attributes["class"] in ("link", "rod")]
    ends = [[float(each) for each in link.attributes["points"].replace(",", " ").split()] for link in links]
    return labels, ends


def test_joints_at_one_place_share_a_label():
    labels, _ = drawn(bt.load_robot("ur5"), [0.3] * 6)
    assert [int(place) for text, _, _ in labels for place in text.split(", ")] == [1, 2, 3, 4, 5, 6]
    assert len(labels) < 6


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_labels_are_in_the_frame_and_hide_neither_links_nor_each_other(data):
    robot = bt.load_robot(data.draw(st.sampled_from(builtin_names())))
    turns = st.floats(-3.0, 3.0)
    labels, links = drawn(
        robot, [data.draw(turns if each.kind.turns else st.floats(0.05, 0.3)) for each in robot.joints]
    )
    lines = [((link[0], link[1]), (link[2], link[3]), LINK) for link in links]
    for text, x, y in labels:
        half = LETTER * len(text)
        assert clearance((x, y), half, lines) > 0
        lines.append(((x - half, y), (x + half, y), LINE))


@pytest.mark.parametrize("name", builtin_names())
def test_an_arm_fills_its_frame_and_stays_clear_of_it(name):
    robot = bt.load_robot(name)
    q = [0.4 if joint.kind.turns else 0.1 for joint in robot.joints]
    _, links = drawn(robot, q)
    right, down = np.abs(np.array(links).reshape(-1, 2)).max(axis=0)
    assert right <= HALF_WIDTH - ROOM + 0.1
    assert down <= HALF_HEIGHT - ROOM + 0.1
    assert right > 0.9 * (HALF_WIDTH - ROOM) or down > 0.75 * (HALF_HEIGHT - ROOM)


@pytest.mark.parametrize(
    ("first", "words", "axes"), [(1, 1, (0, None)), (1, 3, (0, 1)), (2, 6, (0, 1)), (6, 18, (1, 2)), (6, 6, (1, 2))]
)
def test_a_map_begins_over_two_words_that_matter(first, words, axes):
    assert map_axes(first, words) == axes


def test_small_diagrams_are_drawn_whole_and_large_ones_in_part():
    model = compiled("planar2r")
    words = Table(np.arange(16) ^ 5, (4,), 4, False)
    small = build(words)
    assert drawable_part(small)[0] == (3, 2, 1, 0)
    assert len(drawable_part(small)[1]) == small.node_count
    assert not drawable_part(small, most=0)[0]
    section = read(written("planar2r")[0]).identifiers["blocks"]
    pictures = [each for each in section.all("svg") if each.attributes["class"] == "diagram"]
    parts = [drawable_part(diagram) for diagram in model.diagrams]
    shown = [part for part in parts if part[0]]
    assert len(pictures) == len(shown)
    for picture, part in zip(pictures, shown, strict=True):
        assert len(picture.all("circle")) == len(part[1])
    bars = [each for each in section.all("svg") if each.attributes["class"] == "bars"]
    assert len(bars) == len(model.diagrams)
    for bar, diagram in zip(bars, model.diagrams, strict=True):
        assert bar.attributes["aria-label"].endswith(f"nodes by level {', '.join(map(str, diagram.level_widths))}")


def test_edges_of_a_drawn_diagram_are_all_there():
    section = read(written("planar2r")[0]).identifiers["blocks"]
    for picture in (each for each in section.all("svg") if each.attributes["class"] == "diagram"):
        lines = [*picture.all("path"), *picture.all("line")]
        roots = [each for each in picture.all("text") if each.attributes["class"] == "root"]
        assert len(lines) == 2 * len(picture.all("circle")) + len(roots)


def test_a_plan_is_drawn_wire_by_wire_or_in_groups():
    small, large = compiled("planar2r").plan, compiled("ur5").plan
    assert len(small.wires) <= MAX_WIRES < len(large.wires)
    for plan, grouped in ((small, False), (large, True)):
        picture = read(f"<div>{plan_picture(plan)}</div>".encode()).root.all("svg")[0]
        boxes = [each for each in picture.all("g") if each.attributes["class"].startswith("box ")]
        counted = len(plan.wires) + len(plan.outputs)
        assert (len(boxes) < counted / 2) if grouped else (len(boxes) == counted)
        assert sum(each.attributes["class"] == "box output" for each in boxes) == len(plan.outputs)


def test_sliders_end_at_the_limits_of_their_joints():
    limited = Format("angle", 8, -1.0, 2.0)
    ends = slider_ends(limited)
    assert all(-1.0 <= float(limited.dequantise(word)) <= 2.0 for word in ends)
    assert float(limited.dequantise(ends[0] - 1)) < -1.0 and float(limited.dequantise(ends[1] + 1)) > 2.0
    around = Format("angle", 8, 2.0, 4.0)  # beyond half a turn
    first, last = slider_ends(around)
    assert last > around.highest and 2.0 <= first * around.lsb <= last * around.lsb <= 4.0
    assert slider_ends(Format("angle", 8)) == slider_ends(Format("range", 8, 1.0, 2.0)) == (-128, 128)
