"""The same words from every evaluator, and errors within the certificate: all states, all blocks, many states."""

from dataclasses import replace

import numpy as np
import pytest
from compiled import arm, found_errors, reference, some_words
from exact import all_words
from examples_tried import EVERY

import bddtorque as bt
from bddtorque.evaluate.runners import EVALUATORS
from bddtorque.plan.forms import FORMS, Bits, make_form

KINDS = [(kind, form) for kind in ("words", "bits") for form in EVALUATORS[kind]]


@pytest.mark.parametrize("bits", [3, pytest.param(4, marks=pytest.mark.everything)])
def test_all_evaluators_agree_on_all_states(bits):
    model = arm(bits)
    evaluators = [model.evaluator(*kind) for kind in KINDS]
    rest = np.array(all_words([bits] * 5))
    for q1 in range(model.formats.q[0].lowest, model.formats.q[0].highest + 1):
        states = np.concatenate([np.full((1, rest.shape[1]), q1), rest]).T
        words = [np.ascontiguousarray(states[:, 2 * k : 2 * k + 2]) for k in range(3)]
        expected = reference(model, words)
        for evaluator in evaluators:
            assert np.array_equal(evaluator.torque_words(*words), expected), (evaluator.kind, evaluator.form, q1)
    assert not any(evaluator.out_of_range.any() for evaluator in evaluators)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bits", "count"),
    [(bits, 100_000) for bits in (4, 5, 8, 12)]
    + [pytest.param(bits, 1_000_000, marks=pytest.mark.everything) for bits in range(4, 13)],
)
def test_every_word_length_is_faithful_and_the_same_everywhere(bits, count):
    model = arm(bits)
    assert model.certificate.faithful and max(model.certificate.bounds) < 1.0
    for table, diagram in zip(model.tables, model.diagrams, strict=True):  # every entry of every block
        for form in FORMS:
            assert np.array_equal(make_form(form, table, diagram).expand(), table.values)
    words = some_words(model, count)
    expected = reference(model, words)
    tau = model.evaluator("words").torque_words(*words)
    assert np.array_equal(tau, expected)
    some = [each[-count // 10 :] for each in words]  # the corners are the last
    for kind in KINDS[1:]:
        if kind[1] == "straight" and bits not in (5, 12) and not EVERY:
            continue  # code of its own takes seconds to compile
        assert np.array_equal(model.evaluator(*kind).torque_words(*some), expected[-count // 10 :])
    found = found_errors(model, words, tau)
    assert (found <= model.certificate.bounds).all()
    assert (np.array(model.certificate.bounds) <= 1.8 * found).all()


@pytest.mark.parametrize(
    "options", [{"products": "partial"}, {"source": "recursive"}, {"block_bits": 6}, {"accuracy": "paper"}]
)
def test_every_kind_of_plan_gives_the_same_words(options):
    model = arm(6, workers=1, **options)
    words = some_words(model, 20_000)
    expected = reference(model, words)
    for kind in KINDS:
        assert np.array_equal(model.evaluator(*kind).torque_words(*words), expected)
    assert (found_errors(model, words, expected) <= model.certificate.bounds).all()


@pytest.mark.parametrize("bits", [5, 6])
def test_an_output_bit_takes_at_most_as_many_tests_as_it_has_input_bits(bits):
    for table, diagram in zip(arm(bits, workers=1).tables, arm(bits, workers=1).diagrams, strict=True):
        tests = Bits.from_diagram(diagram).count_tests(np.arange(len(table.values)))
        assert tests.max() <= table.input_bits and tests.shape[1] == table.output_bits


def test_diagrams_are_lowered_by_the_evaluator_alone_and_once(monkeypatch):
    made = []
    original = Bits.from_diagram.__func__
    monkeypatch.setattr(
        Bits, "from_diagram", classmethod(lambda cls, *given: made.append(cls) or original(cls, *given))
    )
    model = bt.compile("planar2r", bits=4, workers=1, cache=None)
    model.evaluator("words", "dense")
    assert made == []
    model.evaluator("bits", "bits")
    assert made == [Bits] * len(model.tables)


@pytest.mark.parametrize("form", ["bits", "lockstep"])
def test_a_diagram_that_differs_from_its_table_is_refused(form):
    model = arm(4, workers=1)
    values = model.tables[0].values.copy()
    values[5] ^= 1
    other = replace(model.tables[0], values=values)
    model = replace(model, tables=(other, *model.tables[1:]))
    with pytest.raises(bt.BddTorqueError, match=rf"form '{form}', expanded: index 5 must give"):
        model.evaluator("bits", form)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (("word",), r"^unknown evaluator 'word'; did you mean 'words'\?$"),
        ((["words"],), r"^unknown evaluator \['words'\]; known: bits, words, parallel$"),
        (("bits", "dense"), "^form of the evaluator 'bits' must be 'lockstep' or 'bits', got 'dense'$"),
        (("words", "denser"), r"^form of the evaluator 'words' must be .*, got 'denser'; did you mean 'dense'\?$"),
        (("words", None, "wrap"), "^on_range must be 'warn', 'saturate' or 'raise', got 'wrap'$"),
    ],
)
def test_evaluators_that_do_not_exist_are_refused(given, match):
    with pytest.raises(bt.BddTorqueError, match=match):
        arm(4, workers=1).evaluator(*given)
