"""Compiled tables against Lathrop's machines: the same states, within the certificate's bound."""

from __future__ import annotations

import numpy as np
import pytest
from compiled import arm, random_words

import bddtorque as bt
from bddtorque.machines.lathrop.lathrop_torques import Form, lathrop_torques


def assert_within_the_bound(model: bt.Model, form: Form, count: int) -> None:
    words = random_words(model, count, 11)
    compiled = model.torque_words(*words)
    states = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    tau = lathrop_torques(model.robot, *states, form)
    for j, word in enumerate(model.formats.tau):
        units = np.clip((word.sign * tau[:, j] - word.centre) / word.lsb, word.lowest, word.highest)
        worst = np.abs(compiled[:, j] - units).max()
        assert 0.3 < worst <= model.certificate.bounds[j]  # a bound that nothing comes near would prove little


def test_two_turning_joints() -> None:
    for form in ("linear", "logarithmic"):
        assert_within_the_bound(arm(8), form, 50_000)


@pytest.mark.slow
def test_the_stanford_arm_with_its_sliding_joint() -> None:
    model = bt.compile("stanford", bits=8)
    for form in ("linear", "logarithmic"):
        assert_within_the_bound(model, form, 50_000)
