"""Every built-in arm: faithful, no state errs more than proved, and every form returns the same words."""

from __future__ import annotations

from itertools import product

import pytest
from arms import assert_all_forms_agree, assert_keeps_its_bound
from compiled import compiled

from bddtorque.spec import spec_names

SMALL = ("planar2r", "planar3r_a", "planar3r_b", "scara")
RECURSIVE, FLOAT = {"source": "recursive"}, {"target": "float"}

SOME = [("planar2r", {"bits": 12})]
SOME += [
    (name, {"bits": 8})
    for name in spec_names()
    if name not in ("planar2r", "planar3r_b", "panda", "stanford", "puma560", "ur5")
]
SOME += [("puma560", {"bits": 8, **RECURSIVE}), ("planar2r", {"bits": 12, **FLOAT})]
SOME += [("planar2r", {"bits": bits}) for bits in (4, 6, 7, 8)]  # a block of 9 or 10 bits takes longest
TWELVE = [(name, {}) for name in spec_names()]
TWELVE += [("ur5", RECURSIVE), ("puma560", RECURSIVE), ("planar2r", FLOAT), ("ur5", FLOAT)]
WORDS = [("planar2r", {"bits": bits}) for bits in range(4, 17)]
REST = [
    (name, {"bits": bits, "source": source, "target": target})
    for name, bits, source, target in product(spec_names(), (8, 10, 12), ("terms", "recursive"), ("tables", "float"))
    if (name, source) != ("panda", "terms")
]


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


@pytest.mark.parametrize(("name", "options"), cases(SOME))
def test_no_state_errs_more_than_proved_and_every_form_agrees(name, options):
    model = compiled(name, **options)
    few = name in SMALL and "target" not in options
    assert model.plan.source == options.get("source", "terms" if few else model.plan.source)
    assert model.plan.target == options.get("target", "tables")
    assert_keeps_its_bound(model, 100_000)
    assert_all_forms_agree(model, 2_000)


@pytest.mark.everything
@pytest.mark.parametrize(("name", "options"), cases(TWELVE))
def test_a_million_states_at_twelve_bits(name, options):
    model = compiled(name, **options)
    assert_keeps_its_bound(model, 1_000_000)
    assert_all_forms_agree(model, 10_000)


@pytest.mark.everything
@pytest.mark.parametrize(("name", "options"), cases(REST + WORDS))
def test_every_arm_source_target_and_word_length(name, options):
    model = compiled(name, **options)
    assert_keeps_its_bound(model, 200_000)
    assert_all_forms_agree(model, 1_000)


@pytest.mark.everything
@pytest.mark.parametrize("source", ["terms", "recursive"])
def test_the_file_of_the_ur5_is_small(source, tmp_path):
    compiled("ur5", **({} if source == "terms" else RECURSIVE)).save(tmp_path / "ur5.bdt")
    assert (tmp_path / "ur5.bdt").stat().st_size < 16e6
