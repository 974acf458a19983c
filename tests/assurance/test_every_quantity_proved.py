"""Every way to verify, on every quantity: the compiler's own, Gappa with its theorem for Coq, and proofs of C."""

import shutil
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_models import in_turn

import bddtorque as bt
from bddtorque.assurance.c_equivalence import prove_c
from bddtorque.assurance.c_tables import check_tables
from bddtorque.assurance.gappa_proof import prove_with_gappa
from bddtorque.base.errors import WrongKindError
from bddtorque.compiler.verify import verify
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.targets import TARGETS

GAINS = {"gains": {"kp": 4.0, "kv": 4.0}}
PAYLOAD = {"mass": [0.0, 2.0], "centre_of_mass": [[0.0, 0.1], 0.0, 0.0], "runtime": True}
RUN_TIME = {"gravity": "runtime", "payload": PAYLOAD}
FRICTION = bt.Friction(viscous=2.0, coulomb=(3.0, 4.0))


def quantity(name: str, target: str, **options: object) -> bt.Model:
    more = GAINS if "gains" in QUANTITIES[name].keys else {}
    return bt.compile("planar2r", bits=6, quantity=name, target=target, workers=1, **more, **options)


def function(target: str) -> bt.Model:
    words = {"inputs": {"v": (7, (-2.0, 3.0)), "a": (6, "angle")}, "output": {"force": (9,)}}
    return bt.compile_function(lambda v, a: 2 * v * np.cos(a) + 0.3 * v * v, target=target, block_bits=10, **words)


MODELS = {f"{name}, {target}": partial(quantity, name, target) for name in QUANTITIES for target in TARGETS}
MODELS |= {
    f"{name}, {given} at run time": partial(quantity, name, list(TARGETS)[k % 3], **{given: RUN_TIME[given]})
    for k, (name, record) in enumerate(QUANTITIES.items())
    for given in record.accepts
}
MODELS |= {f"function, {target}": partial(function, target) for target in TARGETS}
MODELS["law"] = lambda: bt.compile_function(FRICTION, inputs={"v": (9, 1.0)}, output={"torque": (9,)})


def marks_of(name: str) -> Any:
    """Return no mark for one target of each quantity, and for what is given at run time of torques and energies."""
    quantity, _, how = name.partition(", ")
    if quantity not in QUANTITIES or (how not in TARGETS and quantity in ("torque", "energy")):
        return ()
    return in_turn(quantity, how, "arm") if how in TARGETS else pytest.mark.everything


EACH = [pytest.param(name, marks=marks_of(name)) for name in MODELS]


@cache
def compiled(name: str) -> bt.Model:
    return MODELS[name]()


@pytest.fixture
def file(request, tmp_path) -> Path:
    path = tmp_path / "model.bdt"
    compiled(request.param).save(path)
    return path


@pytest.mark.parametrize("file", EACH, indirect=True)
def test_verify(file):
    assert [check.detail for check in verify(file, workers=1) if not check.passed] == []


@pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")
@pytest.mark.parametrize("file", EACH, indirect=True)
def test_gappa_proves_the_bound_and_writes_the_theorem(file):
    proof = prove_with_gappa(file, coq=True)
    assert [check.detail for check in proof.checks if not check.passed] == []
    outputs = bt.load(file).certificate.outputs
    assert [bound.name for bound in proof.bounds] == [output.name for output in outputs]
    assert "Theorem" in proof.theorem


@pytest.mark.parametrize("name", EACH)
def test_c_is_proved_wire_by_wire_and_its_tables_are_run(name, tmp_path):
    pytest.importorskip("pycparser")
    pytest.importorskip("bitwuzla")
    model = compiled(name)
    bt.export_c(model, tmp_path / "c")
    if model.plan.in_floats:
        with pytest.raises(WrongKindError, match=r"proofs of C: .* computes in floats"):
            prove_c(model, tmp_path / "c")
        return
    wires = prove_c(model, tmp_path / "c")
    assert wires and [wire.name for wire in wires if not wire.proved] == []
    assert check_tables(model, tmp_path / "c") == []
