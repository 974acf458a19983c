"""Vuskovic's decoupled recursion: in step it is Binder and Herzog's, out of step up to twice as wrong."""

from __future__ import annotations

import numpy as np
import pytest

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import load_robot
from machines.hamilton.decoupled import decoupled_torques
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_costs import place_costs
from machines.hamilton.speculation_equations import LATHROP
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import BINDER_HERZOG

B = load_robot("planar3r_b")


def swing(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    amplitude, w = np.array([0.5, -0.4, 0.8]), 3.0
    return amplitude * np.sin(w * t), amplitude * w * np.cos(w * t), -amplitude * w * w * np.sin(w * t)


@pytest.mark.parametrize("recursion", [HAMILTON, LATHROP], ids=lambda each: each.name)
def test_rounds_of_one_length_are_zero_order_prediction(recursion) -> None:
    period = 0.01
    found = decoupled_torques(B, swing, [period] * 3, 0.5, recursion)
    states = [np.array(rows) for rows in zip(*(swing(k * period) for k in range(51)), strict=True)]
    machine = SpeculativeMachine(B, BINDER_HERZOG, recursion)
    machine.start(*swing(0.0))
    expected = machine.step(*states)
    for joint, rounds in enumerate(found):
        assert np.allclose(rounds.tau, expected[: len(rounds.tau), joint], rtol=0, atol=1e-12)


def test_out_of_step_values_are_up_to_two_rounds_old() -> None:
    """899, 1220 and 1034 cycles of 2 µs: nobody waits, but a value just missed is a round older, hop by hop.

    Worse than all in step with the slowest, and within twice its errors.
    """
    costs = place_costs(HAMILTON, ["revolute"] * 3, shared=True)
    lengths = [2e-6 * sum(costs[v, link].cycles() for v in HAMILTON.variables) for link in (1, 2, 3)]

    def errors(rounds: list[float]) -> np.ndarray:
        return np.array([each.largest_error(0.05) for each in decoupled_torques(B, swing, rounds, 1.0)])

    in_step, free = errors([max(lengths)] * 3), errors(lengths)
    assert (free > 1.2 * in_step).all() and (free < 2 * in_step).all()


def test_each_link_needs_a_round() -> None:
    with pytest.raises(BddTorqueError, match="needs 3 lengths above 0 s, got"):
        decoupled_torques(B, swing, [0.1, 0.0, 0.1], 1.0)
