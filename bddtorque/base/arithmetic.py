"""Arithmetic that is plain Python for any number type, and a handful of instructions in compiled code.

Numba reads, types and compiles every function that compiled code calls, in 50 ms and more. A function that only adds
and multiplies needs none of that: it is run once, where it is called, on numbers that write down what is done with
them. The floats are the same: each operation is rounded as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

Function = TypeVar("Function", bound=Callable[..., Any])
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

    def _apply(self, name: str, left: Any, right: Any) -> _Number:
        pair = (_value(each, self.value.type) for each in (left, right))
        return _Number(self.builder, getattr(self.builder, name if self.whole else f"f{name}")(*pair))

    def __add__(self, other: Any) -> _Number:
        return self._apply("add", self, other)

    def __radd__(self, other: Any) -> _Number:
        return self._apply("add", other, self)

    def __sub__(self, other: Any) -> _Number:
        return self._apply("sub", self, other)

    def __rsub__(self, other: Any) -> _Number:
        return self._apply("sub", other, self)

    def __mul__(self, other: Any) -> _Number:
        return self._apply("mul", self, other)

    def __rmul__(self, other: Any) -> _Number:
        return self._apply("mul", other, self)

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
        return _pointer_to_item(
            self.context, self.builder, self.data, self.shape, self.strides, self.layout, numbers
        )  # fmt: skip

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
