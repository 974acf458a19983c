"""`sweep` takes every model: each quantity and target, inputs at run time, functions, samples."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from small_models import EVERY, Maker, small_function, small_quantity

import bddtorque as bt
from bddtorque.sweeps import from_states, sweep
from bddtorque.sweeps.figures import to_csv
from bddtorque.sweeps.measuring import subject_of
from bddtorque.sweeps.sweep_pictures import bits_figure, figure_of


def errors_at(model: bt.Model, words: dict[str, list[int]]) -> np.ndarray:
    """The errors of all outputs at one state, the plain way, in units."""
    named = {
        name: np.array([word])
        for a in model.formats.inputs
        for name, word in zip(a.word_names, words[a.name], strict=True)
    }
    arrays = {name: np.array([own]) for name, own in words.items()}
    true = model.true_units(named)[0]
    ends = [(word.lowest, word.highest) for word in model.formats.results.values()]
    return np.abs(model.evaluator().output_words(**arrays)[0] - np.clip(true, *np.array(ends).T))


@pytest.mark.parametrize("make", EVERY)
def test_what_is_found_is_within_what_is_proved(make: Maker) -> None:
    model = make()
    found = sweep(model, 600)
    assert (found.states, found.corners, found.searched) == (600, 75, 75)
    assert [output.output for output in found.outputs] == list(model.formats.results)
    assert not found.exceeding and not found.refuted_ranges
    for k, output in enumerate(found.outputs):
        assert errors_at(model, output.worst)[k] == pytest.approx(output.found, abs=1e-9)
    assert len(to_csv([found]).splitlines()) == 1 + 3 * len(found.outputs)
    assert json.loads(json.dumps(found.to_plain()))["outputs"][0]["found"]["units"] == found.outputs[0].found


@pytest.mark.parametrize("make", EVERY)
def test_a_wrong_word_shows(make: Maker) -> None:
    """A certificate that states no error at all is refuted, of every output that has one."""
    model = make()
    found = sweep(model, 300)
    outputs = tuple(
        replace(proved, parts=replace(proved.parts, **dict.fromkeys(vars(proved.parts), 0.0)), assumed=0.0)
        for proved in model.certificate.outputs
    )
    forged = replace(model, certificate=replace(model.certificate, outputs=outputs))
    erring = [output.output for output in found.outputs if output.found > 0.01]
    assert erring == [output.output for output in sweep(forged, 300).exceeding if output.found > 0.01]
    assert erring


@pytest.mark.parametrize("make", [case for case in EVERY if "integer" in case.id or "samples" in case.id])
def test_pictures_terms_and_costs(make: Maker) -> None:
    model = make()
    found = sweep(model, 200, cost=True)
    assert found.cost is not None and found.cost.ratio > 0
    wider = replace(found, outputs=tuple(replace(output, bits=output.bits + 1) for output in found.outputs))
    for figure in (figure_of([found]), bits_figure([found, wider]), figure_of([found, replace(found, name="other")])):
        assert figure.axes


def test_given_states_of_any_inputs() -> None:
    model = small_function("float")
    x, y = np.linspace(-1.9, 1.9, 50)[:, None], np.linspace(-3.0, 3.0, 50)[:, None]
    found = sweep(model, trajectory=from_states("line", y=y, x=x))
    assert (found.states, found.along, found.outside) == (50, "line", 0)
    assert found.traces is not None
    true = (x * np.cos(y))[:, 0] / model.formats.z[0].lsb
    assert found.traces.true[:, 0] == pytest.approx(true, abs=1e-6)
    with pytest.raises(bt.BddTorqueError, match="trajectory 'line' must give x, y, got x"):
        sweep(model, trajectory=from_states("line", x=x))
    with pytest.raises(bt.BddTorqueError, match="built-in trajectories: 'product' does not take q, qd and qdd"):
        sweep(model, trajectory="sine")


@pytest.mark.parametrize("quantity", ["bias", "mass_matrix", "jacobian", "energy"])
def test_true_values_as_code_are_those_of_the_quantity(quantity: str) -> None:
    subject = subject_of(small_quantity(quantity, "float", "tree"), traced=True)
    assert subject.traced is not None
    rng = np.random.default_rng(3)
    words = subject.formats.words.values()
    units = np.stack([rng.uniform(word.lowest - 0.5, word.highest + 0.5, 300) for word in words])
    apart = np.abs(subject.truth_of_units(units) - replace(subject, traced=None).truth_of_units(units))
    assert apart.max() < 1e-9
