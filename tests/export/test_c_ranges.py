"""Words never leave the ranges that types are chosen by, and generated helpers are what they say, for all numbers."""

import ctypes
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from c_programs import needs_compiler, run_words, turned, wild_words
from compiled import arm, random_words, reference
from hypothesis import given
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_helpers import HELPERS
from bddtorque.export.exporter import c_files
from bddtorque.export.integer_ranges import known_words
from bddtorque.plan.blocks import ProductBlock
from bddtorque.plan.reference import run_wires
from bddtorque.plan.wires import Product, Sum
from bddtorque.words.integer_range import INT32, Range, word_range

numbers = st.integers(-(2**40), 2**40)
ranges = st.tuples(numbers, numbers).map(lambda ends: Range(min(ends), max(ends)))


@given(ranges, ranges, st.data())
def test_ranges_hold_what_arithmetic_gives(one, other, data):
    x, y = (data.draw(st.integers(each.low, each.high)) for each in (one, other))
    shift = data.draw(st.integers(0, 40))
    for found, number in (
        (one + other, x + y),
        (one - other, x - y),
        (one * other, x * y),
        (one.rounded(shift), (x + (1 << shift >> 1)) >> shift),
    ):
        assert found.low <= number <= found.high
        assert abs(number) <= found.magnitude


@pytest.mark.parametrize("options", [{}, {"target": "host"}, {"source": "recursive"}], ids=str)
def test_every_wire_stays_within_what_is_certain_and_what_is_expected(options):
    model = arm(6, workers=1, **options)
    q, qd, qdd = random_words(model, 20_000)
    named = {f"{name}{j + 1}": words[:, j] for name, words in (("q", q), ("qd", qd), ("qdd", qdd)) for j in range(2)}
    found = run_wires(model.plan, model.tables, named)
    for word, values in zip(known_words(model.plan, model.tables), found, strict=True):
        for each in (word.expected, word.certain):
            assert each.low <= values.min() and values.max() <= each.high
        assert word.certain.within(word_range(word.bits))


@pytest.fixture(scope="module")
def helpers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("helpers")
    text = "#include <stdint.h>\n" + "\n".join(HELPERS.values()).replace("static inline ", "")
    (folder / "helpers.c").write_text(text)
    flags = ["-std=c99", "-O2", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", "helpers.so", "helpers.c"], cwd=folder, check=True)
    loaded = ctypes.CDLL(str(folder / "helpers.so"))
    for name in HELPERS:
        wide = name.endswith("64")
        kind = ctypes.c_int64 if wide else ctypes.c_int32
        bits = ctypes.c_uint64 if wide else ctypes.c_uint32
        arguments = {
            "signed": [bits],
            "wrapped": [bits, ctypes.c_uint],
            "floor": [kind, ctypes.c_uint],
            "clamped": [kind, kind, kind],
        }
        getattr(loaded, name).argtypes = arguments[name[:-2]]
        getattr(loaded, name).restype = kind
    return loaded


@needs_compiler
@given(st.data())
def test_helpers(helpers, data):
    for bits in (32, 64):
        word = word_range(bits)
        ends = st.sampled_from([word.low, word.low + 1, -1, 0, 1, word.high - 1, word.high])
        x, low, high = (data.draw(st.integers(word.low, word.high) | ends) for _ in range(3))
        shift = data.draw(st.integers(0, bits - 1))
        assert getattr(helpers, f"signed{bits}")(x % 2**bits) == x
        assert getattr(helpers, f"floor{bits}")(x, shift) == x >> shift
        low, high = sorted((low, high))
        assert getattr(helpers, f"clamped{bits}")(x, low, high) == min(max(x, low), high)
    kept = data.draw(st.integers(1, 31))
    half = 1 << (kept - 1)
    x = data.draw(st.integers(0, 2**32 - 1))
    assert helpers.wrapped32(x, kept) == ((x + half) & (2 * half - 1)) - half


def finer(model: bt.Model, bits: int) -> bt.Model:
    """Return a model that gives the same torques from sums of 2^bits times the size."""
    outputs = [
        replace(
            output,
            parts=tuple((wire, factor << bits) for wire, factor in output.parts),
            constant=output.constant << bits,
            shift=output.shift + bits,
        )
        for output in model.plan.outputs
    ]
    return replace(model, plan=replace(model.plan, outputs=tuple(outputs)))


@needs_compiler
def test_sums_of_more_than_32_bits(tmp_path):
    model = arm(6, workers=1)
    words = random_words(model, 5_000)
    source = c_files(finer(model, 24)).files["planar2r.c"]
    assert "clamped64(floor64(" in source and "clamped64(" not in c_files(model).files["planar2r.c"]
    assert np.array_equal(run_words(finer(model, 24), words, tmp_path)[0], reference(model, words))


def test_every_helper_is_used_somewhere():
    models = [arm(6, workers=1), arm(6, workers=1, block_bits=6), finer(arm(6, workers=1), 24)]
    texts = [c_files(model).files["planar2r.c"] for model in models]
    texts.append(c_files(models[0], form="edge_valued").files["planar2r.c"])
    texts.append(c_files(turned(arm(18, target="float", precision="double"))).files["planar2r.c"])
    for name in HELPERS:
        assert any(text.count(f"{name}(") > 1 for text in texts), name


def lying(model: bt.Model, low: int, high: int) -> bt.Model:
    """Return a model whose plan states narrower ranges than its words have, as no compiler would make it."""
    wires = [
        replace(wire, low=max(wire.low, low), high=min(wire.high, high)) if isinstance(wire, Sum | Product) else wire
        for wire in model.plan.wires
    ]
    return replace(model, plan=replace(model.plan, wires=tuple(wires)))


def test_types_are_chosen_by_what_is_expected():
    """A word that is stated to be narrow is held in 32 bits, though it is not certain to fit."""
    model = arm(12, target="host")
    assert {word.bits for word in known_words(model.plan, model.tables)} == {32, 64}
    narrow = known_words(lying(model, -(2**24), 2**24).plan, model.tables)
    assert {word.bits for word in narrow} == {32}
    assert any(word.arithmetic.narrowed for word in narrow)


@needs_compiler
@pytest.mark.parametrize("options", [{}, {"target": "host"}, {"block_bits": 6}], ids=str)
def test_a_plan_that_lies_of_its_ranges_gives_code_without_overflow(options, tmp_path):
    """The sanitizers end the program at any overflow; what words come out is another matter."""
    model = arm(6, workers=1, **options)
    run_words(lying(model, -1, 1), wild_words(model, 5_000), tmp_path)


@needs_compiler
def test_sums_that_are_not_certain_to_fit_are_taken_modulo_a_power_of_two(tmp_path):
    """Factors so large that 32 bits would overflow on the way, by range, while no state of a true plan gets there."""
    model = arm(6, workers=1, target="host")
    words = known_words(model.plan, model.tables)
    large = max(k for k, wire in enumerate(model.plan.wires) if isinstance(wire, Product))
    # a word that is stated to be a thousandth of what it can be, times a factor that fills 32 bits with that
    stated = max(words[large].expected.magnitude // 1000, 1)
    factor = INT32.high // (4 * stated)
    wires = list(model.plan.wires)
    wires[large] = replace(wires[large], low=-stated, high=stated)
    output = replace(model.plan.outputs[0], parts=((large, factor),), constant=-5, shift=7)
    plan = replace(model.plan, wires=tuple(wires), outputs=(output, model.plan.outputs[1]))
    changed = replace(model, plan=plan)
    source = c_files(changed).files["planar2r.c"]
    assert "signed32(UINT32_C(" in source
    states = random_words(model, 20_000)
    expected = reference(changed, states)
    found, _ = run_words(changed, states, tmp_path)
    # right wherever the statement is true
    q, qd, qdd = states
    named = {f"{name}{j + 1}": each[:, j] for name, each in (("q", q), ("qd", qd), ("qdd", qdd)) for j in range(2)}
    true = np.abs(run_wires(plan, model.tables, named)[large]) <= stated
    assert true.any() and not true.all()
    assert np.array_equal(found[true], expected[true])


def test_what_does_not_fit_is_refused():
    model = arm(6, workers=1)
    first = model.plan.outputs[0]
    wide = replace(first, parts=tuple((wire, 2**61) for wire, _ in first.parts))
    with pytest.raises(BddTorqueError, match=r"output 0: arithmetic needs .* bits and 64 are the most"):
        c_files(replace(model, plan=replace(model.plan, outputs=(wide, model.plan.outputs[1]))))
    large = replace(first, low=-(2**40), high=2**40)
    with pytest.raises(BddTorqueError, match="output 0 must have words of at most 32 bits"):
        c_files(replace(model, plan=replace(model.plan, outputs=(large, model.plan.outputs[1]))))


def test_a_table_of_products_that_holds_anything_else_is_refused():
    model = arm(6, workers=1, block_bits=6)
    block = next(k for k, each in enumerate(model.plan.blocks) if isinstance(each, ProductBlock))
    values = model.tables[block].values.copy()
    values[-1] -= 1
    tables = tuple(replace(table, values=values) if k == block else table for k, table in enumerate(model.tables))
    with pytest.raises(BddTorqueError, match=f"block {block} must be a table of products"):
        c_files(replace(model, tables=tables))
