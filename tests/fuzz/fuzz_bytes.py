"""Mutations of plain bytes: what a broken disk, a broken program or a hostile person makes of a file.

Everything is drawn from the generator that is handed in, so that a seed and a number name an input for good.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Mutation = Callable[[bytes, random.Random], bytes]

LARGEST = 200_000
"""Bytes of a mutated input; large hostile files have tests of their own."""

NUMBERS = (
    b"0", b"-0", b"-1", b"1", b"2", b"255", b"65535", b"2147483648", b"-2147483649", b"4294967296",
    b"9223372036854775807", b"-9223372036854775808", b"18446744073709551616", b"1e308", b"1e309", b"-1e400",
    b"5e-324", b"1e-400", b"nan", b"-nan", b"inf", b"-inf", b"NaN", b"Infinity", b"0x7f", b"0b1", b"1_000", b"1e",
    b".", b"+.5", b"1" + b"0" * 400, b"0." + b"0" * 400 + b"1", b"9" * 5000, b"0x" + b"f" * 6000, "٣".encode(),
    "−1".encode(), b"true",
)  # fmt: skip
"""Numbers at the ends of what types hold, and things that look like numbers."""

TEXTS = (
    b"\x00", b"\r", b"\n", b"\r\n", b"\t", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1b[31m", b"\x7f",
    b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u202e".encode(), "\u2066".encode(), "\u200b".encode(),
    "\u2028".encode(), "\x85".encode(), "\ufeff".encode(), "é".encode(), "\U0001f9be".encode(), b"../", b"/dev/null",
    b"..\\", b"%s%n", b"'", b'"', b'"""', b"\\", b"\\u0000", b"\\ud800", b"#", b"a" * 300,
)  # fmt: skip
"""Bytes that mean something to a reader of text: ends, escapes, encodings, directions, places."""

_NUMBER = re.compile(rb"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def mutated(data: bytes, rng: random.Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Return `data` after one to six mutations; `tokens` are words of its language, `others` are files like it."""
    for _ in range(1 + min(int(rng.expovariate(0.7)), 5)):
        data = _once(data, rng, tokens, others)[:LARGEST]
    return data


def _once(data: bytes, rng: random.Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    kind = rng.randrange(13)
    if kind == 0 and data:  # a bit
        place = rng.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    if kind == 1 and data:  # a byte
        place = rng.randrange(len(data))
        return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    start, end = _slice(data, rng)
    if kind == 2:
        return data[:start] + data[end:]
    if kind == 3:  # again, perhaps many times
        return data[:end] + data[start:end] * rng.choice((1, 1, 2, 3, 50)) + data[end:]
    if kind == 4:
        return data[:start]
    if kind == 5:  # part of another file
        other = rng.choice(others)
        first, last = _slice(other, rng)
        return data[:start] + other[first:last] + data[end:]
    if kind == 6:
        return data[:start] + rng.randbytes(rng.choice((1, 2, 4, 8, 64))) + data[end:]
    if kind in (7, 8):
        return data[:start] + rng.choice(TEXTS) + data[start if kind == 7 else end :]
    if kind in (9, 10):  # a number becomes another one
        found = list(_NUMBER.finditer(data))
        if found:
            spot = rng.choice(found)
            return data[: spot.start()] + rng.choice(NUMBERS) + data[spot.end() :]
    if kind == 11:
        return _lines_moved(data, rng)
    return data[:start] + rng.choice(tokens or TEXTS) + data[start:]


def _slice(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice((1, 1, 2, 4, 8, 16, 100, 1000)))


def _lines_moved(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines.insert(one, lines[other])
    return b"\n".join(lines)
