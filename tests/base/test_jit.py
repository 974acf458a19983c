"""Python collects no garbage while Numba compiles; before and after it does what it did."""

import gc

import numba
import pytest
from numba.core.errors import TypingError

import bddtorque.base.jit  # noqa: F401 - has Numba do so


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
