"""Form ifs: what is refused, and what the code is made of. That it gives the model's words, `test_c_words` proves."""

import re

import pytest
from compiled import arm

import bddtorque as bt
from bddtorque.export import c_blocks
from bddtorque.export.c_blocks import reached_edges
from bddtorque.export.c_exporter import c_files
from bddtorque.plan.forms import Bits


def test_a_test_per_node_and_output_bit():
    model = arm(4, workers=1, accuracy="paper")
    code = c_files(model, form="ifs", vectors=1)
    source = code.files["planar2r.c"]
    walks = [Bits.from_diagram(diagram) for diagram in model.diagrams]
    tests = sum(int(reached_edges(walk.successors, walk.roots)[:, 2:].sum()) for walk in walks)
    assert len(re.findall(r"\bif \((?:!\()?\(x\d & UINT32_C", source)) == tests == 3094
    assert {block.form for block in code.blocks} == {"ifs"}
    assert not any(block.constant or block.bytes for block in code.blocks)
    assert "const BDDTORQUE_ROM" not in source and '#pragma GCC optimize ("O1",' in source
    labels = re.findall(r"^(\w+):$", source, re.MULTILINE)
    assert set(re.findall(r"goto (\w+);", source)) == set(labels)


def test_too_many_tests_are_refused_with_the_code_they_would_take(monkeypatch):
    monkeypatch.setattr(c_blocks, "MAX_TESTS", 3000)
    with pytest.raises(bt.BddTorqueError) as refused:
        c_files(arm(4, workers=1, accuracy="paper"), form="ifs")
    assert str(refused.value) == (
        "form 'ifs' would take 3,094 tests, about 27,846 bytes of code, and at most 3,000 tests can be exported: "
        "compile with fewer bits or a smaller block_bits, or use form 'bits'"
    )
