"""The largest torque is found out in one place: certificate, commands, report and questions show the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from compiled import compiled

import bddtorque as bt
from bddtorque.cli.tables import range_table
from bddtorque.proof.proved_bound import Extent, TorqueRange

LARGER = [("scara", "integer"), ("planar3r_b", "float"), ("stanford", "float"), ("puma560", "integer")]
ARMS = [
    *[("planar2r", target) for target in ("tables", "integer", "float")],
    ("scara", "float"),
    *(pytest.param(*each, marks=pytest.mark.everything) for each in LARGER),
]


@pytest.mark.parametrize(("name", "target"), ARMS)
def test_one_largest_torque_everywhere(name: str, target: str, tmp_path: Path, run: Callable[..., Any]) -> None:
    model = compiled(name, bits=8, target=target)
    file, page = tmp_path / "arm.bdt", tmp_path / "arm.html"
    plain = [known.to_plain() for known in model.certificate.ranges]
    made = run("compile", name, "--bits", 8, "--target", target, "-o", file, "--json")
    assert json.loads(made.out)["ranges"] == plain
    assert json.loads(run("info", file, "--json").out)["ranges"] == plain
    bt.write_report(model, page)
    extents = [each for known in model.certificate.ranges for each in (known.extent, known.within_limits) if each]
    assert len(extents) == len(plain) * (1 if name.startswith("planar") else 2)
    for text in (str(model.certificate), run("info", file).out, page.read_text(encoding="utf-8")):
        assert all(str(extent) in text for extent in extents)


@pytest.mark.parametrize(
    ("name", "target", "inside"),
    [
        *(("planar2r", target, False) for target in ("tables", "integer", "float")),  # its joints have no limits
        *(("scara", "float", inside) for inside in (False, True)),
        *(
            pytest.param(name, target, inside, marks=pytest.mark.everything)
            for name, target in LARGER
            for inside in (False, True)
        ),
    ],
)
def test_an_answer_is_no_wider_than_the_certificate(name: str, target: str, inside: bool) -> None:
    model = compiled(name, bits=8, target=target)
    for k, known in enumerate(model.certificate.ranges, 1):
        extent = (inside and known.within_limits) or known.extent
        top, bottom = bt.ask(model, "largest", "smallest", of=f"tau{k}", within_limits=inside, work=0.001)
        assert isinstance(top, bt.questions.Extreme) and isinstance(bottom, bt.questions.Extreme)
        assert top.value is not None and top.bound is not None and bottom.value is not None and bottom.bound is not None
        assert extent.high_reached - known.bound <= top.value <= top.bound <= extent.high + known.bound
        assert extent.low - known.bound <= bottom.bound <= bottom.value <= extent.low_reached + known.bound


@pytest.mark.parametrize("same", [False, True])
def test_limits_have_a_column_where_they_change_something(same: bool) -> None:
    extent, within = Extent(-12.27, -12.15, 11.9, 12.1), Extent(-12.2, -12.1, 11.9, 12.1)
    shown = range_table([TorqueRange("shoulder", "N·m", -180.5, 180.5, 0.0236, extent, extent if same else within)])
    assert "12.15 to 12.27" in shown.rows[0] and ("12.1 to 12.2" in shown.rows[0]) is not same
