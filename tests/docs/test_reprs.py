"""Models, certificates and plans as a prompt and a notebook show them: short, complete, and well-formed."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from compiled import arm

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.shown_text import html_table
from bddtorque.spec import from_toml


@pytest.fixture(scope="module")
def model():
    return arm(6, workers=1)


def parsed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_reprs_are_one_short_line(model):
    for each in (model, model.certificate, model.plan, model.diagrams[0], model.tables[0]):
        assert repr(each).startswith("<bddtorque ")
        assert "\n" not in repr(each) and len(repr(each)) < 150
    assert f"shoulder {model.certificate.bounds[0]:.3f}" in repr(model.certificate)
    assert f"{len(model.tables)} blocks" in repr(model.plan)


def test_notebooks_show_tables(model):
    for each in (model, model.certificate, model.plan):
        assert parsed(each._repr_html_()).find("table") is not None


def test_a_model_shows_every_joint_with_its_bound(model):
    rows = [[cell.text for cell in row] for row in parsed(model._repr_html_()).findall("table/tbody/tr")]
    assert [row[0] for row in rows] == ["shoulder", "elbow"]
    assert [row[5] for row in rows] == [f"{bound:.4f}" for bound in model.certificate.bounds]


def test_a_certificate_says_what_is_not_faithful(model):
    torque = model.certificate.torques[0]
    worse = replace(torque, parts=replace(torque.parts, tables=0.9))
    certificate = replace(model.certificate, outputs=(worse, *model.certificate.torques[1:]))
    assert "NOT faithful" in repr(certificate)
    faithful = parsed(certificate._repr_html_()).findall("table/tbody/tr")[-1]
    assert [cell.text for cell in faithful] == ["faithful", "NO", "yes"]


def test_print_shows_every_joint(model):
    for each in (model.robot, model.formats.qd):
        _, head, *rows = str(each).splitlines()
        assert [row.split()[0] for row in rows] == ["shoulder", "elbow"]
        assert len({len(row) for row in (head, *rows)}) == 1, "columns are aligned"
    rows = [row.split()[:2] for row in str(model.formats).splitlines()[2:]]
    assert rows == [[array, joint] for array in ("q", "qd", "qdd", "tau") for joint in ("shoulder", "elbow")]
    assert f"{model.formats.qd['elbow'].lsb:.6g} rad/s" in str(model.formats)
    assert "9.81" in str(model.robot).splitlines()[0]
    assert "payload 2 kg" in str(model.robot.with_payload(2.0))
    assert from_toml(str(model.spec)) == model.spec


def test_formats_are_found_by_the_name_of_their_joint(model):
    for formats in (*model.formats.inputs, model.formats.tau):
        assert formats["elbow"] is formats[1]
    with pytest.raises(BddTorqueError, match=r"^unknown word of q 'elbo'; did you mean 'elbow'\?$"):
        model.formats.q["elbo"]


def test_names_from_files_cannot_write_html():
    html = html_table("<b>", ["", "<i>"], [("a&b", "<script>")], ["<p>"])
    assert "<script>" not in html and "<i>" not in html
    assert [cell.text for cell in parsed(html).findall("table/tbody/tr/")] == ["a&b", "<script>"]


def test_a_certificate_shows_names_of_joints_in_full(model):
    torques = [replace(torque, name=f"a_rather_long_name_{k}") for k, torque in enumerate(model.certificate.torques)]
    lines = str(replace(model.certificate, outputs=tuple(torques))).splitlines()
    assert lines[2].split() == ["a_rather_long_name_0", "a_rather_long_name_1"]
    assert {len(line) for line in lines[2:13]} == {len(lines[2])}  # one column a joint, aligned
