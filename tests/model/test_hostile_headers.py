"""Headers with anything in them, all digests put right: a model or one line, never another exception."""

import contextlib
import copy
import json
from functools import cache
from typing import Any

import pytest
from bdt_files import digest_of, saved, sha256, signed, taken_apart, written, zip_of
from compiled import random_words
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_altered_files import SMALL, refused

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.model.model import from_bytes

LIMBS = {"bits": 4, "source": "recursive", "products": "partial"}
SAMPLES = [SMALL, {"bits": 2}, {"bits": 4, "accuracy": "paper"}, LIMBS]
SAMPLES += [{"bits": 2, "gravity": (0.0, -1.62, 0.0), "payload": (1.5, 0.0, 0.0, 0.05)}]


def changed(path: tuple, value: Any, options: dict = SMALL) -> bytes:
    """Return a file with one value of its header replaced, and every digest as it should then be."""
    header, arrays = taken_apart(saved(**options))
    header = copy.deepcopy(header)
    inside = header
    for key in path[:-1]:
        inside = inside[key]
    if value is DELETED:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    if path[0] in ("digest", "diagram_digest", "arrays"):
        return written(header, arrays)
    with contextlib.suppress(KeyError, ValueError):  # a section is missing, or it is no plain data any more
        header["digest"] = digest_of(header)
    return written(header, arrays)


class Deleted:
    """Stands for a key that is taken out; its name in a test must be the same in every process."""

    def __repr__(self) -> str:
        return "deleted"


DELETED = Deleted()


def places(plain: Any, path: tuple = ()) -> list[tuple]:
    """Return the path of every value in plain data."""
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


SPEC_KEYS = ("base", "tip", "lock", "gravity", "payload", "snap", "ignore_friction", "allow_massless", "ranges", "bare")


@cache
def all_places() -> list[tuple[dict, tuple]]:
    found = [(options, path) for options in SAMPLES for path in places(taken_apart(saved(**options))[0]) if path]
    return found + [(SMALL, ("spec", key)) for key in SPEC_KEYS]


HOSTILE = st.one_of(
    st.sampled_from(
        [
            None, True, False, 0, 1, -1, 2, 63, 64, 2**31, 2**53, -(2**62), 2**62, 2**63, 10**19, -(10**18), 0.5, -0.0,
            1e308, -1e308, 5e-324, "", "0", "1/0", "1/3", "-1/2", "9" * 1999, "1/" + "9" * 1990, "0x1p+1000", "nan",
            "inf", "x0", "x1", "q1", "q9", "q" + "9" * 5000, "native", "blocks", "squares", "angle", "sum", "product",
            "a\nb\x1b[31m", "\ud800", "é" * 300, [], [[]], {}, {"kind": "sum"}, [0], [0, 0], [0, 0, 0], [[0, 1]],
            [None] * 3, DELETED,
        ]
    ),
    st.integers(-70, 70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
)  # fmt: skip


@settings(max_examples=examples(300))
@given(st.deferred(lambda: st.sampled_from(all_places())), HOSTILE)
def test_any_value_in_any_place(place: tuple, value: Any) -> None:
    options, path = place
    data = changed(path, value, options)
    try:
        model = from_bytes(data, "arm.bdt")
    except BddTorqueError as problem:
        assert str(problem).startswith("arm.bdt") and str(problem).isprintable() and len(str(problem)) < 600
        return
    # another model then, or the same one; nothing it does can go wrong
    states = random_words(model, 20)
    wanted = model.evaluator("bits").torque_words(*states)
    assert wanted.shape == (20, 2) and model.torque_words(*states).shape == (20, 2)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("version",),
            6,
            f"the format version must be 1, got 6: it was written by bddtorque {bt.__version__}; a newer release",
        ),
        (("version",), 0, "the format version must be 1, got 0: .* no release wrote such a file"),
        (("version",), True, "version must be an integer"),
        (("version",), "1", "version must be an integer"),
        (("format",), "BddTorque model", "its header is that of another format"),
        (("package",), "", "package must be the version that wrote the file"),
        (("package",), None, "package must be text"),
        (("package",), "1.0\n", "package must be the version that wrote the file"),
        (("more",), 1, "header: unknown key 'more'"),
        (("plan",), DELETED, "header: key 'plan' is missing"),
        (("plan", "more"), 1, "plan: unknown key 'more'"),
        (("plan", "wires", 0, "more"), 1, "plan, wire 0: unknown key 'more'"),
        (("robot", "joints", 0, "more"), 1, "robot, joint 1: unknown key 'more'"),
        (("spec", "more"), 1, "unknown key 'more'; .* .arm.bdt, spec."),
        (("words", "more"), 1, "words: unknown key 'more'"),
        (("certificate", "more"), 1, "certificate: unknown key 'more'"),
        (("digest",), "0" * 64, "contents do not match their digest"),
        (("diagram_digest",), "0" * 64, "contents do not match their digest"),
        (("tables", 0), "0" * 64, "block 0: the diagram does not give the table that the header names"),
        (("tables",), [], "tables must be a list of 3, got"),
        (("robot", "links", 0, "mass"), -1.0, "mass must be a finite number of kg of at least 0, got -1.0"),
        (("robot", "links", 0, "mass"), 10**18, "contents do not match their digest|altered"),
        (("robot", "joints", 0, "name"), "two\nlines", "words: q must have the labels of the robot's joints"),
        (("robot", "gravity"), [0.0, 0.0], "robot, gravity must be 3 finite numbers, got"),
        (("plan", "outputs"), [], "plan and certificate must have the outputs shoulder, elbow"),
        (("plan", "wires", 0, "name"), "q3", "input 'q3' is not as the words have it"),
        (("plan", "wires", 0, "bits"), 3, "is not as the words have it"),
        (("words", "inputs", 0, "words", 0, "bits"), 3, "is not as the words have it"),
        (("certificate", "outputs", 0, "bound"), 0.5, "the bound 0.5 is not the sum of its parts"),
        (("certificate", "outputs", 0, "saturation"), "never", "saturation must be"),
        (
            ("certificate", "outputs", 0, "witness"),
            [[1, 2], [3, 4]],
            "a witness must have the words of the input arrays",
        ),
    ],
    ids=str,
)
def test_what_is_said(path: tuple, value: Any, message: str) -> None:
    with pytest.raises(BddTorqueError, match=message):
        from_bytes(changed(path, value), "arm.bdt")
    refused(changed(path, value))


def wire(kind: str, options: dict, **found: Any) -> tuple:
    """Return the path of the first wire of a kind (with certain values)."""
    wires = taken_apart(saved(**options))[0]["plan"]["wires"]
    return "plan", "wires", next(
        k for k, each in enumerate(wires)
        if each["kind"] == kind and all(each[key] == value for key, value in found.items())
    )  # fmt: skip


def test_a_wire_that_reads_itself_or_a_later_one() -> None:
    path = wire("sum", SMALL)
    for place in (path[-1], path[-1] + 1):
        assert f"wire {path[-1]}, parts must be between 0 and " in refused(changed((*path, "parts"), [[place, 1]]))


@pytest.mark.parametrize(
    "text",
    [
        b"", b" ", b"\xff\xfe", b"{", b'{"format": NaN}', b'{"format": Infinity}', b'{"format": -Infinity}',
        b"1" * 5000,
        b"[" * 100_000, b'{"a":' * 100_000, b"[" * 900 + b"]" * 900, b'{"format": 1e999}', b'"\\ud800"', b"1e5",
        b'{"format": "bddtorque model", "version": ' + b"9" * 21 + b"}",
        b'{"format": "bddtorque model", "version": ' + b"9" * 5000 + b"}",
        b'{"format": "bddtorque model", "version": ' + b"[" * 500 + b"]" * 500 + b"}",
    ],
    ids=lambda text: repr(text[:40]),
)  # fmt: skip
def test_headers_that_are_no_headers(text: bytes) -> None:
    refused(zip_of({"header.json": text}))


def test_deep_nesting_in_any_section() -> None:
    header, arrays = taken_apart(saved(**SMALL))
    for section in (*header, "more"):
        for depth in (100, 700, 985):
            text = json.dumps({**header, section: "HERE"}, indent=1, ensure_ascii=False)
            deep = text.replace('"HERE"', "[" * depth + "]" * depth)
            refused(zip_of({"header.json": deep.encode(), **arrays}))


@pytest.mark.parametrize("section", ["robot", "spec", "words", "labels", "arrays", "certificate"])
def test_a_great_many_joints(section: str) -> None:
    """Time in proportion, not with the square of the number."""
    header, arrays = taken_apart(saved(**SMALL))
    many = 5_000
    if section == "robot":
        header["robot"]["joints"] = [{**header["robot"]["joints"][0], "name": f"j{k}"} for k in range(many)]
    elif section == "spec":
        header["spec"]["joints"] = [{**header["spec"]["joints"][0], "name": f"j{k}"} for k in range(many)]
    elif section == "words":
        header["words"]["inputs"][0]["words"] *= many
    elif section == "labels":
        header["words"]["inputs"][0]["labels"] *= many
    elif section == "arrays":
        array = header["words"]["inputs"][0]
        header["words"]["inputs"] = [{**array, "name": f"x{k}"} for k in range(many)]
    else:
        header["certificate"]["outputs"] *= many
    header["digest"] = sha256(b"")
    refused(written(header, arrays))


def test_words_beyond_what_a_plan_promised_end_and_stay_inside() -> None:
    """A sum that says it is one bit wide, and is not: products of it come out wrong, but they come out."""
    header, arrays = taken_apart(saved(**LIMBS))
    wires = header["plan"]["wires"]
    place = wire("product", LIMBS, method="partial")[-1]
    parts = [[wire("input", LIMBS)[-1], 2**57 + 1]]
    big = {**wires[wire("sum", LIMBS)[-1]], "name": "big", "parts": parts, "low": -1, "high": 0}
    big |= {"constant": 0, "shift": 0}
    again = {**big, "name": "again", "parts": [[place, 2**61 - 1]]}
    for each in wires[place:]:
        for key in ("left", "right"):
            if each.get(key, -1) >= place:
                each[key] += 2
        for part in each.get("parts", []):
            part[0] += 2 * (part[0] >= place)
        if "wires" in each:
            each["wires"] = [k + 2 * (k >= place) for k in each["wires"]]
    for output in header["plan"]["outputs"]:
        for part in output["parts"]:
            part[0] += 2 * (part[0] >= place)
    wires[place:place] = [big, again]
    wires[place + 2] |= {"left": place + 1, "right": place + 1, "method": "partial"}
    model = from_bytes(signed(header, arrays))
    for kind in ("bits", "words"):
        assert model.evaluator(kind).torque_words(*random_words(model)).shape == (200, 2)
