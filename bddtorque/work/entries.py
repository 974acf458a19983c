"""Results as bytes and back: a SHA-256, then an npz of arrays and a JSON tree that says where each belongs.

Nothing is pickled: reading an entry runs no code, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np
import numpy.typing as npt

_DIGEST_BYTES = 32


class BadEntryError(ValueError):
    """An entry that is cut short, altered or of another make."""


def encode(result: Any) -> bytes:
    """Return plain data (None, bool, int, float, str, bytes, arrays, and tuples, lists and dicts of these) as bytes."""
    arrays: list[npt.NDArray[Any]] = []
    tree = json.dumps(_tree(result, arrays)).encode()
    buffer = io.BytesIO()
    named = {f"array{index}": array for index, array in enumerate(arrays)}
    np.savez(buffer, allow_pickle=False, tree=np.frombuffer(tree, dtype=np.uint8), **named)
    payload = buffer.getbuffer()
    return hashlib.sha256(payload).digest() + payload


def decode(data: bytes) -> Any:
    """Return what `encode` was given, equal in every type; raise `BadEntryError` for anything else."""
    payload = memoryview(data)[_DIGEST_BYTES:]
    if hashlib.sha256(payload).digest() != data[:_DIGEST_BYTES]:
        raise BadEntryError("the digest does not match")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as file:
            tree = json.loads(file["tree"].tobytes())
            return _result(tree, file)
    except Exception as problem:  # whatever is wrong with it: an entry that cannot be read is made again
        raise BadEntryError(str(problem)) from None


def _tree(value: Any, arrays: list[npt.NDArray[Any]]) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return {"float": value.hex()}  # JSON has no infinities
    if kind is list:
        return [_tree(each, arrays) for each in value]
    if kind is tuple:
        return {"tuple": [_tree(each, arrays) for each in value]}
    if kind is dict:
        return {"dict": [[_tree(key, arrays), _tree(each, arrays)] for key, each in value.items()]}
    if kind is bytes:
        return _kept("bytes", np.frombuffer(value, dtype=np.uint8), arrays)
    if kind is np.ndarray and not value.dtype.hasobject:
        return _kept("array", value, arrays)
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return _kept("scalar", np.asarray(value), arrays)
    raise TypeError(f"cached results must be plain data and arrays of numbers, got {kind.__qualname__}")


def _kept(kind: str, array: npt.NDArray[Any], arrays: list[npt.NDArray[Any]]) -> dict[str, int]:
    arrays.append(array)
    return {kind: len(arrays) - 1}


def _result(tree: Any, file: Any) -> Any:
    if isinstance(tree, list):
        return [_result(each, file) for each in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, value),) = tree.items()
    match kind:
        case "float":
            return float.fromhex(value)
        case "tuple":
            return tuple(_result(each, file) for each in value)
        case "dict":
            return {_result(key, file): _result(each, file) for key, each in value}
        case "bytes":
            return file[f"array{value}"].tobytes()
        case "array":
            return file[f"array{value}"]
        case "scalar":
            return file[f"array{value}"][()]
        case _:
            raise BadEntryError(f"unknown kind {kind}")
