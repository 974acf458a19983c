"""Laws of mechanics that hold for every robot, whatever the numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from energies import kinetic_energy, potential_energy
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import random_states
from strategies import robots, seeds

import bddtorque as bt
from bddtorque.base.plain import matrix, vector
from bddtorque.robots.parts import Joint, Link
from bddtorque.robots.robot import Robot


def derivative(function: Callable[[float], np.ndarray], step: float = 1e-3) -> np.ndarray:
    """Return the derivative at 0 by central differences of fourth order."""
    near, far = function(step) - function(-step), function(2 * step) - function(-2 * step)
    return (8 * near - far) / (12 * step)


def size(*arrays: np.ndarray) -> float:
    return max(1.0, *(float(np.abs(array).max()) for array in arrays))


@settings(max_examples=examples(80))
@given(robots(), seeds)
def test_mass_matrix_is_symmetric_and_positive_definite(robot: Robot, seed: int) -> None:
    q = random_states(robot, 5, seed)[0]
    mass = bt.mass_matrix(robot, q)
    np.testing.assert_array_equal(mass, mass.transpose(0, 2, 1))
    assert np.linalg.eigvalsh(mass).min() > 0
    floating = robot.with_gravity((0, 0, 0))
    for j, unit in enumerate(np.eye(robot.degrees_of_freedom)):  # symmetric by itself, not only when averaged
        column = bt.inverse_dynamics(floating, q, 0 * unit, unit)
        np.testing.assert_allclose(column, mass[:, j, :], rtol=0, atol=1e-12 * size(mass))


@settings(max_examples=examples(40))
@given(robots(most=4), seeds)
def test_christoffel_form_is_skew(robot: Robot, seed: int) -> None:
    """With C_ij = Σ_k c_ijk q̇_k of our terms, Ṁ − 2C is skew, and C q̇ + G is the bias."""
    q, qd, _ = random_states(robot, 3, seed)
    n = robot.degrees_of_freedom
    C, G = np.zeros((3, n, n)), np.zeros((3, n))
    for term in bt.terms_of(robot).terms:
        value, i = term.expansion(q), term.joint
        if term.kind == "gravity":
            G[:, i] += value
        elif term.kind == "centripetal":
            j = term.motion[0]
            C[:, i, j] += value * qd[:, j]
        elif term.kind == "coriolis":  # C_ijk q̇_j q̇_k is c_ijk + c_ikj, which are equal
            j, k = term.motion
            C[:, i, j] += value / 2 * qd[:, k]
            C[:, i, k] += value / 2 * qd[:, j]
    bias = bt.bias(robot, q, qd)
    np.testing.assert_allclose(np.einsum("rij,rj->ri", C, qd) + G, bias, rtol=0, atol=1e-10 * size(bias))
    S = derivative(lambda t: bt.mass_matrix(robot, q + t * qd)) - 2 * C
    np.testing.assert_allclose(S, -S.transpose(0, 2, 1), rtol=0, atol=1e-7 * size(S))


@settings(max_examples=examples(60))
@given(robots(), seeds)
def test_gravity_is_the_gradient_of_potential_energy(robot: Robot, seed: int) -> None:
    q = random_states(robot, 4, seed)[0]
    gravity = bt.gravity_torque(robot, q)
    for j, unit in enumerate(np.eye(robot.degrees_of_freedom)):
        slope = derivative(lambda t, unit=unit: potential_energy(robot, q + t * unit))
        np.testing.assert_allclose(gravity[:, j], slope, rtol=0, atol=1e-8 * size(gravity))


@settings(max_examples=examples(60))
@given(robots(), seeds)
def test_power_is_the_growth_of_energy(robot: Robot, seed: int) -> None:
    q, qd, qdd = random_states(robot, 4, seed)

    def energy(t: float) -> np.ndarray:
        place, speed = q + t * qd + t * t / 2 * qdd, qd + t * qdd
        return kinetic_energy(robot, place, speed) + potential_energy(robot, place)

    power = (bt.inverse_dynamics(robot, q, qd, qdd) * qd).sum(axis=1)
    np.testing.assert_allclose(derivative(energy, 1e-4), power, rtol=0, atol=1e-7 * size(power, energy(0)))


@settings(max_examples=examples(60))
@given(robots(), seeds, *[st.integers(-3, 3)] * 3)
def test_units_may_be_chosen(robot: Robot, seed: int, kilogram: int, metre: int, second: int) -> None:
    """Other units of mass, length and time change torques by their dimensions: exactly so, in powers of two."""
    m, d, t = 2.0**kilogram, 2.0**metre, 2.0**second
    q, qd, qdd = random_states(robot, 4, seed)
    along = np.array([1.0 if joint.kind.turns else d for joint in robot.joints])  # rad, or the unit of length
    found = bt.inverse_dynamics(in_units(robot, m, d, t), q * along, qd * along / t, qdd * along / t**2)
    expected = bt.inverse_dynamics(robot, q, qd, qdd) * m * d**2 / t**2 / along
    np.testing.assert_array_equal(found, expected)


def in_units(robot: Robot, m: float, d: float, t: float) -> Robot:
    """Return the robot in units that are 1/m kg, 1/d m and 1/t s."""

    def joint(given: Joint) -> Joint:
        rotor = given.rotor_inertia * m * (d * d if given.kind.turns else 1.0)
        return replace(given, translation=vector(d * np.array(given.translation), ""), rotor_inertia=rotor)

    def body(given: Link) -> Link:
        centre, inertia = d * np.array(given.centre_of_mass), m * d * d * np.array(given.inertia)
        return Link(given.name, m * given.mass, vector(centre, ""), matrix(inertia, ""))

    return replace(
        robot,
        joints=tuple(map(joint, robot.joints)),
        links=tuple(map(body, robot.links)),
        payload=body(robot.payload) if robot.payload else None,
        tip=replace(robot.tip, translation=vector(d * np.array(robot.tip.translation), "")),
        gravity=vector(d / t**2 * np.array(robot.gravity), ""),
    )
