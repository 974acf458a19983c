"""Pinned plans: the very plan is accepted, anything else is refused with what differs first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.pinning import check_pinned, load_pinned, plan_to_plain, save_plan
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.plan.forms import FORMS
from bddtorque.plan.plan import Plan
from bddtorque.spec import load_spec

QUICK: dict[str, Any] = {"workers": 1, "cache": None, "bits": 5, "block_bits": 10}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    spec = load_spec("planar2r").with_options(bits=5, block_bits=10)
    draft = draft_of_robot(spec, bt.load_robot("planar2r"))
    save_plan(plan_to_plain(draft.plan, "planar2r", draft.bounds()), tmp_path / "plan.json")
    return tmp_path / "plan.json"


@pytest.fixture
def plan(file: Path) -> Plan:
    return bt.compile("planar2r", plan=file, **QUICK).plan


def test_the_file_says_what_the_plan_costs(file: Path, plan: Plan) -> None:
    told = json.loads(file.read_text(encoding="utf-8"))
    assert told["plan"] == plan.to_plain()
    assert told["wire_bits"] == [plan.bits_of(wire) for wire in range(len(plan.wires))]
    assert [bound["output"] for bound in told["bounds"]] == ["tau1", "tau2"]
    assert all(0.5 < bound["total"] < 1 for bound in told["bounds"])
    for block in told["blocks"]:
        assert {each["name"] for each in block["candidates"]} == set(FORMS) - {"runs"}  # known once the table is
        assert [each["name"] for each in block["candidates"] if each["chosen"]] == ["dense", "lockstep"]
    for product in told["products"]:
        (chosen,) = (each for each in product["candidates"] if each["chosen"])
        assert chosen["name"] == plan.wires[product["wire"]].method  # type: ignore[union-attr]


def test_another_plan_is_refused(file: Path) -> None:
    with pytest.raises(BddTorqueError) as refused:
        bt.compile("planar2r", plan=str(file), **{**QUICK, "source": "recursive"})
    start = f"{file} is not the plan that the planner makes of this robot and specification: "
    assert str(refused.value) == (
        f"{start}source terms in the file, recursive in the new plan; `bddtorque plan SPEC -o FILE`, with the same "
        "options, writes a new one"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda plain: plain["wires"].pop(), " wires 18 in the file, 19 in the new plan;"),
        (lambda plain: plain["wires"][3].update(name="x"), " wires 3 name x in the file, "),
        (lambda plain: plain["blocks"][0].update(kind="law"), " blocks 0 kind law in the file, function in the new"),
        (lambda plain: plain["outputs"][1].update(shift=True), " outputs 1 shift True in the file, "),
        (lambda plain: plain["outputs"][0].update(more=1), " outputs 0 keys ['name', "),
        (lambda plain: plain["outputs"][0].pop("lsb"), " outputs 0 lsb None in the file, "),
    ],
)
def test_every_difference_is_found_and_named(
    file: Path, plan: Plan, change: Callable[[Any], object], said: str
) -> None:
    plain = load_pinned(file)
    check_pinned(plain, plan, "plan")
    change(plain)
    with pytest.raises(BddTorqueError) as refused:
        check_pinned(plain, plan, "plan")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[" * 100_000, b"[]", b'{"format": "bddtorque plan", "version": 2, "plan": {}}']
)
def test_what_is_no_plan_is_refused_in_a_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(BddTorqueError, match=r"must be a plan as `bddtorque plan|version must be 1"):
        load_pinned(path)
    with pytest.raises(BddTorqueError, match="there is no such file"):
        load_pinned(tmp_path / "none.json")
    with pytest.raises(BddTorqueError, match="plan must be the path of a file with a plan, got int"):
        bt.compile("planar2r", plan=3, **QUICK)  # type: ignore[arg-type]
