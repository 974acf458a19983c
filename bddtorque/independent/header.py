"""The header: canonical JSON, its sections, and the digests that hold the file together."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from .archive import ARRAYS, NPY_HEADER
from .findings import RefusedError, require

LARGEST_HEADER = 64 * 2**20
LONGEST_NUMBER = 20
FRONT = ("format", "version", "package", "digest", "diagram_digest", "arrays")
FORMAT, VERSION = "bddtorque model", 1
SECTIONS = ("words", "plan", "certificate", "tables")
"""Of every file, after those that say where its model comes from."""


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
