"""Every quantity of the registry, with whatever it takes at run time, on random chains and trees with followers.

Float64 values are pinocchio's, and compiled words are within the certificate of them, for every target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from examples_tried import examples
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracle import PinocchioTree, payload_inertia
from strategies import KINDS, random_rotation, random_tree, seeds

import bddtorque as bt
from bddtorque.base.plain import matrix, vector
from bddtorque.compiler.origin import origins_of
from bddtorque.compiler.verify import verify
from bddtorque.dynamics.feedback import error_name
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.dynamics.quantities.mass_matrix import upper_triangle
from bddtorque.dynamics.run_time import RUN_TIME
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.model.provenance import of_robot
from bddtorque.plan.reference import run_plan
from bddtorque.robots.parts import Frame
from bddtorque.robots.robot import Robot
from bddtorque.spec.resolve import interface_of
from bddtorque.words.integer_range import wrap
from bddtorque.words.interface import Interface, WordArray

GAINS = {"kp": 4.0, "kv": 3.0}
RUN_TIME_OPTIONS: dict[str, Any] = {
    "gravity": {"largest": 12.0, "runtime": True},
    "payload": {"mass": [1, 3], "com": [[-0.1, 0.2], 0, [0, 0.3]], "runtime": True},
}
BITS = {"float": 10, "integer": 5, "tables": 4}


def cases() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give every quantity with every set of what it takes at run time."""
    for name, record in QUANTITIES.items():
        for count in range(len(record.accepts) + 1):
            yield from ((name, chosen) for chosen in combinations(record.accepts, count))


CASES = [pytest.param(name, given, id="+".join((name, *given))) for name, given in cases()]


@st.composite
def structures(draw: st.DrawFn, most: int) -> Robot:
    """Draw a chain or a tree of 1 to `most` joints, some of which follow the first; its tip is on any of them."""
    n = draw(st.integers(1, most))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=n, max_size=n))
    parents = list(range(n)) if draw(st.booleans()) else draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    follows = draw(st.lists(st.sampled_from([0, 0, 1, -2]), min_size=n, max_size=n))
    seed = draw(seeds)
    rng = np.random.default_rng([seed, 1])
    tip = vector(rng.uniform(-0.4, 0.4, 3), "tip")
    frame = Frame(matrix(random_rotation(rng), "tip"), tip, f"j{draw(st.integers(0, n - 1))}")
    return replace(random_tree(kinds, parents, follows, seed, 0.0), tip=frame)


def options_of(robot: Robot, quantity: str, given: tuple[str, ...], target: str) -> dict[str, Any]:
    """Return what to compile."""
    record = QUANTITIES[quantity]
    options: dict[str, Any] = {"quantity": quantity, "target": target, "bits": BITS[target]}
    if slides := [joint.name for joint in robot.joints if not joint.kind.turns]:
        options["position"] = dict.fromkeys(slides, (-0.3, 0.5))
    options |= {name: size for name, size in (("velocity", 1.5), ("acceleration", 4.0)) if name in record.ranges}
    if "torque" in record.ranges:
        options["torque"] = "auto"
    if "gains" in record.keys:
        options["gains"] = GAINS
    return options | {name: RUN_TIME_OPTIONS[name] for name in given}


def values_of(formats: Interface, words: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what words stand for, (N, k) by array."""
    return {
        array.name: np.stack(
            [word.dequantise(words[name]) for name, word in zip(array.word_names, array, strict=True)], axis=1
        )
        for array in formats.inputs
    }


def by_pinocchio(robot: Robot, quantity: str, formats: Interface, words: dict[str, np.ndarray]) -> np.ndarray:
    """Return the true outputs (N, outputs) of words, by pinocchio alone."""
    tree, values = PinocchioTree(robot), values_of(formats, words)
    rows = []
    for state in range(len(values["q"])):
        at = {name: each[state] for name, each in values.items()}
        model = tree.model.copy()
        if "payload" in at:
            model = tree.carrying(payload_inertia(dict(zip(formats["payload"].labels, at["payload"], strict=True))))
        if "gravity" in at:
            model.gravity = pin.Motion(at["gravity"], np.zeros(3))
        rows.append(state_outputs(tree, model, robot, quantity, formats, at, words, state))
    return np.array(rows)


def state_outputs(
    tree: PinocchioTree, model: pin.Model, robot: Robot, quantity: str, formats: Interface,
    at: dict[str, np.ndarray], words: dict[str, np.ndarray], state: int,
) -> np.ndarray:  # fmt: skip
    """Return the outputs of one state."""
    q, still = at["q"], np.zeros(len(at["q"]))
    match quantity:
        case "torque":
            return tree.torques(model, q, at["qd"], at["qdd"])
        case "bias":
            return tree.torques(model, q, at["qd"], still)
        case "gravity":
            return tree.torques(model, q, still, still)
        case "energy":
            return tree.energy(model, q, at["qd"])
        case "mass_matrix":
            full = tree.mass_matrix(model, q)
            return np.array([full[i, j] for i, j in upper_triangle(len(q))])
        case "momentum":
            return tree.mass_matrix(model, q) @ at["qd"]
        case "passivity_torque":
            still_there = tree.torques(model, q, still, at["qdd_reference"])
            return still_there + tree.coriolis(model, q, at["qd"]) @ at["qd_reference"]
        case "momentum_rate":
            return tree.coriolis(model, q, at["qd"]).T @ at["qd"] - tree.torques(model, q, still, still)
        case "coriolis":
            return tree.coriolis(model, q, at["qd"]).ravel()
        case "derivatives":
            return tree.derivatives(model, q, at["qd"], at["qdd"]).ravel()
        case "kinematics":
            return tree.pose(model, q)
        case "jacobian":
            return tree.jacobian(model, q)
        case "computed_torque" | "pd_gravity":
            error = at["q_desired"] - q
            for j, (joint, word) in enumerate(zip(robot.joints, formats.q, strict=True)):
                if joint.kind.turns:  # the short way round
                    apart = wrap(words[f"q_desired{j + 1}"][state] - words[f"q{j + 1}"][state], word.bits)
                    error[j] = apart * word.lsb * word.sign
            feedback = GAINS["kv"] * (at["qd_desired"] - at["qd"]) + GAINS["kp"] * error
            if quantity == "pd_gravity":
                return tree.torques(model, q, still, still) + feedback
            return tree.torques(model, q, at["qd"], at["qdd_desired"] + feedback)
    raise AssertionError(f"a quantity that this test does not know: {quantity}")


def random_words(formats: Interface, count: int, seed: int) -> dict[str, np.ndarray]:
    """Return random words and ends by name, (count,)."""
    rng = np.random.default_rng(seed)
    words = {
        name: rng.integers(word.lowest, word.highest, count, endpoint=True) for name, word in formats.words.items()
    }
    for name, word in formats.words.items():
        words[name][: count // 3] = rng.choice([word.lowest, 0, word.highest], count // 3)
    return words


@pytest.mark.parametrize(("quantity", "at_run_time"), CASES)
@settings(max_examples=examples(75), suppress_health_check=[HealthCheck.too_slow])
@given(robot=structures(5), seed=seeds)
def test_float64_values_and_traced_graphs_are_pinocchios(
    quantity: str, at_run_time: tuple[str, ...], robot: Robot, seed: int
) -> None:
    """Before anything is planned: what words are compared with, and what they are compiled from."""
    options = {**options_of(robot, quantity, at_run_time, "float"), "bits": 16}
    if "torque" in options:
        options["torque"] = 1000.0
    spec = bt.Spec("random").with_options(**options).resolve(robot)
    outputs = len(QUANTITIES[quantity].labels(robot))
    formats = interface_of(spec, robot, [(-10.0, 10.0)] * outputs)
    words = random_words(formats, 6, seed)
    expected = by_pinocchio(robot, quantity, formats, words)
    scale = max(1.0, float(np.abs(expected).max()))
    values = of_robot(robot, spec).true_values(formats, words, ())
    assert values is not None
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-11 * scale)
    inputs = {name: word.dequantise(words[name]) for name, word in formats.words.items()}
    for each in formats.derived:
        total = sum(factor * words[name] for name, factor in each.parts)
        inputs[each.name] = float(each.argument.scale) * wrap(total, each.argument.bits)
    assert {each.name for each in formats.derived} <= {error_name(j) for j in range(1, 6)}
    for origin in origins_of(spec, robot, formats.inputs):
        graph = origin.graph
        traced = graph.evaluate({name: inputs[name] for name in graph.input_names})
        found = np.stack([np.broadcast_to(each, 6) for each in traced], axis=1)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * scale)


def check_compiled(robot: Robot, quantity: str, at_run_time: tuple[str, ...], target: str, seed: int) -> None:
    """Compile it, and compare words and proved ranges with pinocchio's values."""
    options = options_of(robot, quantity, at_run_time, target)
    model = bt.compile(robot, workers=1, cache=None, **options)
    words = random_words(model.formats, 60, seed)
    found = [np.broadcast_to(column, 60) for column in run_plan(model.plan, model.tables, words)]
    expected = by_pinocchio(robot, quantity, model.formats, words)
    scale = max(1.0, float(np.abs(expected).max()))
    outputs = zip(found, expected.T, model.formats.results.values(), model.certificate.outputs, strict=True)
    for column, true, word, proved in outputs:
        units = np.clip(word.units(true), word.lowest, word.highest)
        assert np.abs(column - units).max() <= proved.bound + 1e-9 * scale / word.lsb, proved.name
        # neither words nor the truth are clamped: words that are too narrow would clip both alike
        beyond = max(word.lowest - word.units(true).min(), word.units(true).max() - word.highest)
        assert beyond <= proved.bound + 1e-9 * scale / word.lsb, proved.name
        assert proved.faithful, proved.name
        assert proved.saturation == "cannot", proved.name  # ranges were found, and hold all that there is
        assert proved.low - 1e-9 * scale <= true.min() and true.max() <= proved.high + 1e-9 * scale, proved.name
    call = model.torque_words if model.provenance.is_torque else model.words
    shaped = call(**{array.name: stacked(array.word_names, words) for array in model.formats.inputs})
    shaped = shaped if isinstance(shaped, tuple) else (shaped,)
    for array, own in zip(model.formats.outputs, shaped, strict=True):
        assert own.shape == (60, *array.shape)
    flat = [array.shaped(np.stack(columns, axis=1)) for array, columns in by_array(model.formats, found)]
    for own, expected_words in zip(shaped, flat, strict=True):
        np.testing.assert_array_equal(own, expected_words)
    data = to_bytes(model)
    again = from_bytes(data)
    assert (again.formats, again.provenance, again.certificate) == (model.formats, model.provenance, model.certificate)
    failed = [check for check in verify(data, workers=1) if not check.passed]
    assert not failed


def by_array(formats: Interface, columns: list[np.ndarray]) -> Iterator[tuple[WordArray, list[np.ndarray]]]:
    """Give every output array with its columns."""
    left = iter(columns)
    for array in formats.outputs:
        yield array, [next(left) for _ in array]


def stacked(names: tuple[str, ...], words: dict[str, np.ndarray]) -> np.ndarray:
    return np.stack([words[name] for name in names], axis=1)


SMALL = pytest.param("float", 2, 1), pytest.param("integer", 1, 1), pytest.param("tables", 1, 1)
LARGE = [pytest.param(target, 3, 12, marks=pytest.mark.everything) for target in BITS]


@pytest.mark.parametrize(("target", "joints", "count"), [*SMALL, *LARGE])
@pytest.mark.parametrize(("quantity", "at_run_time"), CASES)
def test_words_are_within_the_certificate_of_pinocchio(
    quantity: str, at_run_time: tuple[str, ...], target: str, joints: int, count: int
) -> None:
    """With ranges that are found, so that nothing saturates; files are read back, and proved again."""
    if target == "tables" and len(at_run_time) > 1 and joints > 1:
        joints = 2  # tables of so many words take minutes

    # not shrunk: structures are small, and each step would compile a model
    phases = (Phase.explicit, Phase.generate)

    @settings(max_examples=count, suppress_health_check=[HealthCheck.too_slow], database=None, phases=phases)
    @given(robot=structures(joints), seed=seeds)
    def check(robot: Robot, seed: int) -> None:
        check_compiled(robot, quantity, at_run_time, target, seed)

    check()


def test_kinetic_energy_is_not_negative_where_bodies_can_exist() -> None:
    """Its words are unsigned, and 0 is the first; a body that cannot exist gets words of both signs."""
    robot = bt.load_robot("planar2r")
    options = {"quantity": "energy", "target": "float", "bits": 10, "workers": 1, "velocity": 2.0}
    word = bt.compile(robot, **options).formats.kinetic[0]
    assert not word.signed and word.lowest == word.quantise(0.0) == 0 and word.dequantise(0) == 0.0
    odd = replace(robot.links[1], inertia=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, -90.0)))
    model = bt.compile(replace(robot, links=(robot.links[0], odd), allow_unphysical=True), **options)
    assert model.formats.kinetic[0].signed and model.formats.kinetic[0].low == -model.formats.kinetic[0].high
    found = model.value([0.0, 0.0], [0.0, 2.0])
    assert found.kinetic < -1.0


def test_every_input_at_run_time_is_tried() -> None:
    assert set(RUN_TIME_OPTIONS) == set(RUN_TIME) == {name for each in QUANTITIES.values() for name in each.accepts}
