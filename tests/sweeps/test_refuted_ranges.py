"""True values beyond words that the certificate says they cannot leave: sweeps count them, and fail."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled import arm, values_of

import bddtorque as bt
from bddtorque.cli import main
from bddtorque.proof.certificate import Certificate
from bddtorque.sweeps import sweep
from bddtorque.sweeps.figures import refutes_range, to_csv
from bddtorque.sweeps.measuring import joined, measure_subject, subject_of
from bddtorque.sweeps.states import Batch


def certified_as_unable(model: bt.Model) -> bt.Model:
    """Return the model with a certificate that says of every output that it cannot saturate."""
    outputs = tuple(replace(each, saturation="cannot", witness=None) for each in model.certificate.outputs)
    return replace(model, certificate=Certificate(outputs))


@cache
def narrow_torques() -> bt.Model:
    return bt.compile("planar2r", bits=5, torque={"shoulder": 60, "elbow": 200}, workers=1, cache=None)


@cache
def narrow_gravity() -> bt.Model:
    options: dict[str, Any] = {"torque": {"shoulder": 20, "elbow": 200}, "target": "float"}
    return bt.compile("planar2r", quantity="gravity", bits=8, workers=1, cache=None, **options)


@cache
def narrow_function() -> bt.Model:
    return bt.compile_function(
        lambda x, y: x * np.cos(y), inputs={"x": (6, 2.0), "y": (6, "angle")}, output={"z": (8, 1.5)}, name="product"
    )


def test_a_torque_that_may_saturate_is_counted_and_nothing_is_refuted() -> None:
    model = narrow_torques()
    found = sweep(model, 3_000)
    shoulder, elbow = found.outputs
    assert [joint.saturation for joint in found.outputs] == ["can", "cannot"]
    assert shoulder.saturated > 100 and shoulder.overshoot > 10
    assert (elbow.saturated, elbow.overshoot) == (0, 0.0)
    assert not found.refuted_ranges and not found.exceeding
    assert elbow.to_plain()["overshoot_words"] is None
    words = [np.array([each]) for each in shoulder.overshoot_words.values()]
    torque = bt.inverse_dynamics(model.robot, *values_of(model, words))[0, 0]
    word = model.formats.tau[0]
    units = float(word.units(torque))
    assert max(word.lowest - units, units - word.highest) == pytest.approx(shoulder.overshoot, abs=1e-9)


def test_the_overshoot_is_the_largest_of_all_batches() -> None:
    subject = subject_of(narrow_torques())
    parts = [measure_subject(subject, 0, [part]) for part in (Batch(False, 0, 300), Batch(True, 0, 1000))]
    whole = joined(parts)
    farther = int(parts[1]["overshoot"][0] > parts[0]["overshoot"][0])
    assert whole["overshoot"][0] == parts[farther]["overshoot"][0] > parts[1 - farther]["overshoot"][0] > 0
    np.testing.assert_array_equal(whole["overshoot_states"][0], parts[farther]["overshoot_states"][0])


def test_a_torque_refutes_a_certificate_that_excludes_it() -> None:
    found = sweep(certified_as_unable(narrow_torques()), 2_000)
    assert [joint.output for joint in found.refuted_ranges] == ["shoulder"]
    assert not found.exceeding  # errors are those of clamped torques, and see nothing
    plain = found.to_plain()
    assert plain["range_refuted"] and [joint["range_refuted"] for joint in plain["outputs"]] == [True, False]
    rows = [row for row in csv.DictReader(to_csv([found]).splitlines()) if row["error"] == "tables"]
    assert [row["saturation"] for row in rows] == ["cannot", "cannot"]
    assert int(rows[0]["saturated"]) > 0 and float(rows[0]["overshoot_units"]) > 10 and rows[1]["saturated"] == "0"


@pytest.mark.parametrize("make", [narrow_gravity, narrow_function])
def test_so_do_quantities_and_functions(make: Any) -> None:
    right = sweep(make(), 2_000)
    assert right.outputs[0].saturated and right.outputs[0].saturation != "cannot"
    assert not right.refuted_ranges
    found = sweep(certified_as_unable(make()), 2_000)
    assert [output.output for output in found.refuted_ranges] == [found.outputs[0].output]
    assert not found.exceeding
    assert found.outputs[0].overshoot > 10
    assert all(len(words) >= 1 for words in found.outputs[0].overshoot_words.values())
    assert found.to_plain()["outputs"][0]["range_refuted"]
    rows = list(csv.DictReader(to_csv([found]).splitlines()))
    assert rows[0]["saturation"] == "cannot" and float(rows[0]["overshoot_units"]) == found.outputs[0].overshoot


@pytest.mark.parametrize(
    ("saturation", "overshoot", "refuted"),
    [("cannot", 0.0, False), ("cannot", 0.9, False), ("cannot", 0.901, True), ("can", 9.0, False),
     ("not excluded", 9.0, False)],
)  # fmt: skip
def test_a_value_within_the_bound_of_an_end_refutes_nothing(saturation: Any, overshoot: float, refuted: bool) -> None:
    assert refutes_range(saturation, overshoot, 0.9, 12) == refuted


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (narrow_torques, "shoulder of planar2r at 5 bits, "),
        (narrow_gravity, "shoulder of planar2r, gravity at 8 bits, "),
        (narrow_function, "z of product at 8 bits, "),
    ],
)
def test_the_command_fails_in_one_line(
    make: Any, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = tmp_path / "right.bdt", tmp_path / "wrong.bdt"
    make().save(right)
    certified_as_unable(make()).save(wrong)
    assert main(["sweep", str(right), "--states", "1000", "--no-cache"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "" and "SATURATE" not in shown.out
    assert main(["sweep", str(wrong), "--states", "1000", "--no-cache"]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith(f"bddtorque: certified as unable to saturate, but it does: {named}")
    assert shown.err.count("\n") == 1 and "true values out of range, by up to" in shown.err
    assert "SATURATE, which their certificates exclude" in shown.out
    assert main(["sweep", str(wrong), "--states", "1000", "--no-cache", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["range_refuted"] and not told["exceeds"]
    assert main(["sweep", str(right), "--states", "1000", "--no-cache", "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["range_refuted"]


def test_along_a_trajectory() -> None:
    found = sweep(certified_as_unable(narrow_torques()), 500, trajectory="sine")
    assert [joint.output for joint in found.refuted_ranges] == ["shoulder"]


def test_right_certificates_are_not_refuted() -> None:
    found = sweep(arm(6, block_bits=12), 20_000)
    assert all(joint.saturation == "cannot" and joint.overshoot == 0 for joint in found.outputs)
    assert not found.refuted_ranges
