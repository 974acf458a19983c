"""Compiled tables against every machine that supports the arm: the same states, the same proved bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from compiled import compiled, found_errors, random_words, values_of

import bddtorque as bt
from machines.fijany.inverse_array import array_torques
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_equations import LATHROP, Recursion
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import BINDER_HERZOG, NEW, Method, iterations_to_exact
from machines.lathrop.lathrop_torques import lathrop_torques
from machines.lathrop.logarithmic import logarithmic_recursion

STATES = 400
ROUNDING = 1e-6
"""Units allowed for float rounding of the machines themselves, far below any bound."""
Torques = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def converged(robot: bt.Robot, method: Method, recursion: Recursion) -> Torques:
    """Return torques of a machine on old data that is left at each state until all its data are of that state."""
    machine = SpeculativeMachine(robot, method, recursion)
    iterations = iterations_to_exact(recursion, method, [joint.kind.name for joint in robot.joints])

    def torques(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        repeated = (np.repeat(each, iterations, axis=0) for each in (q, qd, qdd))
        return machine.step(*repeated)[iterations - 1 :: iterations]

    return torques


def machines(robot: bt.Robot) -> dict[str, Torques]:
    """Return the machines that support an arm."""
    found: dict[str, Torques] = {
        "Lathrop linear": lambda *state: lathrop_torques(robot, *state),
        "Lathrop logarithmic": lambda *state: lathrop_torques(robot, *state, logarithmic_recursion),
    }
    turning = all(joint.kind.turns for joint in robot.joints)
    for method in (BINDER_HERZOG, NEW):
        for recursion in (HAMILTON, LATHROP) if turning else (LATHROP,):
            found[f"{method.name} on {recursion.name}"] = converged(robot, method, recursion)
    if turning:
        found["Fijany"] = lambda *state: array_torques(robot, *state).torques
    return found


SMALL = ("planar2r", "planar3r_a", "scara")


@pytest.mark.parametrize(
    "name",
    [
        *SMALL,
        *(pytest.param(name, marks=pytest.mark.everything) for name in ("planar3r_b", "puma560", "stanford", "ur5")),
    ],
)
def test_within_the_certificate_of_every_machine(name: str) -> None:
    model = compiled(name, bits=8)
    words = random_words(model, STATES, 21)
    tau = model.torque_words(*words)
    tested = machines(model.robot)
    assert ("Fijany" in tested) == (name not in ("scara", "stanford"))
    for machine, torques in tested.items():
        worst = found_errors(model, words, tau, torques(*values_of(model, words)))
        assert (worst > 0.3).all(), machine  # a bound that nothing comes near would prove little
        assert (worst <= np.array(model.certificate.bounds) + ROUNDING).all(), f"{machine}: {worst}"
