"""`ask` takes every model: each quantity and target, inputs at run time, functions, samples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from every_state import all_words, outputs_at
from small_models import EVERY, Maker, small_function, small_quantity, small_samples

import bddtorque as bt
from bddtorque.cli import main
from bddtorque.proof.certificate import Certificate
from bddtorque.questions import Count, Extreme, LargestError, largest_error
from bddtorque.questions.word_errors import true_output

WORK = 1.0


def some_words(model: bt.Model, count: int = 400) -> dict[str, np.ndarray]:
    """Random words by name, the lowest and the highest first."""
    rng = np.random.default_rng(0)
    words = {}
    for name, word in model.formats.words.items():
        words[name] = rng.integers(word.lowest, word.highest, count, endpoint=True)
        words[name][:2] = word.lowest, word.highest
    return words


def exact_by_forgery(model: bt.Model) -> bt.Model:
    """Return a model with a certificate that states no error, no value but 0, and that no word can saturate."""
    outputs = tuple(
        replace(
            proved,
            parts=replace(proved.parts, **dict.fromkeys(vars(proved.parts), 0.0)),
            assumed=0.0,
            low=0.0,
            high=0.0,
            saturation="cannot",
            witness=None,
        )
        for proved in model.certificate.outputs
    )
    return replace(model, certificate=Certificate(outputs))


@pytest.mark.parametrize("make", EVERY)
def test_every_question_is_answered_and_only_what_is_false_is_refuted(
    make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make()
    words = some_words(model)
    outputs, names = outputs_at(model, words), [output.name for output in model.plan.outputs]
    asked = "largest", "smallest", "saturation", "error", "symmetry", "support"
    middle = float(list(model.formats.results.values())[-1].dequantise(0))
    found = bt.ask(model, *asked, of=names[-1], at_least=middle, equal=model, work=WORK)
    assert {type(answer).__name__ for answer in found} == {
        "Extreme", "Count", "LargestError", "Verdict", "Support", "Equality"
    }  # fmt: skip
    assert not any(answer.refutes for answer in found)
    for answer in found:
        if isinstance(answer, Extreme):
            column = outputs[:, names.index(answer.of)]
            sign = 1 if answer.which == "largest" else -1
            assert sign * answer.word <= sign * answer.bound_word and (sign * column <= sign * answer.bound_word).all()
            assert outputs_at(model, {n: np.array([w]) for n, w in answer.state.items()})[0, -1] == answer.word
        if isinstance(answer, Count):
            assert 0 <= answer.low <= answer.high <= answer.states
        if isinstance(answer, LargestError):
            assert 0 <= answer.found <= answer.bound <= model.certificate.bounds[-1]
            assert answer.way != "certificate"  # a state was compared
    monkeypatch.setitem(vars(model), "certificate", exact_by_forgery(model).certificate)
    for answer in bt.ask(model, "largest", "smallest", "error", of=names[-1], work=WORK):
        if isinstance(answer, Extreme):
            beyond = answer.value if answer.which == "largest" else -answer.value
            assert bool(answer.refutes) == (beyond > model.certificate.outputs[-1].lsb)
        elif isinstance(answer, LargestError):
            assert bool(answer.refutes) == (answer.found > answer.radius)


@pytest.mark.parametrize("make", EVERY)
def test_the_radius_holds_the_true_value(make: Maker) -> None:
    model = make()
    words = some_words(model)
    expected = model.true_values(words)
    assert expected is not None
    for place, word in enumerate(model.formats.results.values()):
        found = true_output(model, place, words)
        assert found is not None
        assert (np.abs(found.value - expected[:, place]) <= found.radius + 1e-12 * (1 + np.abs(expected).max())).all()
        assert np.max(found.radius) < 1e-6 * word.lsb


@pytest.mark.parametrize("quantity", ["gravity", "kinematics", "energy"])
def test_the_largest_error_is_that_of_all_states(quantity: str) -> None:
    model = small_quantity(quantity, "integer")
    words = all_words(model)
    true = model.true_units(words)
    assert true is not None
    compiled = outputs_at(model, words)
    for place, (output, word) in enumerate(zip(model.plan.outputs, model.formats.results.values(), strict=True)):
        errors = np.abs(compiled[:, place] - np.clip(true[:, place], word.lowest, word.highest))
        answer = largest_error(model, output.name)
        assert answer.exact and answer.found == pytest.approx(errors.max(), abs=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: small_quantity("torque", "float"),
        lambda: small_quantity("jacobian", "tables"),
        lambda: small_quantity("computed_torque", "integer", "tree"),
        lambda: small_function("tables"),
        small_samples,
    ],
    ids=["torque", "jacobian", "computed_torque", "function", "samples"],
)
def test_more_than_the_certificate_allows_is_exit_code_1(
    make: Maker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By enumeration and by a search: no bracket whose low end is above its high end."""
    right, wrong, output = tmp_path / "right.bdt", tmp_path / "wrong.bdt", make().plan.outputs[0].name
    make().save(right)
    exact_by_forgery(make()).save(wrong)
    ask = ["--of", output, "--error", "--work", "1"]
    assert main(["ask", str(right), *ask]) == 0
    assert capsys.readouterr().err == ""
    assert main(["ask", str(wrong), *ask]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith(f"bddtorque: more than the certificate allows: {output} of ")
    assert shown.err.count("\n") == 1 and "units found, 0 proved, at the words" in shown.err
    assert "MORE than proved" in " ".join(shown.out.split())
    assert main(["ask", str(wrong), *ask, "--json"]) == 1
    assert "0 proved" in json.loads(capsys.readouterr().out)["answers"][0]["refutes"]


def test_values_and_saturation_beyond_the_certificate_are_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow = bt.compile("planar2r", quantity="gravity", bits=5, torque={"shoulder": 20, "elbow": 200}, workers=1)
    liar = exact_by_forgery(narrow)
    outputs = tuple(replace(proved, low=-1.0, high=1.0) for proved in liar.certificate.outputs)
    liar = replace(liar, certificate=Certificate(outputs))
    file = tmp_path / "liar.bdt"
    liar.save(file)
    for question, said in (
        ("--saturation", "the certificate says that it cannot saturate, but"),
        ("--largest", "beyond the proved range of -1 to 1"),
        ("--smallest", "beyond the proved range of -1 to 1"),
        ("--at-least=10", "10 N·m found, beyond the proved range of -1 to 1"),
        ("--at-most=-10", "-10 N·m found, beyond the proved range of -1 to 1"),
    ):
        assert main(["ask", str(file), "--of", "tau1", question]) == 1
        shown = capsys.readouterr().err
        assert said in shown and shown.count("\n") == 1
