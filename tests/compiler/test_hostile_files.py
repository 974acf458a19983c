"""Files of functions and of robots with friction, with anything wrong: one line, or a check that fails; never more."""

import hashlib
import json
from functools import cache

import numpy as np
import pytest
from bdt_files import taken_apart, written

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.verify import verify
from bddtorque.model.bdt_file import SECTIONS
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.model.provenance import FUNCTION_SECTIONS, ROBOT_SECTIONS
from bddtorque.plan.plan import plan_from_plain

ARM, FUNCTION = (*ROBOT_SECTIONS, *SECTIONS), (*FUNCTION_SECTIONS, *SECTIONS)


@cache
def files() -> dict[str, bytes]:
    v = np.linspace(-1, 1, 5)
    robot = bt.load_robot("planar2r").with_friction({"elbow": bt.Friction(1.0, 2.0, 3.0, 0.1), "shoulder": 2.0})
    arm = bt.compile(robot, bits=3, velocity=1.0, acceleration=1.0, torque=200.0, workers=1)
    assert plan_from_plain(arm.plan.to_plain()) == arm.plan
    models = {
        "traced": bt.compile_function(lambda x, y: x * y + x, inputs=[(3, 1.0), (3, 2.0)], output=4),
        "float": bt.compile_function(np.tanh, inputs=[(4, 2.0)], output=4),
        "law": bt.compile_function(bt.Friction(1.0, 2.0, 3.0, 0.1), inputs=[(4, 2.0)], output=4),
        "samples": bt.compile_samples((v, v * v), inputs={"v": (4, 1.0)}, output={"f": 5}),
        "nearest": bt.compile_samples((v, v * v), inputs={"v": (4, 1.0)}, output={"f": 5}, gaps="nearest"),
        "arm": arm,
    }
    return {name: to_bytes(model) for name, model in models.items()}


def places(plain: object, path: tuple = ()) -> list[tuple]:
    """Return the way to every value in plain data."""
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


@pytest.mark.parametrize("name", ["law", "nearest"])
def test_ranges_beyond_float64_are_found_out(name):
    header, arrays = taken_apart(files()[name])
    header["words"]["inputs"][0]["words"][0]["low"] = -1e300
    (failed,) = [each for each in verify(resigned(header, arrays, FUNCTION), workers=1) if not each.passed]
    assert "must give values within float64" in failed.detail


def resigned(header: dict, arrays: dict, sections: tuple[str, ...]) -> bytes:
    """Return a file with the digest that belongs to its contents."""
    text = json.dumps({key: header[key] for key in sections}, sort_keys=True, separators=(",", ":"))
    return written({**header, "digest": hashlib.sha256(text.encode()).hexdigest()}, arrays)


@pytest.mark.parametrize(
    ("name", "place", "value", "failed"),
    [
        ("law", ("plan", "blocks", 0, "law", "viscous"), 1.5, "tables"),
        ("law", ("plan", "blocks", 0, "centre"), "1/8", "plan"),
        ("law", ("plan", "outputs", 0, "parts", 0, 1), -1, "plan"),
        ("samples", ("plan", "blocks", 0, "law", "values", 2), 0.5, "tables"),
        ("nearest", ("plan", "blocks", 0, "law", "values", 2), 0.5, "tables"),
        ("traced", ("function", "graph", "nodes", 0, 3), "x2", "plan"),
        ("traced", ("certificate", "outputs", 0, "relative_to"), "float", "plan"),
        ("float", ("certificate", "outputs", 0, "relative_to"), "traced", "plan"),
        ("float", ("plan", "blocks", 0, "error"), 1e-3, "certificate"),
        ("float", ("plan", "blocks", 0, "table"), "0" * 64, "file"),
        ("arm", ("plan", "blocks", -1, "law", "viscous"), 1.5, "plan"),
        ("arm", ("robot", "joints", 0, "friction", "viscous"), 2.5, "plan"),
    ],
)
def test_what_was_changed_is_found_out(name, place, value, failed):
    header, arrays = taken_apart(files()[name])
    target = header
    for key in place[:-1]:
        target = target[key]
    assert target[place[-1]] != value
    target[place[-1]] = value
    checks = verify(resigned(header, arrays, ARM if name == "arm" else FUNCTION), workers=1)
    assert failed in [check.name for check in checks if not check.passed], checks


def test_the_word_of_a_number_has_its_name():
    header, arrays = taken_apart(files()["law"])
    header["words"]["outputs"][0]["labels"] = ["z"]
    header["certificate"]["outputs"][0]["name"] = "z"
    with pytest.raises(BddTorqueError, match="function: the word of 'y' must have its name as label"):
        from_bytes(resigned(header, arrays, FUNCTION))


def test_a_file_with_another_table_is_refused():
    header, arrays = taken_apart(files()["float"])
    other, others = taken_apart(files()["law"])
    with pytest.raises(BddTorqueError):
        from_bytes(written(header, others))
    assert not all(check.passed for check in verify(written(other, arrays), workers=1))
