"""Tables in few bytes, for a page: differences of neighbouring words, sorted by significance of their bytes, deflated.

A table of a smooth function has small differences, and one of squares or products small differences of differences. So
a table is kept as its words, their first or their second differences, whichever is smallest, modulo 2^32. Differences
of either sign are folded (0, −1, 1, −2, ... become 0, 1, 2, 3, ...), so that the upper bytes are all zero.
`page/plan.js` undoes it.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.plan.table import Table

MAX_DIFFERENCES = 2
BYTES_A_WORD = 4
"""Words of a block have at most 31 bits (docs/format.md)."""


def pack(table: Table) -> dict[str, Any]:
    """Return a table in the way that takes the fewest bytes, as plain data for JSON.

    Returns
    -------
    rows : how many words there are
    differences : how often neighbours were subtracted: 0, 1 or 2
    planes : bytes a word that are kept; those above are zero
    data : deflated bytes (zlib), the least significant byte of every word first, in base 64
    """
    words = table.values.astype(np.int64)
    tried = []
    for differences in range(MAX_DIFFERENCES + 1):
        folded = _folded(words)
        planes = max(1, -(-int(folded.max()).bit_length() // 8))
        tried.append((zlib.compress(_planes(folded, planes), 9), planes, differences))
        words = np.diff(words, prepend=np.int64(0))
    data, planes, differences = min(tried, key=lambda each: len(each[0]))
    encoded = base64.b64encode(data).decode("ascii")
    return {"rows": len(words), "differences": differences, "planes": planes, "data": encoded}


def _folded(words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return differences, brought to 32 bits, as numbers of at least 0: twice as large, odd ones for negative ones."""
    held = words.astype(np.int32).astype(np.int64)
    return np.asarray((held << 1) ^ (held >> 63)) & 0xFFFFFFFF


def _planes(folded: npt.NDArray[np.int64], planes: int) -> bytes:
    as_bytes = np.ascontiguousarray(folded.astype("<u4")).view(np.uint8).reshape(-1, BYTES_A_WORD)
    return np.ascontiguousarray(as_bytes[:, :planes].T).tobytes()
