"""Operations that Numba has no function for, as one instruction each: fused multiply-add, and rounding ties to even.

LLVM contracts nothing by itself where no fast-math flag is set, so that compiled code rounds where a plan rounds. On a
processor without the instruction a library's function takes its place: slow, and the same floats.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bddtorque.base.jit import DISABLE_JIT, inlined
from bddtorque.words.ieee import fused


def _fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a·b + c, rounded once; of three float32 or three float64."""
    if a not in (types.float32, types.float64) or not a == b == c:
        return None

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        number = given[0].type
        operation = builder.module.declare_intrinsic("llvm.fma", (number,), ir.FunctionType(number, [number] * 3))
        return builder.call(operation, given)

    return a(a, b, c), generate


def _rint(typing: Any, a: Any) -> Any:
    """Return the nearest integer, ties to even, as a float."""
    if a not in (types.float32, types.float64):
        return None

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        operation = builder.module.declare_intrinsic("llvm.rint", (given[0].type,))
        return builder.call(operation, given)

    return a(a), generate


def _lrint(typing: Any, a: Any) -> Any:
    """Return the nearest integer, ties to even, as an int64."""
    if a not in (types.float32, types.float64):
        return None

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        word, number = ir.IntType(64), given[0].type
        operation = builder.module.declare_intrinsic("llvm.lrint", (word, number), ir.FunctionType(word, [number]))
        return builder.call(operation, given)

    return types.int64(a), generate


fma: Any = fused if DISABLE_JIT else intrinsic(_fma)
rint: Any = np.rint if DISABLE_JIT else intrinsic(_rint)
lrint: Any = (lambda value: np.int64(np.rint(value))) if DISABLE_JIT else intrinsic(_lrint)


@inlined
def fold_sine(angle: Any, half: Any) -> Any:
    """Return an angle, `half` being half a turn, within a quarter of a turn: of the same sine."""
    return max(min(angle, half - angle), -half - angle)


@inlined
def fold_cosine(angle: Any, half: Any) -> Any:
    """Return the angle within a quarter of a turn whose sine is the cosine of an angle."""
    return half // 2 - abs(angle)


@cache
def converts_int64() -> bool:
    """Whether vector instructions convert between int64 and floats: else they do so by way of int32."""
    return bool(llvm.get_host_cpu_features().get("avx512dq", False))


@cache
def warn_without_fma() -> None:
    """Say once that this processor has no fused multiply-add."""
    of_x86 = llvm.get_process_triple().startswith(("x86_64", "i686", "i386"))
    if of_x86 and not llvm.get_host_cpu_features().get("fma", False):
        logging.getLogger("bddtorque").warning(
            "this processor has no fused multiply-add: plans for target 'float' give the same words, but slowly"
        )
