"""Diagrams whose size is known."""

from __future__ import annotations

import numpy as np
import pytest
from diagram_samples import from_function, interleaved, rounded_product
from diagrams import build

from bddtorque.plan.forms import Bits, check_form


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_comparator(width: int) -> None:
    table = from_function(lambda a, b: a < b, (width, width), 1, False)
    assert build(table, interleaved(width)).node_count == 3 * width - 1


def test_adder_grows_linearly_when_interleaved() -> None:
    counts = [
        build(from_function(lambda a, b: a + b, (w, w), w + 1, False), interleaved(w)).node_count for w in range(2, 9)
    ]
    assert len(set(np.diff(counts))) == 1


def test_two_to_the_twenty_rows() -> None:
    """A block of 20 input bits."""
    table = rounded_product(10, 14)
    diagram = build(table)
    assert diagram.node_count == 76_988
    check_form(Bits.from_diagram(diagram), table)
