"""Typed names for Numba's decorator, so that strict type checks see through it."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import config, event
from numba.core.caching import FunctionCache
from numba.extending import register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])

DISABLE_JIT: bool = bool(vars(config)["DISABLE_JIT"])
"""True if NUMBA_DISABLE_JIT is set: compiled functions are plain Python then, and cannot read addresses."""


class _Uncollected(event.Listener):
    """Has Python collect no garbage while Numba compiles, unless it does not anyway.

    Numba makes millions of objects that live until it has compiled a function. Python would look through them, and
    through all that a process holds, again and again: a sixth of the time. What is left over is collected afterwards.
    """

    def __init__(self) -> None:
        self._depth, self._collects = 0, False

    def on_start(self, compiling: Any) -> None:
        """Begin to compile a function, for itself or for another one; only one thread at a time does."""
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, compiling: Any) -> None:
        """End, whether or not the function was compiled."""
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()


event.register("numba:compile", _Uncollected())  # type: ignore[no-untyped-call]

_save: Any = FunctionCache.save_overload
_not_kept: set[str] = set()


def _save_if_possible(self: Any, signature: Any, compiled: Any) -> None:
    """Keep compiled code on disk as Numba does; where that cannot be written, warn once and go on without it."""
    try:
        _save(self, signature, compiled)
    except OSError as problem:
        if self.cache_path not in _not_kept:
            _not_kept.add(self.cache_path)
            said = "Numba's cache: %s cannot be written (%s); going on without it"
            logging.getLogger("bddtorque").warning(said, self.cache_path, problem.strerror or problem)


FunctionCache.save_overload = _save_if_possible  # type: ignore[method-assign]


def njit(function: Function) -> Function:
    """Compile a function with Numba: cached on disk, no Python objects, the GIL released."""
    return _compiled(function, cache=True)


def njit_without_refcounts(function: Function) -> Function:
    """Compile as `njit` does, without counting references to arrays: for kernels that allocate nothing.

    Every helper compiled into a kernel would count its arrays on the way in and out, with a locked instruction each:
    about 4 ns an array, more than a look-up. The caller holds the arrays all the while.
    """
    return _compiled(function, cache=True, _nrt=False)


def inlined(function: Function) -> Function:
    """Compile a function into each of its callers, so that no argument is passed or counted."""
    return _compiled(function, inline="always")


def njit_inlined_by_llvm(function: Function) -> Function:
    """Compile as `njit_without_refcounts` does, once; LLVM puts what came of it into each caller, as fast as `inlined`.

    For long functions: Numba would read and type an inlined one again for every call in the source, in seconds.
    """
    return _compiled(function, cache=True, _nrt=False, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    return cast(Function, numba.njit(nogil=True, **options)(function))


def jitable(function: Function) -> Function:
    """Leave a function plain Python for any number type, and let compiled code call it as well."""
    jitable_function: Function = register_jitable(function)
    return jitable_function
