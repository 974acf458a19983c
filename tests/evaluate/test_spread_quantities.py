"""Every quantity and compiled functions on several processors: spread by terms and by bits, the same words."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from carried_out import run_schedule
from every_model import own_options

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.evaluate import kinds as kinds_module
from bddtorque.evaluate.spreading import SpreadWay, schedule_model, tasks_of
from bddtorque.export.one_bit_exporter import export_one_bit

OPTIONS: dict[str, dict[str, Any]] = {
    "payload": {"quantity": "gravity", "payload": {"mass": [0, 2], "com": [[0, 0.1], 0, 0], "runtime": True}},
}
SUBJECTS = (*QUANTITIES, "payload", "function")
WAYS: tuple[SpreadWay, ...] = ("terms", "bits")


@cache
def model_of(subject: str) -> bt.Model:
    if subject == "function":
        inputs = {"x": (6, 1.0), "y": (6, 1.0)}
        return bt.compile_function(lambda x, y: x * y + x, inputs=inputs, output={"w1": (6, 2.5)}, block_bits=8)
    options = {"quantity": subject, **own_options(subject), **OPTIONS.get(subject, {})}
    return bt.compile("planar2r", target="tables", bits=4, block_bits=8, workers=1, cache=None, **options)


def random_words(model: bt.Model, count: int) -> dict[str, np.ndarray]:
    """Return words by the names of the plan's inputs."""
    rng, words = np.random.default_rng(3), model.formats.words
    return {name: rng.integers(word.lowest, word.highest, count, endpoint=True) for name, word in words.items()}


def evaluated(evaluator: bt.Evaluator, words: dict[str, np.ndarray]) -> np.ndarray:
    """Return the output words of an evaluator, (N, outputs)."""
    arrays: dict[str, list[np.ndarray]] = {}
    for name, word in words.items():
        arrays.setdefault(name.rstrip("0123456789"), []).append(word)
    if evaluator.model.provenance.robot is None:
        return np.asarray(evaluator.words(*words.values()))[:, None]
    stacked = {name: np.stack(own, axis=1) for name, own in arrays.items()}
    if evaluator.model.provenance.is_torque:
        return np.asarray(evaluator.torque_words(*stacked.values()))
    return np.asarray(evaluator.output_words(**stacked))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_schedules_carried_out_give_the_words_of_the_plan(subject: str, way: SpreadWay) -> None:
    model = model_of(subject)
    words = random_words(model, 100)
    expected = evaluated(model.evaluator(), words)
    for processors in (1, 3, 50):
        for grain in ("operation", "wire"):
            spreading = schedule_model(model, processors, way, grain=grain)
            spreading.schedule.check(tasks_of(spreading.operations))
            run = run_schedule(spreading.operations, spreading.schedule, model.diagrams, words)
            np.testing.assert_array_equal(run.torques, expected)
            assert run.messages == spreading.messages


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_threads_that_share_a_state_give_them_too(
    subject: str, way: SpreadWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds_module, "usable_processors", lambda: 8)
    model = model_of(subject)
    words = random_words(model, 20)
    many = model.evaluator("parallel", "bits", processors=2, spread=way)
    np.testing.assert_array_equal(evaluated(many, words), evaluated(model.evaluator(), words))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_one_bit_processors_are_exported(subject: str, way: SpreadWay, tmp_path: Path) -> None:
    made = export_one_bit(model_of(subject), tmp_path / "v", name="dut", vectors=2, processors=3, spread=way)
    assert made.processors == 3 and (tmp_path / "v" / "dut.v").is_file()
