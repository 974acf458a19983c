"""A refusal says which block is too large, how large it is, and what would work; that does work."""

from __future__ import annotations

import re

import pytest
from arms import assert_keeps_its_bound
from compiled import compiled

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.spec.spec_files import spec_and_robot


@pytest.mark.everything  # tests/dynamics/test_terms.py counts them
def test_the_terms_of_the_panda_are_refused_with_their_counts():
    with pytest.raises(BddTorqueError, match=r"114,934 found \(202 terms, 6,628 phases\): source = \"recursive\""):
        bt.compile("panda", source="terms")


def test_blocks_too_small_for_a_function_are_refused_by_its_name():
    with pytest.raises(BddTorqueError, match=r"a function of q\d needs 12 input bits and block_bits is 8: raise"):
        bt.compile("ur5", block_bits=8, source="recursive")


@pytest.mark.everything
@pytest.mark.parametrize("block_bits", [12, 13, 14, 16])
def test_blocks_just_large_enough_do(block_bits):
    model = compiled("ur5", block_bits=block_bits, source="recursive")
    assert max(sum(block.input_widths) for block in model.plan.blocks) <= block_bits
    assert_keeps_its_bound(model, 50_000)


@pytest.mark.parametrize("block_bits", range(12, 21))
@pytest.mark.parametrize("source", ["terms", "recursive"])
def test_plans_keep_to_any_block_bits(source, block_bits):
    spec, robot, _ = spec_and_robot("planar3r_a", {"block_bits": block_bits, "source": source})
    plan = draft_of_robot(spec, robot).plan
    assert max(sum(block.input_widths) for block in plan.blocks) <= block_bits


@pytest.mark.everything
def test_too_little_memory_names_the_block_and_the_way_out():
    with pytest.raises(BddTorqueError) as refusal:
        bt.compile("ur5", memory="8 MiB", source="recursive", workers=1)
    said = str(refusal.value)
    assert re.search(r"block \d+ '.+', has 20 input bits \(1,048,576 rows", said)
    assert "memory of 8 MiB is less than" in said and "block_bits below 20" in said
    enough = re.search(r'memory = "([^"]+)"', said)
    assert enough is not None
    model = compiled("ur5", memory=enough[1], source="recursive")
    assert model.certificate.faithful


@pytest.mark.parametrize("bits", [20, 24])
def test_wide_words_are_faithful_or_refused_by_the_wire_that_does_not_fit(bits):
    spec, robot, _ = spec_and_robot("planar2r", {"bits": bits, "input_bits": 12, "accuracy": 0.9})
    plan = draft_of_robot(spec, robot).plan
    assert max(plan.bits_of(wire) for wire in range(len(plan.wires))) <= 62
    spec, robot, _ = spec_and_robot("planar2r", {"bits": 24, "input_bits": 24})
    with pytest.raises(BddTorqueError, match=r"q\d.* needs 24 input bits and block_bits is 20"):
        draft_of_robot(spec, robot)
