"""The whole road: what compiles, from what, the same whoever does the work, and what is refused before it hurts."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from compiled import arm, found_errors, random_words, reference, some_words
from examples_tried import EVERY
from hypothesis import HealthCheck, given, settings
from strategies import random_robot, robots

import bddtorque as bt
from bddtorque.base.caching import Cache
from bddtorque.spec import load_spec


def check(model, count=20_000):
    """Assert that every evaluator gives the reference's words and that no error passes the certificate."""
    words = some_words(model, count) if len(model.formats.q) < 3 else random_states(model, count)
    tau = model.torque_words(*words)
    assert np.array_equal(tau, reference(model, words))
    assert np.array_equal(model.evaluator("bits").torque_words(*(w[:2000] for w in words)), tau[:2000])
    found = found_errors(model, words, tau)
    assert (found <= model.certificate.bounds).all(), f"found {found}, proved {model.certificate.bounds}"


def random_states(model, count):
    states, rng = random_words(model, count, 1), np.random.default_rng(1)
    for words, kind in zip(states, model.formats.inputs, strict=True):  # half of them at the ends of their range
        words[: count // 2] = np.where(rng.random((count // 2, len(kind))) < 0.5, kind.lowest, kind.highest)
    return states


def test_a_name_a_file_a_spec_and_a_robot_compile(tmp_path):
    by_name = arm(4, workers=1)
    file = tmp_path / "mine.toml"
    file.write_text((load_spec.__globals__["tables_directory"]() / "planar2r.toml").read_text())
    spec = load_spec("planar2r").with_options(bits=4)
    models = [
        bt.compile(str(file), bits=4, workers=1),
        bt.compile(file, bits=4, workers=1),
        bt.compile(spec, workers=1),
        bt.compile(bt.load_robot("planar2r"), bits=4, position=np.pi, velocity=1.0, acceleration=1.0,
                   torque={"shoulder": 200.0, "elbow": 100.0}, workers=1),
    ]  # fmt: skip
    for model in models:
        assert [table.content_key for table in model.tables] == [table.content_key for table in by_name.tables]
        assert model.certificate == by_name.certificate
    assert {model.digest for model in models[:3]} == {by_name.digest}


@pytest.mark.parametrize("wrong", [3, None, b"planar2r", ["planar2r"]])
def test_what_is_no_robot_is_refused(wrong):
    with pytest.raises(bt.BddTorqueError, match="what to compile must be a name, a file, a Spec or a Robot, got"):
        bt.compile(wrong)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"bits": 1}, "bits"),
        ({"bits": 25}, "bits"),
        ({"bits": [8, 8, 8]}, "one number, or one per joint"),
        ({"input_bits": 1}, "bits"),
        ({"accuracy": 0.5}, "above 0.5"),
        ({"accuracy": "exact"}, "accuracy"),
        ({"block_bits": 3}, "block_bits"),
        ({"block_bits": 29}, "block_bits"),
        ({"memory": "1 KiB"}, "memory"),
        ({"source": "magic"}, "source"),
        ({"target": "moon"}, "target"),
        ({"velocity": 0.0}, "velocity"),
        ({"velocity": [[1.0, -1.0], [0.0, 1.0]]}, "velocity"),
        ({"torque": [100.0]}, "torque"),
        ({"speed": 3.0}, "unknown option 'speed'"),
        ({"bits": 8, "accuracy": 0.5005}, "above 0.501 units, got 0.5005"),
    ],
)
def test_nonsense_is_refused_with_what_would_do(options, match):
    with pytest.raises(bt.BddTorqueError, match=match):
        bt.compile("planar2r", workers=1, cache=None, **options)


@pytest.mark.slow
def test_the_digest_is_the_same_whoever_does_the_work(tmp_path):
    one = arm(5, workers=1)
    others = [
        bt.compile("planar2r", bits=5, workers=2, cache=None),
        bt.compile("planar2r", bits=5, workers=1, cache=None, engine="autoref"),
        bt.compile("planar2r", bits=5, workers=1, cache=Cache(tmp_path)),
        bt.compile("planar2r", bits=5, workers=1, cache=Cache(tmp_path)),  # from the cache
    ]
    with ThreadPoolExecutor(2) as executor:
        others.append(bt.compile("planar2r", bits=5, executor=executor, cache=None))
    assert {other.digest for other in others} == {one.digest}
    assert others[0].diagram_digest == others[2].diagram_digest == others[3].diagram_digest == one.diagram_digest
    assert any(tmp_path.rglob("*"))


def test_memory_is_refused_before_it_is_taken():
    with pytest.raises(bt.BddTorqueError, match=r"memory of 1 MiB is less than the \d+ MiB needed .* 16 input bits"):
        bt.compile("planar2r", bits=8, products="blocks", block_bits=16, memory="1 MiB", workers=1, cache=None)
    with pytest.raises(bt.BddTorqueError, match=r"memory of 2 GiB is less than the .* needed"):
        bt.compile("planar2r", bits=24, block_bits=24, workers=2, cache=None)


@pytest.mark.slow
def test_compiling_stays_within_its_memory_budget():
    # a process of its own: what it may take above an idle one is what it was given
    code = (
        "import resource, bddtorque as bt; bt.compile('planar2r', bits=4, workers=1, cache=None);"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "bt.compile('planar2r', bits=8, products='blocks', block_bits=16, workers=1, cache=None, memory='{}');"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    with pytest.raises(bt.BddTorqueError, match="MiB needed") as refused:
        bt.compile("planar2r", bits=8, products="blocks", block_bits=16, workers=1, cache=None, memory="1 MiB")
    needed = int(str(refused.value).split("less than the ")[-1].split(" MiB needed")[0])
    done = subprocess.run(
        [sys.executable, "-c", code.format(f"{needed} MiB")], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) <= needed


@pytest.mark.parametrize("accuracy", [0.51, 0.6, 1.5, 4.0])
def test_any_accuracy_is_kept(accuracy):
    model = arm(6, workers=1, accuracy=accuracy)
    assert max(model.certificate.bounds) < accuracy
    check(model)


RANGES = {"position": 0.5, "velocity": 1.0, "acceleration": 2.0, "torque": 400.0}


@pytest.mark.slow
@pytest.mark.parametrize("source", ["terms", "recursive"])
@settings(max_examples=4 if EVERY else 3, suppress_health_check=[HealthCheck.too_slow])
@given(robots(most=2))
def test_any_small_arm_keeps_its_bound(source, robot):
    model = bt.compile(robot, bits=5, source=source, workers=1, **RANGES)
    assert model.certificate.faithful
    check(model, 5000)


def test_an_arm_without_any_table_compiles():
    lift = replace(random_robot(["prismatic"], ["parallel"], 3), payload=None)
    model = bt.compile(lift, bits=7, workers=1, **RANGES)
    assert not model.plan.blocks and model.certificate.faithful
    check(model)


def test_a_model_says_what_it_is():
    model = arm(6, workers=1)
    figures = model.summary()
    assert figures["robot"] == "planar2r" and figures["blocks"] == len(model.tables) and figures["faithful"]
    assert figures["rows"] == sum(len(table.values) for table in model.tables)
    assert figures["nodes"] == sum(diagram.node_count for diagram in model.diagrams)
    assert "6 bits" in repr(model) and model.report["seconds"] > 0
    assert model.certificate.bounds == tuple(figures["bound"])
    for torque, word in zip(model.certificate.torques, model.formats.tau, strict=True):
        assert torque.bound_si == pytest.approx(torque.bound * word.lsb)
        assert torque.bound == pytest.approx(sum(vars(torque.parts).values()))
