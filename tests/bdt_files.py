"""Compiled models as files, and .bdt files written by hand as docs/format.md says, whole or with anything wrong."""

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from compiled import compiled

from bddtorque.model.model import to_bytes

ARRAYS = {"level": "<i2", "low": "<i4", "high": "<i4", "roots": "<i4", "order": "<i2"}
SECTIONS = ("robot", "spec", "function", "words", "plan", "certificate", "tables")
"""Of robots, or of functions."""


@cache
def saved(robot: str = "planar2r", **options: Any) -> bytes:
    return to_bytes(compiled(robot, **options))


def taken_apart(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the header as plain data, and the bytes of the arrays by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(entries.pop("header.json")), entries


def written(header: Mapping[str, Any], arrays: Mapping[str, bytes]) -> bytes:
    """Return a file with these contents, right or wrong."""
    text = json.dumps(header, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return zip_of({"header.json": text, **arrays})


def signed(header: dict[str, Any], arrays: Mapping[str, bytes]) -> bytes:
    """Return a file with these contents and all the digests that belong to them."""
    header = {**header, "arrays": {name: sha256(data) for name, data in arrays.items()}}
    header["digest"] = digest_of(header)
    header["diagram_digest"] = diagram_digest_of(header, arrays)
    return written(header, arrays)


def digest_of(header: Mapping[str, Any]) -> str:
    defining = {name: header[name] for name in SECTIONS if name in header}
    return sha256(json.dumps(defining, sort_keys=True, separators=(",", ":")).encode())


def diagram_digest_of(header: Mapping[str, Any], arrays: Mapping[str, bytes]) -> str:
    keys = []
    for k, block in enumerate(header["plan"]["blocks"]):
        parts = [arrays[f"blocks/{k}/{name}.npy"][128:] for name in ARRAYS]
        sign = int(block["kind"] == "function" or bool(block.get("signed")))
        keys.append(sha256(f"diagram:{len(parts[3]) // 4}:{sign}:".encode() + b"".join(parts)))
    return sha256("".join(keys).encode())


def table_key(values: Any, widths: list[int], bits: int, sign: bool) -> str:
    size = next(size for size in (1, 2, 4) if 8 * size >= bits + (not sign))
    text = f"table:{','.join(map(str, widths))}:{bits}:{int(sign)}:"
    return sha256(text.encode() + np.asarray(values).astype(f"<i{size}").tobytes())


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def npy_of(values: Any, descr: str, shape: str | None = None, order: str = "False", version: bytes = b"\1\0") -> bytes:
    data = np.asarray(values, dtype=descr).tobytes() if descr != "|O" else b"cos\nsystem\n(S'true'\ntR."
    shape = f"({len(np.asarray(values))},)" if shape is None else shape
    text = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    return b"\x93NUMPY" + version + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n" + data


def zip_of(
    entries: Mapping[str, bytes] | list[tuple[str, bytes]], *, method: int = 0, sizes: int | None = None, flags: int = 0
) -> bytes:
    """Return an archive; `method` 8 compresses, `sizes` is declared instead of the truth."""
    front, directory = b"", b""
    pairs = list(entries.items()) if isinstance(entries, Mapping) else entries
    for name, data in pairs:
        packed = zlib.compress(data, 9)[2:-4] if method == 8 else data
        said = len(data) if sizes is None else sizes
        common = struct.pack("<HHHHHIIIHH", 20, flags, method, 0, 33, zlib.crc32(data), len(packed), said, len(name), 0)
        offset = len(front)
        front += b"PK\3\4" + common + name.encode("latin-1") + packed
        tail = struct.pack("<HHHII", 0, 0, 0, 0o644 << 16, offset)
        directory += b"PK\1\2" + struct.pack("<BB", 20, 3) + common + tail + name.encode("latin-1")
    counts = struct.pack("<HHHHIIH", 0, 0, len(pairs), len(pairs), len(directory), len(front), 0)
    return front + directory + b"PK\5\6" + counts
