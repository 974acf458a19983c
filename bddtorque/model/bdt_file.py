"""The .bdt file: one compiled model, saved whole and loaded with every byte checked. See docs/format.md.

A zip archive of stored (not compressed) entries in a fixed order with fixed times, so that one model gives one file:
``header.json`` first, then the arrays of each block's diagram. Tables are expanded from their diagrams on loading and
compared with their keys. Nothing is pickled; nothing but NumPy and the standard library reads it.

A file is not trusted. Whatever is in it, reading ends in a model or in a `BddTorqueError` of one line, within time and
memory in proportion to the file and its tables; and since the model is written again and compared, a file that loads
is the file that was saved.
"""

from __future__ import annotations

import hashlib
import json
import re
from os import PathLike
from typing import Any

from bddtorque.base.archive import from_npy, npy, pack, read_file, unpack
from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.plain import listed, of_type, table
from bddtorque.base.sizes import format_size, parse_size
from bddtorque.base.version import __version__
from bddtorque.base.writing import write_whole
from bddtorque.diagrams.bdd import Diagram
from bddtorque.model.function_model import FunctionModel, function_words_from_plain
from bddtorque.model.model import Model
from bddtorque.model.stored import Stored
from bddtorque.plan.blocks import Block, GivenBlock, output_format
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_data import plan_from_plain
from bddtorque.plan.table import Table, word_dtype
from bddtorque.plan.wires import Input
from bddtorque.proof.certificate import certificate_from_plain
from bddtorque.proof.function_certificate import function_certificate_from_plain
from bddtorque.robots.robot_data import robot_from_plain
from bddtorque.spec.spec import spec_from_plain
from bddtorque.words import Formats, formats_from_plain

FORMAT_VERSION = 1
MAGIC = "bddtorque model"
FUNCTION_MAGIC = "bddtorque function"
HEADER = "header.json"
LARGEST_HEADER = 64 * 2**20
MEMORY = 4 * 2**30
"""Bytes that the tables of a file may take, unless `load` is told otherwise: a small file can hold large tables."""
LONGEST_NUMBER = 20
"""Digits of a whole number in the header; 19 are enough for every word and factor."""
ARRAYS = {"level": "<i2", "low": "<i4", "high": "<i4", "roots": "<i4", "order": "<i2"}
"""The arrays of a diagram, in the order they are written, with the types they have in the file."""
SECTIONS = ("robot", "spec", "formats", "plan", "certificate", "tables")
FUNCTION_SECTIONS = ("function", "plan", "certificate", "tables")
KEYS = ("format", "version", "package", "digest", "diagram_digest", "arrays")
KINDS = {MAGIC: SECTIONS, FUNCTION_MAGIC: FUNCTION_SECTIONS}
"""What a file may hold, a robot or a function of words, and the sections of each."""

Compiled = Model | FunctionModel


def save(model: Stored, path: str | PathLike[str]) -> None:
    """Write a model to a file, whole or not at all."""
    write_whole(path, to_bytes(model))


def to_bytes(model: Stored, package: str = __version__) -> bytes:
    """Return the file of a model, byte for byte the same each time; `package` is the version that wrote it."""
    arrays = {
        _array_name(block, name): npy(diagram.arrays()[name].astype(dtype))
        for block, diagram in enumerate(model.diagrams)
        for name, dtype in ARRAYS.items()
    }
    header = {
        "format": MAGIC if isinstance(model, Model) else FUNCTION_MAGIC,
        "version": FORMAT_VERSION,
        "package": package,
        "digest": model.digest,
        "diagram_digest": model.diagram_digest,
        "arrays": {name: hashlib.sha256(data).hexdigest() for name, data in arrays.items()},
        **model.defining(),
    }
    name = model.robot.name if isinstance(model, Model) else getattr(model, "name", "")
    try:
        text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise BddTorqueError(f"model of {name!r:.60}: names in Unicode required, half a pair given") from None
    if len(text) > LARGEST_HEADER:
        raise BddTorqueError(
            f"model of {name!r:.60}: a header of at most {format_size(LARGEST_HEADER)} required for a "
            f".bdt file, {len(text):,} bytes given"
        )
    return pack({HEADER: text, **arrays})


def load_any(path: str | PathLike[str], memory: int | str = MEMORY) -> Compiled:
    """Return what a .bdt file holds: a compiled robot (`Model`) or a compiled function (`FunctionModel`).

    A truncated, altered, foreign or newer file is refused in one line, and so is one whose tables would take more than
    `memory`: bytes, or text such as ``"8 GiB"``.
    """
    return any_from_bytes(read_file(path), str(path), memory)


def load(path: str | PathLike[str], memory: int | str = MEMORY) -> Model:
    """Return the robot of a .bdt file; a truncated, altered, foreign or newer file is refused in one line.

    So is a file whose tables would take more than `memory`: bytes, or text such as ``"8 GiB"``.
    """
    return from_bytes(read_file(path), str(path), memory)


def from_bytes(data: bytes, where: str = "model", memory: int | str = MEMORY) -> Model:
    """Return the robot that `to_bytes` wrote, with all of it checked, to the last byte."""
    model = any_from_bytes(data, where, memory)
    if not isinstance(model, Model):
        raise BddTorqueError(
            one_line(
                f"{where}: a compiled robot required, this file holds the function '{model.name:.60}': bt.load reads it"
            )
        )
    return model


def any_from_bytes(data: bytes, where: str = "model", memory: int | str = MEMORY) -> Compiled:
    """Return what `to_bytes` wrote, with all of it checked, to the last byte."""
    allowed = parse_size(memory, "memory")
    try:
        entries = unpack(data, where)
        header = _header(entries, where)
        read = _model if header["format"] == MAGIC else _function
        model: Compiled = read(header, entries, where, allowed)
        if model.digest != header["digest"] or model.diagram_digest != header["diagram_digest"]:
            raise BddTorqueError(f"{where}: contents that match their digest required, this file was altered")
        if to_bytes(model, header["package"]) != data:
            raise BddTorqueError(
                f"{where}: a file as bddtorque writes it required, this one was altered or written anew"
            )
    except RecursionError:
        raise BddTorqueError(one_line(f"{where}: a header of few levels required, this one has too many")) from None
    except BddTorqueError as problem:  # a robot knows nothing of files, and names in a file may hold anything
        said = str(problem)
        raise BddTorqueError(one_line(said if said.startswith(where) else f"{where}: {said}")) from None
    return model


def _header(entries: dict[str, bytes], where: str) -> dict[str, Any]:
    """Return the header of a file as plain data: of our format, of a version we know, its arrays all there."""
    if next(iter(entries), None) != HEADER or len(entries[HEADER]) > LARGEST_HEADER:
        raise BddTorqueError(f"{where}: a .bdt file (its first entry {HEADER}) required, this is another archive")
    try:
        header = json.loads(entries[HEADER], parse_int=_whole_number, parse_constant=_no_number)
    except ValueError:
        raise BddTorqueError(f"{where}: a readable header required, this one is no JSON of a .bdt file") from None
    if not isinstance(header, dict) or header.get("format") not in tuple(KINDS):
        raise BddTorqueError(f"{where}: a .bdt file required, this header is of something else")
    version = of_type(header.get("version"), int, f"{where}, version")
    if not 1 <= version <= FORMAT_VERSION:
        raise BddTorqueError(
            f"{where}: a file of format version 1 to {FORMAT_VERSION} required, {version} given: "
            f"it was written by bddtorque {str(header.get('package'))[:20]}, a newer release reads it"
        )
    table(header, (*KEYS, *KINDS[header["format"]]), f"{where}, header")
    package = of_type(header["package"], str, f"{where}, package")
    if not re.fullmatch("[0-9A-Za-z.+-]{1,40}", package):
        raise BddTorqueError(f"{where}, package: the version that wrote the file required, {package!r:.40} given")
    hashes = of_type(header["arrays"], dict, f"{where}, arrays")
    if [HEADER, *hashes] != list(entries):
        raise BddTorqueError(f"{where}: the arrays that the header lists required, others are in the file")
    for name, known in hashes.items():
        if hashlib.sha256(entries[name]).hexdigest() != known:
            raise BddTorqueError(f"{where}: array {name!r:.60} as it was written required, it was altered")
    return header


def _whole_number(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError("a whole number longer than any of ours")
    return int(text)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _model(header: dict[str, Any], entries: dict[str, bytes], where: str, memory: int) -> Model:
    robot = robot_from_plain(header["robot"], f"{where}, robot")
    spec = spec_from_plain(header["spec"], f"{where}, spec")
    formats = formats_from_plain(header["formats"], f"{where}, formats")
    plan = plan_from_plain(header["plan"], f"{where}, plan")
    certificate = certificate_from_plain(header["certificate"], f"{where}, certificate")
    names = robot.joint_names
    bounded = tuple(torque.joint for torque in certificate.torques)
    if not names == formats.joint_names == bounded or len(plan.outputs) != len(names):
        raise BddTorqueError(
            f"{where}: words, outputs and bounds of the robot's {len(names)} joints required, others given"
        )
    _check_inputs(plan, formats, where)
    tables, diagrams = _blocks(plan, header, entries, where, memory)
    return Model(robot, spec, formats, plan, tables, diagrams, certificate)


def _function(header: dict[str, Any], entries: dict[str, bytes], where: str, memory: int) -> FunctionModel:
    words = function_words_from_plain(header["function"], f"{where}, function")
    plan = plan_from_plain(header["plan"], f"{where}, plan")
    certificate = function_certificate_from_plain(header["certificate"], f"{where}, certificate")
    output = words.output
    if len(plan.outputs) != 1 or (certificate.output, certificate.unit, certificate.lsb) != (
        output.name,
        output.unit,
        output.lsb,
    ):
        raise BddTorqueError(f"{where}: one output and a bound of the function's word required, others given")
    if (plan.outputs[0].low, plan.outputs[0].high) != (output.lowest, output.highest):
        raise BddTorqueError(f"{where}, plan: an output clamped to the function's word required")
    inputs = zip(words.input_names, words.inputs, strict=True)
    _check_words(plan, {name: (word.bits, word.kind == "angle") for name, word in inputs}, where)
    tables, diagrams = _blocks(plan, header, entries, where, memory)
    for k, (block, found) in enumerate(zip(plan.blocks, tables, strict=True)):
        if isinstance(block, GivenBlock) and block.table != found.content_key:
            raise BddTorqueError(f"{where}, block {k}: the table that the plan names required, another one given")
    names = (words.name, words.input_names, words.inputs, words.output)
    return FunctionModel(*names, plan, tables, diagrams, certificate, words.accuracy, words.graph, words.rules)


def _blocks(
    plan: Plan, header: dict[str, Any], entries: dict[str, bytes], where: str, memory: int
) -> tuple[tuple[Table, ...], tuple[Diagram, ...]]:
    """Return the tables and the diagrams of all blocks."""
    _check_memory(plan.blocks, memory, where)
    keys = listed(header["tables"], f"{where}, tables", len(plan.blocks))
    if len(entries) != 1 + len(ARRAYS) * len(plan.blocks):
        raise BddTorqueError(f"{where}: {len(ARRAYS)} arrays a block required, {len(entries) - 1} in all given")
    read = [_block(k, block, keys[k], entries, where) for k, block in enumerate(plan.blocks)]
    return tuple(each[0] for each in read), tuple(each[1] for each in read)


def _block(place: int, block: Block, key: object, entries: dict[str, bytes], where: str) -> tuple[Table, Diagram]:
    """Return the table and the diagram of a block; the table is what the diagram expands to."""
    bits, signed = output_format(block)
    level, low, high, roots, order = (
        from_npy(entries, _array_name(place, name), dtype, where) for name, dtype in ARRAYS.items()
    )
    where = f"{where}, block {place}"
    if len(order) != sum(block.input_widths) or len(roots) != bits:
        raise BddTorqueError(f"{where}: a diagram of the block's words required, another one given")
    try:
        diagram = Diagram.from_arrays(level, low, high, roots, order, signed)
        expanded = Table(diagram.expand(), block.input_widths, bits, signed)
    except BddTorqueError as problem:
        raise BddTorqueError(f"{where}: {problem}") from None
    if expanded.content_key != key:
        raise BddTorqueError(f"{where}: the table that the header names required, the diagram gives another")
    if int(expanded.values.min()) < block.low or int(expanded.values.max()) > block.high:
        raise BddTorqueError(f"{where}: words from {block.low} to {block.high} required, others found")
    return expanded, diagram


def _check_inputs(plan: Plan, formats: Formats, where: str) -> None:
    """Refuse a plan that reads what is no input, or reads it as another word than it is."""
    known = {
        f"{name}{joint}": (word.bits, word.kind == "angle")
        for name, words in zip(("q", "qd", "qdd"), formats.inputs, strict=True)
        for joint, word in enumerate(words, 1)
    }
    _check_words(plan, known, where)


def _check_words(plan: Plan, known: dict[str, tuple[int, bool]], where: str) -> None:
    for wire in plan.wires:
        if isinstance(wire, Input) and known.get(wire.name) != (wire.bits, wire.wraps):
            raise BddTorqueError(f"{where}, plan: inputs as the formats have them required, {wire.name!r:.40} given")


def _check_memory(blocks: tuple[Block, ...], memory: int, where: str) -> None:
    """Refuse tables that would take too much memory before any is made: a constant of 26 bits is a tiny diagram."""
    rows = [1 << sum(block.input_widths) for block in blocks]
    kept = [count * word_dtype(*output_format(block)).itemsize for count, block in zip(rows, blocks, strict=True)]
    needed = sum(kept) + 16 * max(rows, default=0)  # the edges of the table in the making, and a copy of it
    if needed > memory:
        raise BddTorqueError(
            f"{where}: tables of at most {format_size(memory)} required, {format_size(-(-needed // 2**20) * 2**20)} "
            "given: if the file can be trusted, load(..., memory=...) allows more"
        )


def _array_name(block: int, name: str) -> str:
    return f"blocks/{block}/{name}.npy"
