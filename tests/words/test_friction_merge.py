"""Noisy samples of a joint's friction: those with the same velocity word are averaged."""

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.compiler.verify import verify
from bddtorque.spec import from_toml
from bddtorque.words.interpolant import Interpolant

SPEC = """
robot = "planar2r"
bits = 8
target = "integer"
torque_is = 0
[ranges]
velocity = 2.0
acceleration = 1.0
torque = "auto"
[[joint]]
name = "shoulder"
friction = {{ samples = {samples}, merge = "{merge}", extrapolation = "hold" }}
"""


def noisy(count=4000):
    rng = np.random.default_rng(4)
    velocity = rng.uniform(-2, 2, count)
    return np.column_stack((velocity, 3.0 * velocity + rng.normal(0, 0.5, count)))


def spec_of(samples, merge):
    text = SPEC.replace("torque_is = 0\n", "").format(samples=samples, merge=merge)
    return from_toml(text)


def test_samples_of_one_word_are_averaged(tmp_path):
    rows = noisy()
    file = tmp_path / "shoulder.csv"
    file.write_text("velocity,torque\n" + "".join(f"{v!r},{t!r}\n" for v, t in rows.tolist()), encoding="utf-8")
    spec = spec_of(f'"{file}"', "word")
    assert from_toml(str(spec)).joints[0].friction.merged().values == spec.joints[0].friction.merged().values
    model = bt.compile(spec, cache=None, workers=1)
    law = model.robot.joints[0].friction
    word = model.formats.qd[0]
    assert isinstance(law, Interpolant)
    expected = {}
    for velocity, torque in rows:
        expected.setdefault(float(word.dequantise(word.quantise(velocity))), []).append(torque)
    (knots,) = law.knots
    assert list(knots) == sorted(expected)
    np.testing.assert_allclose(law.values, [np.mean(expected[knot]) for knot in knots], rtol=1e-12)
    assert np.abs(np.array(law.values) - 3 * np.array(knots)).max() < 0.6  # sixteen samples a word
    assert model.spec.joints[0].friction == law  # the file needs no samples
    assert all(check.passed for check in verify(model, workers=1))


def test_by_point_every_sample_of_its_own_velocity_stays():
    rows = noisy(50).tolist()
    model = bt.compile(spec_of(rows, "point"), cache=None, workers=1)
    assert len(model.robot.joints[0].friction.values) == 50


def test_a_spread_is_refused_by_word():
    spec = spec_of(noisy(500).tolist(), "word")
    text = str(spec).replace("[[joint]]", "[[joint]]", 1)
    assert "merge" in text
    rule = {"samples": noisy(500), "merge": "word", "spread": 0.01, "extrapolation": "hold"}
    joint = bt.spec.JointSpec("shoulder", friction=rule)
    with pytest.raises(bt.BddTorqueError, match=r"joint 'shoulder', friction: .*must agree within 0.01"):
        bt.compile(bt.spec.Spec("planar2r", joints=(joint,)), velocity=2.0, acceleration=1.0, cache=None)


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        ({"samples": [[0, 1], [1, 2]], "merge": "words"}, "merge must be 'point' or 'word', got 'words'"),
        ({"samples": [[0, 1], [1, float("nan")]]}, "must be finite"),
        ({"samples": [[0, 1, 2]]}, "columns"),
        ({"samples": 5}, "must be a CSV file or rows"),
        ({"samples": [[0, 1]], "merg": "word"}, "did you mean 'merge'"),
    ],
)
def test_bad_samples_are_refused(friction, message):
    with pytest.raises(bt.BddTorqueError, match=message):
        bt.spec.JointSpec("shoulder", friction=friction)


def test_a_robot_has_no_words_to_merge_by():
    with pytest.raises(bt.BddTorqueError, match="only valid in a specification"):
        bt.load_robot("planar2r").with_friction({"elbow": {"samples": [[0, 1], [1, 2]], "merge": "word"}})
