"""The recursions as data: equal to pinocchio when every operand is current; the papers' slips are slips (F24, F25)."""

from __future__ import annotations

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import pinocchio_model, random_states, rnea
from strategies import relative_error, robots, seeds

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.tracer import Tracer, traced_inputs
from bddtorque.robots import load_robot
from bddtorque.robots.robot import Robot
from machines.hamilton.hamilton_equations import AS_PRINTED, HAMILTON
from machines.hamilton.speculation_equations import (
    LATHROP,
    LATHROP_GRAVITY_APART,
    Expression,
    VectorOp,
    constant,
    cross,
    inertia,
    into,
    out,
    read,
    scale,
)
from machines.hamilton.speculation_machine import (
    SpeculativeMachine,
    iterate,
    scratch_for,
    set_motion,
    store_for,
)
from machines.hamilton.speculation_methods import METHODS, SERIAL, Reading
from machines.hamilton.speculation_program import arm_of, operand_numbers, program_of, readings_of


def serial_error(robot: Robot, recursion, seed: int = 0) -> float:
    q, qd, qdd = random_states(robot, 20, seed)
    return relative_error(
        SpeculativeMachine(robot, SERIAL, recursion).step(q, qd, qdd), rnea(pinocchio_model(robot), q, qd, qdd)
    )


@settings(max_examples=examples(40))
@given(robots(kinds=("revolute",)), seeds)
def test_hamiltons_equations_with_current_operands_are_inverse_dynamics(robot: Robot, seed: int) -> None:
    """F24, for any revolute chain."""
    assert serial_error(robot, HAMILTON, seed) < 1e-11


@settings(max_examples=examples(40))
@given(robots(), st.sampled_from((LATHROP, LATHROP_GRAVITY_APART)), seeds)
def test_lathrops_equations_with_current_operands_are_inverse_dynamics(robot: Robot, recursion, seed: int) -> None:
    assert serial_error(robot, recursion, seed) < 1e-11


@pytest.mark.parametrize("name", ["planar3r_a", "planar3r_b", "puma560"])
def test_the_printed_start_of_the_centre_acceleration_is_wrong(name: str) -> None:
    """F25: ac_{i-1} in print, ae_{i-1} is right."""
    assert serial_error(load_robot(name), AS_PRINTED) > 0.05
    assert serial_error(load_robot(name), HAMILTON) < 1e-12


def test_flipping_the_vector_back_to_the_centre_is_wrong() -> None:
    """r_{i+1,ci} goes from joint i+1 back to the centre of mass."""
    forwards = scale(constant("to_next"), "two") - constant("to_next") - constant("to_centre")
    t = (
        out(read("t", 1))
        + cross(out(read("f", 1)), forwards)
        + (inertia(read("al", boxed=False)) + cross(read("w"), inertia(read("w"))))
        - cross(read("f"), constant("to_centre"))
    )
    assert serial_error(load_robot("planar3r_b"), HAMILTON.with_equation("t", t, "flipped")) > 0.5


def test_the_two_angular_accelerations_differ_in_space_where_own_operands_are_old() -> None:
    """al = wd with current operands, and always in the plane.

    And in bh: with w_i = Rᵀ w'_{i-1} + b q̇, both are crossed with b q̇ to the same vector.
    """
    wd, al = HAMILTON.variables.index("wd"), HAMILTON.variables.index("al")
    for name, in_plane in (("planar3r_a", True), ("puma560", False)):
        robot = load_robot(name)
        q, qd, qdd = random_states(robot, 5, 1)
        for method in METHODS:
            machine = SpeculativeMachine(robot, method, HAMILTON)
            machine.start(q[:3], qd[:3], qdd[:3])
            machine.step(q, qd, qdd)
            same = np.allclose(machine.store[0, :, wd], machine.store[0, :, al], rtol=0, atol=1e-12)
            assert same == (in_plane or method.own is Reading.CURRENT)


def test_the_interpreter_traces_into_the_same_torques() -> None:
    """One interpreter for floats and traced numbers: the graph of the serial recursion is inverse dynamics."""
    for name, recursion in (("planar3r_b", HAMILTON), ("stanford", LATHROP)):
        robot = load_robot(name)
        arm, program, n, tracer = arm_of(robot), program_of(recursion), robot.degrees_of_freedom, Tracer()
        q, qd, qdd = (np.array(traced_inputs(tracer, kind, n), dtype=object) for kind in ("q", "qd", "qdd"))
        sine, cosine = (np.array([turn(angle) for angle in q], dtype=object) for turn in (tracer.sin, tracer.cos))
        scratch, store = scratch_for(program, n, object), store_for(arm, program, object)
        tau = np.zeros(n, dtype=object)
        set_motion(arm, sine, cosine, q, qd, qdd, scratch)
        iterate(arm, program, readings_of(recursion, SERIAL), store, scratch, tau)
        graph = tracer.graph(list(tau), [f"tau{i + 1}" for i in range(n)])
        states = random_states(robot, 10, 3)
        inputs = {
            f"{kind}{i + 1}": rows[:, i]
            for kind, rows in zip(("q", "qd", "qdd"), states, strict=True)
            for i in range(n)
        }
        found = np.stack(np.broadcast_arrays(*graph.evaluate(inputs)), axis=1)
        assert relative_error(found, rnea(pinocchio_model(robot), *states)) < 1e-12


def test_operands_are_read_off_the_equations() -> None:
    operands = {operand.variable + "-0+"[operand.offset + 1] for operand in HAMILTON.of("revolute")["t"].operands()}
    assert operands == {"t+", "f+", "f0", "al0", "w0"}
    kinds = {operand.kind for operand in HAMILTON.of("revolute")["t"].operands()}
    assert kinds == {"neighbour", "own", "unboxed"}
    assert len(operand_numbers(HAMILTON)) == 18
    shared = into(read("w", -1))
    assert len(list((shared + cross(shared, shared)).nodes())) == 4
    assert Expression(VectorOp.AXIS, name="rate") != Expression(VectorOp.AXIS, name="acceleration")


def test_sliding_joints_are_refused_where_there_are_no_equations_for_them() -> None:
    with pytest.raises(BddTorqueError, match="'Hamilton': joints must be revolute, got prismatic"):
        SpeculativeMachine(load_robot("stanford"), SERIAL, HAMILTON)
