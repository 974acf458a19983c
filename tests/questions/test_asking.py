"""`bt.ask` and `bt.sweep`: the functions of the command line, from Python."""

from __future__ import annotations

import pytest
from compiled import Later

import bddtorque as bt
from bddtorque.questions import largest, saturating, smallest, symmetries

MODELS = Later({"arm": lambda: bt.compile("planar2r", bits=3, workers=1)})


def test_nothing_asked_is_extremes_and_saturation() -> None:
    expected = [way(MODELS["arm"], name) for name in ("tau1", "tau2") for way in (largest, smallest, saturating)]
    assert bt.ask(MODELS["arm"]) == expected


def test_questions_names_and_values() -> None:
    assert bt.ask(MODELS["arm"], "symmetry", of="G1") == symmetries(MODELS["arm"], "G1")
    found = bt.ask(MODELS["arm"], "error", of=["tau1", "elbow"], at_least=3.0, at_most=3)
    assert [(type(each).__name__, each.of) for each in found] == [
        (kind, name) for name in ("tau1", "tau2") for kind in ("LargestError", "Count", "Count")
    ]
    assert found[1].low + found[2].low >= found[1].states
    (same,) = bt.ask(MODELS["arm"], equal=MODELS["arm"], of="tau2")
    assert (same.of, same.equal) == ("tau2", True)


def test_bad_requests() -> None:
    with pytest.raises(
        bt.BddTorqueError, match=r"a question must be 'largest', .* got 'larges'; did you mean 'largest'"
    ):
        bt.ask(MODELS["arm"], "larges")  # type: ignore[arg-type]
    with pytest.raises(bt.BddTorqueError, match="work must be above 0"):
        bt.ask(MODELS["arm"], work=0)


def test_sweep_is_the_function() -> None:
    found = bt.sweep(MODELS["arm"], 500, seed=1)
    assert not found.exceeding
    assert bt.sweep(MODELS["arm"], 500, seed=1) == found
