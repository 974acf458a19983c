"""Results as bytes and back: a SHA-256, then an npz of arrays and a JSON text that says where each belongs.

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
_ARRAY = "__array__"


class BadEntryError(ValueError):
    """An entry that is cut short, altered or of another make."""


def encode(result: Any) -> bytes:
    """Return what JSON can hold, arrays of numbers anywhere in it, as bytes; tuples come back as lists."""
    arrays: list[npt.NDArray[Any]] = []

    def keep(value: Any) -> dict[str, int]:
        if not isinstance(value, np.ndarray | np.generic) or value.dtype.hasobject:
            raise TypeError(f"cached results must be plain data and arrays of numbers, got {type(value).__qualname__}")
        arrays.append(np.asarray(value))
        return {_ARRAY: len(arrays) - 1}

    text = json.dumps(result, default=keep).encode()
    buffer = io.BytesIO()
    np.savez(buffer, *arrays, allow_pickle=False, text=np.frombuffer(text, dtype=np.uint8))
    payload = buffer.getbuffer()
    return hashlib.sha256(payload).digest() + payload


def decode(data: bytes) -> Any:
    """Return what `encode` was given; raise `BadEntryError` for anything else."""
    payload = memoryview(data)[_DIGEST_BYTES:]
    if hashlib.sha256(payload).digest() != data[:_DIGEST_BYTES]:
        raise BadEntryError("the digest does not match")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as file:

            def restored(tree: dict[str, Any]) -> Any:
                return file[f"arr_{tree[_ARRAY]}"][()] if _ARRAY in tree else tree

            return json.loads(file["text"].tobytes(), object_hook=restored)
    except Exception as problem:  # whatever is wrong with it: an entry that cannot be read is made again
        raise BadEntryError(str(problem)) from None
