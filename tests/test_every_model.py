"""Everything that can be done with a model, done with every kind of model.

Quantities, run-time inputs and targets come from their registries, so that a new one is tried by itself. A feature
works, or is refused where the one table of `model/applicability.py` says so; anything else is a defect.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_robots import TREE

import bddtorque as bt
from bddtorque.bench.contenders import contenders
from bddtorque.compiler.verify import verify
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.dynamics.run_time import RUN_TIME
from bddtorque.independent import check_bytes
from bddtorque.model.applicability import FEATURES, applies
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.targets import TARGETS

KEYS: dict[str, dict[str, Any]] = {"gains": {"kp": 4.0, "kv": 3.0}}
"""A value for every key of a specification that some quantity needs."""
AT_RUN_TIME: dict[str, Any] = {"payload": {"mass": [0, 2], "runtime": True}, "gravity": "runtime"}
WORDS, TREE_WORDS = 5, 4
"""Bits: enough for every step, few enough that all of it takes a fraction of a second."""
FUNCTIONS = ("function", "samples", "given")
MODELS = [
    *((robot, quantity) for robot in ("planar2r", "tree") for quantity in QUANTITIES),
    *(("planar2r", f"{quantity} with {each}") for quantity in ("gravity", "torque") for each in RUN_TIME),
    *(("", function) for function in FUNCTIONS),
]
CASES = [
    pytest.param(robot, what, target, id=f"{robot}-{what}-{target}".strip("-"))
    for robot, what in MODELS
    for target in TARGETS
    if not (TARGETS[target].only_traced and what in ("samples", "given"))
]


@cache
def tree_file() -> str:
    """Return the path of a small tree with followers that turn and slide."""
    path = Path(tempfile.mkdtemp()) / "tree.urdf"
    path.write_text(TREE, encoding="utf-8")
    return str(path)


@cache
def model_of(robot: str, what: str, target: str) -> bt.Model:
    if what == "function":
        inputs = {"x": (5, 1.0), "angle": (5, "angle")}
        return bt.compile_function(lambda x, a: x * np.sin(a) + x, inputs=inputs, output=(6, 2.5), target=target)
    if what == "samples":
        points = np.linspace(-1, 1, 9)
        return bt.compile_samples((points, points**3), inputs={"v": (5, 1.0)}, output={"f": 6}, target=target)
    if what == "given":
        return bt.compile_function(np.tanh, inputs={"x": (5, 2.0)}, output=6, trace="float", target=target)
    quantity, _, at_run_time = what.partition(" with ")
    options: dict[str, Any] = {key: KEYS[key] for key in QUANTITIES[quantity].keys}
    if at_run_time:
        options[at_run_time] = AT_RUN_TIME[at_run_time]
    ranges = QUANTITIES[quantity].ranges
    options |= {name: 1.0 for name in ("velocity", "acceleration") if name in ranges}
    if "torque" in ranges:
        options["torque"] = "auto"
    if robot == "tree" and (QUANTITIES[quantity].needs_tip or at_run_time == "payload"):
        options["frame"] = "three"
    arm, bits = ("planar2r", WORDS) if robot == "planar2r" else (tree_file(), TREE_WORDS)
    return bt.compile(arm, quantity=quantity, target=target, bits=bits, workers=1, cache=None, **options)


def words_of(model: bt.Model, count: int = 20) -> dict[str, np.ndarray]:
    """Return random words by the names of the arrays, (N, words); numbers (N,)."""
    rng = np.random.default_rng(1)
    arrays = {}
    for array in model.formats.inputs:
        columns = [rng.integers(word.lowest, word.highest, count, endpoint=True) for word in array]
        arrays[array.name] = np.stack(columns, axis=1) if array.shape else columns[0]
    return arrays


def evaluated(model: bt.Model, kind: str, **options: Any) -> np.ndarray:
    return model.evaluator(kind, on_range="saturate", **options).output_words(**words_of(model))


def same_words(kind: str, **options: Any) -> Callable[[bt.Model, Path], None]:
    def check(model: bt.Model, folder: Path) -> None:
        np.testing.assert_array_equal(evaluated(model, kind, **options), evaluated(model, "words"))

    return check


def check_words(model: bt.Model, folder: Path) -> None:
    """Words are within the certificate of the true values, and the same by every call."""
    arrays, found = words_of(model), evaluated(model, "words")
    named = {
        name: column
        for array in model.formats.inputs
        for name, column in zip(array.word_names, np.reshape(arrays[array.name], (20, -1)).T, strict=True)
    }
    true = model.true_units(named)
    if true is not None:
        for k, (word, proved) in enumerate(zip(model.formats.results.values(), model.certificate.outputs, strict=True)):
            units = np.clip(true[:, k], word.lowest, word.highest)
            assert np.abs(found[:, k] - units).max() <= proved.bound + 1e-6, proved.name
    again = from_bytes(to_bytes(model))
    assert (again.formats, again.digest) == (model.formats, model.digest)
    np.testing.assert_array_equal(evaluated(again, "words"), found)


def check_kernel(model: bt.Model, folder: Path) -> None:
    first = [np.asarray(array)[0] for array in words_of(model).values()]
    found = evaluated(model, "words")[0]
    if model.provenance.robot is None:
        assert model.kernel()(*map(int, first)) == found[0]
        return
    out = np.empty(len(found), dtype=np.int64)
    model.kernel()(*first, out)
    np.testing.assert_array_equal(out, found)


def check_sweep(model: bt.Model, folder: Path) -> None:
    swept = bt.sweep(model, 100, workers=1, cache=None)
    assert not swept.exceeding
    swept.to_plain()


def check_answers(model: bt.Model, folder: Path) -> None:
    for answer in bt.ask(model, "largest", "smallest", "saturation", "error", work=0.5):
        assert str(answer)
    assert all(answer.equal for answer in bt.ask(model, equal=model, work=0.5))


def check_verified(model: bt.Model, folder: Path) -> None:
    assert [check for check in verify(model, workers=1) if not check.passed] == []


def check_independently(model: bt.Model, folder: Path) -> None:
    assert [finding for finding in check_bytes(to_bytes(model)) if not finding.passed] == []


def check_bench(model: bt.Model, folder: Path) -> None:
    assert contenders(model, 8, seed=0)


Feature = tuple[str, Callable[[bt.Model, Path], Any]]
"""What it is called in the table, "" where it needs nothing, and what does it."""
TRIED: dict[str, Feature] = {
    "words": ("", check_words),
    "bits": ("diagrams", same_words("bits")),
    "dense": ("diagrams", same_words("words", form="dense")),
    "states": ("", same_words("parallel", processors=2)),
    "terms": ("diagrams", same_words("parallel", processors=2, spread="terms")),
    "bits of a state": ("diagrams", same_words("parallel", processors=2, spread="bits")),
    "sweep": ("sweeps", check_sweep),
    "ask": ("", check_answers),
    "verify": ("", check_verified),
    "independent": ("", check_independently),
    "c": ("", lambda model, folder: bt.export_c(model, folder / "c", vectors=8)),
    "c in floats": ("", lambda model, folder: bt.export_c(model, folder / "floats", vectors=8, floats=True)),
    "pla": ("diagrams", lambda model, folder: bt.export_pla(model, folder / "pla")),
    "blif": ("diagrams", lambda model, folder: bt.export_blif(model, folder / "model.blif")),
    "verilog": ("circuits", lambda model, folder: bt.export_verilog(model, folder / "verilog", vectors=4)),
    "one bit": ("diagrams", lambda model, folder: bt.export_one_bit(model, folder / "one_bit", vectors=4)),
    "report": ("", lambda model, folder: bt.write_report(model, folder / "page.html")),
    "show": ("", lambda model, folder: (str(model.certificate), repr(model), model._repr_html_(), model.summary())),
}
COMPILED: dict[str, Feature] = {"kernel": ("", check_kernel), "bench": ("", check_bench)}
"""Features for which code is compiled: they take seconds for every model."""


def check(feature: Feature, model: bt.Model, folder: Path) -> None:
    """Do what a feature does; it is refused, in a line, just where the table says that it does not apply."""
    name, run = feature
    if not name or applies(model, name):
        run(model, folder)
        return
    with pytest.raises(bt.BddTorqueError):
        run(model, folder)


@pytest.mark.parametrize(("robot", "what", "target"), CASES)
def test_every_feature_of_every_model(robot: str, what: str, target: str, tmp_path: Path) -> None:
    model = model_of(robot, what, target)
    for feature in TRIED.values():
        check(feature, model, tmp_path)


@pytest.mark.parametrize(
    ("robot", "what", "target"),
    [
        pytest.param(*case.values, id=case.id, marks=() if case.values[0] == "" else pytest.mark.everything)
        for case in CASES
    ],
)
@pytest.mark.parametrize("feature", COMPILED)
def test_features_for_which_code_is_compiled(feature: str, robot: str, what: str, target: str, tmp_path: Path) -> None:
    check(COMPILED[feature], model_of(robot, what, target), tmp_path)


def test_a_refusal_that_the_table_does_not_know_is_a_defect(tmp_path: Path) -> None:
    def refuse(model: bt.Model, folder: Path) -> None:
        raise bt.BddTorqueError("this quantity cannot be exported")

    with pytest.raises(bt.BddTorqueError, match="cannot be exported"):
        check(("", refuse), model_of("", "function", "tables"), tmp_path)
    with pytest.raises(pytest.fail.Exception):
        check(("diagrams", lambda model, folder: None), model_of("", "function", "float"), tmp_path)


def test_every_need_of_the_table_is_lacked_by_some_model() -> None:
    """A need that every model has would say nothing."""
    models = [model_of(*case.values) for case in CASES if case.values[0] != "tree"]
    for needs in FEATURES.values():
        for need in needs:
            assert not all(need.held(model) for model in models), need.missing
            assert any(need.held(model) for model in models), need.missing
