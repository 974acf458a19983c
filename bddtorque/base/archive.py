"""Archives of the .bdt kind: stored zip entries in a fixed order with fixed times, and npy arrays in one dimension.

Written by the libraries that know these formats, and read so that nothing in an archive has to be believed: sizes add
up to what is there, and an array is accepted if writing it again gives its very bytes.
"""

from __future__ import annotations

import io
import struct
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import read_whole

START = b"PK\x03\x04"
"""The first bytes of any zip archive that has an entry."""
FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip entry can carry, and the only one used."""
LARGEST_FILE = 2**31 - 1
MAX_ENTRIES = 2**16 - 2
"""Archives beyond these two would need the 64-bit extensions of zip, which no .bdt file has."""
SOURCES = (".toml", ".urdf", ".xacro", ".xml")
"""Endings of files that are compiled, not loaded."""
NPY_HEADER = 128
"""Bytes before the entries of a one-dimensional array in npy format 1.0."""

Integers = npt.NDArray[Any]


def read_file(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file that may be an archive, or refuse; of what cannot be one, only the first few."""
    name = str(path)
    if len(name) < 60 and name.isidentifier() and not Path(name).exists():  # as the built-in robots are called
        raise BddTorqueError(f"{name}: there is no such file; compile a robot first: bddtorque compile {name}")
    data = read_whole(path, LARGEST_FILE, "a .bdt file", START)
    if not data.startswith(START) and Path(name).suffix.lower() in SOURCES:
        raise BddTorqueError(f"{name}: not a .bdt file; compile it first: bddtorque compile {name}")
    return data


def pack(entries: dict[str, bytes]) -> bytes:
    """Return the archive of some entries, the same bytes each time."""
    # an entry takes 30 bytes before it, 46 in the directory, and its name in both; the directory ends in 22
    size = sum(len(data) + 76 + 2 * len(name) for name, data in entries.items()) + 22
    if len(entries) > MAX_ENTRIES or size > LARGEST_FILE:
        raise BddTorqueError(
            f"a .bdt file must have at most {MAX_ENTRIES:,} entries and {LARGEST_FILE:,} bytes, this model takes "
            f"{len(entries):,} entries and {size:,} bytes; fewer bits or smaller block_bits make it smaller"
        )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name, FIRST_TIME)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, data)
    return buffer.getvalue()


def unpack(data: bytes, where: str) -> dict[str, bytes]:
    """Return the entries of an archive, in order; only stored ones that add up to no more than it are accepted."""
    if not data:
        raise BddTorqueError(f"{where}: not a .bdt file: it is empty")
    if not data.startswith(START):
        raise BddTorqueError(f"{where}: not a .bdt file")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries: dict[str, bytes] = {}
            total = 0
            for entry in archive.infolist():
                total += entry.file_size
                if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 or total > len(data):
                    raise BddTorqueError(
                        f"{where}: not a .bdt file but another archive "
                        "(its entries are compressed, encrypted or overlap)"
                    )
                if entry.filename in entries:
                    raise BddTorqueError(f"{where}: damaged .bdt file: entry {entry.filename!r:.60} occurs twice")
                entries[entry.filename] = archive.read(entry)
            return entries
    except BddTorqueError:
        raise
    except (zipfile.BadZipFile, struct.error, EOFError, OSError, ValueError, LookupError, RuntimeError):
        said = "an entry, or the list of entries at its end, is damaged or cut off"
        raise BddTorqueError(f"{where}: damaged .bdt file: {said}") from None


def npy(array: Integers) -> bytes:
    """Return an array as a file in npy format 1.0."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def from_npy(entries: dict[str, bytes], name: str, dtype: str, where: str) -> Integers:
    """Return the one-dimensional array of this type that `npy` wrote; anything else is refused."""
    data = entries.get(name, b"")
    body = data[NPY_HEADER:]
    array = np.frombuffer(body[: len(body) // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize], dtype)
    if npy(array) != data:
        raise BddTorqueError(f"{where}: damaged .bdt file: {name} must be an npy array of {dtype} in one dimension")
    return array
