"""The compiled tables against A·qdd + b of the triangular array: within the certificate's bound, on many states."""

from __future__ import annotations

import numpy as np
import pytest
from compiled import compiled, found_errors, random_words, values_of

from machines.fijany.forward_array import run_array

ROUNDING = 1e-6
"""Units allowed for float rounding of the array itself, far below any bound."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["planar2r", *(pytest.param(name, marks=pytest.mark.everything) for name in ("ur5", "puma560"))]
)
def test_tables_are_within_their_bound_of_the_array(name: str) -> None:
    model = compiled(name, bits=6 if name == "planar2r" else 8)
    words = random_words(model, 2000, 8)
    q, qd, qdd = values_of(model, words)
    run = run_array(model.robot, q, qd, np.zeros_like(q))
    true = np.einsum("sij,sj->si", run.inertia, qdd) + run.bias
    worst = found_errors(model, words, model.torque_words(*words), true)
    assert (worst > 0.3).all()
    assert (worst <= np.array(model.certificate.bounds) + ROUNDING).all()
