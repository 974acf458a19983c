"""Small pictures of few colours as PNG, without any library but zlib."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int]

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def indexed_png(places: npt.NDArray[np.uint8], palette: Sequence[Colour]) -> bytes:
    """Return a picture of (height, width) places in a palette of at most 256 colours, the top row first."""
    height, width = places.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), places], axis=1)  # each row begins with its filter: none
    colours = b"".join(bytes(colour) for colour in palette)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"".join(
        [
            SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", colours),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def data_address(png: bytes) -> str:
    """Return a picture as an address that holds it whole."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
