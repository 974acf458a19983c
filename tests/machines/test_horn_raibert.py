"""Horn and Raibert's look-up: exact on its grid, as wrong as its step off it, and of the size it says."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from oracle import pinocchio_model, random_states, rnea
from strategies import random_robot

import bddtorque as bt
from machines.classics.horn_raibert import grid_positions, look_up, robot_arithmetic_graph, table_entries


def grid_states(robot: bt.Robot, bits: int, count: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return states whose positions are grid positions, turns added at random."""
    random = np.random.default_rng(5)
    _, qd, qdd = random_states(robot, count, 5)
    q = np.stack([random.choice(grid_positions(joint, bits), count) for joint in robot.joints], axis=1)
    turns = [2 * np.pi if joint.kind.turns else 0.0 for joint in robot.joints]
    return q + random.integers(-1, 2, q.shape) * np.array(turns), qd, qdd


@pytest.mark.parametrize(("name", "bits"), [("planar2r", 8), ("planar3r_a", 5), ("scara", 5)])
def test_exact_on_the_grid(name: str, bits: int) -> None:
    robot = bt.load_robot(name)
    table = look_up(robot, bits)
    q, qd, qdd = grid_states(robot, bits)
    expected = rnea(pinocchio_model(robot), q, qd, qdd)
    assert np.abs(table.inverse_dynamics(q, qd, qdd) - expected).max() < 1e-12 * np.abs(expected).max()
    assert table.entries == table_entries(bt.terms_of(robot), bits)
    assert table.inverse_dynamics(q[0], qd[0], qdd[0]).shape == (robot.degrees_of_freedom,)


def test_off_the_grid_the_error_halves_with_every_bit() -> None:
    robot = bt.load_robot("planar2r")
    q, qd, qdd = random_states(robot, 4000, 1)
    true = bt.inverse_dynamics(robot, q, qd, qdd)
    errors = [np.abs(look_up(robot, bits).inverse_dynamics(q, qd, qdd) - true).mean() for bits in (4, 5, 6, 7)]
    ratios = np.divide(errors[:-1], errors[1:])
    assert ((ratios > 1.8) & (ratios < 2.2)).all()


def test_coarser_coefficients_err_and_cost_less() -> None:
    robot = bt.load_robot("planar2r")
    q, qd, qdd = grid_states(robot, 6)
    true = bt.inverse_dynamics(robot, q, qd, qdd)
    tables = [look_up(robot, 6, bits) for bits in (8, 12, 16)]
    errors = [np.abs(table.inverse_dynamics(q, qd, qdd) - true).max() for table in tables]
    assert 8 < errors[0] / errors[1] < 32 and 8 < errors[1] / errors[2] < 32
    assert [table.bytes for table in tables] == [ceil(tables[0].entries * bits / 8) for bits in (8, 12, 16)]


def test_the_arithmetic_graph_of_a_robot_gives_its_torques() -> None:
    robot = bt.load_robot("planar3r_b")
    terms = bt.terms_of(robot)
    q, qd, qdd = random_states(robot, 10, 2)
    inputs = {term.name: term.expansion(q) for term in terms.terms}
    inputs |= {f"{kind}{j + 1}": rows[:, j] for kind, rows in (("qd", qd), ("qdd", qdd)) for j in range(3)}
    found = np.stack(robot_arithmetic_graph(terms).evaluate(inputs), axis=1)
    assert np.allclose(found, bt.inverse_dynamics(robot, q, qd, qdd), rtol=0, atol=1e-12)


def test_six_joints_are_refused_and_counted() -> None:
    robot = bt.load_robot("puma560")
    with pytest.raises(bt.BddTorqueError, match=r"at most [0-9,]+ entries, and 2\^[0-9]+ are needed"):
        look_up(robot, 8)
    assert table_entries(bt.terms_of(robot), 8) > 1 << 32
    endless = random_robot(["prismatic"], ["general"], 1)
    with pytest.raises(bt.BddTorqueError, match="sliding joint 'joint 1' must have limits"):
        grid_positions(endless.joints[0], 4)
