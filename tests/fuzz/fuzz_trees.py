"""Mutations of plain data (what JSON holds): one place becomes something else, near to what it was or far from it."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

TEXTS = (
    "",
    "x",
    "a\nb\x1b[31m",
    "\u202e",
    "\x00",
    "é" * 300,
    "1/0",
    "3/8",
    "-1",
    "1" * 1999,
    "0x1.8p+1",
    "nan",
    "../x",
)
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 26, 27, 31, 32, 33, 62, 63, 64, 2**31 - 1, 2**31, -(2**31) - 1, 2**53, 2**62,
    2**63, -(2**63) - 1, 2**64, 10**19, 10**25, 0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, 1.7976931348623157e308, [], {},
    [[]], [0], [0, 0], [0, 0, 0], {"kind": "sum"}, {"": 0}, *TEXTS,
)  # fmt: skip

_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every place in a tree of lists and dicts, as the container and the key or index in it."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        container = waiting.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], dict | list):
                waiting.append(container[key])
    return found


def mutated_tree(tree: Any, rng: random.Random, near: float = 0.6) -> Any:
    """Return a copy with one to three places changed; a share `near` of the changes keeps the type."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        spots = places(tree)
        if not spots:
            break
        container, key = rng.choice(spots)
        kind = rng.random()
        if kind < near:
            container[key] = neighbour(container[key], rng)
        elif kind < near + 0.15:
            container[key] = copy.deepcopy(rng.choice(ODD))
        elif kind < near + 0.25:  # something from elsewhere in the tree
            other, name = rng.choice(spots)
            container[key] = copy.deepcopy(other[name])
        else:
            _reshape(container, key, rng)
    return tree


def neighbour(value: Any, rng: random.Random) -> Any:
    """Return a value of the same type, close to the one given."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((value + 1, value - 1, -value, 2 * value, value // 2, value ^ 1 << rng.randrange(20), 0))
    if isinstance(value, float):
        return rng.choice((-value, value * 2, value / 2, value + 1.0, value * (1 + 2**-52), 0.0, value * 1e300))
    if isinstance(value, str):
        return _text(value, rng)
    if isinstance(value, list) and value:
        return rng.choice((value[:-1], value[1:], value + value[-1:], value[::-1], [*value, *value]))
    return value


def _text(value: str, rng: random.Random) -> str:
    if len(value) < 2000 and _RATIONAL.fullmatch(value) and rng.random() < 0.7:  # a rational
        top, _, bottom = value.partition("/")
        number = rng.choice((f"{int(top) + 1}", f"-{top.removeprefix('-')}", f"{int(top) * 2}", "0"))
        return f"{number}/{bottom}" if bottom else number
    place = rng.randint(0, len(value))
    return rng.choice((value[:place], value[:place] + rng.choice(TEXTS) + value[place:], value.swapcase(), value * 2))


def _reshape(container: Any, key: Any, rng: random.Random) -> None:
    """Take something out, put something in, or wrap it."""
    kind = rng.randrange(4)
    if kind == 0:
        del container[key]
    elif kind == 1:
        nested: Any = container[key]
        for _ in range(rng.choice((1, 2, 50, 200))):
            nested = [nested]
        container[key] = nested
    elif isinstance(container, dict):
        container[rng.choice(TEXTS)] = copy.deepcopy(container[key])
    else:
        container.insert(rng.randint(0, len(container)), copy.deepcopy(rng.choice((container[key], *ODD))))
