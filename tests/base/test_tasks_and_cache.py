"""Content keys, results as bytes, and the cache on disk."""

from __future__ import annotations

import errno
import logging
import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.base.caching import MISSING, BadEntryError, Cache, cache_directory, cache_named, decode, encode
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.tasks import Task, content_key


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Pair:
    left: Any
    right: Any


def identity(value: Any) -> Any:
    return value


def other(value: Any) -> Any:
    return value


DIFFERENT = [
    *[None, True, 1, 1.0, "1", b"1", 0.0, -0.0, math.nan, math.inf, 2**70, "", b"", (), [], {}],
    *[(1, 2), [1, 2], (1, (2,)), ((1, 2),), ("ab", "c"), ("a", "bc"), ("abc",), {"a": 1}, {"a": 2}, {"b": 1}],
    *[Fraction(1, 3), Colour.RED, Colour.BLUE, Pair(1, 2), Pair(2, 1), Pair((1, 2), ())],
    *[np.arange(4), np.arange(4.0), np.arange(4, dtype=np.int32), np.arange(4).reshape(2, 2), np.int64(1), np.array(1)],
    *[np.arange(4)[::-1], np.zeros((0, 3)), np.zeros((3, 0)), np.arange(4, dtype=">i8")],
]


def test_different_content_has_different_keys() -> None:
    keys = [content_key(value) for value in DIFFERENT]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 for key in keys)


def test_equal_content_has_equal_keys_everywhere() -> None:
    assert content_key({"a": 1, "b": [2.5]}) == content_key({"b": [2.5], "a": 1})
    assert content_key(np.arange(8)[::2]) == content_key(np.array([0, 2, 4, 6]))
    script = "from bddtorque.base.tasks import content_key; print(content_key(('task', 1, {'x': 0.1, 'y': b'z'})))"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    shown = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == content_key(("task", 1, {"x": 0.1, "y": b"z"}))


@pytest.mark.parametrize("value", [object(), {1, 2}, identity, np.array([object()]), Pair(1, object()), Pair])
def test_what_has_no_content_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="content key: "):
        content_key(value)


def test_keys_tell_functions_and_arguments_apart_but_not_names_and_costs() -> None:
    task = Task(identity, (1,))
    assert len({task.key, Task(other, (1,)).key, Task(identity, (2,)).key}) == 3
    assert Task(identity, (1,), name="x", cost=5.0).key == task.key
    assert task.name.endswith("identity")
    with pytest.raises(TypeError, match="must be a function at the top level of a module"):
        Task(lambda: 1)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(PLAIN)
def test_results_come_back_equal_in_every_type(value: Any) -> None:
    assert content_key(decode(encode(value))) == content_key(value)


@pytest.mark.parametrize(
    "value", [each for each in DIFFERENT if isinstance(each, np.ndarray | np.generic) and each.ndim]
)
def test_arrays_come_back_equal(value: Any) -> None:
    again = decode(encode({"it": [value, [value]], "text": "it"}))
    assert content_key(again) == content_key({"it": [value, [value]], "text": "it"})


def test_scalars_of_numpy_come_back() -> None:
    assert content_key(decode(encode(np.int32(5)))) == content_key(np.int32(5))


@pytest.mark.parametrize("value", [Pair(1, 2), {1, 2}, np.array([None]), Fraction(1, 2), b"bytes"])
def test_results_that_are_not_plain_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="must be plain data and arrays of numbers"):
        encode(value)


def test_every_altered_byte_is_found() -> None:
    data = encode((1, np.arange(3)))
    for position in range(len(data)):
        with pytest.raises(BadEntryError):
            decode(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(BadEntryError):
            decode(data[:position])


def test_cache_keeps_and_finds(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "deep" / "cache")
    task = Task(identity, (np.arange(5),))
    assert cache.get(task) is MISSING
    cache.put(task, {"x": np.arange(5), "y": None})
    assert np.array_equal(Cache(cache.directory).get(task)["x"], np.arange(5))
    cache.put(Task(identity, (2,)), None)
    assert cache.get(Task(identity, (2,))) is None
    assert (cache.hits, cache.misses) == (1, 1)
    assert (cache.directory / "CACHEDIR.TAG").is_file()
    assert not list(cache.directory.glob("??/.*"))


def test_damaged_entries_are_made_again(tmp_path: Path) -> None:
    cache, task = Cache(tmp_path), Task(identity, (1,))
    for damage in (b"", b"x" * 100, encode(5)[:-1]):
        cache.put(task, 5)
        cache.path(task).write_bytes(damage)
        assert cache.get(task) is MISSING
        assert not cache.path(task).exists()
    cache.put(task, 5)
    assert cache.get(task) == 5


def test_the_longest_unused_go_first(tmp_path: Path) -> None:
    data = np.zeros(1000)
    entry = len(encode(data))
    cache = Cache(tmp_path, size=int(5.5 * entry))
    tasks = [Task(identity, (i,)) for i in range(6)]
    for age, task in enumerate(tasks[:5]):
        cache.put(task, data)
        os.utime(cache.path(task), (1000 + age, 1000 + age))
    assert cache.get(tasks[0]) is not MISSING  # used just now
    cache.put(tasks[5], data)
    kept = [cache.path(task).exists() for task in tasks]
    assert kept == [True, False, False, True, True, True]
    assert sum(each.size for each in cache.entries()) <= cache.size
    cache.put(Task(identity, (9,)), np.zeros(10_000))  # larger than the whole cache
    assert len(cache.entries()) == 4


def test_leftovers_of_killed_processes_go(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(Task(identity, (1,)), 1)
    folder = cache.path(Task(identity, (1,))).parent
    old, new = folder / ".unfinished-old", folder / ".unfinished-new"
    for each in (old, new):
        each.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    assert len(cache.entries()) == 1
    assert new.exists()
    assert not old.exists()


def test_a_place_that_cannot_be_written_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "cache")
    with caplog.at_level(logging.WARNING, "bddtorque"):
        for i in range(3):
            cache.put(Task(identity, (i,)), i)
            assert cache.get(Task(identity, (i,))) is MISSING
    assert len(caplog.records) == 1
    assert "cannot be written" in caplog.text


def test_a_full_disk_is_said_once_and_leaves_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    cache = Cache(tmp_path)
    monkeypatch.setattr(Path, "replace", full)
    with caplog.at_level(logging.WARNING, "bddtorque"):
        for i in range(3):
            cache.put(Task(identity, (i,)), i)
    assert [record.getMessage().count("No space left") for record in caplog.records] == [1]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "CACHEDIR.TAG"]


def test_other_code_has_other_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, task = Cache(tmp_path), Task(identity, (1,))
    before = cache.path(task)
    monkeypatch.setattr("bddtorque.base.caching.environment_digest", lambda module: "changed code")
    assert cache.path(task) != before


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BDDTORQUE_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("BDDTORQUE_CACHE_SIZE", "3 MiB")
    cache = cache_named("default")
    assert cache is not None
    assert (cache.directory, cache.size) == (tmp_path / "mine", 3 * 2**20)
    monkeypatch.setenv("BDDTORQUE_CACHE_SIZE", "lots")
    with pytest.raises(BddTorqueError, match="BDDTORQUE_CACHE_SIZE must be a size"):
        cache_named("default")
    monkeypatch.setenv("BDDTORQUE_CACHE", "off")
    assert cache_named("default") is None
    monkeypatch.delenv("BDDTORQUE_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "bddtorque"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home" / ".cache" / "bddtorque"


def test_a_cache_of_another_name_is_refused() -> None:
    with pytest.raises(BddTorqueError, match=r"^cache must be 'default', None or a Cache, got 'nope'$"):
        bt.compile("planar2r", bits=4, cache="nope")
