"""Arrays from a file are not trusted: every rule of the packed form, broken one at a time."""

import numpy as np
import pytest
from diagram_samples import rounded_product, tables
from diagrams import build
from hypothesis import assume, given
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.table import Table


def small() -> dict[str, list[int]]:
    """Two variables; nodes: 1 is y, 2 is (x and y), 3 is (x or y) complemented in part."""
    diagram = build(Table(np.array([0, 2, 2, 3]), (1, 1), 2, False))
    return {name: array.tolist() for name, array in diagram.arrays().items()}


def load(arrays: dict) -> Diagram:
    return Diagram.from_arrays(**{name: np.array(array) for name, array in arrays.items()}, signed=False)


def test_the_sample_itself_is_accepted() -> None:
    arrays = small()
    assert arrays == {
        "level": [2, 1, 0, 0], "low": [0, 0, 0, 2], "high": [0, 1, 2, 1], "roots": [4, 6], "order": [0, 1],
    }  # fmt: skip
    assert load(arrays).expand().tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("low", 2, 8, r"low\[2\] must be 0 to 7, found 8"),
        ("high", 2, -1, r"high\[2\] must be 0 to 7, found -1"),
        ("high", 2, 2**40, r"high\[2\] must be 0 to 7"),
        ("roots", 0, 8, r"roots\[0\] must be 0 to 7, found 8"),
        ("level", 1, 3, r"level\[1\] must be 0 to 2, found 3"),
        ("level", 1, -1, r"level\[1\] must be 0 to 2"),
        ("level", 1, 2, r"level\[1\] must be below 2"),
        ("level", 0, 1, "node 0, the constant"),
        ("low", 0, 2, "node 0, the constant"),
        ("high", 0, 1, "node 0, the constant"),
        ("low", 3, 3, r"low\[3\] must be a regular"),
        ("high", 3, 2, r"high\[3\] must differ"),
        ("high", 1, 3, r"high\[1\] must lead to a node numbered before"),
        ("high", 1, 6, r"high\[1\] must lead to a node numbered before"),
        ("high", 3, 4, r"high\[3\] must lead to a deeper level"),
        ("level", 1, 0, r"low\[3\] must lead to a deeper level"),
        ("roots", 1, 4, r"level\[3\] must belong to a node that a root reaches"),
        ("order", 1, 0, "permutation"),
        ("order", 1, 2, "permutation"),
    ],
)
def test_one_wrong_entry(name: str, place: int, value: int, message: str) -> None:
    arrays = small()
    arrays[name][place] = value
    with pytest.raises(BddTorqueError, match=message):
        load(arrays)


def test_equal_nodes_and_other_numberings() -> None:
    arrays = small()
    arrays["low"][2:], arrays["high"][2:] = [0, 0], [2, 2]
    with pytest.raises(BddTorqueError, match=r"level\[3\] must belong to a node after its predecessor"):
        load(arrays)
    arrays = small()
    for name in ("low", "high"):
        arrays[name][2:] = arrays[name][:1:-1]
    arrays["roots"] = [6, 4]
    with pytest.raises(BddTorqueError, match=r"level\[3\] must belong to a node after its predecessor"):
        load(arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": np.zeros(3, int)}, "equally long"),
        ({name: np.zeros(0, int) for name in ("level", "low", "high")}, "equally long"),
        ({"low": np.zeros((4, 1), int)}, "low must be integers in one dimension"),
        ({"low": np.array(0)}, "low must be integers in one dimension"),
        ({"low": np.zeros(4)}, "low must be integers in one dimension, not float64"),
        ({"high": np.zeros(4, bool)}, "high must be integers in one dimension, not bool"),
        ({"roots": np.zeros(0, int)}, "1 to 62 roots"),
        ({"roots": np.zeros(63, int)}, "1 to 62 roots"),
        ({"roots": np.array([2**63, 0], np.uint64)}, r"roots\[0\] must be 0 to 7"),
        ({"order": np.zeros(0, int)}, "order must be 1 to 26"),
        ({"order": np.arange(27)}, "order must be 1 to 26"),
        ({"order": np.array([0.0, 1.0])}, "order must be 1 to 26 integers"),
    ],
)
def test_wrong_shapes_and_types(change: dict, message: str) -> None:
    with pytest.raises(BddTorqueError, match=message):
        load({**small(), **change})


@given(tables(most_input_bits=6), st.data())
def test_no_changed_number_goes_unnoticed(table: Table, data: st.DataObject) -> None:
    """A change is refused, or it is another valid diagram: then of another function or order, and walks stay inside."""
    diagram = build(table)
    arrays = {name: array.copy() for name, array in diagram.arrays().items()}
    name = data.draw(st.sampled_from(sorted(arrays)))
    place = data.draw(st.integers(0, len(arrays[name]) - 1))
    value = data.draw(st.integers(-2, 2 * len(arrays["level"]) + 2))
    assume(value != arrays[name][place])
    arrays[name][place] = value
    try:
        other = Diagram.from_arrays(**arrays, signed=table.signed)
    except BddTorqueError:
        return
    assert not np.array_equal(other.expand(), table.values)


def test_large_arrays_are_checked_quickly() -> None:
    diagram = build(rounded_product(8, 10))
    assert Diagram.from_arrays(**diagram.arrays(), signed=True).content_key == diagram.content_key
