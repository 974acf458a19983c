"""The peers compute what they are measured for: the same torques from the same words."""

from __future__ import annotations

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import pinocchio_model, rnea

import bddtorque as bt
from bddtorque.bench import casadi_code
from bddtorque.bench.casadi_code import casadi_torques, missing_for_casadi
from bddtorque.bench.contenders import pinocchio_rnea
from bddtorque.bench.peers import PEERS, TILE, peer, vector_peer

ROBOTS = ["planar2r", *(pytest.param(name, marks=pytest.mark.everything) for name in ("scara", "ur5"))]


def words_and_torques(robot: str, bits: int = 10, states: int = 2048) -> tuple:
    """Return an arm, its formats, random words, and the torques of those by pinocchio in units, clamped."""
    arm = bt.load_robot(robot)
    formats = bt.load_spec(robot).with_options(bits=bits).formats(arm)
    rng = np.random.default_rng(3)
    words = [rng.integers(each.lowest, each.highest, (states, len(each)), endpoint=True) for each in formats.inputs]
    floats = [each.dequantise(own) for each, own in zip(formats.inputs, words, strict=True)]
    units = rnea(pinocchio_model(arm), *floats) / formats.tau.lsb
    return arm, formats, words, np.clip(units, formats.tau.lowest, formats.tau.highest)


@pytest.mark.parametrize("kind", PEERS)
@pytest.mark.parametrize("robot", ROBOTS)
def test_peers_give_the_torques_of_the_words(kind: str, robot: str) -> None:
    arm, formats, words, true = words_and_torques(robot)
    tau = np.empty(words[0].shape, dtype=np.int64)
    peer(bt.trace_torques(arm), formats, kind)(*words, tau)
    # exact but for the rounding of the words; single precision may round the other way near a tie
    assert np.abs(tau - true).max() <= 0.5 + (1e-3 if kind == "float32" else 1e-9)


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_vector_peer_gives_them_too(robot: str) -> None:
    arm, formats, words, true = words_and_torques(robot)
    states, scratch = vector_peer(bt.trace_torques(arm), formats)
    columns = [np.ascontiguousarray(each.T) for each in words]
    tau = np.empty(columns[0].shape, dtype=np.int64)
    states(*columns, tau, np.empty(scratch, dtype=np.float32))
    assert np.abs(tau.T - true).max() <= 0.5 + 2e-3


def test_the_vector_peer_is_compiled_to_vectors_and_gathers_nothing() -> None:
    arm, formats, words, _ = words_and_torques("planar2r", states=TILE)
    states, scratch = vector_peer(bt.trace_torques(arm), formats)
    columns = [np.ascontiguousarray(each.T) for each in words]
    states(*columns, np.empty_like(columns[0]), np.empty(scratch, dtype=np.float32))
    (code,) = states.inspect_asm().values()
    assert "gather" not in code
    assert any(name in code for name in ("mulps", ".4s"))  # x86, ARM


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_pinocchio_is_given_the_same_arm(seed: int) -> None:
    arm = bt.load_robot("stanford")
    rng = np.random.default_rng(seed)
    state = rng.uniform(-1, 1, (3, 6))
    call = pinocchio_rnea(arm)
    assert call is not None
    assert np.allclose(call(*state), bt.inverse_dynamics(arm, *state), rtol=1e-9, atol=1e-9)


def test_casadi_is_given_the_same_arm() -> None:
    """A slider among the joints; the C is compiled, and takes rows of states."""
    if lacking := missing_for_casadi():
        pytest.skip(lacking)
    arm = bt.load_robot("stanford")
    torques = casadi_torques(arm)
    assert torques is not None
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 20, 6))
    tau = np.empty((20, 6))
    torques(q, qd, qdd, tau)
    assert np.allclose(tau, bt.inverse_dynamics(arm, q, qd, qdd), rtol=1e-9, atol=1e-9)


def test_what_is_missing_for_casadi_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(casadi_code, "find_spec", lambda name: None)
    assert missing_for_casadi().startswith("CasADi is not installed: pip install 'bddtorque[bench]'")
    assert casadi_torques(bt.load_robot("planar2r")) is None
