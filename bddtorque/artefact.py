"""The .bdt file: one compiled model, saved whole and loaded with every byte checked. See docs/format.md.

A zip archive of stored (not compressed) entries in a fixed order with fixed times, so that one model gives one file:
``header.json`` first, then the arrays of each block's diagram. Tables are expanded from their diagrams on loading and
compared with their keys. Nothing is pickled; nothing but NumPy and the standard library reads it.

A file is not trusted. Whatever is in it, reading ends in a model or in one `BddTorqueError` of one line, within time and
memory in proportion to the file and to `memory`; and since the model is written again and compared, a file that loads is
the file that was saved.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import bddtorque
from bddtorque.certificate import certificate_from_plain
from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.table import Table, word_dtype
from bddtorque.errors import BddTorqueError
from bddtorque.model import Model
from bddtorque.plain import listed, of_type, table
from bddtorque.plan.plan import Block, Input, Plan, output_format
from bddtorque.plan.reading import plan_from_plain
from bddtorque.robots.plain import robot_from_plain
from bddtorque.sizes import format_size, parse_size
from bddtorque.spec.model import spec_from_plain
from bddtorque.words import Formats, formats_from_plain
from bddtorque.writing import write_whole

FORMAT_VERSION = 1
MAGIC = "bddtorque model"
HEADER = "header.json"
START = b"PK\x03\x04"
"""The first bytes of any zip archive that has an entry."""
FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip entry can carry, and the only one used."""
LARGEST_HEADER = 64 * 2**20
LARGEST_FILE = 2**31 - 1
MOST_ENTRIES = 2**16 - 2
"""Archives beyond these two would need the 64-bit extensions of zip, which no .bdt file has."""
MEMORY = 4 * 2**30
"""Bytes that the tables of a file may take, unless `load` is told otherwise: a small file can hold large tables."""
NPY_HEADER = 128
"""Bytes before the entries of a one-dimensional array in npy format 1.0."""
LONGEST_NUMBER = 20
"""Digits of a whole number in the header; 19 are enough for every word and factor."""
LONGEST_MESSAGE = 500
ARRAYS = {"level": "<i2", "low": "<i4", "high": "<i4", "roots": "<i4", "order": "<i2"}
"""The arrays of a diagram, in the order they are written, with the types they have in the file."""
SECTIONS = ("robot", "spec", "formats", "plan", "certificate", "tables")
KEYS = ("format", "version", "package", "digest", "diagram_digest", "arrays", *SECTIONS)

Integers = npt.NDArray[Any]


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write a model to a file, whole or not at all."""
    write_whole(path, to_bytes(model))


def to_bytes(model: Model, package: str = bddtorque.__version__) -> bytes:
    """Return the file of a model, byte for byte the same each time; `package` is the version that wrote it."""
    arrays = {
        _array_name(block, name): _npy(diagram.arrays()[name].astype(dtype))
        for block, diagram in enumerate(model.diagrams)
        for name, dtype in ARRAYS.items()
    }
    header = {
        "format": MAGIC,
        "version": FORMAT_VERSION,
        "package": package,
        "digest": model.digest,
        "diagram_digest": model.diagram_digest,
        "arrays": {name: hashlib.sha256(data).hexdigest() for name, data in arrays.items()},
        **model.defining(),
    }
    try:
        text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise BddTorqueError(f"model of {model.robot.name!r:.60}: names in Unicode required, half a pair given") from None
    entries = {HEADER: text, **arrays}
    if len(text) > LARGEST_HEADER or len(entries) > MOST_ENTRIES or _archive_size(entries) > LARGEST_FILE:
        raise BddTorqueError(
            f"model of {model.robot.name!r:.60}: a header of at most {format_size(LARGEST_HEADER)}, {MOST_ENTRIES:,} "
            f"entries and {LARGEST_FILE:,} bytes in all required for a .bdt file, {len(text):,} bytes of header, "
            f"{len(entries):,} entries and {_archive_size(entries):,} bytes given"
        )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name, FIRST_TIME)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, data)
    return buffer.getvalue()


def load(path: str | PathLike[str], memory: int | str = MEMORY) -> Model:
    """Return the model of a .bdt file; a truncated, altered, foreign or newer file is refused in one line.

    So is a file whose tables would take more than `memory`: bytes, or text such as ``"8 GiB"``.
    """
    return from_bytes(read_file(path), str(path), memory)


def read_file(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file that may be a model, or refuse; of what cannot be one, only the first few."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(len(START))
            rest = file.read(LARGEST_FILE) if start == START else b""  # endless devices end here
    except FileNotFoundError:
        raise BddTorqueError(_one_line(f"{path}: a .bdt file required, there is no such file")) from None
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        raise BddTorqueError(_one_line(f"{path}: a readable .bdt file required, {problem}")) from None
    if len(start) + len(rest) > LARGEST_FILE:
        raise BddTorqueError(_one_line(f"{path}: a .bdt file of at most {LARGEST_FILE:,} bytes required, more given"))
    return start + rest


def from_bytes(data: bytes, where: str = "model", memory: int | str = MEMORY) -> Model:
    """Return the model that `to_bytes` wrote, with all of it checked, to the last byte."""
    allowed = parse_size(memory, "memory")
    try:
        entries = _entries(data, where)
        header = _header(entries, where)
        model = _model(header, entries, where, allowed)
        if model.digest != header["digest"] or model.diagram_digest != header["diagram_digest"]:
            raise BddTorqueError(f"{where}: contents that match their digest required, this file was altered")
        if to_bytes(model, header["package"]) != data:
            raise BddTorqueError(f"{where}: a file as bddtorque writes it required, this one was altered or written anew")
    except RecursionError:
        raise BddTorqueError(_one_line(f"{where}: a header of few levels required, this one has too many")) from None
    except BddTorqueError as problem:  # names in the file may hold anything
        raise BddTorqueError(_one_line(str(problem))) from None
    return model


def _one_line(text: str) -> str:
    """Return text fit for a message: printable, on one line, and not too long."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:LONGEST_MESSAGE])
    return shown if len(text) <= LONGEST_MESSAGE else f"{shown}..."


def _entries(data: bytes, where: str) -> dict[str, bytes]:
    """Return the entries of the archive, in order; only stored ones that add up to the file are accepted."""
    if not data.startswith(START):
        raise BddTorqueError(f"{where}: a .bdt file required, this is something else")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries: dict[str, bytes] = {}
            total = 0
            for entry in archive.infolist():
                total += entry.file_size
                if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 or total > len(data):
                    raise BddTorqueError(
                        f"{where}: a .bdt file (stored entries only) required, this is another archive"
                    )
                if entry.filename in entries:
                    raise BddTorqueError(f"{where}: each entry once required, {entry.filename!r:.60} stands twice")
                entries[entry.filename] = archive.read(entry)
            return entries
    except BddTorqueError:
        raise
    except (zipfile.BadZipFile, struct.error, EOFError, OSError, ValueError, LookupError, RuntimeError) as problem:
        raise BddTorqueError(f"{where}: a whole .bdt file required, this one is damaged ({problem})") from None


def _header(entries: dict[str, bytes], where: str) -> dict[str, Any]:
    """Return the header of a file as plain data: of our format, of a version we know, its arrays all there."""
    if next(iter(entries), None) != HEADER or len(entries[HEADER]) > LARGEST_HEADER:
        raise BddTorqueError(f"{where}: a .bdt file (its first entry {HEADER}) required, this is another archive")
    try:
        header = json.loads(entries[HEADER], parse_int=_whole_number, parse_constant=_no_number)
    except ValueError:
        raise BddTorqueError(f"{where}: a readable header required, this one is no JSON of a .bdt file") from None
    if not isinstance(header, dict) or header.get("format") != MAGIC:
        raise BddTorqueError(f"{where}: a .bdt file required, this header is of something else")
    version = of_type(header.get("version"), int, f"{where}, version")
    if not 1 <= version <= FORMAT_VERSION:
        raise BddTorqueError(
            f"{where}: a file of format version 1 to {FORMAT_VERSION} required, {version} given: "
            f"it was written by bddtorque {str(header.get('package'))[:20]}, a newer release reads it"
        )
    table(header, KEYS, f"{where}, header")
    of_type(header["package"], str, f"{where}, package")
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
    plan = plan_from_plain(header["plan"], f"{where}, plan")
    keys = listed(header["tables"], f"{where}, tables", len(plan.blocks))
    if len(entries) != 1 + len(ARRAYS) * len(plan.blocks):
        raise BddTorqueError(f"{where}: {len(ARRAYS)} arrays a block required, {len(entries) - 1} in all given")
    formats = formats_from_plain(header["formats"], f"{where}, formats")
    _check_inputs(plan, formats, where)
    _check_memory(plan.blocks, memory, where)
    diagrams, tables = [], []
    for k, block in enumerate(plan.blocks):
        bits, signed = output_format(block)
        inside = f"{where}, block {k}"
        level, low, high, roots, order = (
            _from_npy(entries, _array_name(k, name), dtype, where) for name, dtype in ARRAYS.items()
        )
        if len(order) != sum(block.input_widths) or len(roots) != bits:
            raise BddTorqueError(f"{inside}: a diagram of the block's words required, another one given")
        try:
            diagram = Diagram.from_arrays(level, low, high, roots, order, signed)
            expanded = Table(diagram.expand(), block.input_widths, bits, signed)
        except BddTorqueError as problem:
            raise BddTorqueError(f"{inside}: {problem}") from None
        if expanded.content_key != keys[k]:
            raise BddTorqueError(f"{inside}: the table that the header names required, the diagram gives another")
        if int(expanded.values.min()) < block.low or int(expanded.values.max()) > block.high:
            raise BddTorqueError(f"{inside}: words from {block.low} to {block.high} required, others found")
        diagrams.append(diagram)
        tables.append(expanded)
    model = Model(
        robot_from_plain(header["robot"], f"{where}, robot"),
        spec_from_plain(header["spec"], f"{where}, spec"),
        formats,
        plan,
        tuple(tables),
        tuple(diagrams),
        certificate_from_plain(header["certificate"], f"{where}, certificate"),
    )
    n = model.robot.degrees_of_freedom
    if not len(formats.q) == len(plan.outputs) == len(model.certificate.torques) == n:
        raise BddTorqueError(f"{where}: formats, outputs and bounds for {n} joints required, others given")
    return model


def _check_inputs(plan: Plan, formats: Formats, where: str) -> None:
    """Refuse a plan that reads what is no input, or reads it as another word than it is."""
    known = {
        f"{name}{joint}": (word.bits, word.kind == "angle")
        for name, words in zip(("q", "qd", "qdd"), formats.inputs, strict=True)
        for joint, word in enumerate(words, 1)
    }
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


def _archive_size(entries: dict[str, bytes]) -> int:
    """Return the bytes of an archive: 30 and 46 bytes and twice the name for each entry, and 22 at the end."""
    return sum(len(data) + 76 + 2 * len(name) for name, data in entries.items()) + 22


def _npy(array: Integers) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _from_npy(entries: dict[str, bytes], name: str, dtype: str, where: str) -> Integers:
    """Return a one-dimensional array of exactly this type whose file is exactly what `_npy` writes."""
    data = entries.get(name, b"")
    size = len(data) - NPY_HEADER
    array = np.frombuffer(data, dtype, max(size, 0) // np.dtype(dtype).itemsize, min(NPY_HEADER, len(data)))
    if _npy(array) != data:  # so nothing of its header has to be believed
        raise BddTorqueError(f"{where}: array {name} as npy, {dtype} in one dimension, required, another thing given")
    return array
