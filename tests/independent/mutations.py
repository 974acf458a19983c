"""Files changed in one place by someone who puts every digest right again, so that only a proof can find the change."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from bddtorque.compiler.verify import verify
from bddtorque.independent import Finding, check_bytes

ARRAYS = {"level": "<i2", "low": "<i4", "high": "<i4", "roots": "<i4", "order": "<i2"}
FRONT = ("format", "version", "package", "digest", "diagram_digest", "arrays")
Path = tuple[str | int, ...]


def taken_apart(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the header of a file, and its arrays by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(entries.pop("header.json")), entries


def signed(header: Mapping[str, Any], arrays: Mapping[str, bytes]) -> bytes:
    """Return the file of a header and arrays, with all digests that belong to them."""
    header = {**header, "arrays": {name: sha256(data) for name, data in arrays.items()}}
    covered = {key: value for key, value in header.items() if key not in FRONT}
    header["digest"] = sha256(json.dumps(covered, sort_keys=True, separators=(",", ":")).encode())
    keys = ""
    for k, block in enumerate(header["plan"]["blocks"]):
        parts = [arrays[f"blocks/{k}/{name}.npy"][128:] for name in ARRAYS]
        keys += sha256(f"diagram:{len(parts[3]) // 4}:{int(is_signed(block))}:".encode() + b"".join(parts))
    header["diagram_digest"] = sha256(keys.encode())
    return written(header, arrays)


def written(header: Mapping[str, Any], arrays: Mapping[str, bytes]) -> bytes:
    """Return the file of a header and arrays as they are."""
    text = json.dumps(header, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return archive_of({"header.json": text, **arrays})


def is_signed(block: Mapping[str, Any]) -> bool:
    return block["kind"] not in ("square", "product") or bool(block.get("signed"))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def archive_of(entries: Mapping[str, bytes]) -> bytes:
    """Return an archive as docs/format.md has it."""
    front, directory = io.BytesIO(), b""
    for name, data in entries.items():
        offset = front.tell()
        common = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, zlib.crc32(data), len(data), len(data), len(name), 0)
        front.write(b"PK\3\4" + common + name.encode() + data)
        directory += b"PK\1\2" + struct.pack("<BB", 20, 3) + common
        directory += struct.pack("<HHHII", 0, 0, 0, 0o644 << 16, offset) + name.encode()
    counts = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory), front.tell(), 0)
    return front.getvalue() + directory + b"PK\5\6" + counts


def npy_of(values: Any, descr: str) -> bytes:
    array = np.asarray(values, dtype=descr)
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(array)},), }}"
    return b"\x93NUMPY\1\0" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n" + array.tobytes()


def proved_findings(data: bytes) -> list[Finding]:
    """Return the findings of a file that the checker proves; fail with what it does not prove otherwise."""
    found = check_bytes(data)
    assert all(each.passed for each in found), found[-1]
    return found


def both_prove(data: bytes) -> None:
    """Fail where the checker or `verify` does not prove a file."""
    proved_findings(data)
    assert all(each.passed for each in verify(data, workers=1))


def refusal(data: bytes, path: Path, value: Any) -> Finding:
    """Return the finding that refuses a file with one leaf replaced; the checker may not stumble over it."""
    header, arrays = taken_apart(data)
    found = check_bytes(signed(replaced(header, path, value), arrays))[-1]
    assert not found.passed and "Error" not in found.detail, found
    return found


def leaves(plain: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the place of every number, text, flag and null of a header."""
    if isinstance(plain, dict | list):
        for key, each in plain.items() if isinstance(plain, dict) else enumerate(plain):
            yield from leaves(each, (*path, key))
    else:
        yield path


def at(plain: Any, path: Path) -> Any:
    for key in path:
        plain = plain[key]
    return plain


def replaced(header: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return a copy of a header with one leaf replaced."""
    changed = copy.deepcopy(header)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def other_values(value: Any) -> list[Any]:
    """Return what a leaf is changed to: its neighbours, or something that cannot be overlooked for rounding noise."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * (1 + 2.0**-8) if value else 2.0**-6, -value if value else -(2.0**-6)]
    if value is None:
        return [0.5]
    if re.fullmatch(r"-?[0-9]+(/[0-9]+)?", value):
        exact = Fraction(value)
        return [str(exact * Fraction(257, 256) if exact else Fraction(1, 1024))]
    if re.fullmatch(r"-?0x[01]\.[0-9a-f]+p[+-][0-9]+", value):
        number = float.fromhex(value)
        return [(number * (1 + 2.0**-8) if number else 2.0**-6).hex()]
    if re.fullmatch("[0-9a-f]{64}", value):
        return [("1" if value[0] == "0" else "0") + value[1:]]
    return [value + "x"]


def shown(path: Path) -> str:
    """Return a place without its numbers: plan.wires[].low."""
    return "".join("[]" if isinstance(key, int) else f".{key}" for key in path)[1:]


def mutants(data: bytes) -> Iterator[tuple[Path, Any, bytes]]:
    """Yield every file that differs from a file in one leaf of its header, digests put right: place, value, bytes.

    Digests themselves are left out: they are put right.
    """
    header, arrays = taken_apart(data)
    for path in leaves(header):
        if path[0] in ("digest", "diagram_digest", "arrays"):
            continue
        # the bound of a coarse arm holds for arms that are nearly the same: other ones must be found
        coarse = path[0] == "robot" and isinstance(at(header, path), float)
        for value in (
            [at(header, path) * 1.5 or 0.5, at(header, path) - 1.0] if coarse else other_values(at(header, path))
        ):
            yield path, value, signed(replaced(header, path, value), arrays)
