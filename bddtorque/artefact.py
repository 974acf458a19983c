"""The .bdt file: one compiled model, saved whole and loaded with every byte checked. See docs/format.md.

A zip archive of stored (not compressed) entries in a fixed order with fixed times, so that one model gives one file:
``header.json`` first, then the arrays of each block's diagram. Tables are expanded from their diagrams on loading and
compared with their keys. Nothing is pickled; nothing but NumPy and the standard library reads it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import bddtorque
from bddtorque.certificate import certificate_from_plain
from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.table import Table
from bddtorque.errors import BddTorqueError
from bddtorque.model import Model
from bddtorque.plain import listed, of_type, table
from bddtorque.plan.plan import output_format
from bddtorque.plan.reading import plan_from_plain
from bddtorque.robots.plain import robot_from_plain
from bddtorque.spec.model import spec_from_plain
from bddtorque.words import formats_from_plain
from bddtorque.writing import write_whole

FORMAT_VERSION = 1
MAGIC = "bddtorque model"
HEADER = "header.json"
FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip entry can carry, and the only one used."""
LARGEST_HEADER = 256 * 2**20
LARGEST_FILE = 4 * 2**30
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
    text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in {HEADER: text, **arrays}.items():
            entry = zipfile.ZipInfo(name, FIRST_TIME)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, data)
    return buffer.getvalue()


def load(path: str | PathLike[str]) -> Model:
    """Return the model of a .bdt file; a truncated, altered, foreign or newer file is refused in one line."""
    return from_bytes(read_file(path), str(path))


def read_file(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file that may be a model, or refuse."""
    try:
        size = Path(path).stat().st_size
        if size > LARGEST_FILE:
            raise BddTorqueError(f"{path}: a .bdt file of at most 4 GiB required, {size:,} bytes given")
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise BddTorqueError(f"{path}: a .bdt file required, there is no such file") from None
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        raise BddTorqueError(f"{str(path)!r}: a readable .bdt file required, {problem}") from None


def from_bytes(data: bytes, where: str = "model") -> Model:
    """Return the model that `to_bytes` wrote, with all of it checked."""
    entries = read_entries(data, where)
    header = read_header(entries, where)
    model = _model(header, entries, where)
    if model.digest != header["digest"] or model.diagram_digest != header["diagram_digest"]:
        raise BddTorqueError(f"{where}: contents that match their digest required, this file was altered")
    return model


def read_entries(data: bytes, where: str) -> dict[str, bytes]:
    """Return the entries of the archive, in order; only stored ones that add up to the file are accepted."""
    if not data.startswith(b"PK\x03\x04"):
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
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError, KeyError) as problem:
        if isinstance(problem, BddTorqueError):
            raise
        raise BddTorqueError(f"{where}: a whole .bdt file required, this one is damaged ({problem})") from None


def read_header(entries: dict[str, bytes], where: str) -> dict[str, Any]:
    """Return the header of a file as plain data: of our format, of a version we know, its arrays all there."""
    if next(iter(entries), None) != HEADER or len(entries[HEADER]) > LARGEST_HEADER:
        raise BddTorqueError(f"{where}: a .bdt file (its first entry {HEADER}) required, this is another archive")
    try:
        header = json.loads(entries[HEADER])
    except (ValueError, RecursionError):
        raise BddTorqueError(f"{where}: a readable header required, this one is no JSON") from None
    if not isinstance(header, dict) or header.get("format") != MAGIC:
        raise BddTorqueError(f"{where}: a .bdt file required, this header is of something else")
    version = of_type(header.get("version"), int, f"{where}, version")
    if version > FORMAT_VERSION:
        raise BddTorqueError(
            f"{where}: a file of format version {FORMAT_VERSION} or older required, {version} given: "
            f"it was written by bddtorque {str(header.get('package'))[:20]}, a newer release reads it"
        )
    table(header, KEYS, f"{where}, header")
    hashes = of_type(header["arrays"], dict, f"{where}, arrays")
    if [HEADER, *hashes] != list(entries):
        raise BddTorqueError(f"{where}: the arrays that the header lists required, others are in the file")
    for name, known in hashes.items():
        if hashlib.sha256(entries[name]).hexdigest() != known:
            raise BddTorqueError(f"{where}: array {name!r:.60} as it was written required, it was altered")
    return header


def _model(header: dict[str, Any], entries: dict[str, bytes], where: str) -> Model:
    plan = plan_from_plain(header["plan"], f"{where}, plan")
    keys = listed(header["tables"], f"{where}, tables", len(plan.blocks))
    if len(entries) != 1 + len(ARRAYS) * len(plan.blocks):
        raise BddTorqueError(f"{where}: {len(ARRAYS)} arrays a block required, {len(entries) - 1} in all given")
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
    formats = formats_from_plain(header["formats"], f"{where}, formats")
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


def _array_name(block: int, name: str) -> str:
    return f"blocks/{block}/{name}.npy"


def _npy(array: Integers) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _from_npy(entries: dict[str, bytes], name: str, dtype: str, where: str) -> Integers:
    """Return a one-dimensional array of exactly this type whose file is exactly what `_npy` writes."""
    if name not in entries:
        raise BddTorqueError(f"{where}: array {name} required, it is not in the file")
    try:
        array = np.lib.format.read_array(io.BytesIO(entries[name]), allow_pickle=False, max_header_size=1000)
    except (ValueError, EOFError, OSError, MemoryError, TypeError, SyntaxError):
        raise BddTorqueError(f"{where}: array {name} as npy required, it cannot be read") from None
    if array.dtype.str != dtype or array.ndim != 1 or _npy(array) != entries[name]:
        raise BddTorqueError(f"{where}: array {name} of {dtype} in one dimension required, {array.dtype.str} given")
    return np.asarray(array)
