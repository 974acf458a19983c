"""Target ``"host"`` of earlier releases: compiled as ``"float"`` with one warning, and files of it refused by name."""

from __future__ import annotations

import pytest
from bdt_files import saved, signed, taken_apart
from compiled import arm

import bddtorque as bt
from bddtorque.independent.checker import check_bytes
from bddtorque.model.model import from_bytes
from bddtorque.spec.spec_files import from_toml

SAID = "target 'host' is now 'float'; it compiles that, and the next release refuses the old name"


def test_the_former_name_compiles_floats_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """As an option, as a key of a specification, and of functions."""
    assert bt.compile("planar2r", bits=8, target="host", workers=1).digest == arm(8, target="float").digest  # type: ignore[arg-type]
    assert from_toml('robot = "planar2r"\ntarget = "host"\n').target == "float"
    model = bt.compile_function(lambda x: 2 * x, inputs={"x": (4, 1.0)}, output=(4, 2.0), target="host")
    assert model.plan.target == "float"
    assert [record.getMessage() for record in caplog.records] == [SAID] * 3


def test_files_of_the_former_target_are_refused_with_what_makes_them_anew(caplog: pytest.LogCaptureFixture) -> None:
    """By the loader and by the independent checker."""
    header, arrays = taken_apart(saved(bits=4))
    for section in ("spec", "plan"):
        header[section]["target"] = "host"
    data = signed(header, arrays)
    said = "target 'host' is no longer read: compile it again with `bddtorque compile ROBOT --target float`"
    with pytest.raises(bt.BddTorqueError, match=said):
        from_bytes(data)
    assert not caplog.records
    *_, last = check_bytes(data)
    assert not last.passed and last.detail == f"plan: {said}"
