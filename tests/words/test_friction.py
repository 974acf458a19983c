"""Friction: the law against mpmath, its tables, and robots that have it against pinocchio and the formula."""

import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from compiled import with_source
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import pinocchio_model, rnea

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.verify import verify
from bddtorque.robots import from_toml
from bddtorque.spec import from_toml as spec_from_toml
from bddtorque.sweeps import sweep
from bddtorque.words.bounded import Bounded

STRIBECK = bt.Friction(2.0, (4.0, 5.0), (8.0, 7.0), 0.05)
SPEC = """robot = "planar2r"
bits = 7
[ranges]
velocity = 1.0
acceleration = 1.0
[[joint]]
name = "shoulder"
torque = 200.0
friction = { viscous = 2.0, coulomb = [4.0, 5.0], static = [8.0, 7.0], stribeck_velocity = 0.05 }
[[joint]]
name = "elbow"
torque = 100.0
sign = -1
friction = { samples = "elbow.csv" }
"""
VELOCITIES, TORQUES = (-1.0, -0.1, 0.1, 1.0), (-3.0, -2.0, 2.0, 3.5)


def reference(friction: bt.Friction, v: float):
    """The formula of the documentation, in 50 digits."""
    with mpmath.workdps(50):
        side = 0 if v > 0 else 1
        total = mpmath.mpf(friction.viscous) * v
        if abs(v) <= friction.standstill:
            return total
        dry = mpmath.mpf(friction.coulomb[side])
        if friction.static is not None:
            dry += (friction.static[side] - dry) * mpmath.exp(-((mpmath.mpf(v) / friction.stribeck_velocity) ** 2))
        return total + (dry if v > 0 else -dry)


magnitudes = st.floats(0, 50)
laws = st.builds(bt.Friction, magnitudes, st.tuples(magnitudes, magnitudes)) | st.builds(
    bt.Friction, magnitudes, st.tuples(magnitudes, magnitudes), st.tuples(magnitudes, magnitudes), st.floats(1e-3, 10)
)


@settings(deadline=None)
@given(law=laws, v=st.floats(-20, 20))
def test_the_law_is_within_its_radius_of_the_formula(law, v):
    found = law.bounded([Bounded(np.array([v]))])
    wanted = reference(law, v)
    assert abs(mpmath.mpf(float(found.value[0])) - wanted) <= float(np.broadcast_to(found.radius, (1,))[0])
    assert abs(law.exact([Fraction(v)]) - wanted) < 1e-13 * (1 + abs(wanted))
    assert float(found.radius.max() if np.ndim(found.radius) else found.radius) < 1e-12 * (1 + abs(float(wanted)) + 1e4)


@settings(deadline=None)
@given(law=laws, v=st.floats(0, 20))
def test_friction_opposes_and_is_odd_where_its_sides_are_alike(law, v):
    assert law(v) >= 0 >= law(-v)
    even = bt.Friction(law.viscous, law.coulomb[0], law.static and law.static[0], law.stribeck_velocity)
    assert even(-v) == -even(v)


def test_the_sign_at_a_standstill_is_zero():
    assert STRIBECK([-1e-9, 0.0, 1e-9]).tolist() == [-2e-9, 0.0, 2e-9]
    assert STRIBECK(2e-9) == pytest.approx(8.0) and STRIBECK(-2e-9) == pytest.approx(-7.0)
    with_zero = bt.compile_function(STRIBECK, inputs={"v": (8, 1.0)}, output=(10, 16.0))
    assert with_zero.words([-1, 0, 1])[1] == 0
    # a range whose zero is no word: nothing stands still
    without = bt.compile_function(STRIBECK, inputs={"v": (4, (-0.5, 1.0))}, output=(10, 16.0))
    values = without.formats.words["v"].dequantise(np.arange(-8, 8))
    assert without.error_of(STRIBECK) <= without.certificate.bound and np.abs(values).min() > 1e-3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"viscous": -1.0}, "viscous must be a finite number of at least 0"),
        ({"coulomb": [1.0, 2.0, 3.0]}, "coulomb must be a number, or two magnitudes"),
        ({"static": 1.0}, "static and stribeck_velocity belong together"),
        ({"static": 1.0, "stribeck_velocity": 0.0}, "stribeck_velocity must be above 0"),
        (
            {"static": 1.0, "stribeck_velocity": 1e-300},
            "stribeck_velocity must be above 0, and its square must not overflow",
        ),
        ({"viscose": 1.0}, "did you mean 'viscous'"),
        ({"samples": "none.csv"}, "there is no such file"),
        ({"samples": "none.csv", "viscous": 1.0}, "unknown key 'viscous'; known: samples, duplicates, extrapolation"),
        ("much", "a table with viscous"),
        ({"viscous": math.nan}, "of at least 0, got nan"),
    ],
)
def test_bad_friction_is_refused(given, said):
    with pytest.raises(BddTorqueError, match=said) as problem:
        bt.load_robot("planar2r").with_friction({"elbow": given})
    assert "joint 'elbow', friction" in str(problem.value) and "\n" not in str(problem.value)


@cache
def folder_with_samples() -> Path:
    import tempfile

    folder = Path(tempfile.mkdtemp())
    rows = [f"{v},{t}" for v, t in zip(VELOCITIES, TORQUES, strict=True)]
    (folder / "elbow.csv").write_text("\n".join(["velocity,torque", *rows]))
    return folder


@cache
def arm(**options) -> bt.Model:
    spec = spec_from_toml(SPEC, "rubbing.toml", folder_with_samples())
    return bt.compile(spec, workers=1, **options)


def words_of(model: bt.Model, count: int = 400):
    rng = np.random.default_rng(0)
    words = [np.stack([rng.integers(f.lowest, f.highest + 1, count) for f in kind], 1) for kind in model.formats.inputs]
    words[1][: count // 4] = 0
    words[1][count // 4 : count // 2, 0] = rng.integers(-2, 3, count // 4)
    return words


def test_inverse_dynamics_is_pinocchio_and_the_formula():
    robot = arm().robot
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, 50, 2))
    qd[:5] = 0.0
    shoulder = np.array([float(reference(STRIBECK, v)) for v in qd[:, 0]])
    elbow = np.interp(qd[:, 1], VELOCITIES, TORQUES)
    wanted = rnea(pinocchio_model(robot), q, qd, qdd) + np.stack([shoulder, elbow], axis=1)
    assert np.allclose(bt.inverse_dynamics(robot, q, qd, qdd), wanted, rtol=0, atol=1e-9)
    back = bt.forward_dynamics(robot, q, qd, wanted)
    assert np.allclose(back, qdd, rtol=0, atol=1e-9)


OPTIONS = [
    *({"bits": 4}, {"products": "partial"}, {"source": "recursive"}),
    *(pytest.param(options, marks=pytest.mark.everything) for options in ({}, {"accuracy": "paper", "bits": 4})),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_compiled_torques_have_the_friction(options, tmp_path):
    model = arm(**options)
    words = words_of(model)
    tau = model.torque_words(*words)
    for kind, form in (("bits", None), ("words", "straight")):
        assert np.array_equal(model.evaluator(kind, form).torque_words(*words), tau)
    values = [f.dequantise(w) for f, w in zip(model.formats.inputs, words, strict=True)]
    true = bt.inverse_dynamics(model.robot, *values)
    spans = np.array([word.span for word in model.formats.tau])
    error = np.abs(model.formats.tau.dequantise(tau) - np.clip(true, spans[:, 0], spans[:, 1])) / model.formats.tau.lsb
    assert (error.max(axis=0) <= np.array(model.certificate.bounds)).all()
    smooth = bt.inverse_dynamics(bt.load_robot("planar2r"), *values)
    assert (np.abs(true - smooth)[words[1] != 0] > 1.0).any()
    found = sweep(model, 2000, 0, workers=1)
    assert not found.exceeding
    model.save(tmp_path / "arm.bdt")
    loaded = bt.load(tmp_path / "arm.bdt")
    assert loaded.robot == model.robot and loaded.digest == model.digest
    assert all(check.passed for check in verify(tmp_path / "arm.bdt", workers=1))


def test_a_plan_shows_the_term_and_a_robot_without_friction_is_as_before():
    from bddtorque.plan.bound import compose_bounds, planned_facts
    from bddtorque.targets.plan_text import plan_text

    plan = arm().plan
    scales = {f"{kind}{j}": Fraction(1) for kind in ("q", "qd", "qdd") for j in (1, 2)}
    text = plan_text(plan, "rubbing", compose_bounds(plan, scales, planned_facts(plan.blocks)))
    assert "friction(qd1)" in text and "2·x0 + sign(x0)·(4/5 to 8/7 within 0.05)" in text
    assert "interpolant(qd2)" in text
    nothing = bt.load_robot("planar2r").with_friction({"elbow": 0.0, "shoulder": None})
    assert nothing == bt.load_robot("planar2r") and not nothing.has_friction


def test_friction_that_was_changed_in_a_file_is_found_out():

    from bddtorque.model.model import to_bytes

    model = arm(bits=4)
    other = model.robot.with_friction({"shoulder": bt.Friction(2.0, 4.0)})
    checks = verify(to_bytes(with_source(model, robot=other)), workers=1)
    assert [check.name for check in checks if not check.passed] == ["plan"]


def test_specs_and_robots_say_friction_and_need_no_other_file():
    spec = spec_from_toml(SPEC, "rubbing.toml", folder_with_samples())
    again = spec_from_toml(str(spec))
    assert again == spec and again.joints[1].friction.values == TORQUES
    text = """name = "slider"
[[joint]]
name = "slide"
type = "prismatic"
friction = { viscous = 3.0, coulomb = 0.5 }
link = { mass = 2.0, centre_of_mass = [0, 0, 0], inertia = [0, 0, 0] }
"""
    robot = from_toml(text)
    assert robot.joints[0].friction == bt.Friction(3.0, 0.5)
    assert bt.inverse_dynamics(robot, [0.0], [0.2], [0.0]) == pytest.approx(2.0 * 9.81 + 0.6 + 0.5)
    with pytest.raises(BddTorqueError, match="joint 1 'slide', friction: unknown key 'vicious'"):
        from_toml(text.replace("viscous", "vicious"))


def test_samples_must_reach_as_far_as_the_velocities():
    robot = bt.load_robot("planar2r").with_friction({"elbow": {"samples": folder_with_samples() / "elbow.csv"}})
    with pytest.raises(BddTorqueError, match="friction of joint 'elbow': samples must reach over all of velocity, -2"):
        bt.compile(robot, bits=4, velocity=2.0, acceleration=1.0, torque=200.0, workers=1)
    held = {"samples": folder_with_samples() / "elbow.csv", "extrapolation": "hold"}
    robot = robot.with_friction({"elbow": held})
    model = bt.compile(robot, bits=4, velocity=2.0, acceleration=1.0, torque=200.0, workers=1)
    assert bt.inverse_dynamics(model.robot, [0, 0], [0, 2.0], [0, 0])[1] == pytest.approx(
        bt.inverse_dynamics(bt.load_robot("planar2r"), [0, 0], [0, 2.0], [0, 0])[1] + 3.5
    )
