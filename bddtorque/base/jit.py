"""Typed names for Numba's decorator, so that strict type checks see through it, and arithmetic that needs no Numba.

Numba reads, types and compiles every function that compiled code calls, in 50 ms and more. A function that only adds
and multiplies needs none of that: `arithmetic` runs it once, where it is called, on numbers that write down what is
done with them. The floats are the same: each operation is rounded as it stands.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from functools import partialmethod, wraps
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, config, event
from numba.core.caching import FunctionCache
from numba.extending import lower_builtin, register_jitable, type_callable

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


_pointer_to_item: Any = cgutils.get_item_pointer2
_unpack: Any = cgutils.unpack_tuple
_Tuple: Any = types.BaseTuple


def arithmetic(function: Function) -> Function:
    """Leave a function plain Python, and let compiled code call it.

    It takes float64, integers, tuples of them and arrays; it adds, subtracts, multiplies and negates, reads and sets
    elements at indices that are not negative, and returns float64 in tuples, or nothing. It has no branches that depend
    on numbers.
    """

    def find_kind(context: Any) -> Callable[..., Any]:
        return wraps(function)(lambda *kinds: _kind_of(function(*map(_stand_in, kinds))))

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        given = (_read(context, builder, *each) for each in zip(signature.args, values, strict=True))
        return _written(context, builder, signature.return_type, function(*given))

    type_callable(function)(find_kind)
    lower_builtin(function, types.VarArg(types.Any))(write)  # type: ignore[no-untyped-call]
    return function


class _StandIn:
    """Any number or array where only the kind of a result is asked for: all that comes of it is the same."""

    def __add__(self, other: Any) -> _StandIn:
        return self

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __getitem__ = __add__

    def __neg__(self) -> _StandIn:
        return self

    def __setitem__(self, indices: Any, value: Any) -> None:
        pass


class _Number:
    """A float or an integer of compiled code."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value
        self.whole = isinstance(value.type, ir.IntType)

    def _apply(self, other: Any, name: str, swapped: bool = False) -> _Number:
        left, right = self.value, _value(other, self.value.type)
        pair = (right, left) if swapped else (left, right)
        return _Number(self.builder, getattr(self.builder, name if self.whole else f"f{name}")(*pair))

    __add__ = partialmethod(_apply, name="add")
    __radd__ = partialmethod(_apply, name="add", swapped=True)
    __sub__ = partialmethod(_apply, name="sub")
    __rsub__ = partialmethod(_apply, name="sub", swapped=True)
    __mul__ = partialmethod(_apply, name="mul")
    __rmul__ = partialmethod(_apply, name="mul", swapped=True)

    def __neg__(self) -> _Number:
        return _Number(self.builder, self.builder.neg(self.value) if self.whole else self.builder.fneg(self.value))


class _Elements:
    """An array of compiled code."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        shape, strides = (_unpack(builder, each) for each in (array.shape, array.strides))
        self.context, self.builder, self.layout = context, builder, kind.layout
        self.data, self.shape, self.strides = array.data, shape, strides

    def _place(self, indices: Any) -> Any:
        numbers = [_value(each, ir.IntType(64)) for each in (indices if isinstance(indices, tuple) else (indices,))]
        return _pointer_to_item(self.context, self.builder, self.data, self.shape, self.strides, self.layout, numbers)

    def __getitem__(self, indices: Any) -> _Number:
        return _Number(self.builder, self.builder.load(self._place(indices)))

    def __setitem__(self, indices: Any, value: Any) -> None:
        place = self._place(indices)
        self.builder.store(_value(value, place.type.pointee), place)


def _value(number: Any, kind: Any) -> Any:
    """Return the value of a number, or of a constant of a kind."""
    return number.value if isinstance(number, _Number) else ir.Constant(kind, number)


def _stand_in(kind: Any) -> Any:
    """Return what stands for an argument."""
    return tuple(map(_stand_in, kind.types)) if isinstance(kind, _Tuple) else _StandIn()


def _kind_of(result: Any) -> Any:
    """Return the kind of a result, which is a number wherever it is no tuple."""
    if result is None:
        return types.none
    return _Tuple.from_types(tuple(map(_kind_of, result))) if isinstance(result, tuple) else types.float64


def _read(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return an argument as a function takes it."""
    if isinstance(kind, _Tuple):
        parts = zip(kind.types, _unpack(builder, value), strict=True)
        return tuple(_read(context, builder, *each) for each in parts)
    return _Elements(context, builder, kind, value) if isinstance(kind, types.Array) else _Number(builder, value)


def _written(context: Any, builder: Any, kind: Any, result: Any) -> Any:
    """Return a result as compiled code takes it."""
    if result is None:
        return context.get_dummy_value()
    if not isinstance(result, tuple):
        return _value(result, ir.DoubleType())
    parts = zip(kind.types, result, strict=True)
    return context.make_tuple(builder, kind, [_written(context, builder, *each) for each in parts])
