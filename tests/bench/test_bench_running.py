"""Measurements of a model and their figures; no time is compared with anything."""

from __future__ import annotations

import itertools
import platform
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from compiled import arm

import bddtorque as bt
from bddtorque.bench import timing
from bddtorque.bench.casadi_code import missing_for_casadi
from bddtorque.bench.contenders import (
    BASELINE,
    CASADI,
    FLOATS,
    GENERAL,
    OWN_LOOP,
    PEER_NAMES,
    VECTOR_BASELINE,
    Contender,
    Sizes,
    contenders,
    form_sizes,
    straight_sizes,
)
from bddtorque.bench.latency import latency
from bddtorque.bench.timing import COPIED, EMPTY, interleaved, machine, python_calls
from bddtorque.evaluate.float_straight import float_straight
from bddtorque.evaluate.straight import straight
from bddtorque.plan.plan_cost import look_ups
from bddtorque.plan.wires import Lookup, Product

OWN = {"words, one state at a time", OWN_LOOP, "words, batch in rows", "words, batch in columns", FLOATS}
OF_TARGET = {
    "float": {"words, one state, unchecked"},
    "tables": {"words, tables only", "bits, diagrams walked"},
}
PEERS = {*PEER_NAMES.values(), VECTOR_BASELINE, GENERAL, "pinocchio.rnea, from Python"}
PEERS |= set() if missing_for_casadi() else {CASADI}


@pytest.fixture(scope="module", params=["tables", "float"])
def model(request: pytest.FixtureRequest) -> bt.Model:
    return arm(5, target=request.param)


@pytest.fixture(scope="module")
def found(model: bt.Model) -> list[Contender]:
    return contenders(model, states=128, seed=4)


@pytest.mark.everything  # every contender is compiled
def test_every_contender_is_there_once_and_reported(model: bt.Model, found: list[Contender]) -> None:
    timings = {each.name: each for each in interleaved(found, rounds=3)}
    assert set(timings) == OWN | PEERS | OF_TARGET[model.plan.target]
    assert timings[BASELINE].ratio == timings[VECTOR_BASELINE].vector_ratio == 1.0
    for each in timings.values():
        assert 0 < each.lowest <= each.ratio <= each.highest
        assert each.nanoseconds > 0
        assert each.proved == (each.name not in PEERS)


@pytest.mark.everything  # every contender is compiled
def test_what_is_proved_returns_the_model_s_words(model: bt.Model, found: list[Contender]) -> None:
    returned = {each.name: each.run() if each.out is None else each.out for each in found if each.proved}
    returned[FLOATS] = model.formats.tau.quantise(returned[FLOATS])
    for words in returned.values():
        assert np.array_equal(words, returned[OWN_LOOP][: len(words)])


@pytest.mark.everything  # every contender is compiled again
def test_a_contender_with_other_words_is_refused(model: bt.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    import bddtorque.bench.contenders as module

    original = module._own

    def altered(*given: object) -> list[Contender]:
        *others, last = original(*given)
        return [*others, replace(last, run=lambda: last.run() + 1)]

    monkeypatch.setattr(module, "_own", altered)
    with pytest.raises(bt.BddTorqueError, match="gives other words than the plan"):
        contenders(model, states=64, seed=0)


@pytest.mark.parametrize("states", [0, 63, 100])
def test_states_that_fill_no_tile_are_refused(model: bt.Model, states: int) -> None:
    with pytest.raises(bt.BddTorqueError, match="states must be a multiple of 64"):
        contenders(model, states, seed=0)


@pytest.mark.everything  # every contender is compiled
def test_ratios_are_taken_beside_the_baseline(found: list[Contender], monkeypatch: pytest.MonkeyPatch) -> None:
    slow = replace(next(each for each in found if each.name == BASELINE), name="slow", states=1)
    baselines = [each for each in found if each.name in (BASELINE, VECTOR_BASELINE)]
    ticks = itertools.count()
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: next(ticks) / 2**20))  # each run takes one
    timings = interleaved([*baselines, slow], rounds=9)
    # the same run, said to be of one state instead of 128
    assert [each.ratio for each in timings[1:]] == [1.0, 128.0]
    assert timings[2].nanoseconds == 1e9 / 2**20


def test_sizes_count_what_a_state_reads(tmp_path: Path) -> None:
    model = arm(5)
    plan, wires = model.word_plan("a test"), model.plan.wires
    found = sum(isinstance(wire, Lookup) for wire in wires)
    assert sum(look_ups(plan, native=True).values()) == found
    code = straight(plan, model.formats, model.tables, tmp_path)
    assert straight_sizes(plan, code) == Sizes(code.table.nbytes, 2 * found)
    products = [wire for wire in wires if isinstance(wire, Product)]
    more = sum(look_ups(plan, native=False).values()) - found
    assert more >= len(products) and (more > 0) == bool(products)
    dense = form_sizes(model, "dense")
    assert dense.tables == sum(table.values.nbytes for table in model.tables)
    assert form_sizes(model, "lockstep").touched > dense.touched  # a walk reads a node a bit


def test_sizes_of_floats_count_sines_that_are_looked_up(tmp_path: Path) -> None:
    for bits, item, reads in ((5, 4, 4), (18, 8, 0)):  # of both angles, sine and cosine; or polynomials
        model = arm(bits, target="float", precision="single" if item == 4 else "double")
        assert model.plan.in_floats
        code = float_straight(model.plan, model.formats, model.tables, tmp_path)
        sizes = straight_sizes(model.plan, code)
        assert sizes.touched == item * reads and sizes.tables >= item * (reads > 0) * (5 << 3)


@pytest.mark.everything  # every contender is compiled
def test_calls_from_python(model: bt.Model) -> None:
    calls = {call.name: call for call in python_calls(model, rounds=3)}
    assert list(calls) == [
        EMPTY,
        "kernel",
        "torque_words",
        "torque",
        "torque_words of lists",
        *(f"torque of {name}" for name in COPIED),
    ]
    assert calls[EMPTY].ratio == 1.0
    assert all(0 < call.lowest <= call.ratio <= call.highest for call in calls.values())


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="reads the time stamp of x86")
def test_latency_of_single_calls(model: bt.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bddtorque.bench.latency.COLD_CALLS", 3)
    found = latency(model, rounds=3)
    assert found.resolution > 0 and found.worst is not None and found.cold is not None and found.cold_worst is not None
    assert found.resolution < found.cold <= found.cold_worst
    if found.median is not None:  # else most calls took no longer than reading the time stamp, whose cost is taken off
        assert found.most is not None and found.worst_state is not None
        assert found.resolution < found.median <= found.most <= found.worst
        assert found.median <= found.worst_state <= found.worst
    assert (found.calls, found.cold_calls) == (3 * 4096, 3)


def test_other_processors_are_refused(model: bt.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(bt.BddTorqueError, match="on an x86-64 processor, this is riscv64"):
        latency(model)


def test_the_machine_is_named() -> None:
    assert {"processor", "python", "bddtorque", "numpy", "numba", "llvmlite"} <= set(machine())
