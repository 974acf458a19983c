"""What a file states of the ranges of its words is not believed blindly."""

from dataclasses import replace

import pytest
from every_state import small

import bddtorque as bt
from bddtorque.plan.wires import Product, Sum
from bddtorque.questions import Work, subject
from bddtorque.questions.bounding import largest_sum
from bddtorque.questions.counting import _in_boxes


def narrowed(asked, place):
    wire = asked.plan.wires[place]
    wires = list(asked.plan.wires)
    wires[place] = replace(wire, low=0, high=1)
    return replace(asked, plan=replace(asked.plan, wires=tuple(wires)))


def test_a_word_beyond_its_stated_range_is_refused():
    asked = subject(small("products"), "tau1")
    places = [k for k, wire in enumerate(asked.plan.wires) if isinstance(wire, Product | Sum)]
    assert places
    for place in places:
        liar = narrowed(asked, place)
        with pytest.raises(bt.BddTorqueError, match=r"must be between 0 and 1, as the file states, got .* verify"):
            largest_sum(liar, 1, Work())
        with pytest.raises(bt.BddTorqueError, match="as the file states"):
            _in_boxes(liar, asked.least_total(3), Work())
