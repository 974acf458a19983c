"""The archive and its header, read by hand: every byte is what docs/format.md says, or the file is refused.

The header is canonical JSON; its digests hold the file together.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from .findings import RefusedError, require

LARGEST_FILE = 2**31 - 1
MAX_ENTRIES = 65_534
NPY_HEADER = 128
ARRAYS = {"level": "<i2", "low": "<i4", "high": "<i4", "roots": "<i4", "order": "<i2"}
"""The arrays of a diagram in the order of the archive, with their types."""
LARGEST_HEADER = 64 * 2**20
LONGEST_NUMBER = 20
FRONT = ("format", "version", "package", "digest", "diagram_digest", "arrays")
FORMAT, VERSION = "bddtorque model", 1
SECTIONS = ("words", "plan", "certificate", "tables")
"""Of every file, after those that say where its model comes from."""

_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_DIRECTORY = struct.Struct("<4sBBHHHHHIIIHHHHHII")
_END = struct.Struct("<4sHHHHIIH")


def entries_of(data: bytes) -> dict[str, bytes]:
    """Return the entries of an archive by name, in order."""
    require(len(data) <= LARGEST_FILE, f"expected at most {LARGEST_FILE:,} bytes, got {len(data):,}")
    require(len(data) > 0, "expected a .bdt file (a zip archive), but this file is empty")
    require(data[:4] == b"PK\3\4", "expected a .bdt file (a zip archive), but this is something else")
    try:
        return _entries(data)
    except RefusedError as problem:
        raise RefusedError(f"the file is damaged or cut off: {problem}") from None


def _entries(data: bytes) -> dict[str, bytes]:
    """Do what `entries_of` does for bytes that begin as an archive."""
    require(len(data) >= _END.size, f"expected at least {_END.size} bytes, got {len(data)}")
    mark, disk, first, here, count, size, start, comment = _END.unpack_from(data, len(data) - _END.size)
    end = mark == b"PK\5\6" and (disk, first, comment) == (0, 0, 0)
    require(end, f"expected the end record of a zip archive in the last {_END.size} bytes")
    require(here == count, f"expected one number of entries in the end record, got {here:,} and {count:,}")
    require(1 <= count <= MAX_ENTRIES, f"expected 1 to {MAX_ENTRIES:,} entries, got {count:,}")
    require(start + size + _END.size == len(data), "expected a directory of entries up to the end record")
    entries: dict[str, bytes] = {}
    place, record = 0, start
    for _ in range(count):
        name, content, place, record = _entry(data, place, record, start)
        require(name not in entries, f"expected each entry once, but {name!r:.60} occurs twice")
        entries[name] = content
    require(place == start, "expected entries up to the directory, but other bytes stand between")
    require(record == start + size, "expected a directory of its entries alone")
    return entries


def _entry(data: bytes, place: int, record: int, directory: int) -> tuple[str, bytes, int, int]:
    """Return name and content of the entry at `place`, and where the next entry and the next record stand."""
    try:
        local = _LOCAL.unpack_from(data, place)
        listed = _DIRECTORY.unpack_from(data, record)
    except struct.error:
        raise RefusedError("expected a whole archive, but this one ends within an entry") from None
    mark, version, flags, method, time, date, check, stored, size, length, extra = local
    require(
        (mark, version, flags, method, time, date, extra) == (b"PK\3\4", 20, 0, 0, 0, 33, 0) and stored == size,
        f"expected an entry as docs/format.md has it at byte {place}",
    )
    begin = place + _LOCAL.size + length
    end = begin + size
    require(end <= directory, f"expected an entry within the file at byte {place}")
    name, content = data[begin - length : begin], data[begin:end]
    expected = (b"PK\1\2", 20, 3, 20, 0, 0, 0, 33, check, size, size, length, 0, 0, 0, 0, 0x01A40000, place)
    after = record + _DIRECTORY.size + length
    require(
        listed == expected and data[after - length : after] == name and after <= len(data) - _END.size,
        f"expected a directory that agrees with the entry at byte {place}",
    )
    require(zlib.crc32(content) == check, f"the entry at byte {place} does not match its checksum")
    require(name.isascii(), f"expected a name in ASCII at byte {place}")
    return name.decode("ascii"), content, end, after


def array_of(entries: dict[str, bytes], name: str, descr: str) -> npt.NDArray[Any]:
    """Return a one-dimensional npy array of the type `descr`; its header must be the specified bytes."""
    data = entries.get(name, b"")
    size = np.dtype(descr).itemsize
    count, odd = divmod(max(0, len(data) - NPY_HEADER), size)
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", NPY_HEADER - 10) + text.ljust(NPY_HEADER - 11).encode() + b"\n"
    require(not odd and data[:NPY_HEADER] == header, f"array {name}: expected npy 1.0 of {descr} in one dimension")
    return np.frombuffer(data, descr, offset=NPY_HEADER)


def sections_of(header: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the sections of a file: of a function, or of a robot."""
    return (*(("function",) if "function" in header else ("robot", "spec")), *SECTIONS)


def header_of(entries: dict[str, bytes]) -> dict[str, Any]:
    """Return the header; the entries are those it lists, and it is written as specified to the byte."""
    require(next(iter(entries)) == "header.json", "expected header.json as the first entry")
    data = entries["header.json"]
    require(len(data) <= LARGEST_HEADER, f"expected a header of at most {LARGEST_HEADER:,} bytes")
    try:
        header: Any = json.loads(data, parse_int=_whole, parse_constant=_constant)
        written = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise RefusedError("expected a header in JSON, of few levels") from None
    require(written == data, "expected a header written as specified: spaces, digits or keys differ")
    require(isinstance(header, dict) and header.get("format") == FORMAT, "expected a known format")
    version = header.get("version")
    require(type(version) is int and version == VERSION, f"expected format version {VERSION}")
    require(tuple(header) == (*FRONT, *sections_of(header)), "expected the sections of the format, in order")
    package = header["package"]
    require(
        isinstance(package, str) and re.fullmatch("[0-9A-Za-z.+-]{1,40}", package) is not None,
        "expected a package version",
    )
    plan: Any = header["plan"] if isinstance(header["plan"], dict) else {}
    blocks: Any = plan.get("blocks")
    require(isinstance(blocks, list), "expected a plan with blocks")
    names = [f"blocks/{k}/{name}.npy" for k in range(len(blocks)) for name in ARRAYS]
    require(list(entries) == ["header.json", *names], "expected the arrays of every block, in order")
    found = {name: sha256(entries[name]) for name in names}
    require(header["arrays"] == found and list(header["arrays"]) == names, "expected arrays with their checksums")
    return dict(header)


def check_digests(header: dict[str, Any], entries: dict[str, bytes], formats: list[tuple[int, bool]]) -> None:
    """Refuse digests that are not those of the contents; `formats` holds bits and sign of every block's output."""
    covered = {name: header[name] for name in sections_of(header)}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"))
    require(header["digest"] == sha256(text.encode()), "expected the digest of the contents")
    keys = ""
    for k, (bits, signed) in enumerate(formats):
        parts = (entries[f"blocks/{k}/{name}.npy"][NPY_HEADER:] for name in ARRAYS)
        keys += sha256(f"diagram:{bits}:{int(signed)}:".encode() + b"".join(parts))
    require(header["diagram_digest"] == sha256(keys.encode()), "expected the digest of the diagrams")


def sha256(data: bytes) -> str:
    """Return SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError("a number with too many digits")
    return int(digits)


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")
