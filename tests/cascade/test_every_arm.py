"""Every built-in arm: faithful, no state errs more than proved, and every form returns the same words."""

from __future__ import annotations

from itertools import product

import pytest
from arms import SAME, assert_all_forms_agree, assert_keeps_its_bound, compiled

from bddtorque.spec import spec_names

SMALL = ("planar2r", "planar3r_a", "planar3r_b", "scara")
RECURSIVE, HOST = {"source": "recursive"}, {"target": "host"}

TWELVE = [(name, {}) for name in spec_names()]
TWELVE += [("ur5", RECURSIVE), ("puma560", RECURSIVE), ("planar2r", HOST), ("ur5", HOST)]
FEWER = [(name, {"bits": bits}) for name in ("planar3r_a", "scara", "ur5") for bits in (8, 10)]
REST = [
    (name, {"bits": bits, "source": source, "target": target})
    for name, bits, source, target in product(spec_names(), (8, 10, 12), ("terms", "recursive"), ("tables", "host"))
    if (name, source) != ("panda", "terms")
]
EVERYTHING = (pytest.mark.everything, pytest.mark.slow)


def cases(listed, marks=()):
    """Return parameters with readable names; what takes long is marked so."""
    return [
        pytest.param(
            name,
            options,
            id="-".join(map(str, (name, *options.values()))),
            marks=[*marks, *([] if name in SMALL else [pytest.mark.slow])],
        )
        for name, options in listed
    ]


@pytest.mark.parametrize(("name", "options"), cases(TWELVE))
def test_no_state_errs_more_than_proved(name, options):
    model = compiled(name, **options)
    assert model.plan.source == options.get("source", model.plan.source)
    assert model.plan.target == options.get("target", "tables")
    assert_keeps_its_bound(model)


@pytest.mark.parametrize(("name", "options"), cases(TWELVE))
def test_every_form_returns_the_same_words(name, options):
    # walking the diagrams of the longest arm takes 2 ms a state
    assert_all_forms_agree(compiled(name, **options), SAME // 2 if name == "panda" else SAME)


@pytest.mark.parametrize(("name", "options"), cases(FEWER))
def test_fewer_bits_are_faithful_too(name, options):
    model = compiled(name, **options)
    assert_keeps_its_bound(model, states=200_000, corners=50_000)
    assert_all_forms_agree(model, 1_000)


@pytest.mark.parametrize("bits", range(4, 17))
def test_planar2r_at_every_word_length(bits):
    model = compiled("planar2r", bits=bits)
    assert_keeps_its_bound(model, states=100_000, corners=20_000)
    assert_all_forms_agree(model, 1_000)


@pytest.mark.parametrize(("name", "options"), cases(REST, EVERYTHING))
def test_every_arm_source_target_and_word_length(name, options):
    model = compiled(name, **options)
    assert_keeps_its_bound(model, states=200_000, corners=50_000)
    assert_all_forms_agree(model, 1_000)


def test_the_default_is_terms_wherever_they_are_feasible():
    sources = {name: compiled(name).plan.source for name in SMALL}
    assert sources == dict.fromkeys(SMALL, "terms")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["terms", "recursive"])
def test_the_file_of_the_ur5_is_small(source, tmp_path):
    compiled("ur5", **({} if source == "terms" else RECURSIVE)).save(tmp_path / "ur5.bdt")
    assert (tmp_path / "ur5.bdt").stat().st_size < 16e6
