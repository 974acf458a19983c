"""Pinned plans: the very plan is accepted, anything else is refused with what differs first."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.pinning import check_pinned, load_plan, plan_to_plain, save_plan
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.plan.blocks import FunctionBlock
from bddtorque.plan.forms import FORMS
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Lookup, Sum
from bddtorque.spec import load_spec

OPTIONS: dict[str, Any] = {"bits": 5, "block_bits": 10}
QUICK: dict[str, Any] = {"workers": 1, "cache": None, **OPTIONS}


def made(**options: Any) -> dict[str, Any]:
    spec = load_spec("planar2r").with_options(**{**OPTIONS, **options})
    draft = draft_of_robot(spec, bt.load_robot("planar2r"))
    return plan_to_plain(draft.plan, "planar2r", draft.bounds())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    save_plan(made(), tmp_path / "plan.json")
    return tmp_path / "plan.json"


def test_the_same_plan_is_accepted(file: Path) -> None:
    model = bt.compile("planar2r", plan=file, **QUICK)
    assert load_plan(file) == model.plan
    assert bt.compile("planar2r", plan=model.plan, **QUICK).digest == model.digest
    assert bt.compile("planar2r", plan=str(file), **QUICK).digest == bt.compile("planar2r", **QUICK).digest


def test_the_file_says_what_the_plan_costs(file: Path) -> None:
    told = json.loads(file.read_text(encoding="utf-8"))
    plan = load_plan(file)
    assert told["plan"] == plan.to_plain()
    assert told["wire_bits"] == [plan.bits_of(wire) for wire in range(len(plan.wires))]
    assert [bound["output"] for bound in told["bounds"]] == ["tau1", "tau2"]
    assert all(0.5 < bound["total"] < 1 for bound in told["bounds"])
    assert len(told["blocks"]) == len(plan.blocks)
    for block in told["blocks"]:
        assert {each["name"] for each in block["candidates"]} == set(FORMS)
        assert [each["name"] for each in block["candidates"] if each["chosen"]] == ["dense", "lockstep"]
    for product in told["products"]:
        wire = plan.wires[product["wire"]]
        (chosen,) = (each for each in product["candidates"] if each["chosen"])
        assert chosen["name"] == wire.method  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"source": "recursive"}, "source terms in the file, recursive in the new plan"),
        ({"block_bits": 12}, "block_bits 10 in the file, 12 in the new plan"),
        ({"bits": 6}, "in the file, "),
        ({"payload": 1.0}, "in the file, "),
    ],
)
def test_another_plan_is_refused(file: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(BddTorqueError) as refused:
        bt.compile("planar2r", plan=file, **{**QUICK, **options})
    message = str(refused.value)
    assert message.startswith(f"{file} is not the plan that the planner makes of this robot and specification: ")
    assert message.endswith("; `bddtorque plan SPEC -o FILE`, with the same options, writes a new one")
    assert said in message
    assert "\n" not in message


def test_what_differs_first(file: Path) -> None:
    plan = load_plan(file)
    check_pinned(plan, plan, "plan")

    def first_difference(given: Plan, made: Plan) -> str:
        with pytest.raises(BddTorqueError) as refused:
            check_pinned(given, made, "plan")
        return str(refused.value).split("specification: ")[1].split("; `")[0]

    k, wire = next((k, wire) for k, wire in enumerate(plan.wires) if isinstance(wire, Lookup))
    b, block = next((b, block) for b, block in enumerate(plan.blocks) if isinstance(block, FunctionBlock))

    def with_wire(other: Any) -> Plan:
        return replace(plan, wires=(*plan.wires[:k], other, *plan.wires[k + 1 :]))

    assert (
        first_difference(with_wire(replace(wire, name="x")), plan)
        == f"wire {k} differs: name x in the file, {wire.name} in the new plan"
    )
    total = Sum("s", (), 0, 0, 0, 0, Fraction(1))
    assert first_difference(with_wire(total), plan) == f"wire {k} differs: sum in the file, lookup in the new plan"
    assert first_difference(replace(plan, wires=plan.wires[1:]), plan) == (
        f"wires {len(plan.wires) - 1} in the file, {len(plan.wires)} in the new plan"
    )
    other = replace(block, low=block.low - 1)
    assert first_difference(replace(plan, blocks=(*plan.blocks[:b], other, *plan.blocks[b + 1 :])), plan) == (
        f"block {b} differs: low {block.low - 1} in the file, {block.low} in the new plan"
    )
    output = replace(plan.outputs[1], shift=plan.outputs[1].shift + 1)
    assert first_difference(replace(plan, outputs=(plan.outputs[0], output)), plan).startswith(
        "output 1 differs: shift "
    )
    long_parts = replace(plan.outputs[0], parts=plan.outputs[0].parts * 9)
    with pytest.raises(BddTorqueError, match=r"output 0 differs: parts .*\.\.\. in the file, "):
        check_pinned(replace(plan, outputs=(long_parts, plan.outputs[1])), plan, "plan")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "got a file that is not JSON"),
        (b"\xff", "got a file that is not JSON"),
        (b"[" * 100_000, "got a file that is not JSON"),
        (b"[]", "got something else"),
        (b'{"format": "bddtorque plan", "version": 1}', "got something else"),
        (b'{"format": "bddtorque plan", "version": 2, "plan": {}}', "version must be 1, got 2"),
        (b'{"format": "bddtorque plan", "version": 1, "plan": {"wires\\n": 1}}', "unknown key 'wires"),
        (b'{"format": "bddtorque plan", "version": 1, "plan": 3}', "must be a table with source"),
    ],
)
def test_what_is_no_plan_is_refused_in_a_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(BddTorqueError) as refused:
        load_plan(path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_missing_files_and_other_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BddTorqueError, match="there is no such file"):
        load_plan(tmp_path / "none.json")
    with pytest.raises(BddTorqueError, match="this is a folder, not a plan"):
        load_plan(tmp_path)
    with pytest.raises(BddTorqueError, match="cannot be read: "):
        load_plan("a\0b")
    with pytest.raises(BddTorqueError, match="plan must be a Plan or the path of a file with one, got int"):
        bt.compile("planar2r", plan=3, **QUICK)  # type: ignore[arg-type]
