"""What a graph can be off from the true torque: never more than is charged, found in extended precision."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from strategies import robots

import bddtorque as bt
from bddtorque.compiler.origin import from_recursion, from_terms
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.words.argument import Argument, intervals

exact = np.vectorize(mpmath.mpf, otypes=[object])


def exact_bodies(robot):
    """Return the pseudo-inertias of a robot without payload in extended precision, straight from its parameters."""
    bodies = []
    for link in robot.links:
        m, c, inertia = mpmath.mpf(link.mass), exact(link.centre_of_mass), exact(link.inertia)
        about_origin = inertia + m * (c.dot(c) * exact(np.eye(3)) - np.outer(c, c))
        body = exact(np.zeros((4, 4)))
        body[:3, :3] = np.trace(about_origin) / 2 * exact(np.eye(3)) - about_origin
        body[:3, 3] = body[3, :3] = m * c
        body[3, 3] = m
        bodies.append(body)
    return np.array(bodies)


def true_torque(robot, q, qd, qdd):
    """Return Newton-Euler's torques in extended precision at float states."""
    chain = chain_of(robot)
    fields = {name: exact(getattr(chain, name)) for name in ("rotation", "translation", "rotor", "base_acceleration")}
    chain = chain._replace(body=exact_bodies(robot), **fields)
    n = robot.degrees_of_freedom
    angles = exact(q)
    sine, cosine = (np.array([f(a) for a in angles], dtype=object) for f in (mpmath.sin, mpmath.cos))
    tau, wrench = np.zeros(n, dtype=object), np.zeros((n, WRENCH), dtype=object)
    newton_euler(chain, sine, cosine, angles, exact(qd), exact(qdd), tau, wrench)
    return tau


def check(make, robot, states, seed=0):
    """Compare the graph to be compiled, as it is, with the truth; return the largest error found and the charge."""
    origin, n = make(robot), robot.degrees_of_freedom
    reach = np.where([joint.revolute for joint in robot.joints], np.pi, 2.5)
    arguments = {f"q{j + 1}": Argument("angle", 8) for j in range(n)}
    for j, joint in enumerate(robot.joints):
        if not joint.revolute:
            arguments[f"q{j + 1}"] = Argument("word", 8, Fraction(2.5) / 128)
    arguments |= {f"qd{j + 1}": Argument("word", 8, Fraction(2, 128)) for j in range(n)}
    arguments |= {f"qdd{j + 1}": Argument("word", 8, Fraction(5, 128)) for j in range(n)}
    bound = origin.errors(intervals(arguments), reach)
    rng, worst = np.random.default_rng(seed), np.zeros(n)
    with mpmath.workdps(40):
        for k in range(states):
            q = rng.uniform(-reach, reach) if k else reach
            state = [q, 2.0 * rng.choice([-1, 1], n), 5.0 * rng.choice([-1, 1], n)]
            names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(n)]
            inputs = dict(zip(names, exact(np.concatenate(state)), strict=True))
            pairs = zip(true_torque(robot, *state), origin.graph.evaluate(inputs, mpmath), strict=True)
            worst = np.maximum(worst, [float(abs(true - found)) for true, found in pairs])
    assert (worst <= bound).all(), f"found {worst}, proved {bound}"
    return worst, bound


@pytest.mark.parametrize("make", [from_terms, from_recursion])
@pytest.mark.parametrize("name", ["planar2r", "planar3r_a", "planar3r_b", "scara"])
def test_built_in_arms_stay_within_the_charge(name, make):
    _, bound = check(make, bt.load_robot(name), 5)
    assert (bound < 1e-6).all()  # and the charge is nothing beside a unit of any word


@pytest.mark.parametrize("make", [from_terms, from_recursion])
@settings(max_examples=examples(25))
@given(robots(most=3))
def test_any_arm_stays_within_the_charge(make, robot):
    check(make, replace(robot, payload=None), 3)
