"""Statements of straight-line code as instructions of LLVM, without a compiler of Python in between.

Numba takes seconds to find the types of hundreds of statements and milliseconds to compile them. Here every type is
known: words are int64, floats are of the plan's precision. Statements are those of Python, without loops:

    w3 = fma(w1, real(0.5), -w2)        a name, or an element of an array of one or two dimensions, is set
    rows[128 + i] = w3
    if x1 < -2048:                      there is no `else`, and names that are set here were set before
        x1 = -2048
    match section:                      cases are 0, 1, 2, ...; names that are set here are forgotten
        case 0:
            slots[7] = slots[3] + 1

What they mean is what Numba would make of them, operation by operation. An index must not be negative. Statements about
many states at once (`LaneWriter`) have a vector for every name, a state to each lane. They are the same, and these:

    x5 = q[2 * width + first]               as many elements as there are lanes, from this one on
    a0, a1, a2 = apart(3, u0, u1, u2)       rows of three words that lie on end in memory: each column by itself
    out[3 * first] = together(r0, r1, r2)   and back; vectors are stored one after another
    outside = any(x5 & -4096)               whether any lane is not 0: a number, as is
    n5 = count(a5 < real(0.5))              in how many lanes it holds

States need not stand in lanes in their order: `apart` has the next state as many lanes on as it is told, `together` as
many as `lane_step` says of its rows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.numpy_support import from_dtype

from bddtorque.evaluate.pointers import call_at_address

INT64, INT32, BOOLEAN = ir.IntType(64), ir.IntType(32), ir.IntType(1)
HIGH = 1 << 62
"""Higher than any word."""
_INTEGERS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.LShift: "shl",
    ast.RShift: "ashr",
}  # fmt: skip
_FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_COMPARED = {ast.Lt: "<", ast.Gt: ">", ast.NotEq: "!="}
_pointer_to_item: Any = cgutils.get_item_pointer2


def clamp_to_int64(word: int) -> int:
    """Return an element of an array of integers as an int64: one that int64 cannot hold is as high as any."""
    return min(int(word), HIGH)


def emitted(
    text: str, results: Sequence[str], real: Any, given: dict[str, Any], make: Callable[..., LlvmWriter] | None = None
) -> tuple[Any, Callable[..., Any]]:
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
        Numba's types of what is given, by name: int64 or arrays of one or two dimensions.
    make
        Makes the writer of the statements; `LlvmWriter` unless given.
    """
    number = from_dtype(real)
    returned: Any = types.UniTuple(types.int64, len(results)) if results else types.void  # type: ignore[no-untyped-call]

    def generate(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        known = {}
        for (name, kind), value in zip(given.items(), values, strict=True):
            known[name] = _array(context, builder, kind, value) if isinstance(kind, types.Array) else value
        writer = (make or LlvmWriter)(context, builder, known, given, context.get_value_type(number))
        for statement in ast.parse(text).body:
            writer.write(statement)
        if not results:
            return context.get_dummy_value()
        return context.make_tuple(builder, returned, [writer.known[name] for name in results])

    return returned(*given.values()), generate


def _array(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return what is known of an array: a pointer to its elements, or of two indices the pointer to an element."""
    array = context.make_array(kind)(context, builder, value)
    if kind.ndim == 1:
        return array.data
    shape, strides = (cgutils.unpack_tuple(builder, each) for each in (array.shape, array.strides))  # type: ignore[no-untyped-call]
    return partial(_pointer_to_item, context, builder, array.data, shape, strides, kind.layout)


def element(value: Any) -> Any:
    """Return the type of a value, or of one lane of it."""
    return value.type.element if isinstance(value.type, ir.VectorType) else value.type


def is_float(value: Any) -> bool:
    """Tell whether a value is a float, or a vector of them."""
    return isinstance(element(value), ir.FloatType | ir.DoubleType)


class LlvmWriter:
    """Writes instructions; `known` holds the values of names."""

    def __init__(self, context: Any, builder: Any, known: dict[str, Any], kinds: dict[str, Any], real: Any) -> None:
        self.context, self.builder, self.known, self.kinds, self.real = context, builder, known, kinds, real

    def write(self, statement: ast.stmt) -> None:
        """Write the instructions of a statement."""
        if not isinstance(statement, ast.Assign):
            assert isinstance(statement, ast.If | ast.Match)
            self._write_branch(statement) if isinstance(statement, ast.If) else self._write_match(statement)
            return
        (target,) = statement.targets
        value = self.value(statement.value)
        match target:
            case ast.Subscript():
                self.store(value, target)
            case ast.Name(id=name):
                self.known[name] = value
            case ast.Tuple(elts=names):
                self.known |= {
                    each.id: own for each, own in zip(names, value, strict=True) if isinstance(each, ast.Name)
                }

    def _write_branch(self, statement: ast.If) -> None:
        """Write the instructions of statements that are done if a test holds."""
        before, known = self.builder.block, dict(self.known)
        with self.builder.if_then(self.value(statement.test)):
            for each in statement.body:
                self.write(each)
            after = self.builder.block
        for name, value in known.items():
            if self.known[name] is not value:
                either = self.builder.phi(value.type)
                either.add_incoming(value, before)
                either.add_incoming(self.known[name], after)
                self.known[name] = either

    def _write_match(self, statement: ast.Match) -> None:
        """Write the instructions of cases, of which one is done; names that are set there are forgotten."""
        end, known = self.builder.append_basic_block("end"), dict(self.known)
        switch = self.builder.switch(self.value(statement.subject), end)
        for number, case in enumerate(statement.cases):
            block = self.builder.append_basic_block("case")
            switch.add_case(ir.Constant(INT64, number), block)
            self.builder.position_at_end(block)
            for inner in case.body:
                self.write(inner)
            self.builder.branch(end)
            self.known = dict(known)
        self.builder.position_at_end(end)

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        match node:
            case ast.Constant(value=int(number)):
                return ir.Constant(INT64, number)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return ir.Constant(INT64, -number)
            case ast.Name(id=name):
                return self.known[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand)
                return self.builder.fneg(value) if is_float(value) else self.builder.neg(value)
            case ast.BinOp(left=left, op=op, right=right):
                pair = self._alike(self.value(left), self.value(right))
                name = (_FLOATS if is_float(pair[0]) else _INTEGERS)[type(op)]
                return getattr(self.builder, name)(*pair)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                pair = self._alike(self.value(left), self.value(right))
                compare = self.builder.fcmp_ordered if is_float(pair[0]) else self.builder.icmp_signed
                return compare(_COMPARED[type(op)], *pair)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.builder.select(self.value(test), self.value(body), self.value(orelse))
            case ast.Subscript(value=ast.Name(id=name)):
                return self._signed(self.load(node), name)
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name == "real" and _literal(argument) is not None:
                return self.number(ir.Constant(self.real, _literal(argument)))
            case ast.Call(
                func=ast.Name(id="clamp_to_int64"), args=[ast.Subscript(value=ast.Name(id=name)) as argument]
            ):
                value = self.value(argument)
                if self.kinds[name].dtype != types.uint64:
                    return value
                beyond = self.builder.icmp_signed("<", value, ir.Constant(INT64, 0))
                return self.builder.select(beyond, ir.Constant(INT64, HIGH), value)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return getattr(self, f"_{name}")(*(self.value(each) for each in arguments))
            case _:
                raise AssertionError(ast.dump(node))

    def number(self, constant: Any) -> Any:
        """Return a constant float."""
        return constant

    def load(self, node: ast.Subscript) -> Any:
        """Return an element of an array."""
        return self.builder.load(self.place(node))

    def store(self, value: Any, node: ast.Subscript) -> None:
        """Set an element of an array."""
        self.builder.store(value, self.place(node))

    def place(self, node: ast.Subscript) -> Any:
        """Return a pointer to an element of an array."""
        assert isinstance(node.value, ast.Name)
        array = self.known[node.value.id]
        if isinstance(node.slice, ast.Tuple):
            return array([self.value(each) for each in node.slice.elts])
        return self.builder.gep(array, [self.value(node.slice)], inbounds=True)

    def _signed(self, value: Any, array: str) -> Any:
        """Return an element of an array: an integer as int64, a float as it is."""
        if is_float(value) or element(value) == INT64:
            return value
        return self.builder.sext(value, INT64) if self.kinds[array].dtype.signed else self.builder.zext(value, INT64)

    def _alike(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return two values; a number beside a vector is put in every lane."""
        return self._spread(a, b.type), self._spread(b, a.type)

    def _spread(self, a: Any, kind: Any) -> Any:
        if isinstance(a.type, ir.VectorType) or not isinstance(kind, ir.VectorType):
            return a
        assert isinstance(a, ir.Constant)
        return ir.Constant(kind, [a] * kind.count)

    def intrinsic(self, name: str, returned: Any, *values: Any) -> Any:
        """Call a function of LLVM; its name ends with the types that tell it from others of the name."""
        kinds = [each.type for each in values]
        kind = ir.FunctionType(returned, kinds)
        ends = (returned, kinds[0]) if returned != kinds[0] and not name.startswith("llvm.vector") else kinds[:1]
        full = ".".join([name, *(_short_name(each) for each in ends)])
        operation = self.builder.module.globals.get(full) or ir.Function(self.builder.module, kind, full)
        return self.builder.call(operation, values)

    @staticmethod
    def _as(a: Any, kind: Any) -> Any:
        """Return a type, or that of vectors of it if a value is one."""
        return ir.VectorType(kind, a.type.count) if isinstance(a.type, ir.VectorType) else kind

    def _walk(self, table: Any, row: Any, index: Any) -> Any:
        """Look a block up by the function whose address is the first element of a table (see `WalkPool`)."""
        place = self.builder.ptrtoint(self.builder.gep(table, [row], inbounds=True), INT64)
        function = self.builder.load(table)
        return call_at_address(self.context, self.builder, function, types.int64, (types.int64,) * 2, (place, index))

    def _fma(self, a: Any, b: Any, c: Any) -> Any:
        return self.intrinsic("llvm.fma", a.type, a, b, c)

    def _rint(self, a: Any) -> Any:
        return self.intrinsic("llvm.rint", a.type, a)

    def _lrint(self, a: Any) -> Any:
        return self.intrinsic("llvm.lrint", INT64, a)

    def _real(self, a: Any) -> Any:
        return a if is_float(a) else self.builder.sitofp(a, self._as(a, self.real))

    def _int64(self, a: Any) -> Any:
        if is_float(a):
            return self.builder.fptosi(a, self._as(a, INT64))
        if element(a) == BOOLEAN:
            return self.builder.zext(a, self._as(a, INT64))
        return a if element(a) == INT64 else self.builder.sext(a, self._as(a, INT64))

    def _int32(self, a: Any) -> Any:
        turn = self.builder.fptosi if is_float(a) else self.builder.trunc
        return turn(a, self._as(a, INT32))

    def _less(self, a: Any, b: Any) -> Any:
        return self.builder.fcmp_ordered("<", a, b) if is_float(a) else self.builder.icmp_signed("<", a, b)

    def _min(self, a: Any, b: Any) -> Any:
        a, b = self._alike(a, b)
        return self.builder.select(self._less(b, a), b, a)

    def _max(self, a: Any, b: Any) -> Any:
        a, b = self._alike(a, b)
        return self.builder.select(self._less(a, b), b, a)

    def _abs(self, a: Any) -> Any:
        if is_float(a):
            return self.intrinsic("llvm.fabs", a.type, a)
        return self._max(a, self.builder.neg(a))


def _short_name(kind: Any) -> str:
    """Return a type as it stands in the names of LLVM's functions."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{_short_name(kind.element)}"
    return str(kind.intrinsic_name)


def _literal(node: ast.expr) -> float | None:
    """Return the float that is written there, if one is."""
    match node:
        case ast.Constant(value=float(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float(number))):
            return -number
    return None


def emitted_in_lanes(
    text: str, results: Sequence[str], real: Any, given: dict[str, Any], lanes: int
) -> tuple[Any, Callable[..., Any]]:
    """Return what an intrinsic function returns, as `emitted`, for statements about so many states at once."""
    return emitted(text, results, real, given, partial(LaneWriter, lanes=lanes))


def lane_step(width: int, lanes: int) -> int:
    """Return how many lanes on the next state stands, modulo the lanes, where rows have so many words."""
    while width % 2 == 0:  # pairs are split without a change of order
        width //= 2
    return width % lanes


class LaneWriter(LlvmWriter):
    """Writes instructions on vectors."""

    def __init__(
        self, context: Any, builder: Any, known: dict[str, Any], kinds: dict[str, Any], real: Any, lanes: int
    ) -> None:
        super().__init__(context, builder, {"i": ir.Constant(INT64, 0)} | known, kinds, real)
        self.lanes = lanes

    def number(self, constant: Any) -> Any:
        """Return a constant in every lane."""
        return ir.Constant(ir.VectorType(self.real, self.lanes), [constant] * self.lanes)

    def load(self, node: ast.Subscript) -> Any:
        """Return elements of an array on end, or those at the indices in the lanes of a vector."""
        index = self.value(node.slice)
        if not isinstance(index.type, ir.VectorType):
            return self.builder.load(self._vector_at(node), align=self._bytes(node))
        assert isinstance(node.value, ast.Name)
        array = self.known[node.value.id]
        found = ir.Constant(ir.VectorType(array.type.pointee, self.lanes), ir.Undefined)
        for lane in range(self.lanes):
            place = ir.Constant(INT32, lane)
            one = self.builder.gep(array, [self.builder.extract_element(index, place)], inbounds=True)
            found = self.builder.insert_element(found, self.builder.load(one), place)
        return found

    def store(self, value: Any, node: ast.Subscript) -> None:
        """Set elements of an array on end, to one vector after another."""
        size = self._bytes(node)
        first = self._vector_at(node)
        for k, vector in enumerate(value if isinstance(value, list) else [value]):
            self.builder.store(vector, self.builder.gep(first, [ir.Constant(INT64, k)], inbounds=True), align=size)

    def _vector_at(self, node: ast.Subscript) -> Any:
        place = self.place(node)
        return self.builder.bitcast(place, ir.VectorType(place.type.pointee, self.lanes).as_pointer())

    def _bytes(self, node: ast.Subscript) -> int:
        """Return what addresses of vectors are multiples of: `rows` begins at a vector, other arrays anywhere."""
        assert isinstance(node.value, ast.Name)
        size: int = self.kinds[node.value.id].dtype.bitwidth // 8
        return size * self.lanes if node.value.id == "rows" else size

    def _any(self, a: Any) -> Any:
        return self.intrinsic("llvm.vector.reduce.or", INT64, a) if isinstance(a.type, ir.VectorType) else a

    def _count(self, a: Any) -> Any:
        return self.builder.zext(
            self.intrinsic("llvm.ctpop", ir.IntType(self.lanes), self.builder.bitcast(a, ir.IntType(self.lanes))), INT64
        )

    def _int64(self, a: Any) -> Any:
        return [self._int64(each) for each in a] if isinstance(a, list) else super()._int64(a)

    def _int32(self, a: Any) -> Any:
        return [self._int32(each) for each in a] if isinstance(a, list) else super()._int32(a)

    def _shuffle(self, a: Any, b: Any, places: Sequence[int]) -> Any:
        return self.builder.shuffle_vector(
            a, b, ir.Constant(ir.VectorType(INT32, len(places)), [ir.Constant(INT32, each) for each in places])
        )

    def _rotate(self, a: Any, by: int) -> Any:
        """Return a vector whose lane k was lane k + by."""
        return self._shuffle(a, a, [(k + by) % self.lanes for k in range(self.lanes)])

    def _pick(self, given: Sequence[Any], which: Sequence[int]) -> Any:
        """Return a vector whose lane k is that of given[which[k]]."""
        found = given[which[0]]
        for number in sorted(set(which) - {which[0]}):
            found = self._shuffle(
                found, given[number], [k + self.lanes * (own == number) for k, own in enumerate(which)]
            )
        return found

    def _apart(self, step: Any, *given: Any) -> list[Any]:
        """Return `_split` vectors, with states in the order that is asked for."""
        turn = lane_step(len(given), self.lanes) * pow(step.constant, -1, self.lanes)
        order = [turn * lane % self.lanes for lane in range(self.lanes)]
        found = self._split(*given)
        return found if order == list(range(self.lanes)) else [self._shuffle(each, each, order) for each in found]

    def _split(self, *given: Any) -> list[Any]:
        """Return the elements 0, n, 2n, ... of n vectors on end, then 1, n + 1, ..., and so on.

        If n is even, pairs of vectors are split into elements of even and odd places. If it is odd, every lane of the
        vectors has an element of each column, and those of a column are in as many different lanes as there are states:
        state s of column j in lane n·s + j, which is turned to n·s.
        """
        n, lanes = len(given), self.lanes
        if n == 1:
            return list(given)
        if n % 2 == 0:
            halves = [
                self._split(*(
                    self._shuffle(a, b, range(odd, 2 * lanes, 2))
                    for a, b in zip(given[::2], given[1::2], strict=True)
                ))
                for odd in (0, 1)
            ]  # fmt: skip
            return [each for pair in zip(*halves, strict=True) for each in pair]
        return [self._rotate(self._pick(given, self._rows_of(j, n)), j) for j in range(n)]

    def _together(self, *given: Any) -> list[Any]:
        """Undo `_split`."""
        n, lanes = len(given), self.lanes
        if n == 1:
            return list(given)
        if n % 2 == 0:
            pairs = zip(self._together(*given[::2]), self._together(*given[1::2]), strict=True)
            order = [place + odd * lanes for place in range(lanes) for odd in (0, 1)]
            return [self._shuffle(a, b, half) for a, b in pairs for half in (order[:lanes], order[lanes:])]
        turned = [self._rotate(each, -j) for j, each in enumerate(given)]
        return [self._pick(turned, [(lanes * k + lane) % n for lane in range(lanes)]) for k in range(n)]

    def _rows_of(self, column: int, n: int) -> list[int]:
        """Return which of n vectors on end has an element of a column in each lane, n being odd."""
        lanes = self.lanes
        return [next(k for k in range(n) if (lanes * k + lane) % n == column) for lane in range(lanes)]
