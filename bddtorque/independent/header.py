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
SECTIONS = {
    "bddtorque model": ("robot", "spec", "formats", "plan", "certificate", "tables"),
    "bddtorque quantity": ("robot", "spec", "words", "plan", "certificate", "tables"),
    "bddtorque function": ("function", "plan", "certificate", "tables"),
}


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
    require(isinstance(header, dict) and header.get("format") in tuple(SECTIONS), "expected a known format")
    version = header.get("version")
    require(type(version) is int and 1 <= version <= 5, "expected format version 1 to 5")
    require(tuple(header) == (*FRONT, *SECTIONS[header["format"]]), "expected the sections of the format, in order")
    require(
        not isinstance(header["plan"], dict) or header["plan"].get("target") != "host",
        "plan: target 'host' is no longer read: compile it again with `bddtorque compile ROBOT --target float`",
    )
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


def check_version(header: dict[str, Any], expected: int) -> None:
    """Refuse a version that is not the first to know what the file holds."""
    require(header["version"] == expected, f"expected format version {expected}, got {header['version']}")


def check_digests(header: dict[str, Any], entries: dict[str, bytes], formats: list[tuple[int, bool]]) -> None:
    """Refuse digests that are not those of the contents; `formats` holds bits and sign of every block's output."""
    covered = {name: header[name] for name in SECTIONS[header["format"]]}
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
