"""Mutation: one thing of a file is changed and every digest put right again; both proofs must find it.

What survives is listed in survivors.py by its place, with the reason why it is no lie. Nothing else may.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import survivors
from diagrams import build
from examples_tried import EVERY as EVERYTHING
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import (
    ARRAYS,
    FRONT,
    at,
    is_signed,
    leaves,
    mutants,
    npy_of,
    other_values,
    replaced,
    sha256,
    shown,
    signed,
    taken_apart,
    written,
)
from sample_robots import example_urdf

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.verify import verify
from bddtorque.independent import check_bytes
from bddtorque.independent.bounds import OutputBound
from bddtorque.independent.certificate import PARTS, Claim, outputs_stated
from bddtorque.independent.findings import RefusedError
from bddtorque.independent.formats import words_of
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import output_format
from bddtorque.plan.table import Table
from bddtorque.robots import load_urdf


def arm(**options) -> Callable[[], bytes]:
    return lambda: to_bytes(bt.compile("planar2r", workers=1, **options))


def function(*args, **options) -> Callable[[], bytes]:
    return lambda: to_bytes(bt.compile_function(*args, **options))


FILES = {
    "arm": arm(bits=4),
    "arm by recursion": arm(bits=6, source="recursive"),
    "arm in floats": arm(bits=14, target="float"),
    "arm's payload": arm(
        bits=6,
        quantity="gravity",
        payload={"mass": [0.5, 2], "com": [[-0.1, 0.1], [0, 0], [0, 0.2]], "runtime": True},
        target="integer",
        torque="auto",
    ),
    "arm's law": arm(
        bits=8, quantity="computed_torque", gains={"kp": [100.0, 50.0], "kv": 20.0}, torque="auto", target="float"
    ),
    "arm's energy": arm(bits=6, quantity="energy", gravity={"largest": 20, "runtime": True}, target="integer"),
    "arm's jacobian": arm(bits=6, quantity="jacobian", target="float"),
    "arm's masses": arm(bits=5, quantity="mass_matrix"),
    "floats": function(
        lambda q, p, v: 3.0 * np.cos(q + p + 0.3) * v * v + np.sin(2 * q) - v,
        inputs={"q": (4, "angle"), "p": (4, "angle"), "v": (4, 2.0)},
        output=(5, 20.0),
        target="float",
    ),
    "product": function(lambda x, y: x * y + 0.1, inputs={"x": (3, 2.0), "y": (3, (-1.0, 3.0))}, output=(5, 8.0)),
    "cascade": function(
        lambda q, p, v: 3.0 * np.cos(q + p) * v * v + np.sin(2 * q) - v,
        inputs={"q": (4, "angle"), "p": (4, "angle"), "v": (4, 2.0)},
        output=(5, 20.0),
        block_bits=6,
    ),
    "float": function(np.exp, inputs={"x": (4, 2.0)}, output=(5, 8.0), trace="float"),
    "friction": function(
        bt.Friction(0.5, (1.0, 1.2), (1.5, 1.6), 0.1), inputs={"v": (5, 3.0)}, output=(5, (-2.0, 2.0))
    ),
}


EVERY = {
    "arm": 21,
    "arm by recursion": 19,
    "arm in floats": 15,
    "arm's payload": 23,
    "arm's law": 21,
    "arm's energy": 11,
    "floats": 3,
    "product": 3,
    "cascade": 3,
}
"""One in how many leaves of a header is changed where not all are: odd numbers, since a number has two other values."""


@cache
def file(name: str) -> bytes:
    return FILES[name]()


def proved(data: bytes) -> tuple[bool, bool]:
    """Return whether `verify` and the independent checker are content; neither may stumble."""
    found = check_bytes(data)
    assert not any("Error" in each.detail for each in found), found[-1]
    return all(each.passed for each in verify(data, workers=1)), all(each.passed for each in found)


def unexplained(name: str, every: int) -> tuple[list[str], int]:
    """Return the survivors among one in so many mutants that nothing explains, and how many were tried."""
    data, wrong, tried = file(name), [], 0
    header = taken_apart(data)[0]
    for number, (path, value, mutant) in enumerate(mutants(data)):
        if number % every:
            continue
        tried += 1
        place = shown(path)
        by_compiler, by_checker = proved(mutant)
        what = f"{place} {path}: {at(header, path)!r:.60} -> {value!r:.60}"
        if path[0] == "robot" and (by_compiler or by_checker) and not survivors.explained(place, survivors.EITHER):
            if not survivors.same_values(data, mutant):
                wrong.append(f"robot: {what}")
            continue
        if (by_compiler or by_checker) and "graph.nodes" in place:
            if not survivors.same_function(header, taken_apart(mutant)[0], path):
                wrong.append(f"graph: {what}")
            continue
        either = {
            **survivors.EITHER,
            **(survivors.FUNCTIONS if "function" in header else {}),
            **(survivors.GIVEN if name == "float" else {}),
            **(survivors.LIMITS if name in ("cascade", "floats") else {}),
        }
        either |= survivors.UNUSED if header["plan"]["target"] == "float" and "spec" in header else {}
        if by_compiler and not survivors.explained(place, either):
            wrong.append(f"verify: {what}")
        rounded = {
            **(survivors.ROUNDED if name in ("arm by recursion", "arm's payload", "arm's energy") else {}),
            **survivors.ALIKE.get(name, {}),
        }
        rounded |= survivors.QUANTITIES if "quantity" in header.get("spec", {}) else {}
        if path[:2] == ("plan", "wires") and path[-1] in ("left", "right") and survivors.same_wire(header, path, value):
            continue
        if by_checker and not survivors.explained(place, {**either, **survivors.INDEPENDENT, **rounded}):
            wrong.append(f"independent: {what}")
    return wrong, tried


@pytest.mark.parametrize("name", FILES)
def test_the_file_itself_is_proved_and_signed_as_it_was(name):
    assert proved(file(name)) == (True, True)
    assert signed(*taken_apart(file(name))) == file(name)


@pytest.mark.parametrize(
    ("name", "every"),
    [
        *(("float", 1), ("friction", 1)),
        *(pytest.param(name, every, marks=pytest.mark.slow) for name, every in EVERY.items()),
        *(pytest.param(name, 1, marks=pytest.mark.everything) for name in FILES if name not in ("float", "friction")),
    ],
)
def test_every_leaf_of_the_header(name, every):
    wrong, tried = unexplained(name, every)
    assert not wrong and tried > 30


def with_table(data: bytes, block: int, table: Table, diagram: Diagram) -> bytes:
    """Return the file with another table, its diagram, keys and digests."""
    header, arrays = taken_apart(data)
    for name, descr in ARRAYS.items():
        arrays[f"blocks/{block}/{name}.npy"] = npy_of(diagram.arrays()[name], descr)
    header = replaced(header, ("tables", block), table.content_key)
    if header["plan"]["blocks"][block]["kind"] == "given":
        header = replaced(header, ("plan", "blocks", block, "table"), table.content_key)
    return signed(header, arrays)


@pytest.mark.parametrize(
    "name", ["arm", "product", "cascade", "friction", pytest.param("arm by recursion", marks=pytest.mark.everything)]
)
def test_any_entry_of_a_table_by_one_unit(name):
    model = _loaded(name)
    rng = np.random.default_rng(1)
    for block, table in enumerate(model.tables):
        bits, sign = output_format(model.plan.blocks[block])
        order = model.diagrams[block].order
        for entry in rng.choice(len(table.values), min(examples(12), len(table.values)), replace=False).tolist():
            for step in (1, -1):
                values = table.values.astype(np.int64)
                values[entry] += step
                low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if sign else (0, (1 << bits) - 1)
                if not low <= values[entry] <= high:
                    continue
                changed = Table(values.astype(table.values.dtype), table.input_widths, bits, sign)
                mutant = with_table(file(name), block, changed, build(changed, order))
                assert proved(mutant) == (False, False), (block, entry, step)


@pytest.mark.parametrize("name", ["arm", "cascade"])
def test_any_edge_of_a_diagram(name):
    """Edges, levels, roots and orders, one at a time; where that is still a diagram, keys are put right as well."""
    model = _loaded(name)
    rng = np.random.default_rng(2)
    for block, diagram in enumerate(model.diagrams):
        for array in ARRAYS:
            for place in rng.choice(len(diagram.arrays()[array]), 2 if EVERYTHING else 1).tolist():
                for step in (1, 2, -1):
                    arrays = {key: np.array(each) for key, each in diagram.arrays().items()}
                    arrays[array][place] += step
                    mutant = _with_arrays(file(name), block, arrays, model)
                    assert proved(mutant) == (False, False), (block, array, place, step)


def _loaded(name: str):

    return from_bytes(file(name))


def _with_arrays(data: bytes, block: int, arrays: dict[str, np.ndarray], model) -> bytes:
    table = model.tables[block]
    try:
        diagram = Diagram.from_arrays(**arrays, signed=table.signed)
        changed = Table(diagram.expand(), table.input_widths, table.output_bits, table.signed)
    except (BddTorqueError, IndexError, ValueError):  # no diagram at all: nothing but the digests can be put right
        header, entries = taken_apart(data)
        for name, descr in ARRAYS.items():
            entries[f"blocks/{block}/{name}.npy"] = npy_of(arrays[name], descr)
        return signed(header, entries)
    return with_table(data, block, changed, diagram)


@pytest.mark.parametrize(
    ("name", "part", "factor"),
    [
        *(("arm", part, factor) for part in ("constants", "tables", "final_rounding") for factor in (0.9, 1.1)),
        *(("arm in floats", part, factor) for part in ("tables", "final_rounding") for factor in (0.9, 1.1)),
        ("arm in floats", "constants", 0.9),
        ("arm in floats", "arithmetic", 0.99),
        ("arm in floats", "arithmetic", 1.01),
        ("arm", "arithmetic", 1e5),
        ("floats", "arithmetic", 1.01),
    ],
)
def test_a_lie_with_a_bound_to_match(name, part, factor):
    header, arrays = taken_apart(file(name))
    outputs = header["certificate"]["outputs"]
    root = ("certificate", "outputs", next(k for k, each in enumerate(outputs) if each["parts"][part]))
    changed = replaced(header, (*root, "parts", part), at(header, (*root, "parts", part)) * factor)
    total = math.fsum(at(changed, (*root, "parts")).values()) * (1 + 1e-15)
    total = total if "robot" in header else (total + at(changed, (*root, "assumed"))) * (1 + 1e-15)
    assert proved(signed(replaced(changed, (*root, "bound"), total), arrays)) == (False, False)


def test_it_says_what_it_proved_itself():
    """Half of the arithmetic is no lie, since the bound still holds; the checker's own bound does not move with it."""
    header, arrays = taken_apart(file("arm"))
    root = ("certificate", "outputs", 0)
    parts = {**at(header, (*root, "parts")), "arithmetic": at(header, (*root, "parts", "arithmetic")) / 2}
    changed = replaced(
        replaced(header, (*root, "parts"), parts), (*root, "bound"), math.fsum(parts.values()) * (1 + 1e-15)
    )
    found = [check_bytes(each) for each in (file("arm"), signed(changed, arrays))]
    rows = [next(each.rows for each in steps if each.name == "certificate") for steps in found]
    torques = header["certificate"]["outputs"]
    assert [row.split(": bound ")[0] for row in rows[0]] == [torque["name"] for torque in torques]
    own = [[float(re.findall(r"([0-9.]+) proved here", row)[0]) for row in each] for each in rows]
    assert own[0] == own[1] and all(0 < a <= b["bound"] for a, b in zip(own[0], torques, strict=True))
    # both are told: what is stated, and what the other parts leave for it
    figures = [re.findall(r"arithmetic ([0-9.e-]+) in the file, ([0-9.e-]+) needed", each[0])[0] for each in rows]
    assert float(figures[0][0]) == pytest.approx(2 * float(figures[1][0]), rel=0.01) and figures[0][1] == figures[1][1]


def test_it_says_what_the_other_parts_leave_for_the_arithmetic_of_a_function():
    header, arrays = taken_apart(file("cascade"))
    root = ("certificate", "outputs", 0)
    stated = at(header, root)
    parts = {**stated["parts"], "arithmetic": stated["parts"]["arithmetic"] / 2}
    bound = (math.fsum(parts.values()) * (1 + 1e-15) + stated["assumed"]) * (1 + 1e-15)
    changed = replaced(replaced(header, (*root, "parts"), parts), (*root, "bound"), bound)
    rows = [check_bytes(each)[-2].rows for each in (file("cascade"), signed(changed, arrays))]
    stated = [float(re.findall(r"arithmetic ([0-9.e-]+) in the file, 0 needed", row)[0]) for (row,) in rows]
    assert stated[1] > 0 and stated[0] == pytest.approx(2 * stated[1], rel=0.01)


def restated(data: bytes, joint: int, **parts: float) -> bytes:
    """Return a file that states other parts of one torque, and the bound that they add up to."""
    header, arrays = taken_apart(data)
    root = ("certificate", "outputs", joint)
    changed = replaced(header, (*root, "parts"), {**at(header, (*root, "parts")), **parts})
    total = math.fsum(at(changed, (*root, "parts")).values()) * (1 + 1e-15)
    return signed(replaced(changed, (*root, "bound"), total), arrays)


def test_dust_that_is_not_there_is_refused():
    """A plan in floats does not say what it leaves out: no more of that may be stated than the truth is away."""
    assert proved(restated(file("arm in floats"), 0, dropped=0.005)) == (False, False)
    robot = load_urdf(example_urdf("double_pendulum_description/urdf/double_pendulum.urdf"))
    data = to_bytes(bt.compile(robot, velocity=5, acceleration=50, bits=12, target="float", workers=1, cache=None))
    stated = taken_apart(data)[0]["certificate"]["outputs"]
    found = check_bytes(data)
    rows = next(each.rows for each in found if each.name == "certificate")
    assert found[-1].passed and stated[0]["parts"]["dropped"] > 0.004
    pattern = r"(\w+): .*; dropped ([0-9.e-]+) in the file, at most ([0-9.e-]+) found"
    figures = [re.findall(pattern, row)[0] for row in rows]
    assert [figure[0] for figure in figures] == ["joint1", "joint2"]
    assert float(figures[0][2]) == pytest.approx(stated[0]["parts"]["dropped"], rel=0.01)
    less = {"dropped": stated[0]["parts"]["dropped"] * 0.9}
    assert not check_bytes(restated(data, 0, **less))[-1].passed
    assert not check_bytes(restated(data, 1, dropped=0.004))[-1].passed


def test_arithmetic_below_what_the_other_parts_leave_is_refused():
    """Constants that are said to err less, and arithmetic less than what is then left for it."""
    header = taken_apart(file("arm"))[0]
    stated = outputs_stated(header["certificate"])[0]
    found = OutputBound({**dict.fromkeys(PARTS, 0.0), **stated.parts}, 0.0, 0.0)
    difference = stated.parts["dropped"] + stated.parts["constants"] + 2 * stated.parts["arithmetic"]
    claim = Claim(stated, found, words_of(header["words"]).results[0])
    assert claim.least_arithmetic(difference) == pytest.approx(2 * stated.parts["arithmetic"], rel=1e-3)
    with pytest.raises(RefusedError, match=r"only .* is proved"):
        claim.check_difference(difference)
    claim.check_difference(difference - 1.5 * stated.parts["arithmetic"])


@pytest.mark.everything
def test_some_changes_of_a_large_arm():
    data = to_bytes(bt.compile("ur5", workers=1))
    header = taken_apart(data)[0]
    assert all(each.passed for each in check_bytes(data))
    rng = np.random.default_rng(3)
    every = list(mutants_at(data, rng, 36))
    for number, (path, value, mutant) in enumerate(every):
        what = f"{path}: {at(header, path)!r:.60} -> {value!r:.60}"
        found = all(each.passed for each in check_bytes(mutant))
        reasons = {**survivors.EITHER, **survivors.INDEPENDENT, **survivors.ROUNDED}
        assert not found or survivors.explained(shown(path), reasons), what
        if number % 12 == 0:  # making the plan of six joints again takes seconds
            found = all(each.passed for each in verify(mutant, workers=1))
            assert not found or survivors.explained(shown(path), survivors.EITHER), what


def mutants_at(data: bytes, rng: np.random.Generator, count: int):
    """Yield mutants of leaves drawn from plan, formats, spec and certificate."""

    header, arrays = taken_apart(data)
    places = [path for path in leaves(header) if path[0] in ("plan", "words", "spec", "certificate", "tables")]
    for place in rng.choice(len(places), count, replace=False).tolist():
        value = other_values(at(header, places[place]))[0]
        yield places[place], value, signed(replaced(header, places[place], value), arrays)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**19), 10**19)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=examples(80))
@given(st.sampled_from(["arm", "arm in floats", "cascade", "floats", "friction"]), st.data())
def test_anything_in_place_of_anything(name, data):
    """The checker ends with a finding whatever stands in a signed header; it never raises, and never takes long."""
    header, arrays = taken_apart(file(name))
    path = data.draw(st.sampled_from([path for path in leaves(header) if path[0] not in FRONT]))
    path = path[: data.draw(st.integers(1, len(path)))]
    value = data.draw(anything)
    if path[:2] == ("plan", "blocks") or path == ("plan",):
        mutant = written(replaced(header, path, value), arrays)  # its digests need the blocks as they are
    else:
        mutant = signed(replaced(header, path, value), arrays)
    found = check_bytes(mutant)
    assert found and all("\n" not in each.detail for each in found)


@pytest.mark.parametrize("first", [[1, -1, -1, "", (3.0).hex()], [0, -1, -1, "v", (0.0).hex()]], ids=["3", "v"])
def test_what_is_squared_again_and_again_is_refused_at_once(first):
    """3 to the power 2^60 would fill any memory, and so would a product of 2^60 words."""
    header, arrays = taken_apart(file("cascade"))
    nodes = [first, *([3, 2 * k, 2 * k, "", (0.0).hex()] for k in range(60))]
    graph = {**header["function"]["graph"], "nodes": nodes, "outputs": [2 * len(nodes) - 2]}
    found = check_bytes(signed(replaced(header, ("function", "graph"), graph), arrays))[-1]
    assert not found.passed and ("65,536 bits" in found.detail or "1,000 words" in found.detail)


def test_the_harness_sees_what_it_should():
    """A harness that never changes a file, or never signs it, would find everything right, or nothing."""
    header, arrays = taken_apart(file("arm"))
    assert is_signed({"kind": "function"}) and not is_signed({"kind": "square"})
    unsigned = {**header, "package": "0.0.1"}
    assert signed(unsigned, arrays) != file("arm") and proved(signed(unsigned, arrays)) == (True, True)
    assert len(sha256(b"")) == 64
