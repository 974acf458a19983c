"""Every quantity, for every target: within its certificate of pinocchio, verified, the same words everywhere."""

import contextlib
import copy
import subprocess

import numpy as np
import pinocchio as pin
import pytest
from bdt_files import signed, taken_apart
from examples_tried import EVERY
from oracle import crba, payload_inertia, pinocchio_model, rnea
from sample_robots import example_urdf

import bddtorque as bt
from bddtorque.compiler.verify import verify
from bddtorque.export.c_exporter import export_c
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.plan.reference import run_plan
from bddtorque.spec import from_toml
from bddtorque.words.integer_range import wrap

GAINS = {"kp": 40.0, "kv": [9.0, 11.0]}
BITS = 6
QUANTITIES = ("gravity", "bias", "mass_matrix", "kinematics", "jacobian", "computed_torque")
BOX = {"mass": [0, 5], "com": [[-0.1, 0.1], 0, [0, 0.2]], "runtime": True}

LARGE = pytest.mark.everything


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


def random_words(model, count, beyond=0):
    """Return random words (count, k) of every input array, by name."""
    rng = np.random.default_rng(count)
    return {
        each.name: np.stack([rng.integers(w.lowest - beyond, w.highest + 1 + beyond, count) for w in each], axis=1)
        for each in model.formats.inputs
    }


def flat(model, results):
    """Return what `value` or `words` gave as columns (N, outputs), a symmetric matrix as its upper triangle."""
    results = results if isinstance(results, tuple) else (results,)
    columns = []
    for array, found in zip(model.formats.outputs, results, strict=True):
        symmetric = len(array) < np.prod(array.shape)
        columns.append(found[(..., *np.triu_indices(len(found[0])))] if symmetric else found.reshape(len(found), -1))
    return np.concatenate(columns, axis=1)


def plain_words(model, named):
    """Return the output words (N, outputs) of words by name, by the plain interpreter."""
    return np.stack(run_plan(model.plan, model.tables, named), axis=1)


def by_pinocchio(model, words):
    """Return the true values (N, outputs) of words, by pinocchio alone."""
    robot = model.robot
    values = {
        each.name: np.stack([word.dequantise(words[each.name][:, k]) for k, word in enumerate(each)], axis=1)
        for each in model.formats.inputs
    }
    q = values["q"]
    still = np.zeros_like(q)
    arm = pinocchio_model(robot)
    if model.quantity in ("gravity", "bias", "torque"):
        rows = []
        for state in range(len(q)):
            carried = arm
            if "payload" in values:
                numbers = dict(zip(model.formats["payload"].labels, values["payload"][state], strict=True))
                carried = with_payload(robot, numbers)
            motion = [values.get(name, still)[state] for name in ("qd", "qdd")]
            rows.append(rnea(carried, q[state], *motion))
        return np.array(rows)
    if model.quantity == "computed_torque":
        error = values["q_desired"] - q
        for j, (joint, word) in enumerate(zip(robot.joints, model.formats.q, strict=True)):
            if joint.kind.turns:
                error[:, j] = wrap(words["q_desired"][:, j] - words["q"][:, j], word.bits) * word.lsb * word.sign
        wanted = values["qdd_desired"] + np.array(GAINS["kv"]) * (values["qd_desired"] - values["qd"])
        return rnea(arm, q, values["qd"], wanted + GAINS["kp"] * error)
    if model.quantity == "mass_matrix":
        return crba(arm, q)[:, *np.triu_indices(q.shape[1])]
    frame = pin.Frame("tip", arm.njoints - 1, 0, pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation)),
                      pin.FrameType.OP_FRAME)  # fmt: skip
    tip = arm.addFrame(frame)
    data = arm.createData()
    rows = []
    for state in q:
        jacobian = pin.computeFrameJacobian(arm, data, state, tip, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        pin.framesForwardKinematics(arm, data, state)
        pose = data.oMf[tip]
        pose = np.concatenate([pose.translation, pose.rotation.reshape(-1)])
        rows.append(jacobian.reshape(-1) if model.quantity == "jacobian" else pose)
    return np.array(rows)


def with_payload(robot, numbers):
    """Return a pinocchio model whose tip carries a body of mass, first moments and inertia about the tip's origin."""
    arm = pinocchio_model(robot)
    tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
    arm.appendBodyToJoint(arm.njoints - 1, payload_inertia(numbers), tip)
    return arm


def check_against_pinocchio(model, count):
    """Compare words with pinocchio's values: none may be farther off than is proved."""
    words = random_words(model, count)
    if "payload" in words:  # pinocchio wants a mass
        words["payload"][:, 0] = np.maximum(words["payload"][:, 0], model.formats["payload"]["mass"].lowest + 8)
    named = {f"{name}{k}": column for name, rows in words.items() for k, column in enumerate(rows.T, 1)}
    found, true = plain_words(model, named), by_pinocchio(model, words)
    for k, (word, proved) in enumerate(zip(model.formats.results.values(), model.certificate.outputs, strict=True)):
        units = np.clip(word.units(true[:, k]), word.lowest, word.highest)
        assert np.abs(found[:, k] - units).max() <= proved.bound + 1e-6, proved.name
    np.testing.assert_allclose(model.true_values(named), true, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("target", ["float", "integer", "tables"])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_words_are_within_the_certificate_of_pinocchio(compiled, quantity, target):
    model = compiled(quantity, target)
    assert model.certificate.faithful
    assert model.quantity == quantity
    check_against_pinocchio(model, 300)


@pytest.mark.parametrize(
    "quantity", [pytest.param(each, marks=[LARGE] * (each in ("bias", "mass_matrix"))) for each in QUANTITIES]
)
def test_of_an_arm_with_a_sliding_joint(compiled, quantity):
    gains = {"gains": {"kp": 40.0, "kv": 9.0}} if quantity == "computed_torque" else {}
    model = bt.compile("stanford", quantity=quantity, target="float", bits=12, cache=None, torque="auto", **gains)
    if quantity != "computed_torque":
        check_against_pinocchio(model, 100)
    assert model.certificate.faithful
    assert all(check.passed for check in verify(model, workers=1))


@pytest.mark.parametrize("quantity", ["torque", "gravity", "mass_matrix"])
@pytest.mark.parametrize("target", ["float", "integer"])
def test_a_payload_at_run_time(compiled, quantity, target):
    model = compiled(quantity, target, payload=BOX)
    labels = model.formats["payload"].labels
    assert labels[:3] == ("mass", "mx", "mz")  # y is always 0
    assert ("Ixx" in labels) == (quantity != "gravity")
    assert model.certificate.faithful
    if quantity != "mass_matrix":
        check_against_pinocchio(model, 100)
    ends = model.formats["payload"]["mass"].dequantise([-(1 << BITS - 1), (1 << BITS - 1) - 1])
    np.testing.assert_allclose(ends, [0, 5], rtol=1e-12)
    assert all(check.passed for check in verify(model, workers=1))


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


@pytest.mark.parametrize(
    ("quantity", "target"),
    [
        ("computed_torque", "tables"),
        pytest.param("kinematics", "integer", marks=LARGE),
        pytest.param("mass_matrix", "float", marks=LARGE),
    ],
)
def test_all_evaluators_kernels_and_c_give_the_words_of_the_plain_interpreter(compiled, quantity, target, tmp_path):
    model = compiled(quantity, target)
    words = random_words(model, 60, beyond=3)
    named = {f"{name}{k}": column for name, rows in words.items() for k, column in enumerate(rows.T, 1)}
    expected = plain_words(model, named)
    straight = model.evaluator("words", form="straight")
    evaluators = [model, straight, model.evaluator("parallel", processors=2)]
    evaluators += [model.evaluator("bits")] if target == "tables" else []
    for evaluator in evaluators:
        np.testing.assert_array_equal(flat(model, evaluator.words(*words.values())), expected)
    single = model.words(**{name: rows[0] for name, rows in words.items()})
    shapes = [each.shape for each in (single if isinstance(single, tuple) else [single])]
    assert shapes == [array.shape for array in model.formats.outputs]
    kernel, out = model.kernel(), np.zeros(expected.shape[1], dtype=np.int64)
    kernel(*(rows[7] for rows in words.values()), out)
    np.testing.assert_array_equal(out, expected[7])
    export_c(model, tmp_path / "c")
    tried = subprocess.run(["make", "-s", "check"], cwd=tmp_path / "c", capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    header = (tmp_path / "c" / "planar2r.h").read_text(encoding="utf-8")
    assert f"planar2r_{quantity}_words" in header


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_files_are_read_back_and_verified(compiled, quantity):
    model = compiled(quantity, "integer")
    data = to_bytes(model)
    again = from_bytes(data)
    assert (again.formats, again.provenance) == (model.formats, model.provenance)
    assert (again.plan, again.certificate) == (model.plan, model.certificate)
    assert all(check.passed for check in verify(data, workers=1))
    if quantity == "gravity":
        altered = to_bytes(from_bytes(data), package="9.9")
        assert from_bytes(altered).digest == model.digest


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
        ({"quantity": "gravity", "gains": {"kp": 1}}, "gains is only valid for quantity 'computed_torque'"),
        ({"gains": {"kp": 1}}, "gains is only valid for quantity 'computed_torque', got 'torque'"),
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


def test_of_a_tree(compiled):
    robot = bt.load_robot(str(example_urdf("solo_description/robots/solo12.urdf")))
    model = bt.compile(robot, quantity="gravity", target="float", bits=12, cache=None)
    words = random_words(model, 200)
    named = {f"q{k}": column for k, column in enumerate(words["q"].T, 1)}
    found, values = plain_words(model, named), model.formats.q.dequantise(words["q"])
    true = bt.gravity_torque(robot, values)
    for k, (word, proved) in enumerate(zip(model.formats["tau"], model.certificate.outputs, strict=True)):
        assert np.abs(found[:, k] - word.units(true[:, k])).max() <= proved.bound + 1e-6


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


@pytest.mark.parametrize("target", ["spec", "words", "certificate"])
def test_files_with_anything_in_them_are_read_or_refused_in_one_line(compiled, target):
    model = compiled("gravity", "integer", payload=BOX)
    header, arrays = taken_apart(to_bytes(model))
    for path in list(paths_of(header[target]))[:: 1 if EVERY else 3]:
        for value in (None, -1, "x", [], {}, 1e308):
            altered = copy.deepcopy(header)
            place = altered[target]
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            with contextlib.suppress(bt.BddTorqueError):
                from_bytes(signed(altered, arrays))


def paths_of(plain, path=()):
    """Give the place of everything in plain data."""
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths_of(value, (*path, key))
