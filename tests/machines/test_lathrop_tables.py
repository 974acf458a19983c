"""Compiled tables against Lathrop's machines: the same states, within the certificate's bound."""

from __future__ import annotations

import pytest
from compiled import arm, compiled, found_errors, random_words, values_of

import bddtorque as bt
from machines.lathrop.lathrop_torques import Form, lathrop_torques
from machines.lathrop.linear import linear_recursion
from machines.lathrop.logarithmic import logarithmic_recursion


def assert_within_the_bound(model: bt.Model, form: Form, count: int) -> None:
    words = random_words(model, count, 11)
    torques = lathrop_torques(model.robot, *values_of(model, words), form)
    worst = found_errors(model, words, model.torque_words(*words), torques)
    assert (worst > 0.3).all()  # a bound that nothing comes near would prove little
    assert (worst <= model.certificate.bounds).all()


def test_two_turning_joints() -> None:
    for form in (linear_recursion, logarithmic_recursion):
        assert_within_the_bound(arm(8), form, 10_000)


@pytest.mark.everything
def test_the_stanford_arm_with_its_sliding_joint() -> None:
    for form in (linear_recursion, logarithmic_recursion):
        assert_within_the_bound(compiled("stanford", bits=8), form, 10_000)
