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
from collections.abc import Callable, Sequence
from typing import Any

from bddtorque.base.archive import from_npy, npy, pack, unpack
from bddtorque.base.errors import BddTorqueError, refusals_in
from bddtorque.base.plain import listed, of_type, table
from bddtorque.base.sizes import format_size
from bddtorque.model.source import (
    FunctionSource,
    QuantitySource,
    RobotSource,
    Source,
    function_source_from_plain,
    quantity_source_from_plain,
    robot_source_from_plain,
    with_source,
)
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import Block, GivenBlock, output_format
from bddtorque.plan.plan import Plan, plan_from_plain
from bddtorque.plan.table import Table, word_dtype
from bddtorque.proof.certificate import Certificate, certificate_from_plain

FORMAT_VERSION = 5
"""What `_version` gives at most."""
HEADER = "header.json"
LARGEST_HEADER = 64 * 2**20
MEMORY = 4 * 2**30
"""Bytes that the tables of a file may take, unless `load` is told otherwise: a small file can hold large tables."""
LONGEST_NUMBER = 20
"""Digits of a whole number in the header; 19 are enough for every word and factor."""
ARRAYS = {"level": "<i2", "low": "<i4", "high": "<i4", "roots": "<i4", "order": "<i2"}
"""The arrays of a diagram, in the order they are written, with the types they have in the file."""
MAGIC: dict[str, type[Source]] = {
    "bddtorque model": RobotSource,
    "bddtorque quantity": QuantitySource,
    "bddtorque function": FunctionSource,
}
"""What a file may hold, by its key ``format``: torques of a robot, another quantity of it, or a function of words."""
KEYS = ("format", "version", "package", "digest", "diagram_digest", "arrays")
SECTIONS = ("plan", "certificate", "tables")
"""Sections of every file, after those of its source."""


READERS: dict[type[Source], Callable[[dict[str, Any], str], Source]] = {
    RobotSource: robot_source_from_plain,
    QuantitySource: quantity_source_from_plain,
    FunctionSource: function_source_from_plain,
}
Contents = tuple[Source, Plan, tuple[Table, ...], tuple[Diagram, ...], Certificate]


def sections(source: Source, plan: Plan, certificate: Certificate, tables: Sequence[Table]) -> dict[str, Any]:
    """Return all that the digest covers as plain data, by the names of a file's sections."""
    return {
        **source.to_plain(),
        "plan": plan.to_plain(),
        "certificate": certificate.to_plain(),
        "tables": [table.content_key for table in tables],
    }


def encode(
    source: Source, digests: tuple[str, str], defining: dict[str, Any], diagrams: Sequence[Diagram], package: str
) -> bytes:
    """Return a file, byte for byte the same each time: digests of model and diagrams, sections, and diagrams."""
    arrays = {
        _array_name(block, name): npy(diagram.arrays()[name].astype(dtype))
        for block, diagram in enumerate(diagrams)
        for name, dtype in ARRAYS.items()
    }
    header = {
        "format": next(magic for magic, kind in MAGIC.items() if isinstance(source, kind)),
        "version": _version(source, "precision" in defining["plan"]),
        "package": package,
        "digest": digests[0],
        "diagram_digest": digests[1],
        "arrays": {name: hashlib.sha256(data).hexdigest() for name, data in arrays.items()},
        **defining,
    }
    try:
        text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise BddTorqueError(f"model of {source.name!r:.60}: a name has half of a surrogate pair") from None
    if len(text) > LARGEST_HEADER:
        raise BddTorqueError(
            f"model of {source.name!r:.60}: the header of a .bdt file has at most {format_size(LARGEST_HEADER)}, and "
            f"this one would have {len(text):,} bytes"
        )
    return pack({HEADER: text, **arrays})


def _version(source: Source, in_floats: bool) -> int:
    """Return the first version of the format that knows what a file holds.

    5: the tip of a tree, or of a chain where it is not at the end, and followers by a fraction of an angle;
    4: quantities; 3: trees and followers; 2: plans in floats.
    """
    if isinstance(source, FunctionSource):
        return 2 if in_floats else 1
    robot, spec = source.robot, source.spec
    at_tip = spec.payload is not None or robot.payload is not None or spec.quantity in ("kinematics", "jacobian")
    fractions = any(each.joint.revolute and each.multiplier % 1 for each in robot.followers)
    if robot.tip.parent is not None or fractions or (at_tip and not robot.serial):
        return FORMAT_VERSION
    if isinstance(source, QuantitySource):
        return 4
    if not robot.serial:
        return 3
    return 2 if in_floats else 1


def decode(data: bytes, where: str, memory: int) -> tuple[Contents, dict[str, Any]]:
    """Return what a file holds, every section checked by itself and against the others; digests are left to `Model`.

    These are in its header, which is returned beside it. Tables that would take more than `memory` bytes are refused
    before any is made.
    """
    entries = unpack(data, where)
    header = _header(entries, where)
    source: Source = READERS[MAGIC[header["format"]]](header, where)
    plan = plan_from_plain(header["plan"], f"{where}, plan")
    certificate = certificate_from_plain(header["certificate"], source.kind, f"{where}, certificate")
    _check_words(source, plan, certificate, where)
    tables, diagrams = _blocks(plan, header, entries, where, memory)
    for k, (block, found) in enumerate(zip(plan.blocks, tables, strict=True)):
        if isinstance(block, GivenBlock) and block.table != found.content_key:
            raise BddTorqueError(f"{where}, block {k}: the table is not the one that the plan names")
    return (source, plan, tables, diagrams, with_source(certificate, source)), header


def _header(entries: dict[str, bytes], where: str) -> dict[str, Any]:
    """Return the header of a file as plain data: of our format, of a version we know, its arrays all there."""
    if next(iter(entries), None) != HEADER or len(entries[HEADER]) > LARGEST_HEADER:
        raise BddTorqueError(f"{where} is not a .bdt file: its first entry must be {HEADER} and not too large")
    try:
        header = json.loads(entries[HEADER], parse_int=_whole_number, parse_constant=_no_number)
    except ValueError:
        raise BddTorqueError(f"{where}: the header is not the JSON of a .bdt file") from None
    if not isinstance(header, dict) or header.get("format") not in tuple(MAGIC):
        raise BddTorqueError(f"{where} is not a .bdt file: its header is that of another format")
    version = of_type(header.get("version"), int, f"{where}, version")
    if not 1 <= version <= FORMAT_VERSION:
        raise BddTorqueError(
            f"{where}: the format version must be 1 to {FORMAT_VERSION}, got {version}: "
            f"it was written by bddtorque {str(header.get('package'))[:20]}; a newer release can read it"
        )
    table(header, (*KEYS, *MAGIC[header["format"]].sections, *SECTIONS), f"{where}, header")
    if isinstance(header["plan"], dict) and header["plan"].get("target") == "host":
        of_robot = MAGIC[header["format"]] is not FunctionSource
        again = "`bddtorque compile ROBOT --target float`" if of_robot else "compile_function(..., target='float')"
        raise BddTorqueError(f"{where}: target 'host' is no longer read: compile it again with {again}")
    package = of_type(header["package"], str, f"{where}, package")
    if not re.fullmatch("[0-9A-Za-z.+-]{1,40}", package):
        raise BddTorqueError(f"{where}, package must be the version that wrote the file, got {package!r:.40}")
    hashes = of_type(header["arrays"], dict, f"{where}, arrays")
    if [HEADER, *hashes] != list(entries):
        raise BddTorqueError(f"{where}: the arrays in the file are not those that the header lists")
    for name, known in hashes.items():
        if hashlib.sha256(entries[name]).hexdigest() != known:
            raise BddTorqueError(f"{where}: array {name!r:.60} was altered")
    return header


def _whole_number(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError("an integer longer than any that bddtorque writes")
    return int(text)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _blocks(
    plan: Plan, header: dict[str, Any], entries: dict[str, bytes], where: str, memory: int
) -> tuple[tuple[Table, ...], tuple[Diagram, ...]]:
    """Return the tables and the diagrams of all blocks."""
    _check_memory(plan.blocks, memory, where)
    keys = listed(header["tables"], f"{where}, tables", len(plan.blocks))
    if len(entries) != 1 + len(ARRAYS) * len(plan.blocks):
        raise BddTorqueError(f"{where} must have {len(ARRAYS)} arrays per block, got {len(entries) - 1} in all")
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
        raise BddTorqueError(f"{where}: the diagram is not one of the block's words")
    with refusals_in(where):
        diagram = Diagram.from_arrays(level, low, high, roots, order, signed)
        expanded = Table(diagram.expand(), block.input_widths, bits, signed)
    if expanded.content_key != key:
        raise BddTorqueError(f"{where}: the diagram does not give the table that the header names")
    if int(expanded.values.min()) < block.low or int(expanded.values.max()) > block.high:
        raise BddTorqueError(f"{where}: words must be from {block.low} to {block.high}, others were found")
    return expanded, diagram


def _check_words(source: Source, plan: Plan, certificate: Certificate, where: str) -> None:
    """Refuse a plan or a certificate of other words than those of the source."""
    bounded = tuple(output.name for output in certificate.outputs)
    if bounded != tuple(source.outputs) or len(plan.outputs) != len(bounded):
        raise BddTorqueError(
            f"{where}: plan and certificate must have the outputs {', '.join(source.outputs):.60}, and no others"
        )
    if not isinstance(source, RobotSource):
        outputs: tuple[Any, ...] = plan.outputs
        for word, proved, output in zip(source.outputs.values(), certificate.outputs, outputs, strict=True):
            if (proved.unit, proved.lsb) != (word.unit, word.lsb):
                raise BddTorqueError(f"{where}: the certificate must be of the {source.kind}'s words")
            if (output.low, output.high) != (word.lowest, word.highest):
                raise BddTorqueError(f"{where}, plan: the output must be clamped to the {source.kind}'s word")
    known = {name: (word.bits, word.kind == "angle") for name, word in source.words.items()}
    for wire in plan.inputs:
        if known.get(wire.name) != (wire.bits, wire.wraps):
            raise BddTorqueError(f"{where}, plan: input {wire.name!r:.40} is not as the formats have it")


def _check_memory(blocks: tuple[Block, ...], memory: int, where: str) -> None:
    """Refuse tables that would take too much memory before any is made: a constant of 26 bits is a tiny diagram."""
    rows = [1 << sum(block.input_widths) for block in blocks]
    kept = [count * word_dtype(*output_format(block)).itemsize for count, block in zip(rows, blocks, strict=True)]
    needed = sum(kept) + 16 * max(rows, default=0)  # the edges of the table in the making, and a copy of it
    if needed > memory:
        raise BddTorqueError(
            f"{where}: tables of {format_size(-(-needed // 2**20) * 2**20)} are more than the {format_size(memory)} "
            "allowed: if the file can be trusted, load(..., memory=...) allows more"
        )


def _array_name(block: int, name: str) -> str:
    return f"blocks/{block}/{name}.npy"
