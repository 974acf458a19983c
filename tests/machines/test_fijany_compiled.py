"""The compiled tables against A·qdd + b of the triangular array: within the certificate's bound, on many states."""

from __future__ import annotations

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.machines.fijany.fijany_machine import run_array

ROUNDING = 1e-6
"""Units allowed for float rounding of the array itself, far below any bound."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar2r", "ur5", "puma560"])
def test_tables_are_within_their_bound_of_the_array(name: str) -> None:
    model = bt.compile(name, bits=8)
    n, rng = model.robot.degrees_of_freedom, np.random.default_rng(8)
    words = [
        np.stack([rng.integers(word.lowest, word.highest, 2000, endpoint=True) for word in kind], axis=1)
        for kind in model.formats.inputs
    ]
    q, qd, qdd = (kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True))
    run = run_array(model.robot, q, qd, np.zeros_like(q))
    true = np.einsum("sij,sj->si", run.inertia, qdd) + run.bias
    found = model.torque_words(*words)
    proved = model.certificate.bounds
    for j in range(n):
        word = model.formats.tau[j]
        units = np.clip((word.sign * true[:, j] - word.centre) / word.lsb, word.lowest, word.highest)
        worst = np.abs(found[:, j] - units).max()
        assert 0.3 < worst <= proved[j] + ROUNDING
