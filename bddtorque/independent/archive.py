"""The archive, read by hand: every byte of it is what docs/format.md says, or the file is refused."""

from __future__ import annotations

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
