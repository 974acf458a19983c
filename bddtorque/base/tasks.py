"""`Task`: a pure function, its arguments, and a key that names their content."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Task:
    """Work that can be done anywhere and at any time with the same result."""

    function: Callable[..., Any]  # a pure function at the top level of a module (workers import it by name)
    # numbers, text, bytes, None, NumPy arrays, enums, fractions, and tuples, lists, dicts and frozen dataclasses of
    # such
    arguments: tuple[Any, ...] = ()
    name: str = ""  # what messages and progress call it
    cost: float = 1.0  # how long it takes relative to other tasks; for progress and order only

    def __post_init__(self) -> None:
        where = f"{self.function.__module__}.{self.function.__qualname__}"
        if "<" in where:
            raise TypeError(f"a task must be a function at the top level of a module, got {where}")
        object.__setattr__(self, "name", self.name or where)

    @cached_property
    def key(self) -> str:
        """SHA-256 of the function's name and of all arguments, in hexadecimal."""
        return content_key((self.function.__module__, self.function.__qualname__, self.arguments))

    def __call__(self) -> Any:
        """Do the work here and now."""
        return self.function(*self.arguments)


def content_key(value: Any) -> str:
    """Return the SHA-256 of plain data, in hexadecimal: equal content, equal key, on every machine.

    Types count (1, 1.0 and True differ), and so do the sign of zero, the order of lists and the dtype of arrays; the
    order of dicts does not.
    """
    digest = hashlib.sha256()
    for part in _parts(value):
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """Write a value so that no two different values are written alike: each part has its type and its length."""
    if value is None or type(value) in (bool, int, str, bytes):
        yield _tagged(type(value).__name__, value if isinstance(value, bytes) else str(value).encode())
    elif type(value) is float:
        yield _tagged("float", value.hex().encode())
    elif isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.hasobject:
            raise TypeError("content key: arrays must hold numbers, got one of Python objects")
        yield _tagged("array", f"{type(value).__name__} {array.dtype.str} {array.dtype.descr} {array.shape}".encode())
        yield array.tobytes()
    elif type(value) in (tuple, list):
        yield _tagged(type(value).__name__, str(len(value)).encode())
        for each in value:
            yield from _parts(each)
    elif type(value) is dict:
        yield _tagged("dict", str(len(value)).encode())
        for key, each in sorted((content_key(key), each) for key, each in value.items()):
            yield key.encode()
            yield from _parts(each)
    elif isinstance(value, Enum):
        yield _tagged("enum", f"{type(value).__module__}.{type(value).__qualname__}.{value.name}".encode())
    elif type(value) is Fraction:
        yield _tagged("fraction", str(value).encode())
    elif is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        yield _tagged("dataclass", f"{type(value).__module__}.{type(value).__qualname__} {names}".encode())
        for name in names:
            yield from _parts(getattr(value, name))
    else:
        raise TypeError(f"content key: arguments must be plain data, got {type(value).__qualname__}")


def _tagged(kind: str, data: bytes) -> bytes:
    return f"{kind}:{len(data)}:".encode() + data


@cache
def environment_digest(module: str) -> str:
    """Return the SHA-256 of all code that a function of `module` can run.

    A cached result is only good for the code that made it. A version number is easily forgotten, so the source of the
    whole package counts, that of the module (where it is none of the package's), and the versions of Python, NumPy and
    Numba.
    """
    digest = hashlib.sha256()
    package = Path(str(resources.files("bddtorque")))
    files = sorted(package.rglob("*.py"))
    own = getattr(sys.modules.get(module), "__file__", None)
    if own and Path(own) not in files:
        files.append(Path(own))
    for file in files:
        name = file.relative_to(package).as_posix() if file.is_relative_to(package) else file.name
        digest.update(_tagged(name, file.read_bytes()))
    versions = (sys.implementation.name, tuple(sys.version_info[:2]), np.__version__, metadata.version("numba"))
    digest.update(repr(versions).encode())
    return digest.hexdigest()
