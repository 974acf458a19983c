"""Several models beside each other: size, speed, CSV and pictures."""

import csv
from dataclasses import replace

import pytest

import bddtorque as bt
from bddtorque.model.model import to_bytes
from bddtorque.sweeps import sweep
from bddtorque.sweeps.figures import compared_output, to_csv
from bddtorque.sweeps.sweep_pictures import bits_figure, figure_of, models_figure


@pytest.fixture(scope="module")
def found(model):
    return sweep(model, 1_000, cost=True, terms=True)


def widened(found, bits):
    return replace(found, outputs=tuple(replace(joint, bits=bits) for joint in found.outputs))


def test_sizes_are_those_of_the_file(model, found):
    cost = found.cost
    assert cost.file_bytes == len(to_bytes(model))
    assert cost.table_bytes == sum(table.stored_bytes for table in model.tables)
    assert cost.nodes == model.summary()["nodes"]
    assert cost.form == model.evaluator().form
    assert cost.ns_per_state > 0
    assert cost.ratio == cost.ns_per_state / cost.float_ns_per_state
    assert found.to_plain()["cost"]["file_bytes"] == cost.file_bytes


def test_times_do_not_make_sweeps_differ(model, found):
    assert replace(found, cost=None) == found
    assert sweep(model, 1_000, cost=False, terms=True) == found
    assert sweep(model, 1_000).cost is None


def test_csv_has_terms_and_costs(found):
    rows = list(csv.DictReader(to_csv([found]).splitlines()))
    terms = [row for row in rows if row["error"].startswith("term ")]
    assert [row["error"] for row in terms if row["output"] == "elbow"] == [
        f"term {name}" for name in ("J21", "J22", "C2_11", "G2", "roundings")
    ]
    first, joint = found.terms[0], found.outputs[0]
    assert float(terms[0]["max_units"]) == first.largest
    assert float(terms[0]["rms_si"]) == first.rms * joint.lsb
    assert {row["file_bytes"] for row in rows} == {str(found.cost.file_bytes)}
    assert float(rows[0]["search_max_units"]) == joint.search_largest > 0
    assert found.to_plain()["terms"][0] == first.to_plain()


def test_word_lengths_of_one_model_are_compared_by_one_output(found):
    wider, other = widened(found, 7), replace(found, name="other")
    assert found.outputs[compared_output([found, wider])].output == "shoulder"
    # one that errs more in one sweep stands for all of them
    first, second = wider.outputs
    assert compared_output([found, replace(wider, outputs=(first, replace(second, lsb=2 * first.lsb)))]) == 1
    for sweeps in ([found, found], [found, other], [found, widened(other, 7)],
                   [found, replace(wider, outputs=wider.outputs[:1])]):  # fmt: skip
        assert compared_output(sweeps) is None


def test_the_picture_of_word_lengths_has_size_and_speed(found):
    wider = replace(widened(found, 7), cost=replace(found.cost, file_bytes=5_000_000, ns_per_state=1e6))
    figure = figure_of([wider, found])
    plain = bits_figure([replace(wider, cost=None), found])
    assert len(figure.axes) == len(plain.axes) + 2 == 3
    errors, sizes, speeds = figure.axes
    shown = [line.get_ydata().tolist() for line in errors.lines]
    for own in zip(found.outputs, wider.outputs, strict=True):
        assert [output.proved * output.lsb for output in own] in shown
    assert len(shown) == len(found.outputs) + 1
    assert sizes.lines[0].get_xdata().tolist() == [6, 7]
    assert sizes.lines[0].get_ydata().tolist() == [found.cost.file_bytes / 1000, 5_000]
    assert speeds.lines[0].get_ydata().tolist() == [found.cost.ratio, 1e6 / found.cost.float_ns_per_state]


def test_the_picture_of_any_models_has_a_panel_each(found):
    other = replace(found, name="other", outputs=found.outputs * 3, cost=None)
    figure = models_figure([found, other])
    bars = [sorted(patch.get_height() for patch in axes.patches) for axes in figure.axes]
    assert bars[0] == sorted([joint.found for joint in found.outputs] + [joint.tables.rms for joint in found.outputs])
    assert len(bars[1]) == 12
    assert [axes.get_title().splitlines()[0] for axes in figure.axes] == ["planar2r, 6 bits", "other, 6 bits"]
    assert len(figure_of([found, other, other, other, other]).axes) == 6


def test_the_bits_evaluator_is_refused_an_unknown_name(model):
    with pytest.raises(bt.BddTorqueError, match="evaluator must be 'bits', 'words' or 'parallel', got 'letters'"):
        sweep(model, 10, evaluator="letters")
