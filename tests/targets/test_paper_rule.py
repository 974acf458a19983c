"""The paper's rule for word lengths: W = r + m, its bound, and what is measured (F38, F39, F41)."""

from fractions import Fraction

import numpy as np
import pytest
from bdt_files import saved
from compiled import compiled, found_errors, random_words
from exact import all_words

import bddtorque as bt
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.compiler.verify import verify
from bddtorque.dynamics.tracer import Tracer
from bddtorque.independent.checker import check_bytes, check_file
from bddtorque.plan.blocks import output_format
from bddtorque.plan.wires import Lookup, Product, Sum
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.tables.cover import Choices, cover, extra_bits
from bddtorque.words.argument import Argument


@pytest.fixture(scope="module")
def model():
    return bt.compile("planar2r", bits=8, accuracy="paper")


@pytest.mark.parametrize(
    ("terms", "extra"),
    [(1, 1), (2, 1), (3, 2), (4, 2), (6, 2), (7, 3), (14, 3), (15, 4), (2**20 - 2, 19), (2**20 - 1, 20)],
)
def test_extra_bits(terms, extra):
    assert extra_bits(terms) == extra


def test_the_bound_of_the_sum_is_below_a_unit_for_any_number_of_terms():
    assert all(p / 2 ** (extra_bits(p) + 1) < 1 for p in range(1, 5000))


@pytest.mark.slow
def test_words_are_as_the_rule_says(model):
    """F38: m = 2 for six and for four terms; F41: blocks of 2W bits."""
    assert [len(output.parts) for output in model.plan.outputs] == [6, 4]
    assert [output.shift for output in model.plan.outputs] == [2, 2]  # m of both torques
    for kind in model.formats.inputs:
        assert kind.bits == (10, 10)
    assert model.formats.tau.bits == (8, 8)
    assert all(sum(block.input_widths) <= 20 for block in model.plan.blocks)
    (product,) = (wire for wire in model.plan.wires if isinstance(wire, Product))
    first = model.plan.wires[product.left]
    assert isinstance(first, Lookup) and output_format(model.plan.blocks[first.block])[0] == 10  # W bits in the cascade
    assert model.plan.blocks[product.block].input_widths == (10, 10)


@pytest.mark.slow
def test_the_bound_is_the_rule_and_the_cascades_share(model):
    first, second = model.certificate.bounds
    # p/2^(m+1) + 1/2 = 1.25 and 1.0; the word inside the cascade costs 10/2^W N·m = 0.025 units of W bits
    assert 1.24 < first <= 1.25 + 0.025 / 4 + 1e-3
    assert 0.99 < second <= 1.0
    assert not model.certificate.faithful and "NO" in str(model.certificate)


@pytest.mark.slow
def test_what_is_measured_is_what_was_recorded(model):
    # F39: T1 1.142, T2 0.958 on 400,000 random states
    rng = np.random.default_rng(0)
    words = [rng.integers(-512, 512, (1_000_000, 2)) for _ in range(3)]
    states = [kind.dequantise(w) for kind, w in zip(model.formats.inputs, words, strict=True)]
    units = bt.inverse_dynamics(model.robot, *states) / model.formats.tau.lsb
    error = np.abs(model.torque_words(*words) - units).max(axis=0)
    assert (error <= model.certificate.bounds).all()
    assert error[0] == pytest.approx(1.142, abs=0.04) and error[1] == pytest.approx(0.958, abs=0.03)


def check_the_scheme(plan, widths):
    """Check that a plan is the paper's: words of at most r + m bits, blocks of two words, plain sums."""
    most = max(widths)
    for wire in plan.wires:
        if isinstance(wire, Product):
            assert wire.method == "blocks" and all(plan.bits_of(source) <= most for source in wire.sources)
        elif isinstance(wire, Sum):  # a coefficient: its harmonics, each from a table, or from a cascade
            assert plan.bits_of(plan.wires.index(wire)) <= most
            assert all(abs(factor) == 1 for _, factor in wire.parts)
            assert all(isinstance(plan.wires[part], Lookup | Product) for part, _ in wire.parts)
    for output, width in zip(plan.outputs, widths, strict=True):
        assert all(abs(factor) == 1 and plan.bits_of(wire) <= width for wire, factor in output.parts)


def test_a_coefficient_of_several_angles_is_a_sum_of_its_harmonics():
    model = compiled("planar3r_a", bits=4, accuracy="paper")
    assert [output.shift for output in model.plan.outputs] == [3, 3, 3]  # 11, 9 and 7 terms
    check_the_scheme(model.plan, [7, 7, 7])
    coriolis = [wire for wire in model.plan.wires if isinstance(wire, Product) and wire.name.endswith("·qd1·qd2")]
    first = [model.plan.wires[wire.left] for wire in coriolis]  # (coefficient · qd1) · qd2, the paper's Fig. 4b
    assert [isinstance(model.plan.wires[wire.left], Sum) for wire in first if isinstance(wire, Product)] == [True]
    assert [wire.name for wire in first if isinstance(wire, Lookup)] == ["sin(q3)·qd1"]
    # constants of coefficients are in tables: what is not rounded is the arm itself, as the independent checker finds
    assert all(output.parts.constants == 0 for output in model.certificate.outputs)
    assert all(finding.passed for finding in check_bytes(saved("planar3r_a", bits=4, accuracy="paper")))
    words = random_words(model, 50_000)
    found = found_errors(model, words, model.torque_words(*words))
    assert (found <= model.certificate.bounds).all() and (found > 0.65 * np.array(model.certificate.bounds)).all()


@pytest.mark.parametrize("block_bits", [4, 9, 20])
def test_the_bound_holds_in_every_state(block_bits):
    model = compiled("planar3r_a", bits=4, input_bits=2, block_bits=block_bits, accuracy="paper")
    assert any(isinstance(wire, Sum) for wire in model.plan.wires) == (block_bits < 8)  # 8 bits: four words
    words = np.stack(all_words([2] * 9), axis=1)
    states = [words[:, :3], words[:, 3:6], words[:, 6:]]
    found = found_errors(model, states, model.torque_words(*states))
    assert (found <= model.certificate.bounds).all() and (found > 0.4).all()


def test_the_terms_of_an_arm_of_six_joints_are_all_in_tables():
    spec = bt.load_spec("ur5").with_options(bits=4, accuracy="paper", products="blocks")
    draft = draft_of_robot(spec, bt.load_robot("ur5"))
    assert [len(output.parts) for output in draft.plan.outputs] == [25, 25, 23, 21, 20, 20]
    check_the_scheme(draft.plan, [8] * 6)
    # p/2^(m+1) + 1/2 is 1.28 for 25 terms; the words inside cascades cost the rest
    assert max(bound.total for bound in draft.bounds()) < 1.41


MUST_COMPILE = [
    *(("planar2r", bits) for bits in (4, 5, 6, 7, 8)),
    *((name, bits) for name in ("planar3r_a", "planar3r_b", "scara") for bits in (4, 5, 6)),
    *((name, bits) for name in ("stanford", "puma560", "ur5") for bits in (4, 5)),
]


@pytest.mark.everything
@pytest.mark.parametrize(("name", "bits"), MUST_COMPILE)
def test_every_arm_compiles_by_the_paper_and_is_proved_twice(name, bits, tmp_path):
    model = bt.compile(name, bits=bits, accuracy="paper", products="blocks", block_bits=20)
    check_the_scheme(model.plan, [bits + output.shift for output in model.plan.outputs])
    words = random_words(model, 200_000)
    assert (found_errors(model, words, model.torque_words(*words)) <= model.certificate.bounds).all()
    model.save(tmp_path / "arm.bdt")
    assert all(finding.passed for finding in verify(tmp_path / "arm.bdt"))
    assert all(finding.passed for finding in check_file(tmp_path / "arm.bdt"))


@pytest.mark.everything
def test_an_arm_of_too_many_harmonics_is_refused_with_their_number():
    with pytest.raises(bt.BddTorqueError, match=r"'panda' has 114,934 harmonics in its 202 terms .* at most: .*recurs"):
        bt.compile("panda", bits=4, accuracy="paper")


@pytest.mark.parametrize("bits", range(3, 11))
@pytest.mark.parametrize("constant", [-10.0, 0.7, 33.0])
def test_the_word_inside_a_cascade_has_all_its_bits(bits, constant):
    tracer = Tracer()
    sine = tracer.sin(tracer.input("q"))
    graph = tracer.graph([constant * sine * tracer.input("u") * tracer.input("v")], ["y"])
    arguments = {"q": Argument("angle", bits)}
    arguments |= {name: Argument("word", bits, Fraction(2, 1 << bits)) for name in "uv"}
    target = OutputFormat("y", Fraction(400, 1 << bits), -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    plan = cover(graph, arguments, [target], Choices((0,), 0, (bits,)), 2 * bits)
    (product,) = (wire for wire in plan.wires if isinstance(wire, Product))
    assert plan.blocks[product.block].input_widths == (bits, bits)


def test_input_bits_given_are_kept():
    model = bt.compile("planar2r", bits=5, input_bits=4, accuracy="paper", workers=1)
    assert model.formats.q.bits == model.formats.qd.bits == (4, 4)
    assert [output.shift for output in model.plan.outputs] == [2, 2]


@pytest.mark.parametrize(("given", "reason"), [({"target": "float"}, "tables"), ({"source": "recursive"}, "terms")])
def test_the_rule_knows_only_terms_in_tables(given, reason):
    with pytest.raises(bt.BddTorqueError, match=rf"paper.*{reason}"):
        bt.compile("planar2r", bits=5, accuracy="paper", workers=1, **given)
