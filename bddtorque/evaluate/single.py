"""Compiled calls between a caller's arrays and a plan, the same for all plans of as many input arrays.

An ordinary call of an evaluator looks at its arguments, makes rows of them, quantises, counts, and calls compiled code
for each: many times the work of a single state. Here all of it is one function for exactly one kind of argument,
contiguous arrays (n,) of int64 or of float64. Anything else is left to the ordinary way, which gives the same results
and says what is wrong. Batches (N, n) have a function too, `run_batch`, which cuts them into what a plan takes.
Kernels (`straight_kernel`) are for use inside a user's compiled loop.

Arguments cost most of a compiled call, a number more than an array: what belongs to the evaluator is passed as one
int64 array of `addresses`, the plan's own functions among them. So these functions are compiled once for each number
of arrays and kept, and a plan's code is compiled once for all that call it. References are not counted (`_nrt`): for
every array given, Numba would make a record of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype

from bddtorque.base.jit import njit_inlined_by_llvm
from bddtorque.evaluate.code_writer import Straight, generated_module, plans_folder
from bddtorque.evaluate.llvm_code import HIGH
from bddtorque.evaluate.pointers import (
    WORD_BYTES,
    array_at,
    columns_of,
    each_as_rows,
    entry,
    make_array,
    rows_at,
    rows_from,
    run_at,
    space_of,
    unpack_tuple,
)
from bddtorque.evaluate.state_arrays import StateArrays
from bddtorque.evaluate.threads import DESCRIPTOR_LENGTH, all_awake
from bddtorque.words.kernels import ANGLE, FIELDS, dequantise_value, has_word, pack, quantise_value

Integers = npt.NDArray[np.int64]

RUN, TABLE, ENTRIES, TILES, COLUMNS, TILE, THREADS = range(7)
"""Places in `addresses`: the address of a plan's `states`, and where its table lies; of plans that take many
states at once, `tiles` and `columns` (0 until they are compiled) and how many states those take; whether the table
describes threads that share a state, which must be awake."""
PLAN = THREADS + 1
WORDS, COUNTS, FORMATS, OUTPUTS, OUTPUT_FORMATS, STOPS, WIDTHS = range(PLAN, PLAN + 7)
"""More places, for single states: numbers, addresses of arrays, and from WIDTHS on how wide each input array is."""
COUNT_ONLY, RAISES, WARNS = range(3)
"""Treatment of a state out of range (STOPS): it is counted; floats are left to the ordinary way, which refuses them;
or, where a number is clamped, which warns."""
DONE, LEFT, CLAMPED = range(3)
"""Results of the compiled calls: the state was run; nothing was done or counted, and the ordinary way must look at it;
or it was run and counted, but words were clamped that must be warned of."""
COUNTED = -1
"""Result of batches where words were out of range."""

Call = Callable[..., int]
"""A compiled function (array, ..., out, addresses) on arrays (n,); TypeError for anything else."""


def plan_kinds(count: int, table: npt.NDArray[Any]) -> tuple[Any, ...]:
    """Return the types that a plan of so many arrays is compiled for, whoever calls it: arrays, out, table, counts."""
    words: Any = types.Array(types.int64, 2, "C")
    arrays: Any = types.UniTuple(words.copy(readonly=True), count)
    return arrays, words, types.Array(from_dtype(table.dtype), 1, "C"), types.Array(types.int64, 1, "C")


def plan_addresses(count: int, run: Callable[..., None], table: npt.NDArray[Any], tile: int = 0) -> Integers:
    """Return how `addresses` of compiled calls begin, for a plan that takes states one by one, or `tile` at once."""
    addresses = np.zeros(PLAN, dtype=np.int64)
    begin = entry(run, plan_kinds(count, table)), table.ctypes.data, len(table), tile
    addresses[[RUN, TABLE, ENTRIES, TILE]] = begin
    return addresses


@dataclass(frozen=True)
class SingleCalls:
    """The compiled calls of one evaluator."""

    words: Call  # output words of words
    floats: Call  # outputs of floats
    addresses: Integers  # their last argument
    kept: tuple[Any, ...]  # what lies at the addresses; it lives as long as this


def single_calls(arrays: StateArrays, counts: Integers, stops: int, plan: Integers, kept: Any) -> SingleCalls:
    """Return the compiled calls of an evaluator: `plan` is how `addresses` begins, `kept` what must live on."""
    inputs, outputs = pack(arrays.words), pack(arrays.outputs)
    addresses = np.zeros(WIDTHS + len(arrays.widths), dtype=np.int64)
    addresses[:PLAN], addresses[WIDTHS:] = plan, arrays.widths
    addresses[WORDS], addresses[COUNTS] = len(arrays.words), counts.ctypes.data
    addresses[FORMATS], addresses[OUTPUT_FORMATS] = inputs.ctypes.data, outputs.ctypes.data
    addresses[OUTPUTS], addresses[STOPS] = len(arrays.outputs), stops
    return SingleCalls(*state_calls(len(arrays.widths)), addresses, (counts, inputs, outputs, kept))


@njit_inlined_by_llvm
def is_left(arrays: Any, out: Any, addresses: Any) -> bool:
    """Tell whether arrays have other lengths than they should, or a thread sleeps."""
    alike = len(out) == addresses[OUTPUTS]
    for k in range(len(arrays)):
        alike = alike and len(arrays[k]) == addresses[WIDTHS + k]
    if addresses[THREADS]:
        alike = alike and all_awake(array_at(addresses[TABLE], (DESCRIPTOR_LENGTH,), np.int64))
    return not alike


@njit_inlined_by_llvm
def run_words(arrays: Any, out: Any, addresses: Any) -> int:
    """Run one state of words."""
    if is_left(arrays, out, addresses):
        return LEFT
    counts = array_at(addresses[COUNTS], (addresses[WORDS],), np.int64)
    table = array_at(addresses[TABLE], (addresses[ENTRIES],), np.int64)
    run_at(addresses[RUN], (rows_from(arrays, 0, 1), rows_from(out, 0, 1), table, counts))
    if addresses[STOPS] == WARNS:
        formats = array_at(addresses[FORMATS], (addresses[WORDS], FIELDS), np.float64)
        for place in range(len(counts)):
            if counts[place] and formats[place, ANGLE] == 0.0:
                return CLAMPED
    return DONE


@njit_inlined_by_llvm
def run_floats(arrays: Any, out: Any, addresses: Any) -> int:
    """Run one state of floats through the words; nothing is counted unless all of it can be done."""
    if is_left(arrays, out, addresses):
        return LEFT
    size, outputs, stops = addresses[WORDS], addresses[OUTPUTS], addresses[STOPS]
    space = space_of(2 * size + outputs)
    words = array_at(space, (size,), np.int64)
    outside = array_at(space + WORD_BYTES * size, (size,), np.int64)
    found = array_at(space + 2 * WORD_BYTES * size, (1, outputs), np.int64)
    formats = array_at(addresses[FORMATS], (size, FIELDS), np.float64)
    place = 0
    for k in range(len(arrays)):
        values = arrays[k]
        for column in range(len(values)):
            value = values[column]
            if not has_word(value, formats, place):
                return LEFT
            word, beyond = quantise_value(value, formats, place)
            if beyond and (stops == RAISES or (stops == WARNS and formats[place, ANGLE] == 0.0)):
                return LEFT
            words[place], outside[place] = word, beyond
            place += 1
    counts = array_at(addresses[COUNTS], (size,), np.int64)
    for place in range(size):
        counts[place] += outside[place]
    table = array_at(addresses[TABLE], (addresses[ENTRIES],), np.int64)
    # words count nothing themselves: what they would count was counted as a float, and is thrown away with `outside`
    run_at(addresses[RUN], (rows_at(arrays, space, 1), found, table, outside))
    formats = array_at(addresses[OUTPUT_FORMATS], (outputs, FIELDS), np.float64)
    for place in range(outputs):
        out[place] = dequantise_value(found[0, place], formats, place)
    return DONE


@njit_inlined_by_llvm
def run_batch(arrays: Any, out: Any, addresses: Any, counts: Any, rows: Any) -> int:
    """Run states (N, n), and return 0, COUNTED, or which function of the plan must be compiled first.

    All arrays lie in rows or, where the plan has `columns`, in columns; `rows` is memory for its tiles.
    """
    states, tile = out.shape[0], addresses[TILE]
    rest = states % tile if tile else states
    whole = states - rest
    in_rows = out.shape[1] == 1 or out.strides[1] == WORD_BYTES
    for k in range(len(arrays)):
        in_rows = in_rows and (arrays[k].shape[1] == 1 or arrays[k].strides[1] == WORD_BYTES)
    table = array_at(addresses[TABLE], (addresses[ENTRIES],), np.int64)
    tiles = TILES if in_rows else COLUMNS
    if whole and addresses[tiles] == 0:
        return tiles
    if whole and in_rows:
        tiled, made = rows_from(arrays, 0, states), rows_from(out, 0, states)
        run_at(addresses[TILES], (tiled, made, table, counts, rows, whole))
    elif whole:
        run_at(addresses[COLUMNS], (columns_of(arrays), columns_of(out), table, counts, rows, whole))
    if rest and in_rows:
        run_at(addresses[RUN], (rows_from(arrays, whole, rest), rows_from(out, whole, rest), table, counts))
    elif rest:
        width = 0
        for k in range(len(arrays)):
            width += arrays[k].shape[1]
        space = space_of(rest * (width + out.shape[1]))
        words, first = array_at(space, (rest * width,), np.int64), 0
        for k in range(len(arrays)):
            array = arrays[k]
            for state in range(rest):
                for column in range(array.shape[1]):
                    words[first] = array[whole + state, column]
                    first += 1
        found = array_at(space + WORD_BYTES * rest * width, (rest, out.shape[1]), np.int64)
        run_at(addresses[RUN], (rows_at(arrays, space, rest), found, table, counts))
        for state in range(rest):
            for column in range(out.shape[1]):
                out[whole + state, column] = found[state, column]
    for place in range(len(counts)):
        if counts[place]:
            return COUNTED
    return 0


SOURCE = '''"""Calls of plans that take {count} arrays, written by bddtorque; made anew whenever it is missing."""
from bddtorque.evaluate.single import run_batch, run_floats, run_words


def words({given}, out, addresses):
    return run_words(({given},), out, addresses)


def floats({given}, out, addresses):
    return run_floats(({given},), out, addresses)


def batch({given}, out, addresses, counts, rows):
    return run_batch(({given},), out, addresses, counts, rows)
'''


OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_words: Any = types.Array(types.int64, 1, "C")
_floats: Any = types.Array(types.float64, 1, "C")


def _module(count: int) -> Any:
    given = ", ".join(f"a{k}" for k in range(count))
    return generated_module(SOURCE.format(count=count, given=given), plans_folder())


@cache
def state_calls(count: int) -> tuple[Call, Call]:
    """Return the calls for one state, words and floats, of any plan of so many input arrays.

    They are compiled for arguments of their one kind, and for no others; once, then kept on disk.
    """
    words, floats = types.int64(*[_words] * (count + 2)), types.int64(*[_floats] * (count + 1), _words)
    module = _module(count)
    return numba.njit(words, **OPTIONS)(module.words), numba.njit(floats, **OPTIONS)(module.floats)


@cache
def batch_call(count: int) -> Call:
    """Return run(array, ..., out, addresses, counts, rows) of any plan of so many input arrays; see `run_batch`."""
    given, made = types.Array(types.int64, 2, "A", readonly=True), types.Array(types.int64, 2, "A")
    signature = types.int64(*[given] * count, made, _words, _words, _words)
    return numba.njit(signature, nogil=True, **OPTIONS)(_module(count).batch)


KERNEL_OPTIONS: Any = {"nogil": True, "_nrt": False}
"""Of kernels: they count no references, since nothing is allocated and the caller holds the arrays."""
SHAPES = "kernel: arrays must have shape (n,) or (N, n), n being the number of words"


def _pointer(typing: Any, address: Any) -> Any:
    """Turn an address (a literal) of this process into a pointer."""
    if not isinstance(address, types.IntegerLiteral):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.add_dynamic_addr(builder, address.literal_value, info="bddtorque table")

    return types.voidptr(address), generate


def _stack(typing: Any, count: Any) -> Any:
    """Return the address of `count` (a literal) int64 on the stack of the caller, all zero."""
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        space = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(64), size))
        builder.store(ir.Constant(ir.ArrayType(ir.IntType(64), size), None), space)
        return builder.bitcast(space, cgutils.voidptr_t)

    return types.voidptr(count), generate


_pointer_to: Any = intrinsic(_pointer)
stack_of: Any = intrinsic(_stack)


def _array_arguments(names: Sequence[str], widths: Sequence[int]) -> Any:
    """Return what takes all arguments of a kernel, the last for the outputs, refusing what are no arrays of words.

    It gives whether the arrays have the widths they should and one length, the input arrays in rows, and the last. What
    takes those is not compiled for arguments that are refused.
    """

    def check(typing: Any, given: Any) -> Any:
        if len(given) != len(names):
            raise TypingError(f"kernel takes {len(names)} arrays ({', '.join(names)}), got {len(given)} arguments")
        for name, kind in zip(names, given, strict=True):
            words = isinstance(kind, types.Array) and kind.ndim in (1, 2) and isinstance(kind.dtype, types.Integer)
            words = words and kind.ndim == getattr(given[0], "ndim", 0)
            last = name is names[-1]
            if not words or (last and (kind.dtype != types.int64 or not kind.mutable)):
                wanted = "a writable int64 array" if last else "an integer array"
                raise TypingError(f"kernel: {name} must be {wanted} of shape (n,) or (N, n), got {kind}")
        own: Any = types.Tuple(list(given)[:-1])
        inputs, make_inputs = each_as_rows(own, readonly=True)
        out, make_out = each_as_rows(given[len(names) - 1], readonly=False)
        made: Any = types.Tuple((types.boolean, inputs, out))

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values, fits, length = unpack_tuple(builder, arguments[0]), ir.IntType(1)(1), None
            for kind, width, value in zip(given, widths, values, strict=True):
                shape = unpack_tuple(builder, make_array(kind)(context, builder, value).shape)
                fits = builder.and_(fits, builder.icmp_signed("==", shape[-1], shape[-1].type(width)))
                length = length or shape[0]
                if kind.ndim == 2:
                    fits = builder.and_(fits, builder.icmp_signed("==", shape[0], length))
            rows = make_inputs(context, builder, context.make_tuple(builder, own, values[:-1]), None)
            return context.make_tuple(builder, made, [fits, rows, make_out(context, builder, values[-1], None)])

        return made(given), generate

    return intrinsic(check)


def _number_arguments(arrays: StateArrays) -> Any:
    """Return what puts all arguments of a kernel, which are numbers, into memory, refusing what are no words."""

    def check(typing: Any, given: Any, address: Any) -> Any:
        names = arrays.names
        if len(given) != len(names):
            raise TypingError(f"kernel takes {len(names)} words ({', '.join(names)}), got {len(given)} arguments")
        for name, kind in zip(names, given, strict=True):
            if not isinstance(kind, types.Integer):
                raise TypingError(f"kernel: {name} must be an integer, got {kind}")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            memory = builder.bitcast(arguments[1], ir.IntType(64).as_pointer())
            for k, (word, kind) in enumerate(zip(arrays.words, given, strict=True)):
                value = context.cast(builder, builder.extract_value(arguments[0], k), kind, types.int64)
                if kind == types.uint64 and word.kind == "range":
                    beyond = builder.icmp_signed("<", value, value.type(0))
                    value = builder.select(beyond, value.type(HIGH), value)
                builder.store(value, builder.gep(memory, [ir.IntType(64)(k)]))
            return context.get_dummy_value()

        return types.none(given, address), generate

    return intrinsic(check)


def _public_kernel(run: Any, arrays: StateArrays, keep: Any, **options: Any) -> Callable[..., Any]:
    """Return the kernel that users call, over run(arrays, out) on arrays (N, n): of arrays, or of numbers."""
    if arrays.packed and len(arrays.outputs) == 1:
        count, put = len(arrays.words), _number_arguments(arrays)

        def kernel(*given: Any) -> Any:
            space = stack_of(count)
            put(given, space)
            out = array_at(stack_of(1), (1, 1), np.int64)
            run((array_at(space, (1, count), np.int64),), out)
            return out[0, 0]

    else:
        outputs = [array.name for array in arrays.interface.outputs]
        names = [*(array.name for array in arrays.inputs), outputs[0] if len(outputs) == 1 else "out"]
        take = _array_arguments(names, [*map(len, arrays.inputs), len(arrays.outputs)])

        def kernel(*given: Any) -> Any:
            fits, inputs, out = take(given)
            if not fits:
                raise ValueError(SHAPES)
            run(inputs, out)

    function: Any = numba.njit(**KERNEL_OPTIONS, **options)(kernel)
    function.kept = keep  # lives as long as the function
    return function  # type: ignore[no-any-return]


def straight_kernel(code: Straight, arrays: StateArrays, bare: Callable[..., None]) -> Callable[..., Any]:
    """Return the kernel of straight-line code and its tables.

    The function knows the addresses of the plan's arrays and keeps the arrays alive; its registers lie on the stack.
    Numba is told of the addresses as such, so that it never writes a loop around the kernel into a cache on disk: the
    addresses of one process are nothing in the next.
    """
    address, size, kind = code.table.ctypes.data, len(code.table), code.table.dtype

    def run(given: Any, out: Any) -> None:
        bare(given, out, array_at(_pointer_to(address), (size,), kind))

    return _public_kernel(numba.njit(forceinline=True, **KERNEL_OPTIONS)(run), arrays, code, forceinline=True)
