"""Contents of a page, read with Python's own parser; nothing of it needs a browser."""

import base64
import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from compiled import rubbing_arm
from report_pages import HOSTILE, SECTIONS, VOID, compiled, data_of, hostile_model, read, written

import bddtorque as bt
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.report.report import report_page
from bddtorque.robots.parts import Joint, Link
from bddtorque.robots.robot import Robot


@pytest.mark.parametrize("name", ["planar2r", "planar2r recursive", "scara", "ur5"])
def test_structure(name):
    model = compiled(name)
    reader = read(written(name)[0])
    root = reader.root
    assert root.all("h1")[0].text == model.robot.name
    assert root.all("html")[0].attributes["lang"] == "en"
    assert [each.attributes["id"] for each in root.all("section")] == SECTIONS
    assert [each.attributes["href"] for each in root.all("nav")[0].all("a")] == [f"#{each}" for each in SECTIONS]
    assert model.digest in reader.identifiers["file"].whole_text
    assert bt.__version__ in reader.identifiers["file"].whole_text
    for section in SECTIONS[1:]:  # what few people look for is folded away
        inside = reader.identifiers[section]
        folded = [table for each in inside.all("details") for table in each.all("table")]
        assert [each for each in inside.all("table") if each not in folded] == inside.all("table")[: section == "costs"]
    n = model.robot.degrees_of_freedom
    sliders = [each for each in root.all("input") if each.attributes["type"] == "range"]
    assert len(sliders) == 3 * n
    labels = {each.attributes["for"] for each in root.all("label") if "for" in each.attributes}
    assert labels == {each.attributes["id"] for each in sliders}
    for image in root.all("img"):
        assert image.attributes["alt"]
    for picture in root.all("svg"):
        assert picture.attributes.get("aria-label") or picture.attributes.get("aria-hidden") == "true"
    for found in root.all("table"):
        assert found.all("caption")[0].text
        assert found.all("th")


def test_every_link_leads_to_something_in_the_page():
    reader = read(written("planar2r")[0])
    for link in reader.root.all("a"):
        assert link.attributes["href"].removeprefix("#") in reader.identifiers


@pytest.mark.parametrize("name", ["planar2r", "ur5"])
def test_nothing_is_fetched(name):
    page = written(name)[0].decode()
    assert not re.search(r"https?://|//cdn|@import|url\((?!#)", page.replace(compiled(name).robot.source, ""))
    reader = read(page.encode())
    for kind in ("src", "href", "xlink:href", "srcset", "action", "data", "poster"):
        for each in every(reader.root):
            value = each.attributes.get(kind)
            assert value is None or value.startswith(("#", "data:image/png;base64,")) or value == "data:,", each
    assert not {each.name for each in every(reader.root)} & {"iframe", "object", "embed", "form", "base"}


def test_the_policy_allows_this_script_and_style_alone():
    reader = read(written("planar2r")[0])
    (policy,) = (
        each.attributes["content"]
        for each in reader.root.all("meta")
        if each.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; img-src data:; ")
    scripts = [each.text for each in reader.root.all("script") if "type" not in each.attributes]
    styles = [each.text for each in reader.root.all("style")]
    for kind, texts in (("script", scripts), ("style", styles)):
        (text,) = texts
        assert f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert not any(name.startswith("on") or name == "style" for each in every(reader.root) for name in each.attributes)


def test_the_certificate_is_all_there():
    model = compiled("planar2r")
    text = read(written("planar2r")[0]).identifiers["proved"].whole_text
    for torque in model.certificate.torques:
        assert f"{torque.bound:.4f}" in text
        assert f"{torque.bound_si:.4g} {torque.unit}" in text
        assert f"{torque.parts.tables:.3g}" in text
    assert "not excluded" in text or "cannot" in text or "CAN" in text


def test_a_torque_that_can_saturate_shows_the_state():
    model = bt.compile("planar2r", bits=4, torque={"shoulder": 20.0, "elbow": 100.0}, workers=1)
    (torque,) = (each for each in model.certificate.torques if each.saturation == "can")
    text = read(report_page(model)[0]).identifiers["proved"].whole_text
    assert "CAN: see below" in text
    assert f"{torque.joint}: q {list(torque.witness[0])}" in text


def test_a_bound_above_one_unit_is_called_what_it_is():
    model = compiled("planar2r paper")
    assert not model.certificate.faithful
    assert "NOT less than one" in read(written("planar2r paper")[0]).root.all("header")[0].whole_text


def test_torques_of_the_first_state_stand_there_without_any_script():
    model = compiled("scara")
    reader = read(written("scara")[0])
    start = list(np.array(data_of(written("scara")[0])["start"]).reshape(3, -1))
    words = model.torque_words(*start)
    assert [int(reader.identifiers[f"out{j + 1}-word"].text.replace("−", "-")) for j in range(4)] == words.tolist()
    values = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, start, strict=True)]
    true = bt.inverse_dynamics(model.robot, *values)
    shown = [float(reader.identifiers[f"out{j + 1}-true"].text.replace("−", "-")) for j in range(4)]
    assert np.allclose(shown, true, rtol=1e-5)
    assert len(reader.identifiers["arm-shapes"].children) > 12


def test_the_same_model_gives_the_same_page():
    model = compiled("planar2r")
    again = from_bytes(to_bytes(model))
    assert report_page(again)[0] == written("planar2r")[0]


def test_names_are_escaped_everywhere():
    page, _ = report_page(hostile_model())
    text = page.decode()
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "<img src=x" not in text
    assert "<b>" not in text.replace("<b>0", "")
    reader = read(page)
    assert reader.root.all("h1")[0].text == HOSTILE
    assert reader.root.all("title")[0].text.startswith(HOSTILE)
    names = [label.children[0].text for label in reader.root.all("label") if "for" in label.attributes]
    assert names == [f"{HOSTILE}0", f"{HOSTILE}1"] * 3


def test_half_a_pair_in_a_name_is_no_reason_to_fail():
    robot = replace(bt.load_robot("planar2r"), name="half \ud800", source="\udfff")
    page, _ = report_page(bt.compile(robot, bits=3, workers=1))
    assert read(page).root.all("h1")[0].text == "half \\ud800"


def test_tables_that_are_too_large_are_left_out_and_that_is_said():
    page, report = report_page(compiled("planar2r"), max_table_bytes=1000)
    assert (report.live, report.table_bytes) == (False, 0)
    reader = read(page)
    said = reader.identifiers["live"].whole_text
    assert "too large for a page" in said
    assert "the limit is 1000 B" in said
    assert data_of(page)["plan"] is None
    assert data_of(page)["tables"] == []
    assert reader.identifiers["out1-word"].text == "–"


@pytest.mark.parametrize("gravity", [(0.0, -9.81, 0.0), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_arms_of_one_joint_with_hardly_a_table(kind, gravity):
    joint = Joint("only", kind, velocity=1.0, acceleration=1.0, effort=30.0, lower=-1.0, upper=1.0)
    robot = Robot("single", (joint,), (Link("bob", 2.0, (0.5, 0.0, 0.0)),), gravity=gravity)
    model = bt.compile(robot, bits=6, workers=1)
    page, report = report_page(model)
    assert report.live
    sections = [each for each in SECTIONS if each != "blocks" or model.tables]
    assert [each.attributes["id"] for each in read(page).root.all("section")] == sections


def test_a_report_is_of_a_robot(tmp_path):
    with pytest.raises(bt.BddTorqueError, match=r"report needs a Model, .*, got str"):
        bt.write_report("planar2r.bdt", tmp_path / "x.html")


def test_it_is_written_whole_or_not_at_all(tmp_path):
    with pytest.raises(bt.BddTorqueError, match="cannot be written"):
        bt.write_report(compiled("planar2r"), tmp_path / "no" / "page.html")
    path = tmp_path / "page.html"
    report = bt.write_report(compiled("planar2r"), path)
    assert path.read_bytes() == written("planar2r")[0]
    assert report == written("planar2r")[1]
    assert report.bytes == path.stat().st_size
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("make", [lambda: compiled("planar2r"), rubbing_arm])
def test_steps_are_told(make):
    """As many as were announced, whatever a page is made of."""
    steps = {"total": 0.0, "done": 0.0, "over": 0.0}

    class Told:
        def start(self, what, total):
            steps["total"] += total

        def advance(self, name, cost, cached):
            steps["done"] += cost

        def finish(self):
            steps["over"] += 1

    report_page(make(), Told())
    assert steps["done"] == steps["total"] > 0 and steps["over"] == 1


def every(root):
    yield root
    for child in root.children:
        yield from every(child)


def test_the_parser_sees_what_is_wrong():
    with pytest.raises(AssertionError):
        read(b"<p><b></p>")
    with pytest.raises(AssertionError):
        read(b'<p id="a"></p><p id="a"></p>')
    assert "img" in VOID
