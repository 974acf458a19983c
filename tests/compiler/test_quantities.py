"""Every quantity, for every target: within its certificate of pinocchio, verified, the same words everywhere."""

import numpy as np
import pinocchio as pin
import pytest
from oracle import payload_inertia, pinocchio_model

import bddtorque as bt
from bddtorque.plan.reference import run_plan
from bddtorque.spec import from_toml

GAINS = {"kp": 40.0, "kv": [9.0, 11.0]}
BITS = 6
BOX = {"mass": [0, 5], "com": [[-0.1, 0.1], 0, [0, 0.2]], "runtime": True}


@pytest.fixture(scope="module")
def compiled():
    """Return a function that compiles once what several tests look at."""
    kept = {}

    def make(quantity, target="float", robot="planar2r", **options):
        key = quantity, target, robot, str(options)
        if key not in kept:
            if quantity == "computed_torque":
                options["gains"] = GAINS
            kept[key] = bt.compile(
                robot, quantity=quantity, target=target, bits=BITS, cache=None, workers=1, torque="auto", **options
            )
        return kept[key]

    return make


def plain_words(model, named):
    """Return the output words (N, outputs) of words by name, by the plain interpreter."""
    return np.stack(run_plan(model.plan, model.tables, named), axis=1)


def with_payload(robot, numbers):
    """Return a pinocchio model whose tip carries a body of mass, first moments and inertia about the tip's origin."""
    arm = pinocchio_model(robot)
    tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
    arm.appendBodyToJoint(arm.njoints - 1, payload_inertia(numbers), tip)
    return arm


def test_a_payload_is_the_one_of_a_robot_that_carries_it(compiled):
    model = compiled("torque", payload=BOX)
    q, qd, qdd = [0.3, -0.8], [0.5, 0.2], [1.0, -1.0]
    inertia = np.diag([0.01, 0.02, 0.01])
    payload = model.payload(3.0, (0.05, 0.0, 0.1), inertia)
    fixed = bt.load_robot("planar2r").with_payload(3.0, (0.05, 0.0, 0.1), inertia=inertia.tolist())
    words = {"q": q, "qd": qd, "qdd": qdd}
    rounded = {name: model.formats[name].dequantise(model.formats[name].quantise(each)) for name, each in words.items()}
    exact = bt.inverse_dynamics(fixed, *rounded.values())
    coarse = 2 * np.array([word.lsb for word in model.formats["tau"]])  # the payload's own words are as coarse
    given = {**words, "payload": payload}
    named = {f"{name}{k}": np.array([w]) for name, each in given.items()
             for k, w in enumerate(model.formats[name].quantise(each), 1)}  # fmt: skip
    found = model.formats["tau"].dequantise(plain_words(model, named))[0]
    assert (np.abs(found - exact) < coarse).all()


def test_a_payload_outside_of_the_box_is_refused(compiled):
    model = compiled("torque", payload=BOX)
    for given, said in (
        ((7.0,), "mass must be between 0 and 5 kg, as compiled, got 7"),
        ((1.0, (9.0, 0, 0)), "mx must"),
    ):
        with pytest.raises(bt.BddTorqueError, match=f"^payload: {said}"):
            model.payload(*given)


def test_a_model_without_a_payload_at_run_time_says_how_to_get_one(compiled):
    for model in (compiled("gravity", "float"), bt.compile("planar2r", bits=4, target="float", cache=None)):
        with pytest.raises(
            bt.BddTorqueError, match="'planar2r' has no payload at run time: compile it with payload = "
        ):
            model.payload(1.0)


def test_torque_of_another_quantity_is_refused_in_one_line(compiled):
    model = compiled("gravity")
    with pytest.raises(bt.BddTorqueError, match=r"compiled for quantity 'gravity'.*use value\(q\)"):
        model.torque([0.0, 0.0])
    with pytest.raises(bt.BddTorqueError, match="quantity 'gravity'"):
        model.torque_words([0, 0])
    with pytest.raises(bt.BddTorqueError, match="not a function"):
        _ = model.graph


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, "'q' is missing"),
        (([0, 0], [0, 0]), {}, "takes 1 arrays"),
        (([0, 0, 0],), {}, r"shape \(2,\) or \(N, 2\), got \(3,\)"),
        (([0, 0],), {"q": [0, 0]}, "given twice"),
        (([0, 0],), {"qd": [0, 0]}, "unknown array of planar2r 'qd'"),
        (([[0], [0, 0]],), {}, "ragged"),
        (([0.5, 0.5],), {}, "integer words"),
        ((["a", "b"],), {}, "integer words"),
    ],
)
def test_wrong_arrays_are_refused(compiled, given, named, message):
    with pytest.raises(bt.BddTorqueError, match=message):
        compiled("gravity").words(*given, **named)


def test_values_that_are_no_numbers_are_refused_and_those_beyond_counted(compiled):
    model = compiled("bias")
    with pytest.raises(bt.BddTorqueError, match="finite"):
        model.value([0.0, np.nan], [0.0, 0.0])
    evaluator = model.evaluator()
    evaluator.value([0.0, 0.0], [1e9, 0.0])
    assert evaluator.out_of_range.tolist() == [[0, 0], [1, 0]]
    with pytest.raises(bt.BddTorqueError, match="velocity of joint 'shoulder'"):
        model.evaluator(on_range="raise").value([0.0, 0.0], [1e9, 0.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantity": "gravitiy"}, "did you mean 'gravity'"),
        ({"quantity": "gravity", "accuracy": "paper"}, "accuracy 'paper' is only valid for quantity 'torque'"),
        ({"quantity": "gravity", "gains": {"kp": 1}}, "gains is only valid for quantity 'computed_torque' or 'pd_"),
        ({"gains": {"kp": 1}}, "only valid for quantity 'computed_torque' or 'pd_gravity', got 'torque'"),
        ({"quantity": "computed_torque"}, "needs gains in 1/s² and 1/s, such as gains = .* or --gains kp=100"),
        ({"quantity": "computed_torque", "gains": {"kp": [1, 2, 3]}}, "one per joint"),
        ({"quantity": "computed_torque", "gains": {"kp": -1}}, "at least 0"),
        ({"quantity": "computed_torque", "gains": {"kp": float("nan")}}, "finite"),
        ({"quantity": "jacobian", "source": "terms"}, "source 'terms' cannot be used with quantity 'jacobian'"),
        ({"quantity": "kinematics", "payload": BOX}, "does not depend on payload"),
        ({"quantity": "kinematics", "bits": [8, 9]}, "one number for quantity 'kinematics'"),
        ({"payload": {"mass": [-1, 5], "runtime": True}}, "not be below 0 kg"),
        ({"payload": {"mass": 0, "runtime": True}}, "above 0 kg"),
        ({"payload": {"mass": [0, 5], "com": [0, 0], "runtime": True}}, "3 ranges in m"),
        ({"payload": {"mass": [0, 5], "runtime": False}}, "must be true"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(bt.BddTorqueError, match=message):
        bt.compile("planar2r", cache=None, **options)


def test_gravity_needs_no_velocities():
    robot = bt.load_robot("planar2r")
    model = bt.compile(robot, quantity="gravity", target="float", cache=None)
    assert model.spec.joints[0].velocity is None
    assert model.spec.joints[0].acceleration is None
    assert [each.name for each in model.formats.inputs] == ["q"]
    assert not any("acceleration" in note for note in model.report["notes"])


@pytest.mark.parametrize("robot", ["ur5", pytest.param("puma560", marks=pytest.mark.everything)])
def test_a_torque_that_is_zero_but_for_noise_does_not_spoil_the_bound(robot):
    """Gravity does not turn the shoulder, whose axis is vertical: rounded right angles make it 0, or 1e-9 of others."""
    model = bt.compile(robot, quantity="gravity", torque="auto", bits=12, target="float", workers=1)
    assert max(model.certificate.bounds) < 0.51
    highs = [word.high for word in model.formats.tau]
    assert highs[0] == (1.0 if robot == "ur5" else pytest.approx(max(highs) / 1000))
    assert not model.words(np.arange(-300, 300).reshape(100, 6))[:, 0].any()


def test_a_range_that_is_too_small_has_a_witness():
    model = bt.compile("planar2r", quantity="gravity", target="float", bits=10, cache=None, torque=20.0)
    first = model.certificate.outputs[0]
    assert first.saturation == "can"
    assert len(first.witness) == 1
    assert abs(model.value(model.formats.q.dequantise(first.witness[0]))[0]) > 19.9


def test_quantity_is_in_the_spec_and_left_out_for_torque():
    spec = bt.load_spec("planar2r").with_options(quantity="computed_torque", gains={"kp": 1, "kv": [2, 3]}, payload=BOX)
    again = from_toml(str(spec))
    assert (again.quantity, again.gains, again.payload) == (spec.quantity, spec.gains, spec.payload)
    assert "quantity" not in bt.load_spec("planar2r").to_plain()


def test_friction_is_in_the_bias_and_not_in_gravity():
    robot = bt.load_robot("planar2r").with_friction({"shoulder": bt.Friction(viscous=2.0, coulomb=3.0)})
    ranges = {"bits": 10, "cache": None, "torque": "auto", "velocity": 3.0, "target": "integer"}
    bias = bt.compile(robot, quantity="bias", **ranges)
    check_words = {"q1": 20, "q2": -30, "qd1": bias.formats.qd[0].quantise(1.0), "qd2": 0}
    named = {name: np.array([word]) for name, word in check_words.items()}
    plain = bt.compile("planar2r", quantity="bias", **ranges).true_values(named)
    unit = bias.formats["tau"][0].lsb
    assert abs(plain_words(bias, named)[0, 0] * unit - plain[0, 0] - 5.0) < 2 * unit
    gravity = bt.compile(robot, quantity="gravity", **ranges)
    assert not any(block.to_plain()["kind"] == "law" for block in gravity.plan.blocks)


def paths_of(plain, path=()):
    """Give the place of everything in plain data."""
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths_of(value, (*path, key))
