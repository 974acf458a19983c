"""The peers compute what they are measured for: the same torques from the same words."""

from __future__ import annotations

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.bench.peers import PEERS, peer
from bddtorque.bench.running import BASELINE, bench


@pytest.fixture(scope="module")
def model() -> bt.Model:
    return bt.compile("planar2r", bits=8, workers=1, cache=None)


@pytest.mark.parametrize("kind", PEERS)
@pytest.mark.parametrize("robot", ["planar2r", "scara"])
def test_peers_give_the_torques_of_the_words(kind: str, robot: str) -> None:
    arm = bt.load_robot(robot)
    formats = bt.load_spec(robot).with_options(bits=10).formats(arm)
    rng = np.random.default_rng(3)
    words = [rng.integers(each.lowest, each.highest, (2000, len(each)), endpoint=True) for each in formats.inputs]
    tau = np.empty(words[0].shape, dtype=np.int64)
    peer(bt.trace_torques(arm), formats, kind)(*words, tau)
    floats = [each.dequantise(own) for each, own in zip(formats.inputs, words, strict=True)]
    true = np.clip(bt.inverse_dynamics(arm, *floats) / formats.tau.lsb, formats.tau.lowest, formats.tau.highest)
    # exact but for the rounding of the words; single precision may round the other way near a tie
    allowed = 0.5 + (1e-3 if kind == "float32" else 1e-9)
    assert np.abs(tau - true).max() <= allowed


def test_bench_reports_every_contender_once(model: bt.Model) -> None:
    timings = {timing.name: timing for timing in bench(model, rounds=3, states=64)}
    assert set(timings) == {"words, straight", "words, dense", *PEERS, "generic Newton-Euler"}
    assert timings[BASELINE].ratio == 1.0
    for timing in timings.values():
        assert 0 < timing.lowest <= timing.ratio <= timing.highest
        assert timing.nanoseconds > 0
        assert timing.proved == timing.name.startswith("words")
