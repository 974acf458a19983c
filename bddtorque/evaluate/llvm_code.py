"""Statements of straight-line code as instructions of LLVM, without a compiler of Python in between.

Numba takes seconds to find the types of hundreds of statements and milliseconds to compile them. Here every type is
known: words are int64, floats are of the plan's precision. Statements are those of Python, without branches and loops:

    w3 = fma(w1, real(0.5), -w2)        a name, or an element of an array of one dimension, is set
    rows[128 + i] = w3

What they mean is what Numba would make of them, operation by operation. An index must not be negative.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.np.numpy_support import from_dtype

INT64, INT32 = ir.IntType(64), ir.IntType(32)
_INTEGERS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.LShift: "shl",
    ast.RShift: "ashr",
}  # fmt: skip
_FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul"}
_COMPARED = {ast.Lt: "<", ast.NotEq: "!="}


def emitted(text: str, results: Sequence[str], real: Any, given: dict[str, Any]) -> tuple[Any, Callable[..., Any]]:
    """Return what an intrinsic function returns: its signature, and what writes the instructions.

    Parameters
    ----------
    text
        The statements.
    results
        Names whose values are returned as a tuple.
    real
        The NumPy type of floats.
    given
        Numba's types of what is given, by name: int64 or arrays of one dimension.
    """
    number = from_dtype(real)
    returned: Any = types.UniTuple(types.int64, len(results)) if results else types.void  # type: ignore[no-untyped-call]

    def generate(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        known = {}
        for (name, kind), value in zip(given.items(), values, strict=True):
            known[name] = context.make_array(kind)(context, builder, value).data if _is_array(kind) else value
        writer = _Writer(builder, known, given, context.get_value_type(number))
        for statement in ast.parse(text).body:
            writer.write(statement)
        if not results:
            return context.get_dummy_value()
        return context.make_tuple(builder, returned, [known[name] for name in results])

    return returned(*given.values()), generate


def _is_array(kind: Any) -> bool:
    return isinstance(kind, types.Array)


def _is_float(value: Any) -> bool:
    return isinstance(value.type, ir.FloatType | ir.DoubleType)


class _Writer:
    """Writes instructions; `known` holds the values of names."""

    def __init__(self, builder: Any, known: dict[str, Any], kinds: dict[str, Any], real: Any) -> None:
        self.builder, self.known, self.kinds, self.real = builder, known, kinds, real

    def write(self, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.Assign)
        (target,) = statement.targets
        value = self.value(statement.value)
        if isinstance(target, ast.Subscript):
            self.builder.store(value, self._place(target))
        else:
            assert isinstance(target, ast.Name)
            self.known[target.id] = value

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        match node:
            case ast.Constant(value=int(number)):
                return ir.Constant(INT64, number)
            case ast.Name(id=name):
                return self.known[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand)
                return self.builder.fneg(value) if _is_float(value) else self.builder.neg(value)
            case ast.BinOp(left=left, op=op, right=right):
                pair = self.value(left), self.value(right)
                name = (_FLOATS if _is_float(pair[0]) else _INTEGERS)[type(op)]
                return getattr(self.builder, name)(*pair)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.builder.icmp_signed(_COMPARED[type(op)], self.value(left), self.value(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.builder.select(self.value(test), self.value(body), self.value(orelse))
            case ast.Subscript(value=ast.Name(id=name)):
                return self._signed(self.builder.load(self._place(node)), name)
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name == "real" and _literal(argument) is not None:
                return ir.Constant(self.real, _literal(argument))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return getattr(self, f"_{name}")(*(self.value(each) for each in arguments))
            case _:
                raise AssertionError(ast.dump(node))

    def _place(self, node: ast.Subscript) -> Any:
        assert isinstance(node.value, ast.Name)
        return self.builder.gep(self.known[node.value.id], [self.value(node.slice)], inbounds=True)

    def _signed(self, value: Any, array: str) -> Any:
        """Return an element of an array: an integer as int64, a float as it is."""
        if _is_float(value) or value.type == INT64:
            return value
        return self.builder.sext(value, INT64) if self.kinds[array].dtype.signed else self.builder.zext(value, INT64)

    def _intrinsic(self, name: str, returned: Any, *values: Any) -> Any:
        kinds = [each.type for each in values]
        overloaded = (returned, kinds[0]) if returned != kinds[0] else (returned,)
        operation = self.builder.module.declare_intrinsic(name, overloaded, ir.FunctionType(returned, kinds))
        return self.builder.call(operation, values)

    def _fma(self, a: Any, b: Any, c: Any) -> Any:
        return self._intrinsic("llvm.fma", a.type, a, b, c)

    def _rint(self, a: Any) -> Any:
        return self._intrinsic("llvm.rint", a.type, a)

    def _lrint(self, a: Any) -> Any:
        return self._intrinsic("llvm.lrint", INT64, a)

    def _real(self, a: Any) -> Any:
        return a if _is_float(a) else self.builder.sitofp(a, self.real)

    def _int64(self, a: Any) -> Any:
        if _is_float(a):
            return self.builder.fptosi(a, INT64)
        return a if a.type == INT64 else self.builder.sext(a, INT64)

    def _int32(self, a: Any) -> Any:
        return self.builder.fptosi(a, INT32) if _is_float(a) else self.builder.trunc(a, INT32)

    def _less(self, a: Any, b: Any) -> Any:
        return self.builder.fcmp_ordered("<", a, b) if _is_float(a) else self.builder.icmp_signed("<", a, b)

    def _min(self, a: Any, b: Any) -> Any:
        return self.builder.select(self._less(b, a), b, a)

    def _max(self, a: Any, b: Any) -> Any:
        return self.builder.select(self._less(a, b), b, a)

    def _abs(self, a: Any) -> Any:
        if _is_float(a):
            return self._intrinsic("llvm.fabs", a.type, a)
        return self.builder.select(self._less(a, ir.Constant(INT64, 0)), self.builder.neg(a), a)


def _literal(node: ast.expr) -> float | None:
    """Return the float that is written there, if one is."""
    match node:
        case ast.Constant(value=float(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float(number))):
            return -number
    return None
