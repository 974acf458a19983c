"""Commands on every quantity, function and input at run time: what a shell can ask for."""

import json
import re

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.spec.field_values import TARGETS
from bddtorque.targets import TARGETS as TARGET_RECORDS

GAINS = ["--gains", "kp=4,kv=4"]
RUN_TIME = {"gravity": "runtime", "payload": "mass=0:2,centre_of_mass=0:0.1,0,0,runtime=true"}
SMALL = ["--bits", "6", "--workers", "1", "--no-cache"]
CASES = [(name, None) for name in QUANTITIES] + [
    (name, given) for name, record in QUANTITIES.items() for given in record.accepts
]


def flags_of(name: str, given: str | None) -> list[str]:
    flags = ["--quantity", name, *(GAINS if "gains" in QUANTITIES[name].keys else [])]
    return flags + ([] if given is None else [f"--{given}", RUN_TIME[given]])


def test_targets_of_the_specification_are_those_that_exist():
    assert tuple(TARGET_RECORDS) == TARGETS


@pytest.mark.parametrize(("name", "given"), CASES)
def test_a_quantity_from_plan_to_report(run, tmp_path, name, given):
    target = TARGETS[CASES.index((name, given)) % len(TARGETS)]
    flags, file = [*flags_of(name, given), "--target", target], tmp_path / "arm.bdt"
    planned = run("plan", "planar2r", "--bits", "6", *flags)
    assert planned.code == 0 and (name in planned.out.splitlines()[0] or name == "torque")
    compiled = run("compile", "planar2r", "-o", file, *SMALL, *flags)
    assert (compiled.code, compiled.err) == (0, "")
    assert len(compiled.out.splitlines()) <= 15
    model = bt.load(file)
    assert {array.name for array in model.formats.inputs} >= ({given} if given else set())
    shown = run("info", file)
    assert (shown.code, shown.err) == (0, "")
    assert "Cost of one state by target" in shown.out
    assert re.search(rf"quantity +{name}", shown.out)
    for array in model.formats.arrays:
        assert array.name in shown.out
    told = json.loads(run("info", file, "--json").out)
    assert told["words"] == model.formats.to_plain()
    assert told["quantity"] == name
    page = json.loads(run("report", file, "-o", tmp_path / "arm.html", "--json").out)
    assert page["live"] and page["states"] >= 4096
    assert all(found <= bound for found, bound in zip(page["largest_found"], page["bound"], strict=True))
    verified = run("verify", file, "--workers", "1")
    assert verified.code == 0
    assert verified.out.endswith(": verified\n")


def test_terms_are_those_of_torques(run, refused, tmp_path):
    assert run("compile", "planar2r", "-o", tmp_path / "g.bdt", *SMALL, "--quantity", "gravity").code == 0
    assert "g.bdt: terms of torques: 'planar2r' is not the torque of q, qd and qdd" in refused(
        "terms", tmp_path / "g.bdt"
    )


def test_a_function_is_shown_as_a_robot_is(run, tmp_path):
    file = tmp_path / "push.bdt"
    words = {"inputs": {"v": (7, (-2.0, 3.0)), "a": (6, "angle")}, "output": {"force": (9,)}}
    bt.compile_function(lambda v, a: 2 * v * np.cos(a) + 0.3 * v * v, name="push", **words).save(file)
    shown = run("info", file, "--levels").out
    for part in ("push(v, a) = force", "Forms that the evaluator words takes", "Blocks", "constant", "bound"):
        assert part in shown
    assert json.loads(run("info", file, "--json").out)["block_list"]
