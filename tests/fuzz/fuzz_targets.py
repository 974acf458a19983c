"""Targets of fuzzing: each reader of files, how its inputs are made, and what must hold of every input.

An input is *refused*, in one line of a `BddTorqueError`, or *accepted*, and then what was read is consistent. Anything
else is a finding: another exception, a message of several lines, a wrong word.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fuzz_tokens as tokens
import numpy as np
from fuzz_bytes import mutated
from fuzz_models import mutated_archive, mutated_arrays, mutated_header
from fuzz_seeds import JOINTS, read_seeds
from fuzz_trees import mutated_tree

from bddtorque.base.caching import BadEntryError, decode, encode
from bddtorque.base.errors import BddTorqueError
from bddtorque.cli.eval_command import column_names, read_states
from bddtorque.compiler.pinning import load_pinned
from bddtorque.compiler.robot_draft import quantity_words
from bddtorque.compiler.verify import verify
from bddtorque.independent.checker import check_bytes
from bddtorque.model.model import from_bytes, load, to_bytes
from bddtorque.plan.plan import plan_from_plain
from bddtorque.plan.reference import run_plan
from bddtorque.robots import load_robot
from bddtorque.robots.robot_data import robot_from_plain, robot_to_plain
from bddtorque.spec import from_toml, load_spec
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface, word_vector
from bddtorque.words.samples import law_of, merged, read_samples

LONGEST_LINE = 1200
"""Characters of a message."""
TABLES = 64 * 2**20
"""Bytes that the tables of a mutated model may take; larger ones have tests of their own."""
TWO_JOINTS = Interface(
    tuple(word_vector(array, JOINTS, [Format("range", 8, -1.0, 1.0)] * 2) for array in ("q", "qd", "qdd")),
    (word_vector("tau", JOINTS, [Format("range", 8, -1.0, 1.0)] * 2),),
)
Make = Callable[[random.Random, Sequence[bytes]], bytes]
Check = Callable[[Path], None]


class WrongError(Exception):
    """An accepted input that is not what it should be."""


@dataclass(frozen=True)
class Target:
    """A reader and its inputs.

    Attributes
    ----------
    seeds : the kind of seed that its inputs are made of
    suffix : of the file that holds an input
    make : returns an input, drawn from a generator and the seeds
    check : reads the file; a `BddTorqueError` refuses it, any other exception is a finding
    share : of all inputs, in parts
    """

    name: str
    seeds: str
    suffix: str
    make: Make
    check: Check
    share: int


def outcome(target: Target, path: Path) -> str:
    """Return "accepted" or "refused", or raise what was found."""
    try:
        target.check(path)
    except BddTorqueError as problem:
        line = str(problem)
        if not line.isprintable() or not line or len(line) > LONGEST_LINE:
            raise WrongError(f"a message of one printable line required: {line[:200]!r} ({len(line)} long)") from None
        return "refused"
    return "accepted"


def input_of(target: Target, seeds: Sequence[bytes], seed: str, number: int) -> bytes:
    """Return the input of a number; the same for the same seed, on every machine."""
    return target.make(random.Random(f"{seed}/{target.name}/{number}"), seeds)


def _bytes_of(words: Sequence[bytes]) -> Make:
    return lambda rng, seeds: mutated(rng.choice(seeds), rng, words, seeds)


def _model_of(change: Callable[[bytes, random.Random], bytes]) -> Make:
    return lambda rng, seeds: change(rng.choice(seeds), rng)


def _tree_of(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    tree = json.loads(rng.choice(seeds))
    part = "plan" if rng.random() < 0.9 else ""
    changed = mutated_tree({"": tree[part] if part else tree}, rng).get("")
    return json.dumps({**tree, "plan": changed} if part else changed).encode("utf-8", "surrogatepass")


def _entry_of(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return a mutated cache entry, nearly always with the digest of what it became."""
    data = mutated(rng.choice(seeds)[32:], rng, tokens.NPY, [seed[32:] for seed in seeds])
    return (hashlib.sha256(data).digest() if rng.random() < 0.95 else bytes(32)) + data


_known: dict[str, list[Any]] = {}


def remember(folder: Path) -> None:
    """Keep the words of the models that mutations start from."""
    for data in read_seeds(folder, "bdt"):
        model = from_bytes(data)
        _known[model.digest] = [_words(model, "words"), data]


def check_model(path: Path) -> None:
    """Read a model: with a known digest it gives the known words; any other the same in every form, or is found out.

    Loading looks after every byte and every reference, not after what a plan promises of its words: that is proved, by
    `verify`. So a file that was signed anew may hold a plan that is wrong, and then verifying it must fail.
    """
    model = load(path, TABLES)
    data = path.read_bytes()
    if to_bytes(model, json.loads(_entry(data))["package"]) != data:
        raise WrongError("a file that was accepted is written with other bytes")
    words = _words(model, "words")
    if model.digest in _known:
        if not np.array_equal(words, _known[model.digest][0]):
            raise WrongError("the same digest and other words")
        return
    alike = np.array_equal(words, _words(model, "bits")) and np.array_equal(words, _plainly(model))
    if not alike and all(check.passed for check in verify(path, workers=1)):
        raise WrongError("words that depend on the form, in a file that is verified")


def check_verified(path: Path) -> None:
    """Verify a model in both ways: every check says in one line whether it holds, and neither contradicts the other.

    What `verify` proves, the independent checker proves too. It may prove more: other plans than the planner makes,
    robots that no reader accepts. What is verified gives the same words in every form.
    """
    checks = verify(path, workers=1)
    findings = check_bytes(path.read_bytes())
    for check in (*checks, *findings):
        if not check.detail.isprintable() or len(check.detail) > LONGEST_LINE:
            raise WrongError(f"a detail of one printable line required: {check.detail[:200]!r}")
    verified, proved = (all(each.passed for each in found) for found in (checks, findings))
    if verified and not proved:
        raise WrongError(f"verified, but not by the independent checker: {findings[-1]}")
    if not verified:
        raise BddTorqueError(next(check.detail for check in checks if not check.passed))
    check_model(path)


def _entry(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read("header.json")


def _states(formats: Sequence[Format], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(each.lowest, each.highest, 24, endpoint=True) for each in formats], axis=1)


def _inputs(model: Any) -> list[Any]:
    return [_states(array.words, k) for k, array in enumerate(model.formats.inputs)]


def _words(model: Any, kind: str) -> Any:
    given = _inputs(model)
    if model.provenance.is_torque:
        return model.evaluator(kind, "dense" if kind == "words" else None).torque_words(*given)
    return model.evaluator(kind).words(*(each[:, 0] for each in given))


def _plainly(model: Any) -> Any:
    given = _inputs(model)
    names = list(model.formats.words)
    columns = [column for each in given for column in each.T]
    found = run_plan(model.plan, model.tables, dict(zip(names, columns, strict=True)))
    return np.stack(found, axis=1) if model.provenance.is_torque else found[0]


def check_robot(path: Path) -> None:
    """Read a robot and write it as plain data and back."""
    robot = load_robot(path)
    if robot_from_plain(robot_to_plain(robot)) != robot:
        raise WrongError("a robot that is another one as plain data")


def check_urdf(path: Path) -> None:
    """Read a URDF; what was read stands in the file: joints, limits, and no more mass than there is."""
    robot = load_robot(path)
    root = ElementTree.fromstring(path.read_bytes())
    joints = {each.get("name"): each for each in root.iter("joint")}
    masses = sum(float(each.get("value", "0")) for each in root.iter("mass"))
    if sum(member.link.mass for member in robot.members) > masses * (1 + 1e-12):
        raise WrongError("more mass than the file has")
    for joint in robot.joints:
        limit = joints[joint.name].find("limit")
        ends = [math.nan if limit is None else float(limit.get(end, "nan")) for end in ("lower", "upper")]
        unknown = any(map(math.isnan, ends)) or ends == [0.0, 0.0]
        said = (-math.inf, math.inf) if unknown else tuple(ends)
        if joints[joint.name].get("type") != "continuous" and said != (joint.lower, joint.upper):
            raise WrongError(f"limits {joint.lower}, {joint.upper} where the file says {said}")
        for key in ("velocity", "effort", "acceleration"):  # zero is what exporters write for unknown
            value = math.inf if limit is None else float(limit.get(key, "0")) or math.inf
            if getattr(joint, key) != value:
                raise WrongError(f"{key} {getattr(joint, key)} where the file says {value}")


def check_spec(path: Path) -> None:
    """Read a specification, write it and read it again; then let it meet its robot."""
    spec = load_spec(path)
    if not spec.bare and from_toml(str(spec)) != spec:
        raise WrongError("a specification that is another one when written and read")
    spec, robot, _ = spec_and_robot(path, {})
    quantity_words(spec, robot)


def check_states(path: Path) -> None:
    """Read states as numbers and as words; a CSV file means what Python's own reader finds in it."""
    refused: list[BddTorqueError] = []
    for words in (False, True):
        try:
            rows = [row for _, piece in read_states(path, TWO_JOINTS, words) for row in piece.tolist()]
        except BddTorqueError as problem:
            refused.append(problem)
            continue
        if any(len(row) != 3 * len(JOINTS) for row in rows) or not np.isfinite(np.array(rows, dtype=float)).all():
            raise WrongError("states that are none")
        if path.suffix == ".csv":
            _compare_states(path, rows)
    if len(refused) == 2:
        raise refused[0]


def _compare_states(path: Path, rows: list[list[float]]) -> None:
    text = path.read_bytes().decode("utf-8-sig")
    read = csv.DictReader([line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")])
    read.fieldnames = [name.strip() for name in read.fieldnames or []]
    expected = [[float(row[name]) for name in column_names(TWO_JOINTS.inputs)] for row in read]
    if expected != rows:
        raise WrongError("other states than the file has")


def check_samples(path: Path) -> None:
    """Read samples and make their law over words of 4 bits."""
    read = read_samples(path)
    formats = []
    for k, name in enumerate(read.names[:-1]):
        low, high = float(read.points[:, k].min()), float(read.points[:, k].max())
        formats.append(Format("range", 4, low, high if high > low else low + 1.0, name=name))
    found = merged(read, formats, "mean", "point", None)
    law_of(found, formats, read.names[:-1], "linear", "hold", read.where)


def check_plan(path: Path) -> None:
    """Read a plan and write it as plain data and back."""
    plan = plan_from_plain(load_pinned(path))
    if plan_from_plain(plan.to_plain()) != plan:
        raise WrongError("a plan that is another one as plain data")


def check_entry(path: Path) -> None:
    """Read an entry of the cache; a bad one is refused by an error of its own."""
    try:
        result = decode(path.read_bytes())
    except BadEntryError as problem:
        raise BddTorqueError("bad entry") from problem
    encode(result)


TARGETS = (
    Target("bdt_bytes", "bdt", ".bdt", _bytes_of(tokens.JSON), check_model, 10),
    Target("bdt_header", "bdt", ".bdt", _model_of(mutated_header), check_model, 20),
    Target("bdt_arrays", "bdt", ".bdt", _model_of(mutated_arrays), check_model, 10),
    Target("bdt_archive", "bdt", ".bdt", _model_of(mutated_archive), check_model, 10),
    Target("bdt_verify", "bdt", ".bdt", _model_of(mutated_header), check_verified, 2),
    Target("robot_toml", "robot_toml", ".toml", _bytes_of(tokens.TOML), check_robot, 10),
    Target("spec_toml", "spec_toml", ".toml", _bytes_of(tokens.TOML), check_spec, 10),
    Target("urdf", "urdf", ".urdf", _bytes_of(tokens.XML), check_urdf, 10),
    Target("mjcf", "mjcf", ".xml", _bytes_of(tokens.XML), check_robot, 4),
    Target("xacro", "xacro", ".xacro", _bytes_of(tokens.XML), check_robot, 2),
    Target("states_csv", "states_csv", ".csv", _bytes_of(tokens.CSV), check_states, 8),
    Target("states_npy", "states_npy", ".npy", _bytes_of(tokens.NPY), check_states, 6),
    Target("samples_csv", "samples_csv", ".csv", _bytes_of(tokens.CSV), check_samples, 8),
    Target("plan_bytes", "plan_json", ".json", _bytes_of(tokens.JSON), check_plan, 4),
    Target("plan_tree", "plan_json", ".json", _tree_of, check_plan, 8),
    Target("cache_entry", "cache_entry", ".entry", _entry_of, check_entry, 6),
)
BY_NAME = {target.name: target for target in TARGETS}
