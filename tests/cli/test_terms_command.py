"""`terms`: every term of a robot, what a model spends on each, and drawings of their diagrams."""

import json
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from compiled import arm, random_words, values_of
from diagrams import build

import bddtorque as bt
from bddtorque.dynamics.terms import terms_of
from bddtorque.plan.table import Table
from bddtorque.report.term_facts import model_terms, robot_terms
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.sweeps.term_errors import name_of

KINDS = {
    "J11": "inertial",
    "J12": "inertial",
    "J21": "inertial",
    "J22": "inertial",
    "C1_22": "centripetal",
    "C2_11": "centripetal",
    "C1_12": "coriolis",
    "G1": "gravity",
    "G2": "gravity",
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def paper_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("terms") / "paper.bdt"
    arm(4, accuracy="paper").save(path)
    return path


def test_terms_of_a_robot(run):
    terms = json.loads(run("terms", "planar2r", "--bits", "5", "--json").out)["terms"]
    assert {term["name"]: term["kind"] for term in terms} == KINDS
    inputs = {term["name"]: term["inputs"] for term in terms}
    assert inputs["C1_12"] == {"q2": 5, "qd1": 5, "qd2": 5}
    assert inputs["J22"] == {"qdd2": 5}
    assert inputs["G1"] == {"q1": 5, "q2": 5}
    shown = run("terms", "planar2r", "--bits", "5").out
    assert all(name in shown for name in (*KINDS, "Coriolis", "q2:5, qd1:5, qd2:5", "N·m"))
    assert "q2:7" in run("terms", "planar2r", "--bits", "5", "--accuracy", "paper").out  # W = r + m


@pytest.mark.parametrize("robot", ["planar2r", "scara", "stanford"])
def test_every_value_of_a_term_is_within_its_range(robot):
    spec, arm_itself, _ = spec_and_robot(robot, {"bits": 4})
    resolved = spec.resolve(arm_itself)
    source = SimpleNamespace(formats=resolved.formats(arm_itself))
    q, qd, qdd = values_of(source, random_words(source, 300))
    motion = {f"qd{j + 1}": qd[:, j] for j in range(qd.shape[1])} | {
        f"qdd{j + 1}": qdd[:, j] for j in range(qd.shape[1])
    }
    found = {(term.torque, term.name): term for term in robot_terms(arm_itself, source.formats)}
    for term in terms_of(arm_itself).terms:
        for torque, names in term.summands():
            value = term.expansion(q) * np.prod([motion[name] for name in names], axis=0)
            told = found.pop((torque, name_of(torque, names)))
            slack = 1e-9 * max(abs(told.low), abs(told.high))
            assert told.low - slack <= value.min() <= value.max() <= told.high + slack
            assert np.abs(value).max() > 0.1 * max(abs(told.low), abs(told.high))  # a bound, and not any
    assert not found


def test_terms_of_a_model(run, paper_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")  # so that headings stay on one line
    model = bt.load(paper_file)
    terms = json.loads(run("terms", paper_file, "--json").out)["terms"]
    assert {term["name"]: term["kind"] for term in terms} == KINDS
    assert sum(len(term["blocks"]) for term in terms) == 10  # the paper's ten tables: shoulder gravity has two
    for torque, proved in enumerate(model.certificate.outputs, 1):
        errors = sum(term["error"] for term in terms if term["torque"] == torque)
        parts = proved.parts
        assert errors >= parts.tables + parts.products + parts.sums
        assert errors + 0.5 == pytest.approx(proved.bound, rel=0.05)
    coriolis = next(term for term in terms if term["name"] == "C1_12")
    (block,) = coriolis["blocks"]
    assert (block["rows"], block["levels"], block["input_bits"]) == (1 << 18, 18, [6, 6, 6])
    values = model.tables[block["block"]].values * model.formats.tau[0].lsb / 4
    assert (coriolis["low"], coriolis["high"]) == (values.min(), values.max())
    shown = run("terms", paper_file).out
    assert all(word in shown for word in ("nodes per output bit", "levels", "262,144", "b4 b5"))


def test_nodes_of_each_output_bit_are_those_of_its_own_diagram():
    model = arm(4, accuracy="paper")
    for table, diagram in zip(model.tables, model.diagrams, strict=True):
        for bit, nodes in enumerate(diagram.bit_nodes):
            alone = Table((table.values >> bit) & 1, table.input_widths, 1, False)
            assert build(alone, diagram.order).node_count == nodes


def test_terms_that_are_always_0_are_named(run, tmp_path, paper_file):
    model = arm(2, accuracy="paper", input_bits=4)  # a unit of a term is 25 N·m
    terms = model_terms(model, "")
    zero = {term.name for term in terms if not any(model.tables[each.block].values.any() for each in term.blocks)}
    assert {"C1_22", "J12"} <= zero
    path = tmp_path / "arm.bdt"
    model.save(path)
    last = run("terms", path).out.splitlines()[-1]
    said, names = last.split(": ")
    assert said == "always 0, since the term never reaches half a unit of its word"
    assert set(names.split(", ")) == zero
    assert "always 0" not in run("terms", paper_file).out


def test_cascades_count_with_all_their_tables():
    model = arm(6, block_bits=12)
    terms = {term.name: term for term in model_terms(model, "")}
    read = {block.block for term in terms.values() for block in term.blocks}
    assert read == set(range(len(model.plan.blocks)))
    assert terms["J22"].blocks == ()  # an input word times a constant


def test_a_term_is_drawn(run, paper_file, tmp_path):
    model, path = bt.load(paper_file), tmp_path / "g2.svg"
    ran = run("terms", paper_file, "--term", "G2", "--svg", path, "--bit", "3")
    assert f"written: {path}" in " ".join(ran.out.split())
    drawn = ElementTree.parse(path)
    assert len(list(drawn.iter(f"{SVG}circle"))) == model.diagrams[9].bit_nodes[3]
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert texts[0] == "G2, table b9: bit 3"
    assert "(q1+q2).5" in texts
    run("terms", paper_file, "--term", "G2", "--svg", path)
    assert len(list(ElementTree.parse(path).iter(f"{SVG}circle"))) == model.diagrams[9].node_count
    assert "var(" not in path.read_text()  # not every program that shows SVG knows them


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["planar2r", "--term", "heavy"], "is not among the 9 terms of planar2r; leave out --term to list them"),
        (["planar2r", "--term", "J13"], "is not among the 9 terms of planar2r; did you mean 'J21'"),
        (["planar2r", "--term", "J11", "--svg", "x.svg"], "compile the robot first"),
        (["MODEL", "--svg", "x.svg"], "say which with --term"),
        (["MODEL", "--term", "G2", "--bit", "2"], "give --svg FILE too"),
        (["MODEL", "--term", "G2", "--svg", "x.svg", "--bit", "6"], "--bit must be between 0 and 5, got 6"),
        (["MODEL", "--term", "C1_12", "--svg", "x.svg", "--bit", "1"], "needs 499 nodes, and at most 400 are drawn"),
        (["MODEL", "--bits", "4"], "--bits can only be given with a specification, and "),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_line(refused, paper_file, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused("terms", *(str(paper_file) if word == "MODEL" else word for word in arguments))
    assert not list(tmp_path.iterdir())


def test_a_model_without_terms_is_refused(refused, tmp_path):
    path = tmp_path / "arm.bdt"
    arm(4, source="recursive").save(path)
    assert "'planar2r' was not compiled from separate terms: compile it with source" in refused("terms", path)
