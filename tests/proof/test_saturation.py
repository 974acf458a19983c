"""Torques that leave the range of their words: proved not to, shown by a state that does, or left open."""

import numpy as np
import pytest
from compiled import arm, found_errors, some_words

import bddtorque as bt
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.proof.proved_bound import Parts, ProvedBound

NEEDED = (152.5383, 69.1211)
"""N·m; the largest torques of planar2r (F36, F37)."""


def true_units(model, q, qd, qdd):
    words = [np.array([each]) for each in (q, qd, qdd)]
    states = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    tau = bt.inverse_dynamics(model.robot, *states)[0]
    return [(word.sign * t - word.centre) / word.lsb for t, word in zip(tau, model.formats.tau, strict=True)]


def test_a_range_wide_enough_cannot_saturate():
    model = arm(6, workers=1)
    for torque, needed in zip(model.certificate.torques, NEEDED, strict=True):
        assert torque.saturation == "cannot" and torque.witness is None
        assert torque.low <= -0.97 * needed and torque.high >= 0.97 * needed  # sound: the words stop just short of it
        assert torque.high < 1.3 * needed
    words = some_words(model, 200_000)
    tau = model.formats.tau.dequantise(model.torque_words(*words))
    for j, torque in enumerate(model.certificate.torques):
        assert torque.low <= tau[:, j].min() and tau[:, j].max() <= torque.high
    assert "cannot saturate (proved" in str(model.certificate)


SMALL, LEAST, UNEVEN = (
    [[-100.0, 100.0], [-60.0, 60.0]],
    [[-148.0, 148.0], [-66.0, 66.0]],
    [[-100.0, 300.0], [-300.0, 50.0]],
)


@pytest.mark.parametrize(
    ("torque", "accuracy"),
    [
        *((torque, "faithful") for torque in (SMALL, LEAST, UNEVEN)),
        *((LEAST, accuracy) for accuracy in ("paper", 2.0)),
        *(
            pytest.param(each, other, marks=pytest.mark.everything)
            for each in (SMALL, UNEVEN)
            for other in ("paper", 2.0)
        ),
    ],
)
def test_a_range_too_small_is_shown_to_saturate(accuracy, torque):
    model = arm_with(torque=torque, bits=6, accuracy=accuracy)
    for j, bound in enumerate(model.certificate.torques):
        assert bound.saturation == "can"
        word, units = model.formats.tau[j], true_units(model, *bound.witness)[j]
        assert units > word.highest or units < word.lowest  # in truth, not only as compiled
        compiled = model.torque_words(*bound.witness)[j]
        assert compiled == (word.highest if units > 0 else word.lowest)
        assert bound.high - bound.low < 2.6 * NEEDED[j]  # the range that would do
    assert "CAN saturate" in str(model.certificate)


def arm_with(torque, **options):
    return bt.compile("planar2r", torque=torque, workers=1, **options)


def test_the_bound_holds_against_the_clamped_truth():
    model = arm_with(torque={"shoulder": 60.0, "elbow": 30.0}, bits=6)
    words = some_words(model, 200_000)
    tau = model.torque_words(*words)
    assert tau.min() == -32 and tau.max() == 31
    assert (found_errors(model, words, tau) <= model.certificate.bounds).all()
    assert model.certificate.faithful


def test_the_range_that_would_do_does():
    small = arm_with(torque={"shoulder": 100.0, "elbow": 60.0}, bits=6)
    enough = [[bound.low, bound.high * (1 + 2**-5)] for bound in small.certificate.torques]
    model = arm_with(torque=enough, bits=6)
    assert [bound.saturation for bound in model.certificate.torques] == ["cannot", "cannot"]


def test_a_range_between_need_and_proof_is_left_open():
    # 152.54 N·m are needed at 10 bits; the proof, which adds up terms, reaches further
    model = bt.compile("planar2r", torque={"shoulder": 156.0, "elbow": 100.0}, bits=5, input_bits=5, workers=1)
    first = model.certificate.torques[0]
    assert first.saturation == "not excluded" and first.witness is None
    assert "not excluded" in str(model.certificate)


@pytest.mark.parametrize(("torque", "verdict"), [(155.0, "cannot"), (152.6, "not excluded"), (152.0, "can")])
def test_boxes_of_positions_exclude_what_the_sum_of_ranges_does_not(torque, verdict):
    """The recursion of planar2r needs 152.54 N·m; close to that nothing is claimed that others might not show."""
    model = bt.compile("planar2r", torque={"shoulder": torque, "elbow": 100.0}, bits=12, target="float", workers=1)
    first = model.certificate.torques[0]
    assert first.saturation == verdict
    assert (first.high <= torque + first.bound_si) == (verdict == "cannot")
    assert all(each.passed for each in bt.verify(model))
    assert all(each.passed for each in check_bytes(to_bytes(model)))


@pytest.mark.parametrize("name", ["scara", "planar3r_b"])
@pytest.mark.parametrize("target", ["float", pytest.param("integer", marks=pytest.mark.everything)])
def test_short_words_are_decided_too(name, target):
    """Two units of a word of 4 bits are an eighth of its range: only what a sum can be off by may count."""
    model = bt.compile(name, bits=4, target=target, workers=1)
    assert {each.saturation for each in model.certificate.torques} == {"cannot"}
    assert all(each.passed for each in check_bytes(to_bytes(model)))


def test_a_witness_is_found_in_long_words():
    """Steps of 64 words lead nowhere among 2^20: these two joints were left open."""
    torque = {"shoulder": [-140.16, 140.59], "wrist bend": [-3.68, 3.71]}
    model = bt.compile("stanford", bits=20, target="float", torque=torque, workers=1)
    verdicts = {each.name: each.saturation for each in model.certificate.torques}
    assert verdicts == {name: "can" if name in torque else "cannot" for name in model.robot.joint_names}


def test_a_witness_reads_well():
    parts = Parts(0.0, 0.0, 0.1, 0.0, 0.0, 0.5, 0.0)
    bound = ProvedBound("elbow", "N·m", 0.5, parts, -3.0, 4.0, "can", ((1, 2), (3, 4), (5, 6)))
    shown = str(bt.Certificate((bound,)))
    assert (
        "elbow: CAN saturate (witness words ((1, 2), (3, 4), (5, 6))); a range of -3 to 4 N·m would be wide enough"
        in shown
    )
