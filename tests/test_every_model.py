"""Everything that can be done with a model, done with every kind of model.

Quantities, run-time inputs and targets come from their registries, so that a new one is tried by itself. A feature
works, or is refused where the one table of `model/applicability.py` says so; anything else is a defect.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_models import EVERY, Maker, small_function

import bddtorque as bt
from bddtorque.bench.contenders import contenders
from bddtorque.compiler.verify import verify
from bddtorque.independent import check_bytes
from bddtorque.model.applicability import FEATURES, applies
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.targets import TARGETS


@cache
def tanh(target: str) -> bt.Model:
    """Return a function that is known only by calling it."""
    return bt.compile_function(np.tanh, inputs={"x": (5, 2.0)}, output=6, trace="float", target=target)


CASES = [
    *(pytest.param(*case.values, id=case.id, marks=case.marks if "tree" in str(case.id) else ()) for case in EVERY),
    *(pytest.param(lambda t=t: tanh(t), id=f"known by its floats-{t}") for t in TARGETS if not TARGETS[t].only_traced),
]


def words_of(model: bt.Model, count: int = 20) -> dict[str, np.ndarray]:
    """Return random words by the names of the arrays, (N, words); numbers (N,)."""
    rng = np.random.default_rng(1)
    arrays = {}
    for array in model.formats.inputs:
        columns = [rng.integers(word.lowest, word.highest, count, endpoint=True) for word in array]
        arrays[array.name] = np.stack(columns, axis=1) if array.shape else columns[0]
    return arrays


def evaluated(model: bt.Model, kind: str, **options: Any) -> np.ndarray:
    return model.evaluator(kind, on_range="saturate", **options).output_words(**words_of(model))


def same_words(kind: str, **options: Any) -> Callable[[bt.Model, Path], None]:
    def check(model: bt.Model, folder: Path) -> None:
        np.testing.assert_array_equal(evaluated(model, kind, **options), evaluated(model, "words"))

    return check


def check_words(model: bt.Model, folder: Path) -> None:
    """Words are within the certificate of the true values, and the same by every call."""
    arrays, found = words_of(model), evaluated(model, "words")
    named = {
        name: column
        for array in model.formats.inputs
        for name, column in zip(array.word_names, np.reshape(arrays[array.name], (20, -1)).T, strict=True)
    }
    true = model.true_units(named)
    if true is not None:
        for k, (word, proved) in enumerate(zip(model.formats.results.values(), model.certificate.outputs, strict=True)):
            units = np.clip(true[:, k], word.lowest, word.highest)
            assert np.abs(found[:, k] - units).max() <= proved.bound + 1e-6, proved.name
    again = from_bytes(to_bytes(model))
    assert (again.formats, again.digest) == (model.formats, model.digest)
    np.testing.assert_array_equal(evaluated(again, "words"), found)


def check_kernel(model: bt.Model, folder: Path) -> None:
    first = [np.asarray(array)[0] for array in words_of(model).values()]
    found = evaluated(model, "words")[0]
    if model.provenance.robot is None:
        assert model.kernel()(*map(int, first)) == found[0]
        return
    out = np.empty(len(found), dtype=np.int64)
    model.kernel()(*first, out)
    np.testing.assert_array_equal(out, found)


def check_sweep(model: bt.Model, folder: Path) -> None:
    swept = bt.sweep(model, 100, workers=1, cache=None)
    assert not swept.exceeding
    swept.to_plain()


def check_answers(model: bt.Model, folder: Path) -> None:
    for answer in bt.ask(model, "largest", "smallest", "saturation", "error", work=0.5):
        assert str(answer)
    assert all(answer.equal for answer in bt.ask(model, equal=model, work=0.5))


def check_verified(model: bt.Model, folder: Path) -> None:
    assert [check for check in verify(model, workers=1) if not check.passed] == []


def check_independently(model: bt.Model, folder: Path) -> None:
    assert [finding for finding in check_bytes(to_bytes(model)) if not finding.passed] == []


def check_bench(model: bt.Model, folder: Path) -> None:
    assert contenders(model, 64, seed=0)


Feature = tuple[str, Callable[[bt.Model, Path], Any]]
"""What it is called in the table, "" where it needs nothing, and what does it."""
TRIED: dict[str, Feature] = {
    "words": ("", check_words),
    "bits": ("diagrams", same_words("bits")),
    "dense": ("diagrams", same_words("words", form="dense")),
    "states": ("", same_words("parallel", processors=2)),
    "terms": ("diagrams", same_words("parallel", processors=2, spread="terms")),
    "bits of a state": ("diagrams", same_words("parallel", processors=2, spread="bits")),
    "sweep": ("sweeps", check_sweep),
    "independent": ("", check_independently),
    "c": ("", lambda model, folder: bt.export_c(model, folder / "c", vectors=8)),
    "c in floats": ("", lambda model, folder: bt.export_c(model, folder / "floats", vectors=8, floats=True)),
    "pla": ("diagrams", lambda model, folder: bt.export_pla(model, folder / "pla")),
    "blif": ("diagrams", lambda model, folder: bt.export_blif(model, folder / "model.blif")),
    "verilog": ("circuits", lambda model, folder: bt.export_verilog(model, folder / "verilog", vectors=4)),
    "one bit": ("diagrams", lambda model, folder: bt.export_one_bit(model, folder / "one_bit", vectors=4)),
    "report": ("", lambda model, folder: bt.write_report(model, folder / "page.html")),
    "show": ("", lambda model, folder: (str(model.certificate), repr(model), model._repr_html_(), model.summary())),
}
SEARCHED: dict[str, Feature] = {"ask": ("", check_answers), "verify": ("", check_verified)}
"""Features that search or plan again: seconds for every tree, of which `make test` has one of each target."""
COMPILED: dict[str, Feature] = {"kernel": ("", check_kernel), "bench": ("", check_bench)}
"""Features for which code is compiled: they take seconds for every model."""


def check(feature: Feature, model: bt.Model, folder: Path) -> None:
    """Do what a feature does; it is refused, in a line, just where the table says that it does not apply."""
    name, run = feature
    if not name or applies(model, name):
        run(model, folder)
        return
    with pytest.raises(bt.BddTorqueError):
        run(model, folder)


def in_every_run(chosen: Callable[[str], bool]) -> list[Any]:
    """Return all cases; those whose name is not chosen are for `make test-all`."""
    return [
        pytest.param(*case.values, id=case.id, marks=case.marks if chosen(str(case.id)) else pytest.mark.everything)
        for case in CASES
    ]


@pytest.mark.parametrize("make", CASES)
def test_every_feature_of_every_model(make: Maker, tmp_path: Path) -> None:
    for feature in TRIED.values():
        check(feature, make(), tmp_path)


@pytest.mark.parametrize("make", in_every_run(lambda name: not name.endswith("tree")))
def test_searches_and_proofs_of_every_model(make: Maker, tmp_path: Path) -> None:
    for feature in SEARCHED.values():
        check(feature, make(), tmp_path)


@pytest.mark.parametrize("make", in_every_run(lambda name: name.startswith(("function", "samples", "known"))))
@pytest.mark.parametrize("feature", COMPILED)
def test_features_for_which_code_is_compiled(feature: str, make: Maker, tmp_path: Path) -> None:
    check(COMPILED[feature], make(), tmp_path)


def test_a_refusal_that_the_table_does_not_know_is_a_defect(tmp_path: Path) -> None:
    def refuse(model: bt.Model, folder: Path) -> None:
        raise bt.BddTorqueError("this quantity cannot be exported")

    with pytest.raises(bt.BddTorqueError, match="cannot be exported"):
        check(("", refuse), small_function("tables"), tmp_path)
    with pytest.raises(pytest.fail.Exception):
        check(("diagrams", lambda model, folder: None), small_function("float"), tmp_path)


def test_every_need_of_the_table_is_lacked_by_some_model() -> None:
    """A need that every model has would say nothing."""
    models = [case.values[0]() for case in CASES if "tree" not in str(case.id)]  # type: ignore[operator]
    for needs in FEATURES.values():
        for need in needs:
            assert not all(need.held(model) for model in models), need.missing
            assert any(need.held(model) for model in models), need.missing
