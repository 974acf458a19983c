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
from collections.abc import Sequence
from typing import Any

from bddtorque.base.archive import from_npy, npy, pack, unpack
from bddtorque.base.errors import BddTorqueError, refusals_in
from bddtorque.base.measures import format_size
from bddtorque.base.plain import listed, of_type, table
from bddtorque.model.provenance import FUNCTION_SECTIONS, ROBOT_SECTIONS, Provenance, provenance_from_plain
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import Block, GivenBlock, output_format
from bddtorque.plan.plan import Plan, plan_from_plain
from bddtorque.plan.table import Table, word_dtype
from bddtorque.proof.certificate import Certificate, outputs_from_plain
from bddtorque.proof.proved_bound import ROBOT, ProvedBound
from bddtorque.words.interface import Interface

FORMAT_VERSION = 1
HEADER = "header.json"
LARGEST_HEADER = 64 * 2**20
MEMORY = 4 * 2**30
"""Bytes that the tables of a file may take, unless `load` is told otherwise: a small file can hold large tables."""
LONGEST_NUMBER = 20
"""Digits of a whole number in the header; 19 are enough for every word and factor."""
ARRAYS = {"level": "<i2", "low": "<i4", "high": "<i4", "roots": "<i4", "order": "<i2"}
"""The arrays of a diagram, in the order they are written, with the types they have in the file."""
MAGIC = "bddtorque model"
KEYS = ("format", "version", "package", "digest", "diagram_digest", "arrays")
SECTIONS = ("words", "plan", "certificate", "tables")
"""Sections of every file, after those that say where its model comes from."""

Contents = tuple[Interface, Provenance, Plan, tuple[Table, ...], tuple[Diagram, ...], Certificate]


def sections(
    formats: Interface, provenance: Provenance, plan: Plan, certificate: Certificate, tables: Sequence[Table]
) -> dict[str, Any]:
    """Return all that the digest covers as plain data, by the names of a file's sections."""
    return {
        **provenance.to_plain(),
        "words": formats.to_plain(),
        "plan": plan.to_plain(),
        "certificate": certificate.to_plain(),
        "tables": [table.content_key for table in tables],
    }


def encode(
    name: str, digests: tuple[str, str], defining: dict[str, Any], diagrams: Sequence[Diagram], package: str
) -> bytes:
    """Return a file, byte for byte the same each time: digests of model and diagrams, sections, and diagrams."""
    arrays = {
        _array_name(block, name): npy(diagram.arrays()[name].astype(dtype))
        for block, diagram in enumerate(diagrams)
        for name, dtype in ARRAYS.items()
    }
    header = {
        "format": MAGIC,
        "version": FORMAT_VERSION,
        "package": package,
        "digest": digests[0],
        "diagram_digest": digests[1],
        "arrays": {name: hashlib.sha256(data).hexdigest() for name, data in arrays.items()},
        **defining,
    }
    try:
        text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise BddTorqueError(f"model of {name!r:.60}: a name has half of a surrogate pair") from None
    if len(text) > LARGEST_HEADER:
        raise BddTorqueError(
            f"model of {name!r:.60}: the header of a .bdt file has at most {format_size(LARGEST_HEADER)}, and "
            f"this one would have {len(text):,} bytes"
        )
    return pack({HEADER: text, **arrays})


def decode(data: bytes, where: str, memory: int) -> tuple[Contents, dict[str, Any]]:
    """Return what a file holds, every section checked by itself and against the others; digests are left to `Model`.

    These are in its header, which is returned beside it. Tables that would take more than `memory` bytes are refused
    before any is made.
    """
    entries = unpack(data, where)
    header = _header(entries, where)
    provenance, formats = provenance_from_plain(header, where)
    plan = plan_from_plain(header["plan"], f"{where}, plan")
    proved = outputs_from_plain(header["certificate"], f"{where}, certificate")
    _check_words(formats, provenance, plan, proved, where)
    tables, diagrams = _blocks(plan, header, entries, where, memory)
    for k, (block, found) in enumerate(zip(plan.blocks, tables, strict=True)):
        if isinstance(block, GivenBlock) and block.table != found.content_key:
            raise BddTorqueError(f"{where}, block {k}: the table is not the one that the plan names")
    return (formats, provenance, plan, tables, diagrams, provenance.certificate(formats, proved)), header


def _header(entries: dict[str, bytes], where: str) -> dict[str, Any]:
    """Return the header of a file as plain data: of our format, of a version we know, its arrays all there."""
    if next(iter(entries), None) != HEADER or len(entries[HEADER]) > LARGEST_HEADER:
        raise BddTorqueError(f"{where} is not a .bdt file: its first entry must be {HEADER} and not too large")
    try:
        header = json.loads(entries[HEADER], parse_int=_whole_number, parse_constant=_no_number)
    except ValueError:
        raise BddTorqueError(f"{where}: the header is not the JSON of a .bdt file") from None
    if not isinstance(header, dict) or header.get("format") != MAGIC:
        raise BddTorqueError(f"{where} is not a .bdt file: its header is that of another format")
    version = of_type(header.get("version"), int, f"{where}, version")
    if version != FORMAT_VERSION:
        advice = "a newer release can read it" if version > FORMAT_VERSION else "no release wrote such a file"
        raise BddTorqueError(
            f"{where}: the format version must be {FORMAT_VERSION}, got {version}: "
            f"it was written by bddtorque {str(header.get('package'))[:20]}; {advice}"
        )
    known = FUNCTION_SECTIONS if "function" in header else ROBOT_SECTIONS
    table(header, (*KEYS, *known, *SECTIONS), f"{where}, header")
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


def _check_words(
    formats: Interface, provenance: Provenance, plan: Plan, proved: Sequence[ProvedBound], where: str
) -> None:
    """Refuse a plan or a certificate of other words than those of the interface."""
    if tuple(output.name for output in proved) != tuple(formats.results) or len(plan.outputs) != len(proved):
        raise BddTorqueError(
            f"{where}: plan and certificate must have the outputs {', '.join(formats.results):.60}, and no others"
        )
    outputs: tuple[Any, ...] = plan.outputs
    arrays = [len(array) for array in formats.inputs]
    for word, own, output in zip(formats.results.values(), proved, outputs, strict=True):
        if (own.unit, own.lsb) != (word.unit, word.lsb) or (own.relative_to == ROBOT) != (provenance.kind == ROBOT):
            raise BddTorqueError(f"{where}: the certificate must be of the {provenance.kind}'s words")
        if (output.low, output.high) != (word.lowest, word.highest):
            raise BddTorqueError(f"{where}, plan: the output must be clamped to the {provenance.kind}'s word")
        if own.witness is not None and [len(words) for words in own.witness] != arrays:
            raise BddTorqueError(f"{where}, certificate: a witness must have the words of the input arrays")
    known = {name: (word.bits, word.kind == "angle", word.signed) for name, word in formats.words.items()}
    for wire in plan.inputs:
        if known.get(wire.name) != (wire.bits, wire.wraps, wire.signed):
            raise BddTorqueError(f"{where}, plan: input {wire.name!r:.40} is not as the words have it")


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
