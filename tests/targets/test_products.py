"""Tables multiply two words as the key `products` says, with the same words each time, or refused."""

import re

import pytest
from bdt_files import saved, signed, taken_apart
from compiled import arm, found_errors, random_words
from plan_samples import found_and_proved
from test_cover import SAMPLES

import bddtorque as bt
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.compiler.verify import verify
from bddtorque.independent.checker import check_bytes
from bddtorque.plan.plan_cost import look_ups, partial_cost, piece_bits
from bddtorque.plan.wires import Product
from bddtorque.robots.library import builtin_names
from bddtorque.targets.tables.budget import plan_network
from bddtorque.targets.tables.cover import Choices, cover
from bddtorque.words.integer_range import word_range

MAX_ROWS = 1 << 14
WAYS = ("blocks", "squares", "partial")


def ways_of(plan):
    """Return the ways in which a plan takes its products."""
    return {wire.method for wire in plan.wires if isinstance(wire, Product)}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_same_words(way):
    recursive = {"source": "recursive", "block_bits": 20}  # from terms, the way decides which of them are one table
    auto, model = arm(6, **recursive), arm(6, **recursive, products=way)
    assert ways_of(auto.plan) == {"squares"} and ways_of(model.plan) == {way}
    words = random_words(model, 2000)
    assert (model.torque_words(*words) == auto.torque_words(*words)).all()
    assert model.certificate == auto.certificate
    assert model.spec.products == way and model.spec.canonical()["products"] == way


def test_auto_says_nothing_in_a_file():
    """So that models from before the key keep their digests."""
    assert "products" not in arm(6).spec.canonical() and arm(6).spec.products == "auto"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_samples_keep_their_bound_with_every_way(way, sample):
    names, targets = (sample.graph, sample.arguments), sample.targets
    for plan in (
        plan_network(*names, targets, 1.0, 20, "recursive", products=way),
        cover(*names, targets, Choices((3,), 0, (9,)), 18, way),
    ):
        assert ways_of(plan) <= {way}
        found, proved = found_and_proved(sample, plan)
        assert found[0] <= proved[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"products": "blocks", "bits": 12},
            r"plan: '.*' multiplies words of \d+ and \d+ bits; one table of both needs \d+ input bits, but the limit "
            r'is 20: block_bits = \d+, fewer bits, or products = "auto" or "partial" would work',
        ),
        (
            {"products": "squares", "bits": 17},
            r"'.*' multiplies words of .* bits; quarter squares need 18 input bits, but the limit is 17: fewer bits",
        ),
        (
            {"products": "blocks", "bits": 9, "accuracy": "paper"},
            r"tau1, term .*qd.*: '.*' multiplies words of 11 and 11 bits; one table of both needs 22 input bits, but "
            r"the limit is 20: block_bits = 22, fewer bits, or",
        ),
        (
            {"products": "squares", "target": "float"},
            "products is only valid for target 'tables', got target 'float'$",
        ),
        ({"products": "limbs"}, "products must be 'auto', 'blocks', 'squares' or 'partial', got 'limbs'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_would_do(options, said):
    with pytest.raises(bt.BddTorqueError, match=said):
        bt.compile("planar2r", **options, workers=1)


def test_a_file_that_multiplies_in_another_way_than_it_says_is_refused(tmp_path):
    header, arrays = taken_apart(saved(bits=6, block_bits=14, products="blocks"))
    assert all(finding.passed for finding in check_bytes(signed(header, arrays)))
    for said in ("squares", "partial", "auto", "limbs", 3):
        header["spec"]["products"] = said
        assert not check_bytes(signed(header, arrays))[-1].passed
        (tmp_path / "arm.bdt").write_bytes(signed(header, arrays))
        assert not all(check.passed for check in verify(tmp_path / "arm.bdt", workers=1))


def test_the_refusal_names_the_widest_product():
    with pytest.raises(bt.BddTorqueError) as refused:
        bt.compile("planar3r_a", bits=8, input_bits=8, products="blocks", block_bits=16)
    (needed,) = re.findall(r"block_bits = (\d+)", str(refused.value))
    spec = bt.load_spec("planar3r_a").with_options(bits=8, input_bits=8, products="blocks")
    robot = bt.load_robot("planar3r_a")
    assert draft_of_robot(spec.with_options(block_bits=int(needed)), robot)
    with pytest.raises(bt.BddTorqueError, match=f"block_bits = {needed}"):
        draft_of_robot(spec.with_options(block_bits=int(needed) - 1), robot)


def test_the_paper_takes_partial_products_where_two_words_fit_no_block():
    model = bt.compile("planar2r", bits=4, block_bits=8, accuracy="paper", workers=1)
    assert ways_of(model.plan) == {"partial"}
    words = random_words(model, 5000)
    assert (found_errors(model, words, model.torque_words(*words)) <= model.certificate.bounds).all()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.everything] * (name not in ("ur5", "puma560"))) for name in builtin_names()],
)
def test_no_recursion_needs_a_large_table(name):
    spec = bt.load_spec(name).with_options(bits=12, input_bits=12, source="recursive", target="tables")
    plan = draft_of_robot(spec, bt.load_robot(name)).plan
    assert plan.source == "recursive" and "partial" in ways_of(plan)
    assert max(1 << sum(block.input_widths) for block in plan.blocks) <= MAX_ROWS
    products = plan.counts()["products"]
    assert sum(look_ups(plan, native=False).values()) <= 12 * products


@pytest.mark.parametrize(("bits", "block_bits"), [(14, 20), (16, 20), (20, 20), (21, 20), (24, 28), (20, 8), (2, 4)])
def test_pieces_have_the_length_that_costs_least(bits, block_bits):
    words = [(word_range(bits), word_range(bits)), (word_range(max(bits - 8, 2)), word_range(bits))]
    taken = piece_bits(words, block_bits)
    costs = {tried: partial_cost(words, tried) for tried in range(1, block_bits // 2 + 1)}
    assert costs[taken] == min(costs.values()) and 1 << (2 * taken) <= MAX_ROWS
