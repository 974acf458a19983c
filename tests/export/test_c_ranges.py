"""Words never leave the ranges that types are chosen by, and generated helpers are what they say, for all numbers."""

import ctypes
import re
import subprocess
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from c_programs import needs_compiler, run_words, turned, wild_words
from compiled import arm, random_words, reference
from hypothesis import given
from hypothesis import strategies as st
from small_models import small_unsigned

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_exporter import c_files
from bddtorque.export.c_source import HELPERS, used_helpers
from bddtorque.export.c_sums import CTerm, SumWriter, Value
from bddtorque.plan.blocks import ProductBlock
from bddtorque.plan.bound import known_ranges
from bddtorque.plan.reference import run_wires
from bddtorque.plan.wires import Product, Sum
from bddtorque.spec.chips import chip_named
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


@pytest.mark.parametrize("options", [{}, {"source": "recursive"}], ids=str)
def test_every_wire_stays_within_its_range(options):
    model = arm(6, workers=1, **options)
    q, qd, qdd = random_words(model, 20_000)
    named = {f"{name}{j + 1}": words[:, j] for name, words in (("q", q), ("qd", qd), ("qdd", qdd)) for j in range(2)}
    found = run_wires(model.plan, model.tables, named)
    for known, values in zip(known_ranges(model.plan, model.tables), found, strict=True):
        assert known.low <= values.min() and values.max() <= known.high


KINDS = {"int16_t": ctypes.c_int16, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64}
KINDS |= {f"u{name}": getattr(ctypes, f"c_u{kind.__name__[2:]}") for name, kind in KINDS.items()}


@pytest.fixture(scope="module", params=[32, 8], ids=["32 bits", "8 bits"])
def helpers(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("helpers")
    text = used_helpers(HELPERS, CSignature(register=request.param))
    text = text.replace("static BDDTORQUE_RARE ", "").replace("static inline __attribute__((always_inline))", "")
    (folder / "helpers.c").write_text(f"#include <stdint.h>\n{text}")
    flags = ["-std=c99", "-O2", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", "helpers.so", "helpers.c"], cwd=folder, check=True)
    loaded = ctypes.CDLL(str(folder / "helpers.so"))
    for kind, name, taken in re.findall(r"^BDDTORQUE_INLINE (\w+) (\w+)\((.*)\)$", text, re.MULTILINE):
        getattr(loaded, name).argtypes = [KINDS[each.split()[0]] for each in taken.split(", ")]
        getattr(loaded, name).restype = KINDS[kind]
    return loaded


@needs_compiler
@given(st.data())
def test_helpers(helpers, data):
    for bits in (16, 32, 64):
        word = word_range(bits)
        ends = st.sampled_from([word.low, word.low + 1, -1, 0, 1, word.high - 1, word.high])
        x, low, high = (data.draw(st.integers(word.low, word.high) | ends) for _ in range(3))
        unit = 1 << data.draw(st.integers(0, bits - 2))
        assert getattr(helpers, f"floor{bits}")(x if bits == 16 else x % 2**bits, unit) == x // unit
        if bits < 64:
            assert getattr(helpers, f"product{bits}")(low, high) == low * high % 4**bits
        if bits > 16:
            assert getattr(helpers, f"signed{bits}")(x % 2**bits) == x
            low, high = sorted((low, high))
            assert getattr(helpers, f"clamped{bits}")(x, low, high) == min(max(x, low), high)
            kept = data.draw(st.integers(1, bits - 1))
            half = 1 << (kept - 1)
            assert getattr(helpers, f"wrapped{bits}")(x % 2**bits, kept) == ((x + half) & (2 * half - 1)) - half
    x = data.draw(st.integers(0, 2**32 - 1))
    assert helpers.high16(x) == (x >> 16) - (x >> 31 << 16)
    y = x - (x >> 31 << 32)
    assert helpers.long_bits(y) == y % 2**64
    a = data.draw(st.integers(-181, 181))
    assert helpers.scaled16(a, 181) == 181 * a


def sums_text(chip: str, count: int) -> tuple[str, list[tuple]]:
    """Return C with functions of six numbers that each compute a random sum, and what they compute."""
    rng = np.random.default_rng(7)
    profile, functions, sums, calls = chip_named(chip), [], [], set()
    for k in range(count):
        bits = rng.integers(2, 32 if k % 4 == 0 else 20, 6)
        values = []
        for place, size in enumerate(bits.tolist()):
            kind = 16 if profile.register == 8 and size <= 16 else 32
            values.append(Value(f"w{place}", word_range(size), kind))
        terms, most = [], 2**44 if k % 4 == 0 else 2**20
        for _ in range(int(rng.integers(1, 6))):
            taken = rng.choice(6, int(rng.integers(1, 3)))
            size = 1 << int(rng.integers(1, 62 - bits[taken].sum() + 1)) if bits[taken].sum() < 58 else 1
            factor = int(rng.integers(-min(size, most), min(size, most) + 1)) << int(rng.integers(0, 3)) or 1
            terms.append(CTerm(factor, tuple(values[each] for each in taken)))
        constant = int(rng.integers(-(2**30), 2**30))
        total = sum((term.range for term in terms), start=Range(constant, constant))
        while total.magnitude >= 2**61:
            terms.pop()
            total = sum((term.range for term in terms), start=Range(constant, constant))
        shift = int(rng.integers(max(total.bits - 31, 0), max(total.bits - 2, 1) + 1))
        if k % 8 == 1:  # all that is left of 32 bits is the sign
            shift = 31 + k // 8 % 4
            constant -= 1 << (shift - 1)
            total = total - Range(1 << (shift - 1), 1 << (shift - 1))
        writer = SumWriter(profile)
        before, draft = writer.sum(terms, constant, shift, total.rounded(shift), "a sum")
        calls |= writer.calls
        kinds = [f"int{value.bits}_t" for value in values]
        taken = "\n".join(f"    const {kind} w{j} = ({kind})x[{j}];" for j, kind in enumerate(kinds))
        unused = "".join(f"    (void)w{j};\n" for j in range(6))
        lines = "\n".join(f"    {line}" for line in before)
        expression = f"{draft.first}{' '.join(draft.terms)}{draft.last}"
        functions.append(
            f"int64_t f{k}(const int32_t *x);\nint64_t f{k}(const int32_t *x)\n{{\n{taken}\n{unused}{lines}\n"
            f"    return {expression};\n}}\n"
        )
        sums.append((values, terms, constant, shift))
    code = "\n".join(functions)
    return f"#include <stdint.h>\n{used_helpers(calls, CSignature(register=profile.register))}\n{code}", sums


@needs_compiler
@pytest.mark.parametrize(
    "chip", ["cortex-m0", "avr", "generic32", pytest.param("cortex-m4", marks=pytest.mark.everything)]
)
def test_sums_are_exact_however_they_are_split(chip, tmp_path):
    text, sums = sums_text(chip, 80)
    (tmp_path / "sums.c").write_text(text)
    flags = ["-std=c99", "-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-shared", "-fPIC"]
    warnings = ["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    subprocess.run(["cc", *flags, *warnings, "-o", "sums.so", "sums.c"], cwd=tmp_path, check=True)
    loaded = ctypes.CDLL(str(tmp_path / "sums.so"))
    rng = np.random.default_rng(1)
    for k, (values, terms, constant, shift) in enumerate(sums):
        function = getattr(loaded, f"f{k}")
        function.restype = ctypes.c_int64
        for state in range(20):
            corners = [rng.choice([value.range.low, value.range.high, 0, -1]) for value in values]
            drawn = [rng.integers(value.range.low, value.range.high, endpoint=True) for value in values]
            numbers = [int(each) for each in (corners if state % 2 else drawn)]
            named = {value.name: number for value, number in zip(values, numbers, strict=True)}
            total = sum(term.factor * prod(named[value.name] for value in term.values) for term in terms) + constant
            expected = (total + (1 << shift >> 1)) >> shift
            assert function((ctypes.c_int32 * 6)(*numbers)) == expected, (k, numbers)
    assert text.count("(uint32_t)floor32(") > 10 and text.count("product32(") > 10


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
    assert "int64_t" not in c_files(finer(model, 24)).files["planar2r.c"]  # a common power of two goes away
    assert np.array_equal(run_words(finer(model, 24), words, tmp_path)[0], reference(model, words))


def test_every_helper_is_used_somewhere():
    models = [arm(6, workers=1), arm(6, workers=1, block_bits=6), finer(arm(6, workers=1), 24)]
    texts = [c_files(model).files["planar2r.c"] for model in models]
    texts.append(c_files(models[0], form="edge_valued").files["planar2r.c"])
    texts.append(c_files(turned(arm(18, target="float", precision="double"))).files["planar2r.c"])
    words = {"inputs": {"x": (5, (0.0, 3.0)), "y": (6, (1.0, 2.0))}, "output": (6, (0.0, 6.0))}
    unsigned = bt.compile_function(lambda x, y: x * y, **words), small_unsigned("tables")
    texts += ["".join(c_files(model).files.values()) for model in unsigned]
    text, _ = sums_text("avr", 40)
    texts.append(text)
    for name in HELPERS:
        assert any(text.count(f"{name}(") > 1 for text in texts), name


def lying(model: bt.Model, low: int, high: int) -> bt.Model:
    """Return a model whose plan states narrower ranges than its words have, as no compiler would make it."""
    wires = [
        replace(wire, low=max(wire.low, low), high=min(wire.high, high)) if isinstance(wire, Sum | Product) else wire
        for wire in model.plan.wires
    ]
    return replace(model, plan=replace(model.plan, wires=tuple(wires)))


@needs_compiler
@pytest.mark.parametrize("options", [{}, {"source": "recursive"}, {"block_bits": 6}, {"target": "integer"}], ids=str)
def test_a_plan_that_lies_of_its_ranges_gives_code_without_overflow(options, tmp_path):
    """The sanitizers end the program at any overflow; what words come out is another matter."""
    model = arm(6, workers=1, **options)
    run_words(lying(model, -1, 1), wild_words(model, 5_000), tmp_path)


@needs_compiler
def test_sums_that_are_not_certain_to_fit_are_taken_modulo_a_power_of_two(tmp_path):
    """Factors so large that 32 bits would overflow on the way, by range, while no state of a true plan gets there."""
    model = arm(6, workers=1, source="recursive")
    words = known_ranges(model.plan, model.tables)
    large = max(k for k, wire in enumerate(model.plan.wires) if isinstance(wire, Product))
    # a word that is stated to be a thousandth of what it can be, times a factor that fills 32 bits with that
    stated = max(words[large].magnitude // 1000, 1)
    factor = INT32.high // (4 * stated)
    wires = list(model.plan.wires)
    wires[large] = replace(wires[large], low=-stated, high=stated)
    output = replace(model.plan.outputs[0], parts=((large, factor),), constant=-5, shift=7)
    plan = replace(model.plan, wires=tuple(wires), outputs=(output, model.plan.outputs[1]))
    changed = replace(model, plan=plan)
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
    wide = replace(first, parts=tuple((wire, 2**61 + 1) for wire, _ in first.parts))
    with pytest.raises(BddTorqueError, match=r"output 0: arithmetic needs .* bits, but the limit is 64"):
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
