"""The cover of planar2r as the paper has it, and what no block can hold refused with what would work."""

from dataclasses import replace
from fractions import Fraction

import pytest
from compiled import found_errors, random_words
from covering import plan_within
from plan_samples import LARGEST, Sample, found_and_proved

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.robot_draft import draft_of_robot, output_targets
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.term_trace import trace_terms
from bddtorque.dynamics.terms import terms_of
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.blocks import ProductBlock
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.plan.wires import AngleSum, Input, Lookup, Product, Sum
from bddtorque.spec import load_spec
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.tables.budget import plan_network
from bddtorque.targets.tables.cover import Choices, cover, summand_counts
from bddtorque.words.argument import Argument


def arm(bits, **options):
    """Return the graph of planar2r's terms, its arguments and its targets."""
    robot = bt.load_robot("planar2r")
    spec = load_spec("planar2r").with_options(bits=bits, **options)
    formats, graph = spec.formats(robot), trace_terms(terms_of(robot))
    return graph, formats.arguments, output_targets(formats, graph.output_names)


def words_of(plan: Plan, wire: int) -> frozenset[str]:
    """Return the input words that a wire depends on; an angle sum is one word of its own inputs."""
    match plan.wires[wire]:
        case Input(name=name):
            return frozenset([name])
        case AngleSum(parts=parts):
            return frozenset().union(*(words_of(plan, source) for source, _, _ in parts))
        case Lookup(wires=wires):
            return frozenset().union(*(words_of(plan, source) for source in wires))
        case Product(left=left, right=right):
            return words_of(plan, left) | words_of(plan, right)
        case Sum(parts=parts):
            return frozenset().union(*(words_of(plan, source) for source, _ in parts))


@pytest.mark.parametrize("bits", [4, 8, 10, 12])
def test_planar2r_has_the_ten_summands_of_the_paper_with_their_input_words(bits):
    graph, arguments, targets = arm(bits)
    assert summand_counts(graph, arguments) == [6, 4]
    plan = plan_within(graph, arguments, targets, 1.0, 20)
    # the six terms of T1: J11 qdd1, J12 qdd2, −5 S2 qd2², −10 S2 qd1 qd2, 6.75 g C1, 5 g C12;
    # J12 qdd1, 9 qdd2, 5 S2 qd1², 5 g C12
    expected = [
        [{"q2", "qdd1"}, {"q2", "qdd2"}, {"q2", "qd2"}, {"q2", "qd1", "qd2"}, {"q1"}, {"q1", "q2"}],
        [{"q2", "qdd1"}, {"qdd2"}, {"q2", "qd1"}, {"q1", "q2"}],
    ]
    for output, words in zip(plan.outputs, expected, strict=True):
        found = [words_of(plan, wire) for wire, _ in output.parts]
        assert sorted(map(sorted, found)) == sorted(map(sorted, words))


@pytest.mark.parametrize("bits", range(4, 13))
@pytest.mark.parametrize("source", ["cover", "terms", "recursive"])
def test_blocks_keep_to_block_bits_and_terms_are_direct_where_they_fit(bits, source):
    graph, arguments, targets = arm(bits)
    if source == "cover":
        plan = plan_within(graph, arguments, targets, 1.0, 20)
    else:
        plan = plan_network(graph, arguments, targets, 1.0, 20, source)
    widths = [sum(block.input_widths) for block in plan.blocks]
    assert max(widths) <= 20
    products = [wire for wire in plan.wires if isinstance(wire, Product)]
    if source == "cover" and bits <= 6:
        assert not products  # three words of at most 6 bits fit one table
    if source == "cover" and 7 <= bits <= 10:
        assert len(products) == 1  # Coriolis alone is a cascade (F41): S2·qd1 as one table of 2W bits, times qd2
        (product,) = products
        first = plan.wires[product.left]
        assert isinstance(first, Lookup) and plan.blocks[first.block].input_widths == (bits, bits)
        assert words_of(plan, plan.wires.index(product)) == {"q2", "qd1", "qd2"}
    if source == "cover" and bits > 10:
        assert len(products) >= 6  # two words fit no table any more
    if source == "terms" and bits <= 6:  # beyond, products of quarter squares cost less
        tables = [words_of(plan, k) for k, wire in enumerate(plan.wires) if isinstance(wire, Lookup)]
        pairs = [{"q2", "qdd1"}, {"q2", "qdd2"}, {"q2", "qd2"}, {"q2", "qdd1"}, {"q2", "qd1"}]
        assert all(tables.count(pair) >= pairs.count(pair) for pair in pairs)


def test_the_cascade_is_two_blocks_of_twice_the_word_where_they_fit():
    graph, arguments, targets = arm(8, input_bits=8)
    plan = cover(graph, arguments, targets, Choices((2, 2), 0, (10, 10)), 20)
    (product,) = (wire for wire in plan.wires if isinstance(wire, Product))
    assert product.method == "blocks" and isinstance(plan.blocks[product.block], ProductBlock)
    assert plan.blocks[product.block].input_widths == (10, 8)
    wide = plan_within(graph, arguments, targets, 1.0, 15)
    product = next(wire for wire in wide.wires if isinstance(wire, Product))
    assert product.method == "partial" and wide.blocks[product.block].input_widths == (product.piece_bits,) * 2


@pytest.mark.parametrize("block_bits", [4, 7])
def test_block_bits_too_small_are_refused_with_what_would_do(block_bits):
    graph, arguments, targets = arm(8)
    with pytest.raises(
        BddTorqueError, match=rf"q2 needs 8 input bits and block_bits is {block_bits}: raise block_bits"
    ):
        plan_within(graph, arguments, targets, 1.0, block_bits)
    with pytest.raises(BddTorqueError, match="block_bits"):
        bt.compile("planar2r", bits=8, block_bits=block_bits, workers=1)
    assert plan_within(graph, arguments, targets, 1.0, 8)


def simple(build, arguments, lsb=Fraction(1, 8), centre=Fraction(0), sign=1):
    tracer = Tracer()
    graph = tracer.graph([build(tracer, *(tracer.input(name) for name in arguments))], ["y"])
    return Sample(graph, arguments, [OutputFormat("y", lsb, -LARGEST, LARGEST, centre, sign)])


ANGLE, PLAIN, SHIFTED = (
    Argument("angle", 4),
    Argument("word", 4, Fraction(1, 8)),
    Argument("word", 4, Fraction(1, 8), Fraction(0.3)),
)
THREE = {"a": ANGLE, "u": PLAIN, "v": SHIFTED}
TURNED = {"a": ANGLE, "u": Argument("word", 4, Fraction(-1, 3)), "v": PLAIN}
ANGLES = {"a": Argument("angle", 3), "b": Argument("angle", 4, Fraction(-1), Fraction(0.2)), "u": PLAIN, "v": SHIFTED}
SQUARED = {"a": ANGLE, "u": Argument("word", 5, Fraction(1, 3), Fraction(-0.2))}
SAMPLES = {
    "a factor whose table is negated": simple(
        lambda t, a, u, v: v * (u * (1.0 - t.sin(a))), {"a": ANGLE, "u": SHIFTED, "v": SHIFTED}
    ),
    "a negated factor with a table of its own": simple(
        lambda t, a, u, v: (u + 1.0) + v * (u * (1.0 - t.sin(a))),  # the constant is known before the sine
        {"a": Argument("angle", 3), "u": SHIFTED, "v": SHIFTED},
    ),
    "a negative scale": simple(lambda t, a, u, v: t.sin(a) * u * v, TURNED),
    "a square": simple(lambda t, a, u: t.sin(a) * u * u, SQUARED),
    "constants": simple(lambda t, a: 2.7 + (t.cos(a) + 0.31) - 1.1, {"a": ANGLE}, centre=Fraction(1, 3), sign=-1),
    "nothing but a constant": simple(lambda t: 3.3, {}),
    "a word by itself": simple(lambda t, u: -u, {"u": SHIFTED}),
    "a coefficient of two angles": simple(
        lambda t, a, b, u, v: (1.3 + 2 * t.cos(a) - 0.7 * t.sin(a + b)) * u * v, ANGLES
    ),
    "a coefficient with a sliding joint": simple(
        lambda t, a, b, u, v: v * (u * (t.cos(a) - t.sin(b)) + u * u * (t.sin(a + b) + t.cos(b)) + t.sin(a)), ANGLES
    ),
    "two coefficients of the same angles": simple(
        lambda t, a, b, u, v: (t.cos(a) - t.sin(b)) * (t.sin(a + b) + t.cos(b)) * u, ANGLES
    ),
    "a term too small to matter": simple(lambda t, a, u, v: 1e-7 * t.sin(a) * u * v + u, THREE),
}
PLANNERS = {
    "cover": plan_within,
    "terms": lambda *given: plan_network(*given, source="terms"),
    "recursive": lambda *given: plan_network(*given, source="recursive"),
}


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("block_bits", [6, 8, 12])
def test_awkward_graphs_keep_their_bound(planner, sample, block_bits):
    plan = PLANNERS[planner](sample.graph, sample.arguments, sample.targets, 1.0, block_bits)
    found, proved = found_and_proved(sample, plan)
    assert found[0] <= proved[0] < 1.0


def test_asymmetric_ranges_of_velocity_and_torque_keep_their_bound():
    model = bt.compile(
        "planar2r",
        bits=6,
        velocity=[[0.0, 1.0], [-0.5, 2.0]],
        acceleration=[[-1.0, 0.5], [0.25, 1.0]],
        torque=[[-120.0, 220.0], [-60.0, 110.0]],
        workers=1,
    )
    assert all(word.centre for word in (*model.formats.qd, *model.formats.tau, *model.formats.qdd))
    words = random_words(model, 100_000, 2)
    found = found_errors(model, words, model.torque_words(*words))
    assert (found > 0.4).all() and (found <= model.certificate.bounds).all() and model.certificate.faithful


def test_words_that_fit_no_table_are_refused_by_name():
    sample = simple(lambda t, a: 1e6 * t.sin(a), {"a": ANGLE}, lsb=Fraction(1, 1 << 20))
    for name, planner in PLANNERS.items():
        # a cover names the table; a network first makes its word as coarse as tables hold, and then names the output
        said = (
            r"(sin|f)\(a\).*need \d+ bits, but the limit is 31" if name == "cover" else "accuracy of y: 1 units cannot"
        )
        with pytest.raises(BddTorqueError, match=said):
            planner(sample.graph, sample.arguments, sample.targets, 1.0, 12)


def test_a_plan_whose_words_do_not_fit_is_refused():
    sample = simple(lambda t, u, v: u * v, {"u": SHIFTED, "v": PLAIN})
    plan = plan_network(sample.graph, sample.arguments, sample.targets, 1.0, 12, "recursive")
    check_widths(plan)
    place, product = next((k, wire) for k, wire in enumerate(plan.wires) if isinstance(wire, Product))
    wide = replace(plan, blocks=(*plan.blocks, ProductBlock((3, 3), True, 0, -16, 16)))
    bad = replace(product, method="blocks", block=len(wide.blocks) - 1)
    wires = (*plan.wires[:place], bad, *plan.wires[place + 1 :])
    with pytest.raises(BddTorqueError, match=r"bits are too wide for their product: fewer bits, .* would work"):
        check_widths(replace(wide, wires=wires))
    output = replace(plan.outputs[0], constant=1 << 62)
    out = "needs 63 bits, but the limit is 62: fewer bits, source '{}', narrower ranges or a larger accuracy would work"
    for source, other in (("recursive", "terms"), ("terms", "recursive")):
        with pytest.raises(BddTorqueError, match=out.format(other)):
            check_widths(replace(plan, outputs=(output,), source=source))


def test_a_plan_is_the_same_every_time():
    spec = load_spec("planar2r").with_options(bits=9)
    plans = [draft_of_robot(spec, bt.load_robot("planar2r")).plan for _ in range(2)]
    assert plans[0] == plans[1] and plans[0].to_plain() == plans[1].to_plain()
    assert isinstance(plans[0].blocks[0].graph, Graph)


def test_fewer_bits_do_not_take_larger_tables():
    robot, spec = bt.load_robot("planar2r"), load_spec("planar2r")
    plans = {bits: draft_of_robot(spec.with_options(bits=bits), robot).plan for bits in (9, 10, 11)}
    rows = {bits: plan.counts()["rows"] for bits, plan in plans.items()}
    assert rows[9] < rows[10] < rows[11]
    blocks = draft_of_robot(spec.with_options(bits=9, products="blocks", accuracy=20.0), robot).plan
    assert blocks.counts()["rows"] > 2**18  # who asks for blocks gets them
