"""Products: every method gives the very words of exact multiplication, for all words and whatever evaluates them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from diagrams import build
from exact import all_words
from strategies import random_robot

import bddtorque as bt
from bddtorque.model.model import Model
from bddtorque.plan.blocks import Block, ProductBlock, SquareBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_plan
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Input, Output, Product
from bddtorque.words.integer_range import Range
from bddtorque.words.interface import Interface

METHODS = ("blocks", "partial", "squares")
KINDS = (("words", "dense"), ("bits", "lockstep"), ("bits", "bits"))


def block_of(method: str, widths: tuple[int, int], shift: int, limb: int) -> tuple[Block, int]:
    """Return the table that a method needs for words of these widths, and its limb bits."""
    if method == "squares":
        return SquareBlock(max(widths) + 1), 0
    if method == "blocks":
        lowest, highest = (1 << (sum(widths) - 2)), (1 << (sum(widths) - 2))
        half = (1 << shift) >> 1
        return ProductBlock(widths, True, shift, (-lowest + half) >> shift, (highest + half) >> shift), 0
    return ProductBlock((limb, limb), False, 0, 0, ((1 << limb) - 1) ** 2), limb


def with_method(model: Model, method: str, only: tuple[str, ...] = METHODS) -> Model:
    """Return the model with every product (that has one of the methods `only`) taken by another method."""
    plan, tables, diagrams = model.plan, list(model.tables), list(model.diagrams)
    blocks, wires = list(plan.blocks), list(plan.wires)
    for k, wire in enumerate(wires):
        if isinstance(wire, Product) and wire.method in only:
            widths = plan.bits_of(wire.left), plan.bits_of(wire.right)
            block, limb = block_of(method, widths, wire.shift, 5)
            if block not in blocks:
                blocks.append(block)
                tables.append(tabulate(block)[0])
                diagrams.append(build(tables[-1], tuple(range(sum(block.input_widths)))))
            wires[k] = replace(wire, method=method, block=blocks.index(block), piece_bits=limb)
    changed = replace(plan, wires=tuple(wires), blocks=tuple(blocks))
    return replace(model, plan=changed, tables=tuple(tables), diagrams=tuple(diagrams))


@pytest.fixture(scope="module")
def swing() -> Model:
    """A compiled one-joint arm, whose parts serve plans made by hand."""
    robot = random_robot(["revolute"], ["general"], 0)
    given = {"velocity": 1.0, "acceleration": 1.0, "torque": 20.0}
    return bt.compile(robot, bits=6, workers=1, **given)


def multiplier(swing: Model, widths: tuple[int, int], shift: int) -> Model:
    """Return a model whose torque is the product of velocity and acceleration words, and nothing else."""
    lengths = {"qd": widths[0], "qdd": widths[1], "tau": 24}
    q, qd, qdd, tau = (
        replace(array, words=(replace(array[0], bits=lengths.get(array.name, array[0].bits)),))
        for array in swing.formats.arrays
    )
    most = 1 << (sum(widths) - 2)
    half = (1 << shift) >> 1
    low, high = (-most + half) >> shift, (most + half) >> shift
    block, limb = block_of("partial", widths, shift, 2)
    wires = (
        Input("qd1", widths[0], False),
        Input("qdd1", widths[1], False),
        Product("product", 0, 1, shift, "partial", 0, limb, low, high),
    )
    output = swing.plan.outputs[0]
    output = Output("tau1", ((2, 1),), 0, output.constant_error, 0, -(1 << 23), (1 << 23) - 1, output.lsb)
    plan = Plan(wires, (block,), (output,), "terms", "tables", 20)
    table = tabulate(block)[0]
    diagram = build(table, tuple(range(sum(block.input_widths))))
    return replace(swing, formats=Interface((q, qd, qdd), (tau,)), plan=plan, tables=(table,), diagrams=(diagram,))


@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("widths", [(2, 2), (2, 5), (5, 2), (4, 4), (6, 6), (7, 3)])
@pytest.mark.parametrize("method", METHODS)
def test_every_product_of_small_words_is_exact(swing, method, widths, shift):
    model = with_method(multiplier(swing, widths, shift), method)
    left, right = all_words(list(widths))
    exact = (left * right + ((1 << shift) >> 1)) >> shift  # floor(x/2^shift + 1/2)
    assert left.min() * right.min() == 1 << (sum(widths) - 2)  # the lowest words, which have no mirror, are among them
    nothing = np.zeros_like(left)
    for kind, form in KINDS:
        found = model.evaluator(kind, form).torque_words(nothing[:, None], left[:, None], right[:, None])
        assert np.array_equal(found[:, 0], exact), (kind, form)
    assert np.array_equal(run_plan(model.plan, model.tables, {"qd1": left, "qdd1": right})[0], exact)


@pytest.mark.parametrize("limb", [1, 2, 3, 7])
def test_limbs_of_any_size_are_exact(swing, limb):
    model = multiplier(swing, (9, 6), 2)
    block, _ = block_of("partial", (9, 6), 2, limb)
    table = tabulate(block)[0]
    wires = (*model.plan.wires[:2], replace(model.plan.wires[2], piece_bits=limb))
    diagram = build(table, tuple(range(2 * limb)))
    plan = replace(model.plan, wires=wires, blocks=(block,))
    model = replace(model, plan=plan, tables=(table,), diagrams=(diagram,))
    left, right = all_words([9, 6])
    found = model.torque_words(np.zeros_like(left)[:, None], left[:, None], right[:, None])
    assert np.array_equal(found[:, 0], (left * right + 2) >> 2)


def test_quarter_squares_know_the_lowest_word():
    values = np.asarray(tabulate(SquareBlock(4))[0].values)
    assert values[8] == 16  # ⌊(−8)²/4⌋, of the word 1000
    assert values[1] == values[15] == 0  # ⌊1/4⌋, of both signs


@pytest.mark.parametrize("method", ["partial", "squares"])
def test_a_plan_gives_the_same_words_by_any_method(method):
    model = bt.compile("planar3r_a", bits=8, source="recursive", workers=1)
    other = with_method(model, method)
    methods = {wire.method for wire in other.plan.wires if isinstance(wire, Product)}
    assert methods == {method}
    rng = np.random.default_rng(1)
    states = [rng.integers(-128, 127, (2_000, 3), endpoint=True) for _ in range(3)]
    words = model.torque_words(*states)
    for kind, form in KINDS:
        assert np.array_equal(other.evaluator(kind, form).torque_words(*states), words), (kind, form)


def test_methods_fit_their_words():
    model = bt.compile("planar3r_b", bits=12, source="recursive", workers=1)
    products = [wire for wire in model.plan.wires if isinstance(wire, Product)]
    assert {wire.method for wire in products} == {"squares", "partial"}
    for wire in products:
        bits = max(model.plan.bits_of(wire.left), model.plan.bits_of(wire.right))
        table = model.plan.blocks[wire.block].input_widths
        assert bits + 1 <= table[0] if wire.method == "squares" else table == (wire.piece_bits, wire.piece_bits)
        assert Range(wire.low, wire.high).bits <= 62
