"""Sweeps as a library: states, figures, workers."""

from dataclasses import replace

import numpy as np
import pytest
from compiled import values_of

import bddtorque as bt
from bddtorque.sweeps import sweep
from bddtorque.sweeps.figures import PERCENTILES, to_csv
from bddtorque.sweeps.measuring import BINS, joined, measure_subject, percentile, subject_of
from bddtorque.sweeps.states import BATCH, Batch, batches, quantise, special_words, states_of
from bddtorque.sweeps.sweep_pictures import bits_figure, error_figure
from bddtorque.words.formats import Format


def all_errors(model, states, seed):
    """The error of the tables on every random state, the plain way."""
    parts = []
    for batch in batches(states, 0):
        words = quantise(model.formats, states_of(batch, model.formats, seed))
        truth = bt.inverse_dynamics(model.robot, *values_of(model, words))
        parts.append((model.formats.tau.dequantise(model.torque_words(*words)) - truth) / model.formats.tau.lsb)
    return np.abs(np.concatenate(parts))


def test_figures_are_those_of_the_plain_computation(model):
    found = sweep(model, 40_000, seed=5)
    errors = all_errors(model, 40_000, 5)
    for j, joint in enumerate(found.outputs):
        assert joint.tables.largest == pytest.approx(errors[:, j].max(), abs=1e-9)
        assert joint.tables.rms == pytest.approx(np.sqrt((errors[:, j] ** 2).mean()), rel=1e-9)
        for share, value in zip(PERCENTILES, joint.tables.percentiles, strict=True):
            exact = np.percentile(errors[:, j], share, method="inverted_cdf")
            assert exact <= value * (1 + 1e-9)
            assert value <= exact * 1.011
        assert sum(joint.picture) == 40_000
        assert joint.found <= joint.proved == model.certificate.bounds[j]
        assert not joint.exceeds
        assert joint.saturated == 0


def test_evaluators_find_the_same(model):
    assert sweep(model, 2_000, evaluator="bits") == sweep(model, 2_000)


def test_seeds_differ_and_repeat(model):
    assert sweep(model, 2_000, seed=1) == sweep(model, 2_000, seed=1)
    assert sweep(model, 2_000, seed=1).outputs != sweep(model, 2_000, seed=2).outputs


@pytest.mark.slow
def test_workers_do_not_matter(model):
    states = 3 * BATCH + 5
    assert sweep(model, states, workers=2) == sweep(model, states, workers=1)


def test_how_batches_are_grouped_does_not_matter(model, monkeypatch):
    monkeypatch.setattr("bddtorque.sweeps.states.BATCH", 500)
    whole = sweep(model, 4_000)
    monkeypatch.setattr("bddtorque.sweeps.running.MAX_TASKS", 2)
    grouped = sweep(model, 4_000)
    assert [joint.found for joint in whole.outputs] == [joint.found for joint in grouped.outputs]
    assert [joint.picture for joint in whole.outputs] == [joint.picture for joint in grouped.outputs]


def test_a_wrong_table_is_found(model):
    """A sweep that cannot fail proves nothing: a wrong word somewhere must show."""
    subject = subject_of(model)
    wrong = replace(subject, run=lambda *words: subject.run(*words) + (words[0] == 3))
    found = measure_subject(wrong, 0, (Batch(False, 0, 1000), Batch(True, 0, 100)))
    assert (found["worst"] > subject.proved).all()
    assert (found["worst_states"][:, :2] == 3).any(axis=1).all()


def test_exceeding_allows_only_for_the_float_truth(model):
    joint = sweep(model, 1_000).outputs[0]
    assert replace(joint, proved=joint.found * 0.999).exceeds
    assert not replace(joint, proved=joint.found - 1e-12).exceeds


def test_saturated_torques_are_compared_at_the_end_of_the_range():
    small = bt.compile("planar2r", bits=5, torque={"shoulder": 60, "elbow": 30}, workers=1)
    found = sweep(small, 5_000)
    assert all(joint.saturated > 100 for joint in found.outputs)
    assert not found.exceeding


@pytest.mark.parametrize("sign", [1, -1])
def test_encoders_may_be_mounted_either_way(sign):
    joints = f'[[joint]]\nname = "elbow"\nsign = {sign}\noffset = 0.7\ntorque = [-70.0, 90.0]\n'
    spec = bt.spec.from_toml(
        f'robot = "planar2r"\nbits = 5\n[ranges]\nvelocity = 1.0\nacceleration = [-1.0, 0.5]\ntorque = 200.0\n{joints}'
    )
    found = sweep(bt.compile(spec, workers=1), 5_000)
    assert not found.exceeding


def test_states_cover_what_the_words_hold(model):
    formats = model.formats
    random = states_of(Batch(False, 0, 20_000), formats, 0)
    corners = states_of(Batch(True, 0, 1_000), formats, 0)
    for kind, drawn, ends in zip(formats.inputs, random, corners, strict=True):
        for j, word in enumerate(kind):
            words = word.quantise(drawn[:, j])
            assert set(words.tolist()) == set(range(word.lowest, word.highest + 1))
            assert word.quantise_counted(drawn[:, j])[1] == 0 or word.kind == "angle"
            assert set(word.quantise(ends[:, j]).tolist()) == set(special_words(word).tolist())
    pure = {tuple(np.concatenate([each[k] for each in corners]).tolist()) for k in range(64)}
    assert len(pure) == 64


def test_special_words():
    assert special_words(Format("angle", 4)).tolist() == [-8, -7, -5, -4, -3, -1, 0, 1, 3, 4, 5, 6, 7]
    assert special_words(Format("range", 2, -1, 1)).tolist() == [-2, -1, 0, 1]


def test_batches():
    assert batches(BATCH + 1, 2) == [Batch(False, 0, BATCH), Batch(False, 1, 1), Batch(True, 0, 2)]


def test_percentiles_of_bins():
    bins = np.zeros(BINS, dtype=np.int64)
    bins[[100, 200]] = 50
    low, high = (2.0 ** (-16 + (place + 1) / 64) for place in (100, 200))
    assert percentile(bins, 0.5, 10.0) == low
    assert percentile(bins, 0.51, 10.0) == high
    assert percentile(bins, 1.0, 0.0001) == 0.0001


def test_joining_keeps_the_worst(model):
    subject = subject_of(model)
    both = joined([measure_subject(subject, 0, (part,)) for part in batches(500, 100)])
    at_once = measure_subject(subject, 0, tuple(batches(500, 100)))
    assert all(np.array_equal(both[key], at_once[key]) for key in both)


@pytest.mark.parametrize(("states", "seed"), [(0, 0), (1.5, 0), (10, -1), (True, 0)])
def test_bad_numbers_are_refused(model, states, seed):
    with pytest.raises(bt.BddTorqueError, match="must be an integer of at least"):
        sweep(model, states, seed)


def test_csv_and_plain_data_agree(model):
    found = sweep(model, 1_000)
    plain = found.to_plain()
    lines = to_csv([found]).splitlines()
    assert len(lines) == 1 + 3 * len(found.outputs)
    assert repr(plain["outputs"][0]["tables"]["units"]["max"]) in lines[1]
    assert plain["outputs"][1]["inputs"]["si"]["rms"] == found.outputs[1].inputs.rms * found.outputs[1].lsb


def test_pictures_show_what_is_proved(model):
    found = sweep(model, 1_000)
    figure = error_figure(found)
    assert len(figure.axes) == len(found.outputs) + 1
    for axes, joint in zip(figure.axes, found.outputs, strict=False):
        assert joint.proved in [line.get_xdata()[0] for line in axes.lines]
    wider = replace(found, outputs=tuple(replace(joint, bits=7) for joint in found.outputs))
    figure = bits_figure([wider, found])
    assert figure.axes[0].lines[0].get_xdata().tolist() == [6, 7]
    many = replace(found, outputs=found.outputs * 3)
    assert len(error_figure(many).axes) == 7
