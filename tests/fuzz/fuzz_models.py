"""Mutations of .bdt files that know their structure, and sign what they changed: digests alone would refuse it."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
from bdt_files import ARRAYS, npy_of, sha256, table_key, taken_apart, zip_of
from fuzz_trees import mutated_tree, neighbour

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bdd import Diagram

OUTSIDE = ("format", "version", "package", "digest", "diagram_digest", "arrays")
SIGNED = ("function", "law", "given")
NAMES = (
    "../x",
    "/etc/passwd",
    "blocks\\0\\level.npy",
    "a\0b",
    "",
    "header.json",
    "blocks/0/level.npy",
    "é",
    "C:x",
    "x/",
)

Parts = tuple[dict[str, Any], dict[str, bytes]]


def mutated_header(data: bytes, rng: random.Random) -> bytes:
    """Return a file whose header differs in a few places, signed."""
    header, arrays = taken_apart(data)
    section = rng.choice([name for name in header if name not in OUTSIDE] + ["plan", "plan", ""])
    if section:
        header[section] = mutated_tree({"": header[section]}, rng).get("", header[section])
    else:
        header = mutated_tree(header, rng)
    return signed_again(header, arrays)


def mutated_arrays(data: bytes, rng: random.Random) -> bytes:
    """Return a file whose diagrams differ in a few entries, signed; often with the key of the table they now give."""
    header, arrays = taken_apart(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        name = rng.choice(list(arrays))
        descr = ARRAYS[name.rpartition("/")[2].removesuffix(".npy")]
        values = np.frombuffer(arrays[name][128:], dtype=descr).tolist()
        arrays[name] = npy_of(_changed(values, rng, np.iinfo(descr)), descr)
    if rng.random() < 0.8:
        _rekey(header, arrays)
    return signed_again(header, arrays)


def _changed(values: list[int], rng: random.Random, limits: Any) -> list[int]:
    place = rng.randrange(len(values)) if values else 0
    kind = rng.randrange(6)
    if kind == 0 or not values:
        return [*values, rng.choice((0, 1, limits.max))]
    if kind == 1:
        return values[:place] + values[place + 1 :]
    if kind == 2:
        other = rng.randrange(len(values))
        values[place], values[other] = values[other], values[place]
        return values
    if kind == 3:
        values[place] = rng.choice((limits.min, limits.max, -1, 0, 1, len(values), 2 * len(values)))
        return values
    values[place] = min(max(neighbour(values[place], rng), limits.min), limits.max)
    return values


def mutated_archive(data: bytes, rng: random.Random) -> bytes:
    """Return the entries of a file in another archive: other names, order, methods, sizes; or other fields."""
    header, arrays = taken_apart(data)
    pairs = [("header.json", _text(header)), *arrays.items()]
    kind = rng.randrange(8)
    place = rng.randrange(len(pairs))
    if kind == 0:
        pairs[place] = (rng.choice(NAMES), pairs[place][1])
    elif kind == 1:
        pairs.insert(rng.randint(0, len(pairs)), rng.choice(pairs))
    elif kind == 2:
        rng.shuffle(pairs)
    elif kind == 3:
        pairs.append((rng.choice(NAMES), rng.randbytes(rng.choice((0, 1, 100)))))
    elif kind == 4:
        return zip_of(pairs, method=rng.choice((1, 8, 9, 12, 14, 99)))
    elif kind == 5:
        return zip_of(pairs, sizes=rng.choice((0, 1, 2**20, 2**31, 2**32 - 1)))
    elif kind == 6:
        return zip_of(pairs, flags=1 << rng.randrange(16))
    else:
        return _fields_altered(data, rng)
    return zip_of(pairs)


def _fields_altered(data: bytes, rng: random.Random) -> bytes:
    """Overwrite numbers in the directory, the end record or a local header, and perhaps put the 64-bit ones in."""
    marks = [place for mark in (b"PK\1\2", b"PK\5\6", b"PK\3\4") for place in _found(data, mark)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        start = rng.choice(marks) + rng.randint(2, 44)
        value = rng.choice((0, 1, 0xFF, 0xFFFF, 2**31, 2**32 - 1, len(data), rng.getrandbits(32)))
        size = rng.choice((1, 2, 4))
        data = data[:start] + (value & (1 << 8 * size) - 1).to_bytes(size, "little") + data[start + size :]
    if rng.random() < 0.3:
        end = data.rfind(b"PK\5\6")
        sizes = [rng.choice((0, 1, 44, 2**63 - 1, 2**63, 2**64 - 1, len(data), end)) for _ in range(5)]
        wide = b"PK\6\6" + b"".join(each.to_bytes(8, "little") for each in sizes[:1]) + bytes(12)
        wide += b"".join(each.to_bytes(8, "little") for each in (1, 1, *sizes[1:3]))
        locator = b"PK\6\7" + bytes(4) + rng.choice((end, sizes[4])).to_bytes(8, "little") + b"\1\0\0\0"
        data = data[:end] + wide + locator + data[end:]
    return data


def _found(data: bytes, mark: bytes) -> list[int]:
    places, place = [], data.find(mark)
    while place >= 0:
        places.append(place)
        place = data.find(mark, place + 1)
    return places


def signed_again(header: Any, arrays: dict[str, bytes]) -> bytes:
    """Return the file of a header and arrays with digests that belong to them, as far as it can have any."""
    if isinstance(header, dict):
        header["arrays"] = {name: sha256(data) for name, data in arrays.items()}
        defining = {name: value for name, value in header.items() if name not in OUTSIDE}
        text = json.dumps(defining, sort_keys=True, separators=(",", ":"))
        header["digest"] = sha256(text.encode("utf-8", "surrogatepass"))
        header["diagram_digest"] = _diagram_digest(header, arrays)
    return zip_of({"header.json": _text(header), **arrays})


def _text(header: Any) -> bytes:
    return json.dumps(header, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _signs(header: dict[str, Any]) -> list[bool]:
    blocks = header["plan"]["blocks"]
    return [block["kind"] in SIGNED or bool(block.get("signed")) for block in blocks]


def _diagram_digest(header: dict[str, Any], arrays: dict[str, bytes]) -> str:
    try:
        keys = []
        for k, sign in enumerate(_signs(header)):
            parts = [arrays[f"blocks/{k}/{name}.npy"][128:] for name in ARRAYS]
            keys.append(sha256(f"diagram:{len(parts[3]) // 4}:{int(sign)}:".encode() + b"".join(parts)))
        return sha256("".join(keys).encode())
    except (KeyError, TypeError, AttributeError, IndexError):
        return "0" * 64


def _rekey(header: dict[str, Any], arrays: dict[str, bytes]) -> None:
    """Put in the keys of the tables that the diagrams now stand for."""
    for k, (block, sign) in enumerate(zip(header["plan"]["blocks"], _signs(header), strict=True)):
        widths = block.get("widths") or [each[1] for each in block.get("arguments", [])] or [block.get("bits")]
        try:
            parts = [np.frombuffer(arrays[f"blocks/{k}/{name}.npy"][128:], dtype=ARRAYS[name]) for name in ARRAYS]
            diagram = Diagram.from_arrays(*parts, sign)
        except (BddTorqueError, ValueError):
            continue
        header["tables"][k] = table_key(diagram.expand(), widths, len(parts[3]), sign)
