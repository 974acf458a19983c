"""What a second reader of the checker found: each of these was taken for proved, or not counted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mutations import taken_apart

import bddtorque as bt
from bddtorque.independent.bounds import OutputBound
from bddtorque.independent.certificate import Claim, outputs_stated
from bddtorque.independent.circuits import Circuit
from bddtorque.independent.fields import Grid
from bddtorque.independent.findings import RefusedError
from bddtorque.independent.formats import words_of
from bddtorque.independent.grids import stays_below
from bddtorque.independent.peaks import _waves
from bddtorque.independent.plan import plan_of
from bddtorque.independent.ranges import Box, by_monomials
from bddtorque.independent.robot_truth import subject_of
from bddtorque.model.model import to_bytes

BOX = {"mass": [0.5, 2], "com": [[-0.1, 0.1], [0.05, 0.2], [0, 0.2]], "runtime": True}


def test_grids_count_waves_that_are_too_faint_to_look_at():
    """40,401 waves of 0.9e-9 each add up to 3.6e-5 where all angles are 0, beside a wave of 1."""
    waves = np.full((201, 201), 0.9e-9, dtype=np.complex128)
    waves[1, 0] = waves[-1, 0] = 0.5
    assert waves.sum().real > 1 + 3.6e-5
    assert not stays_below({(): (waves, 0.0)}, Box({}, {}), 1 + 1e-5)
    assert stays_below({(): (waves, 0.0)}, Box({}, {}), 1 + 1e-4)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_beyond_floats_are_below_nothing(number):
    waves = np.array([number, 0.25, 0.25], dtype=np.complex128)
    with np.errstate(invalid="ignore"):
        assert not stays_below({(): (waves, 0.0)}, Box({}, {}), 1e3)
        assert not stays_below({(): (waves * 0 + 1, number)}, Box({}, {}), 1e3)


@pytest.mark.parametrize("slip", [0.0, 2.0**-22, 1e-200])
def test_a_payload_on_a_tip_that_is_no_rotation_raises_the_degree(slip):
    """A wave of a higher degree than the grid is made for looks like one of a lower degree there."""
    model = bt.compile("planar2r", quantity="torque", bits=4, payload=BOX, torque="auto", target="float", workers=1)
    header = taken_apart(to_bytes(model))[0]
    plain = header["robot"]
    plain["joints"][1]["rotation"] = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    plain["tip"]["rotation"] = [[0.0, -1.0, slip], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    subject = subject_of(header, words_of(header["words"]))
    circuit = Circuit()
    truth = circuit.values(dict(enumerate(subject.truth(circuit))), Grid([7, 7]))
    balls = [ball for value in truth.values() for ball in value.terms.values() if np.ndim(ball.value)]
    third = max(np.abs(_waves(ball)[0].take([3, 4], axis=1)).max() for ball in balls if ball.value.shape[1] > 1)
    assert third > 1e-9 if slip > 1e-9 else third < 1e-12
    assert subject.record.degrees(subject) == (None if slip else [2, 2])


def test_the_ranges_of_many_monomials_count_every_rounding():
    """4,000 summands of 2^-53 beside 1: each alone is lost, all of them are not."""
    terms = {(): np.float64(1.0), **{(k,): np.float64(2.0**-53) for k in range(4000)}}
    _, high = by_monomials(terms, Box(dict.fromkeys(range(4000), (1.0, 1.0)), {}))
    assert float(high) >= 1 + 4000 * 2.0**-53


def test_what_a_bound_leaves_is_rounded_down():
    bound, proved = 0.5 + 2.0**-53, 0.5 - 2.0**-54 + 2.0**-107
    header = taken_apart(to_bytes(bt.compile("planar2r", bits=4, target="float", workers=1)))[0]
    stated, word = replace(outputs_stated(header["certificate"])[0], bound=bound), words_of(header["words"]).results[0]
    for found in (0.1, 0.3, 2.0**-60, proved):
        left = Claim(stated, OutputBound({}, 0.0, 0.0, found), word).allowed_difference
        assert Fraction(left) <= Fraction(bound) - Fraction(found)


@pytest.mark.parametrize("rest", [Fraction(1 << 33), Fraction(-(10**90), 7)])
def test_a_constant_angle_of_many_turns_is_refused(rest):
    """Where π is not known to enough digits, nobody knows which word of the grid is the nearest."""
    header = taken_apart(to_bytes(bt.compile("planar2r", bits=4, target="float", workers=1)))[0]
    place = next(k for k, wire in enumerate(header["plan"]["wires"]) if wire["kind"] == "sine")
    header["plan"]["wires"][place]["rest"] = str(rest)
    with pytest.raises(RefusedError, match="constant angle of at most 4294967296 rad"):
        plan_of(header["plan"])
