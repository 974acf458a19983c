"""Numba compiles without collecting garbage, and goes on where it cannot keep what it compiled."""

import errno
import gc
import os

import numba
import pytest
from numba.core.errors import TypingError

from bddtorque.base.jit import njit


@pytest.fixture
def collects():
    """Return what switches collecting on or off, until the test is over."""
    before = gc.isenabled()
    switch = {True: gc.enable, False: gc.disable}
    yield lambda on: switch[on]()
    switch[before]()


@pytest.mark.parametrize("on", [True, False])
def test_garbage_is_collected_before_and_after_compiling_alone(collects, on, monkeypatch):
    seen = []
    compiled = numba.njit(lambda x: x + 1)
    compiler = type(compiled._compiler)
    compile_now = compiler.compile
    monkeypatch.setattr(compiler, "compile", lambda *given: seen.append(gc.isenabled()) or compile_now(*given))
    collects(on)
    assert compiled(1) == 2 and seen == [False]
    assert gc.isenabled() == on


def test_garbage_is_collected_after_a_function_that_cannot_be_compiled(collects):
    collects(True)
    inner = numba.njit(lambda x: x.nothing)
    with pytest.raises(TypingError):
        numba.njit(lambda x: inner(x) + 1)(1)
    assert gc.isenabled()


def test_code_that_cannot_be_kept_is_used_all_the_same(monkeypatch, tmp_path, caplog):
    """A full disk costs the time to compile again, not the answer; it is said once."""
    source = tmp_path / "added.py"
    source.write_text("def add(x):\n    return x + 1\n\ndef twice(x):\n    return 2 * x\n")
    names: dict = {}
    exec(compile(source.read_text(), str(source), "exec"), names)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("numba.core.caching.os.replace", full)
    assert njit(names["add"])(2) == 3 and njit(names["twice"])(2) == 4
    (said,) = (record.message for record in caplog.records)
    assert said.startswith("Numba's cache: ")
    assert said.endswith(" cannot be written (No space left on device); going on without it")
