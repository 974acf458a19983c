"""Maps of the error: compiled − true torque over the positions of two joints, everything else held at one state.

The truth is float Newton-Euler at the exact values of the words, as in sweeps. The colours end at the proved bound.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bddtorque.model.model import Model
from bddtorque.sweeps.measuring import subject_of
from bddtorque.words import Format

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]
Colour = tuple[int, int, int]
Axis = tuple[int, int]
"""A quantity (0 position, 1 velocity) and a joint."""

STOPS: tuple[Colour, ...] = (
    (21, 60, 120),
    (55, 120, 184),
    (150, 195, 222),
    (245, 242, 236),
    (244, 180, 140),
    (209, 92, 68),
    (124, 20, 40),
)
"""Colours from minus to plus the bound, evenly spaced; the page's own map has the same."""
COLOURS = 61
POINTS = {1: 96, 3: 64, 6: 48}
"""Points along each side, by the number of maps a torque has at most; fewer where there are more."""
FEWEST_POINTS = 32


@dataclass(frozen=True)
class ErrorMap:
    """The errors of all torques over two axes.

    Attributes
    ----------
    across, up : the axes
    errors : (n, rows, columns) in units of the last bit; row 0 holds the lowest words of `up`
    """

    across: Axis
    up: Axis
    errors: Floats


def map_axes(joints: int) -> list[tuple[Axis, Axis]]:
    """Return the pairs of positions that are mapped; of a single joint its position and its velocity."""
    if joints == 1:
        return [((0, 0), (1, 0))]
    return [((0, i), (0, j)) for i, j in combinations(range(joints), 2)]


def error_maps(model: Model, start: Sequence[Sequence[int]]) -> Iterator[ErrorMap]:
    """Yield a map for each pair of axes, the other words as in `start` (q, qd and qdd words)."""
    subject = subject_of(model)
    pairs = map_axes(len(model.formats.q))
    points = next((each for most, each in POINTS.items() if len(pairs) <= most), FEWEST_POINTS)
    for across, up in pairs:
        columns, rows = (_words(model.formats.inputs[kind][joint], points) for kind, joint in (across, up))
        states = [np.tile(np.array(words, dtype=np.int64), (len(rows) * len(columns), 1)) for words in start]
        states[across[0]][:, across[1]] = np.tile(columns, len(rows))
        states[up[0]][:, up[1]] = np.repeat(rows, len(columns))
        errors = subject.table_errors(states)
        yield ErrorMap(across, up, errors.T.reshape(-1, len(rows), len(columns)))


def telling_axes(maps: Sequence[ErrorMap]) -> tuple[Axis, Axis]:
    """Return the axes of the first map on which the first torque that depends on both of them does; else the first."""
    for torque in range(len(maps[0].errors)):
        for each in maps:
            errors = each.errors[torque]
            if np.ptp(errors, axis=0).any() and np.ptp(errors, axis=1).any():
                return each.across, each.up
    return maps[0].across, maps[0].up


def map_picture(errors: Floats, bound: float) -> str:
    """Return errors (rows, columns) as a picture, an address that holds it; the lowest row at the bottom."""
    shares = np.clip((errors / bound + 1) / 2, 0.0, 1.0) if bound > 0 else np.full(errors.shape, 0.5)
    places = np.rint(shares * (COLOURS - 1)).astype(np.uint8)
    png = indexed_png(places[::-1], palette())
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def palette() -> list[Colour]:
    """Return the colours from minus to plus the bound."""
    at = np.linspace(0, len(STOPS) - 1, COLOURS)
    mixed = [np.interp(at, range(len(STOPS)), [stop[k] for stop in STOPS]) for k in range(3)]
    return [
        (round(float(red)), round(float(green)), round(float(blue))) for red, green, blue in zip(*mixed, strict=True)
    ]


def _words(word: Format, points: int) -> Words:
    """Return every word, or as many as there are points, evenly spaced."""
    count = min(points, 1 << word.bits)
    return word.lowest + (((2 * np.arange(count, dtype=np.int64) + 1) << word.bits) // (2 * count))


def indexed_png(places: npt.NDArray[np.uint8], palette: Sequence[Colour]) -> bytes:
    """Return a picture of (height, width) places in a palette of at most 256 colours, the top row first."""
    height, width = places.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), places], axis=1)  # each row begins with its filter: none
    colours = b"".join(bytes(colour) for colour in palette)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", colours),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
