"""`Cache`: finished results on disk, found by content, bounded in size, shared by any number of processes.

Nothing here can break a run: what cannot be read is made again, what cannot be written is said once and left. An entry
is a SHA-256, then an npz of arrays and a JSON text that says where each belongs. Nothing is pickled: reading an entry
runs no code, whoever wrote it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import parse_size
from bddtorque.base.tasks import Task, content_key, environment_digest

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


DEFAULT_SIZE = 4 * 2**30
"""Bytes, unless BDDTORQUE_CACHE_SIZE says otherwise."""
MISSING: Any = object()
"""Returned by `Cache.get` for a task that is not there; None is a result like any other."""

_SUFFIX = ".entry"
_UNFINISHED = ".unfinished-"
_UNFINISHED_AGE = 3600.0
_FILL_AFTER_EVICTION = 0.9  # of the size: so that a full cache is not searched at every write
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Results of bddtorque that can be made again; safe to delete.\n"

log = logging.getLogger("bddtorque")


def cache_directory() -> Path | None:
    r"""Return where results are kept, or None for nowhere.

    BDDTORQUE_CACHE is the folder, or ``off``. Without it: ``$XDG_CACHE_HOME/bddtorque`` or ``~/.cache/bddtorque``, on
    macOS ``~/Library/Caches/bddtorque``, on Windows ``%LOCALAPPDATA%\bddtorque\cache``.
    """
    chosen = os.environ.get("BDDTORQUE_CACHE")
    if chosen is not None and chosen.strip().lower() in ("", "off", "none", "0"):
        return None
    try:
        if chosen is not None:
            return Path(chosen).expanduser()
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA")
            return (Path(base) if base else Path.home() / "AppData" / "Local") / "bddtorque" / "cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "bddtorque"
        base = os.environ.get("XDG_CACHE_HOME")
        return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "bddtorque"
    except RuntimeError as problem:  # no home, or none of the user that is named
        if chosen is not None:
            log.warning("cache: BDDTORQUE_CACHE is no folder (%s); going on without it", problem)
        return None


def cache_named(cache: Cache | str | None) -> Cache | None:
    """Return the cache that an option means: ``"default"`` for the one of the environment, None for none, or one."""
    if cache is None or isinstance(cache, Cache):
        return cache
    if cache != "default":
        raise BddTorqueError(f"cache must be 'default', None or a Cache, got {cache!r:.60}")
    directory, size = cache_directory(), os.environ.get("BDDTORQUE_CACHE_SIZE", DEFAULT_SIZE)
    return None if directory is None else Cache(directory, parse_size(size, "BDDTORQUE_CACHE_SIZE"))


class _Entry(NamedTuple):
    used: float
    size: int
    path: Path


class Cache:
    """Results by content, in one folder.

    Parameters
    ----------
    directory
        The folder; created when the first result is kept.
    size
        Most bytes it may take; beyond that the least recently used results are removed.

    Attributes
    ----------
    hits, misses
        How often `get` found something, and how often it did not.
    """

    def __init__(self, directory: str | os.PathLike[str], size: int = DEFAULT_SIZE) -> None:
        self.directory = Path(directory)
        self.size = size
        self.hits = self.misses = 0
        self._total: int | None = None  # bytes, as far as this process knows; None before it has looked
        self._said = False

    def path(self, task: Task) -> Path:
        """Return the file that keeps, or would keep, the result of a task."""
        address = content_key((task.key, environment_digest(task.function.__module__)))
        return self.directory / address[:2] / (address + _SUFFIX)

    def get(self, task: Task) -> Any:
        """Return the result of a task, or `MISSING`; what is damaged is as good as missing, and removed."""
        path = self.path(task)
        try:
            result = decode(path.read_bytes())
        except OSError:
            self.misses += 1
            return MISSING
        except BadEntryError as problem:
            log.info("cache: %s is damaged (%s) and is made again", path, problem)
            with contextlib.suppress(OSError):
                path.unlink()
            self.misses += 1
            return MISSING
        with contextlib.suppress(OSError):  # eviction goes by the time of last use
            os.utime(path)
        self.hits += 1
        return result

    def put(self, task: Task, result: Any) -> None:
        """Keep a result: written beside its place and moved there whole, so that nobody ever reads half of it."""
        data = encode(result)
        if len(data) > self.size:
            return
        try:
            self._write(self.path(task), data)
            self._make_room(len(data))
        except OSError as problem:
            if not self._said:
                self._said = True
                log.warning("cache: %s cannot be written (%s); going on without it", self.directory, problem)

    def entries(self) -> list[_Entry]:
        """Return what is kept, longest unused first; leftovers of killed processes are removed on the way."""
        found = []
        with contextlib.suppress(OSError):
            for path in self.directory.glob("??/*"):
                try:
                    status = path.stat()
                    if path.name.endswith(_SUFFIX):
                        found.append(_Entry(status.st_mtime, status.st_size, path))
                    elif path.name.startswith(_UNFINISHED) and time.time() - status.st_mtime > _UNFINISHED_AGE:
                        path.unlink()
                except OSError:  # another process was faster
                    continue
        return sorted(found)

    def _write(self, path: Path, data: bytes) -> None:
        if not self.directory.is_dir():
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.directory / "CACHEDIR.TAG").write_text(_TAG, encoding="utf-8")  # tells backups to pass by
        path.parent.mkdir(exist_ok=True)
        unfinished = path.with_name(_UNFINISHED + secrets.token_hex(8))
        try:  # with its name known before there is such a file, Ctrl-C at any moment leaves none behind
            with unfinished.open("xb") as file:
                file.write(data)
            unfinished.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            raise

    def _make_room(self, added: int) -> None:
        if self._total is not None and self._total + added <= self.size:
            self._total += added
            return
        kept = self.entries()
        total = sum(entry.size for entry in kept)
        if total > self.size:
            for entry in kept:
                if total <= _FILL_AFTER_EVICTION * self.size:
                    break
                with contextlib.suppress(OSError):
                    entry.path.unlink()
                total -= entry.size
        self._total = total
