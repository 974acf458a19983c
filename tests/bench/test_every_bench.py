"""Every quantity, function and target is measured, beside baselines that compute the same: friction included."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chip_tools import needs
from small_models import small_function, small_quantity, small_samples

import bddtorque as bt
from bddtorque.bench import chip_bench
from bddtorque.bench.chip_bench import bench_chips, true_units
from bddtorque.bench.float_baseline import float_files
from bddtorque.bench.fpga_bench import straightforward_model
from bddtorque.bench.kernel_loops import random_states
from bddtorque.bench.peers import peer, vector_peer
from bddtorque.bench.target_costs import target_costs
from bddtorque.bench.timing import measure
from bddtorque.compiler.origin import true_graph
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_source import ROM
from bddtorque.targets import TARGETS
from bddtorque.words.interpolant import Interpolant

LARGE = pytest.mark.everything
CASES = [(quantity, target) for quantity in QUANTITIES for target in TARGETS]
GIVEN = [
    ("torque", "integer", "arm", "payload"),
    ("gravity", "tables", "arm", "gravity"),
    ("energy", "float", "arm", "payload"),
]
STRIBECK = bt.Friction(viscous=1.0, coulomb=(2.0, 3.0), static=5.0, stribeck_velocity=0.3)
LAWS = {
    "dry": bt.Friction(viscous=2.0, coulomb=(3.0, 4.0)),
    "stribeck": STRIBECK,
    "measured": Interpolant(((-1.0, 0.0, 1.0),), (-4.0, 0.0, 6.0), (False,), hold=True),
}


def with_friction(law: str, quantity: str = "torque") -> bt.Model:
    robot = bt.load_robot("planar2r").with_friction({"shoulder": LAWS[law]})
    ranges = {"velocity": 3.0, "torque": "auto", **({"acceleration": 3.0} if quantity == "torque" else {})}
    return bt.compile(robot, quantity=quantity, target="integer", bits=8, workers=1, **ranges)


MODELS = [
    *(pytest.param(lambda name=name: small_quantity(name, "integer"), id=name) for name in QUANTITIES),
    *(pytest.param(lambda case=case: small_quantity(*case), id="-".join(case)) for case in GIVEN),
    *(pytest.param(lambda law=law: with_friction(law), id=law) for law in LAWS),
    pytest.param(lambda: with_friction("dry", "bias"), id="bias-dry"),
    pytest.param(lambda: small_quantity("torque", "integer", "tree"), id="tree"),
    pytest.param(lambda: small_function("integer"), id="function"),
]


def off(model: bt.Model, found: Any, states: dict[str, Any]) -> float:
    return float(np.abs(found - true_units(model, states)).max())


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) on this machine")
@pytest.mark.parametrize("make", MODELS)
def test_the_float_baseline_in_c_computes_the_same(make: Any, tmp_path: Path) -> None:
    model = make()
    baseline, signature = true_graph(model, laws_alone=False), CSignature.of(model, 32, 32)
    assert baseline is not None
    for name, text in float_files(model, baseline, signature, ROM).items():
        (tmp_path / name).write_text(text, encoding="ascii")
    command = ["cc", "-std=gnu99", "-Wall", "-O1", "-shared", "-fPIC", "-o", "b.so", "baseline.c", "-lm"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    function = getattr(ctypes.CDLL(str(tmp_path / "b.so")), signature.function("baseline"))
    states = random_states(model, 300, seed=2)
    rows = [each.reshape(300, -1) for each in states.values()]
    rows = [np.concatenate(rows, axis=1)] if len(signature.arrays) < len(rows) else rows
    found = np.empty((300, len(signature.outputs)), dtype=np.int32)
    for k in range(300):
        given = [np.ascontiguousarray(each[k], dtype=np.int32) for each in rows]
        function(*(ctypes.c_void_p(each.ctypes.data) for each in (*given, found[k])))
    assert off(model, found, states) <= 0.502


@pytest.mark.parametrize("kind", ["float64", pytest.param("polynomial", marks=LARGE), pytest.param("float32")])
@pytest.mark.parametrize("make", MODELS)
def test_peers_compute_the_same(make: Any, kind: str) -> None:
    model = make()
    states = random_states(model, 128, seed=1)
    baseline = true_graph(model, laws_alone=False)
    assert baseline is not None
    found = np.empty((128, len(model.formats.results)), dtype=np.int64)
    rows = [each.reshape(128, -1) for each in states.values()]
    peer(baseline.graph, model.formats, kind, baseline.laws)(*rows, found)
    assert off(model, found, states) <= (0.502 if kind == "float32" else 0.5 + 1e-9)


@LARGE
@pytest.mark.parametrize("make", MODELS)
def test_the_vector_peer_computes_the_same(make: Any) -> None:
    model = make()
    states = random_states(model, 128, seed=1)
    baseline = true_graph(model, laws_alone=False)
    assert baseline is not None
    states_of, size = vector_peer(baseline.graph, model.formats, baseline.laws)
    found = np.empty((len(model.formats.results), 128), dtype=np.int64)
    columns = [np.ascontiguousarray(each.reshape(128, -1).T) for each in states.values()]
    states_of(*columns, found, np.empty(size, dtype=np.float32))
    assert off(model, found.T, states) <= 0.502


MEASURED = [
    pytest.param(small_samples, id="samples"),
    *(pytest.param(lambda kind=kind: small_function(kind), id=f"function-{kind}", marks=LARGE) for kind in TARGETS),
    *(
        pytest.param(lambda case=case: small_quantity(*case), id="-".join(case), marks=() if k == 3 else LARGE)
        for k, case in enumerate(CASES)
    ),
]


@pytest.mark.parametrize("make", MEASURED)
def test_any_model_is_measured_on_this_machine(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bddtorque.bench.latency.COLD_CALLS", 2)
    model = make()
    report = measure(model, 64, 1, with_latency=True)
    assert report.name == model.provenance.title and len(report.bits) == len(model.formats.results)
    assert report.baseline in {each.name for each in report.timings} and report.latency is not None
    assert {"kernel"} < {each.name for each in report.calls}
    json.dumps(report.to_plain())


ON_CHIPS = [
    pytest.param(lambda: small_quantity("gravity", "integer"), id="gravity"),
    pytest.param(lambda: small_function("integer"), id="function"),
    pytest.param(small_samples, id="samples"),
]


@pytest.mark.parametrize("make", ON_CHIPS)
def test_any_model_is_measured_on_chips(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("cortex-m0")
    monkeypatch.setattr(chip_bench, "TRIED", 500)
    monkeypatch.setattr(chip_bench, "COARSER", (2.0,))
    monkeypatch.setattr(chip_bench, "LEVELS", ("-Os",))
    model = make()
    figures = {each.way: each for each in bench_chips(model, ["cortex-m0"], 10, seed=0)}
    assert not any(each.problem for each in figures.values())
    assert ("X" in figures) == (model.provenance.robot is not None) and ("F" in figures) == (
        true_graph(model, laws_alone=False) is not None
    )
    assert figures["bddtorque"].error <= max(model.certificate.bounds)


@pytest.mark.parametrize("make", [*MODELS, pytest.param(small_samples, id="samples")])
def test_the_cost_of_every_target(make: Any) -> None:
    costs = target_costs(model := make())
    assert {cost.target for cost in costs if cost.counted} == {model.plan.target}
    assert {cost.target for cost in costs} in (set(TARGETS), {model.plan.target})
    assert all(cost.operations > 0 for cost in costs)


@pytest.mark.parametrize("quantity", [name for name in QUANTITIES if name != "torque"])
def test_the_straightforward_circuit_of_any_quantity(quantity: str) -> None:
    plain = straightforward_model(small_quantity(quantity, "integer"))
    assert plain.quantity == quantity and max(plain.certificate.bounds) < 1
