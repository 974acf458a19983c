"""Any function of words: found never exceeds proved, on every word; the same words from every evaluator."""

import math
import sys
from functools import cache
from pathlib import Path

import mpmath
import numba
import numpy as np
import pytest
from compiled import arm, with_source
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.verify import verify
from bddtorque.independent import check_bytes, check_file
from bddtorque.model.model import to_bytes

ANGLE_AND_WORD = {"q": (6, "angle"), "w": (6, 2.0)}


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def pendulum(q, w):
    return 3.0 * np.sin(q) * w**2 / 7.0 - w + 0.25


def folded(x, y):
    return x if x > y else -y


def wide(a, b, c):
    return a * b * c + 0.5 * a * a - c / 3.0


CASES = {
    "float": (sigmoid, {"x": (8, 6.0)}, (8, (0.0, 1.0))),
    "traced": (pendulum, ANGLE_AND_WORD, 9),
    "branching": (folded, {"x": (5, 1.0), "y": (5, (0.0, 2.0))}, (7, 2.5)),
    "cascade": (wide, {"a": (7, 1.0), "b": (7, (0.5, 1.5)), "c": (6, 2.0)}, 10),
    "law": (bt.Friction(0.3, (0.5, 0.7), 0.9, 0.2), {"v": (9, 2.0)}, 10),
    "asymmetric law": (bt.Friction(0.3, 0.5, 0.9, 0.2), {"v": (8, (-0.1, 0.3))}, (9, (-1.0, 2.0))),
    "constant": (lambda x: 2.5, {"x": (4, 1.0)}, 6),
    "saturating": (lambda x: 5 * math.tan(x), {"x": (8, 1.5)}, (8, 4.0)),
}


@cache
def compiled(case: str) -> bt.Model:
    function, inputs, output = CASES[case]
    return bt.compile_function(function, inputs=inputs, output=output, block_bits=16)


@pytest.mark.parametrize("case", CASES)
def test_found_is_within_proved_on_every_word(case):
    model, function = compiled(case), CASES[case][0]
    found = model.error_of(function)
    assert found <= model.certificate.bound + 1e-9
    assert found > 0.9 * model.certificate.bound - 0.5 or case == "cascade"  # no bound is a mere guess
    assert model.certificate.faithful
    if case != "cascade":  # one table: the nearest words
        assert model.certificate.parts.total <= 0.5 + 1e-5
    assert str(model.certificate).count("\n") > 8 and model.name in repr(model)


@pytest.mark.parametrize(("products", "method"), [("blocks", "blocks"), ("squares", "squares"), ("partial", "partial")])
def test_products_are_taken_as_asked_for(products, method, tmp_path):
    inputs = {"a": (5, 1.0), "b": (5, (0.5, 1.5)), "c": (4, 2.0)}
    model = bt.compile_function(wide, inputs=inputs, output=6, block_bits=12, products=products)
    assert {wire.method for wire in model.plan.wires if wire.kind == "product"} == {method}
    assert model.rules == {"products": products}
    assert model.error_of(wide) <= model.certificate.bound < 1
    path = tmp_path / "f.bdt"
    model.save(path)
    again = bt.load(path)
    assert all(check.passed for check in (*verify(path, workers=1), *check_file(path)))
    other = "squares" if products == "blocks" else "blocks"
    altered = to_bytes(with_source(again, rules={"products": other}))
    assert not all(check.passed for check in verify(altered, workers=1))
    assert check_bytes(altered)[-1].detail == "plan: expected products as the function asks for"


def test_products_are_for_tables():
    with pytest.raises(bt.BddTorqueError, match=r"products is only valid for target 'tables', got target"):
        bt.compile_function(lambda a: a * a, inputs={"a": (4, 1.0)}, output=4, target="float", products="blocks")
    with pytest.raises(bt.BddTorqueError, match=r"products must be .*, got 'block'; did you mean 'blocks'\?"):
        bt.compile_function(lambda a: a * a, inputs={"a": (4, 1.0)}, output=4, products="block")


def test_a_table_of_one_block_is_rounded_correctly():
    """Against mpmath: the nearest word, so that the bound is half a unit and next to nothing."""
    model = compiled("traced")
    q, w = model.formats.words.values()
    (output,) = model.formats.results.values()
    for a in range(q.lowest, q.highest + 1, 5):
        for b in range(w.lowest, w.highest + 1, 3):
            angle = 2 * mpmath.pi * a / 2**q.bits
            speed = mpmath.mpf(w.centre) + b * mpmath.mpf(w.lsb)
            value = 3 * mpmath.sin(angle) * speed**2 / 7 - speed + mpmath.mpf("0.25")
            units = (value - output.centre) / output.lsb
            assert abs(model.words(a, b) - units) <= 0.5 + 1e-9


def test_what_the_certificate_is_relative_to():
    kinds = {case: compiled(case).certificate.relative_to for case in CASES}
    assert kinds == {
        "float": "float", "traced": "traced", "branching": "float", "cascade": "traced", "law": "law",
        "asymmetric law": "law", "constant": "traced", "saturating": "float",
    }  # fmt: skip
    assert any("not traced: can only be traced" in note for note in compiled("branching").report["notes"])
    assert len(compiled("cascade").plan.blocks) > 1 and len(compiled("traced").plan.blocks) == 1


def test_a_kernel_inside_a_loop():
    kernel = compiled("traced").kernel()

    @numba.njit
    def total(count):
        found = 0
        for k in range(count):
            found += kernel(k, -k)
        return found

    k = np.arange(30)
    assert total(30) == compiled("traced").words(k, -k).sum()


@pytest.mark.parametrize("case", CASES)
def test_files_load_and_verify(case, tmp_path):
    model = compiled(case)
    model.save(tmp_path / "f.bdt")
    loaded = bt.load(tmp_path / "f.bdt")
    assert isinstance(loaded, bt.Model)
    assert (loaded.digest, loaded.diagram_digest) == (model.digest, model.diagram_digest)
    assert str(loaded.certificate) == str(model.certificate)
    words = [np.arange(-8, 8)] * len(model.formats.inputs)
    assert np.array_equal(loaded.words(*words), model.words(*words))
    checks = verify(tmp_path / "f.bdt", workers=1)
    assert all(check.passed for check in checks), checks
    said = {check.name: check.detail for check in checks}
    assert ("only the function itself" in said["tables"]) == (model.certificate.relative_to == "float")


def test_a_robot_is_not_a_function(tmp_path):
    compiled("float").save(tmp_path / "f.bdt")
    function, robot = bt.load(tmp_path / "f.bdt"), arm()
    assert type(function) is type(robot) is bt.Model
    for ask in (lambda: function.torque(0.0, 0.0, 0.0), lambda: function.torque_words(0, 0, 0), lambda: function.robot):
        with pytest.raises(BddTorqueError, match=r"^'sigmoid' is a compiled function, not a robot: use value\("):
            ask()
    with pytest.raises(BddTorqueError, match=r"^planar2r takes the arrays q, qd, qdd: 'qd' is missing$"):
        robot.value(0.0)
    for ask in (lambda: robot.graph, lambda: robot.error_of(abs)):
        with pytest.raises(BddTorqueError, match=r"^'planar2r' is a compiled robot, not a function: use torque\("):
            ask()
    assert not hasattr(function, "spec") and not hasattr(robot, "rules")  # what it has not, it says it has not


def test_floats_in_and_out_are_counted_and_refused():
    model = compiled("float")
    runner = model.evaluator("words")
    found = runner.value([[-7.0, 0.0], [0.5, 9.0]])
    assert found.shape == (2, 2) and runner.out_of_range.tolist() == [2]
    assert abs(runner.value(0.5) - sigmoid(0.5)) < 0.02 and isinstance(runner.value(0.5), float)
    runner.words([500])
    assert runner.out_of_range.tolist() == [3]
    for bad, said in (((math.nan,), "finite"), ((1.0, 2.0), "1 arguments"), (("a",), "real numbers")):
        with pytest.raises(BddTorqueError, match=said):
            runner.value(*bad)
    with pytest.raises(BddTorqueError, match=r"x must be integer words, got float64"):
        runner.words(0.5)
    with pytest.raises(BddTorqueError, match=r"^b must be real numbers, got bool$"):
        compiled("cascade").value(0.5, True, 1.0)
    with pytest.raises(
        BddTorqueError, match=r"^x must be between -6 and 6 \(.*\), got 7$|^x must be between -6 and 6, got 7$"
    ):
        model.evaluator("words", on_range="raise").value(7.0)
    strict = compiled("cascade").evaluator("words", on_range="raise")  # the range of b does not hold zero
    assert strict.value(0.5, 1.0, 1.0) == compiled("cascade").value(0.5, 1.0, 1.0)
    assert runner.words(np.array([2**63 + 5], dtype=np.uint64)).tolist() == model.words([127]).tolist()


def test_saturation_is_known_of_a_table():
    certificate = compiled("saturating").certificate
    assert certificate.saturation == "can"
    ((word,),) = certificate.witness
    assert abs(5 * math.tan(compiled("saturating").formats.words["x"].dequantise(word))) > 4.0
    assert certificate.high > 5 * math.tan(1.4) and certificate.low < -5 * math.tan(1.4)
    assert compiled("float").certificate.saturation == "cannot"


def test_what_is_assumed_is_added_and_told_apart():
    plain = compiled("float").certificate
    stated = bt.compile_function(
        sigmoid, inputs={"x": (8, 6.0)}, output=(8, (0.0, 1.0)), assumed_error=0.01
    ).certificate
    assert stated.parts == plain.parts
    assert stated.bound == pytest.approx(plain.bound + 0.01 * 256)
    assert not stated.faithful and "assumed, not proved" in str(stated)


REFUSED = [
    (
        {"inputs": {"x": (12, 1.0), "y": (12, 1.0)}, "output": 8},
        "has 24 input bits .* one table takes at most 20 together: use .*10, 10 bits",
    ),
    ({"inputs": {"x": 8, "y": (8, 1.0)}, "output": 8}, "input 'x' needs a range or 'angle'"),
    ({"inputs": {"x": (8, 1.0)}, "output": 8}, r"must return a float for every input word: TypeError"),
    ({"inputs": [(2, 1.0)] * 5, "output": 8}, "must have 1 to 4 input words, got 5"),
    ({"inputs": {"x": (1, 1.0), "y": (8, 1.0)}, "output": 8}, "bits must be between 2 and 24, got 1"),
    ({"inputs": {"x": (8, -1.0), "y": (8, 1.0)}, "output": 8}, "a positive number"),
    ({"inputs": {"x": (8, 1.0), "y": (8, 1.0)}, "output": (8, "angle")}, "an angle would wrap"),
    (
        {"inputs": {" x": (8, 1.0), "y": (8, 1.0)}, "output": 8},
        "a name must be printable text without spaces at its ends",
    ),
    ({"inputs": {"x": (8, 1.0), "y": (8, 1.0)}, "output": 8, "accuracy": 0.4}, "above 0.5 units .*, got 0.4"),
    ({"inputs": {"x": (8, 1.0), "y": (8, 1.0)}, "output": 8, "trace": "traced"}, "only be traced .* a test of a value"),
    (
        {"inputs": {"x": (8, 1.0), "y": (8, 1.0)}, "output": 8, "trace": "guess"},
        "trace must be 'auto', 'traced' or 'float', got 'guess'",
    ),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_refusals_are_one_line(options, said):
    with pytest.raises(BddTorqueError, match=said) as problem:
        bt.compile_function(folded, **options)
    assert "\n" not in str(problem.value)


def test_values_that_are_no_numbers_are_refused_with_their_place():
    with pytest.raises(BddTorqueError, match=r"inf at x = 0"):
        bt.compile_function(lambda x: np.divide(1.0, x), inputs={"x": (6, 1.0)}, output=8)
    with pytest.raises(BddTorqueError, match=r"ZeroDivisionError .* at x = 0"):
        bt.compile_function(lambda x: 1.0 / float(x), inputs={"x": (6, 1.0)}, output=8)


def endless(x):
    return endless(x + 1.0)


@pytest.mark.parametrize("trace", ["auto", "traced", "float"])
@pytest.mark.parametrize(
    "function", [lambda x: 10**400, lambda x: 10**400 if isinstance(x, float) else x, lambda x: x * 10**400, endless]
)
def test_values_beyond_floats_and_endless_recursion_are_one_line(function, trace):
    with pytest.raises(BddTorqueError, match=r"OverflowError|RecursionError|an integer beyond the range of floats"):
        bt.compile_function(function, inputs={"x": (4, 1.0)}, output=4, trace=trace)


def test_a_function_that_looks_at_its_arguments_is_not_trusted_under_trace():
    def sly(x):
        return x * 2.0 if isinstance(x, float) else x * 3.0

    model = bt.compile_function(sly, inputs={"x": (6, 1.0)}, output=8)
    assert model.certificate.relative_to == "float"
    assert model.error_of(lambda x: 2.0 * x) <= model.certificate.bound
    with pytest.raises(BddTorqueError, match=r"gives other values when traced than with floats"):
        bt.compile_function(sly, inputs={"x": (6, 1.0)}, output=8, trace="traced")


def test_angles_under_trace_stand_under_sines_only():
    model = bt.compile_function(lambda q: q * q, inputs={"q": (8, "angle")}, output=8)
    assert model.certificate.relative_to == "float"
    assert model.value(0.5 + 2 * math.pi) == model.value(0.5)
    with pytest.raises(BddTorqueError, match=r"angles? may"):
        bt.compile_function(lambda q: q * q, inputs={"q": (8, "angle")}, output=8, trace="traced")
    shifted = bt.compile_function(lambda q, w: np.sin(q + 0.3) * w, inputs=ANGLE_AND_WORD, output=9)
    assert shifted.certificate.relative_to == "traced"
    assert shifted.error_of(lambda q, w: np.sin(q + 0.3) * w) <= shifted.certificate.bound


@settings(max_examples=examples(12), deadline=None)
@given(
    coefficients=st.lists(st.floats(-3, 3, allow_subnormal=False), min_size=3, max_size=3),
    bits=st.integers(3, 7),
    low=st.floats(-4, 0),
    width=st.floats(0.5, 5),
    out=st.integers(4, 12),
)
def test_polynomials_of_any_words_keep_their_bound(coefficients, bits, low, width, out):
    a, b, c = coefficients

    def polynomial(x, y):
        return a * x * x + b * x * y + c * y + 0.125

    inputs = {"x": (bits, (low, low + width)), "y": (4, 1.0)}
    traced = bt.compile_function(polynomial, inputs=inputs, output=out, trace="traced")
    floats = bt.compile_function(polynomial, inputs=inputs, output={"y": traced.formats.results["y"]}, trace="float")
    assert traced.error_of(polynomial) <= traced.certificate.bound + 1e-9
    assert floats.error_of(polynomial) <= floats.certificate.bound + 1e-9
    assert traced.certificate.bound <= 0.5 + 1e-5


@pytest.mark.slow
def test_examples_of_functions_run(tmp_path: Path, capsys):
    sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
    try:
        import function_of_words
        import stribeck
    finally:
        sys.path.pop(0)
    thermistor = function_of_words.main(tmp_path)
    assert thermistor.certificate.bound < 0.501 and bt.load(tmp_path / "thermistor.bdt").digest == thermistor.digest
    assert thermistor.error_of(function_of_words.celsius) <= thermistor.certificate.bound
    arm = stribeck.main(tmp_path)
    assert arm.certificate.faithful and arm.robot.has_friction
    assert "with friction" in capsys.readouterr().out
