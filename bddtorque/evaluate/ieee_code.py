"""Demands of code in floats on a processor, and its operations in plain Python, for NUMBA_DISABLE_JIT.

LLVM contracts nothing by itself where no fast-math flag is set, so that compiled code rounds where a plan rounds. On a
processor without fused multiply-add a library's function takes its place: slow, and the same floats.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from bddtorque.words.ieee import fused

fma, rint = fused, np.rint


def lrint(value: Any) -> Any:
    """Return the nearest integer, ties to even, as an int64."""
    return np.int64(np.rint(value))


@cache
def converts_int64() -> bool:
    """Tell whether vector instructions convert between int64 and double: else they do so by way of int32."""
    return bool(llvm.get_host_cpu_features().get("avx512dq", False))


@cache
def vector_lanes(dtype: Any) -> int:
    """Return how many floats of a type a vector of this processor has."""
    features = llvm.get_host_cpu_features()
    length = 64 if features.get("avx512f", False) else 32 if features.get("avx", False) else 16
    return int(length // np.dtype(dtype).itemsize)


@cache
def warn_without_fma() -> None:
    """Say once that this processor has no fused multiply-add."""
    of_x86 = llvm.get_process_triple().startswith(("x86_64", "i686", "i386"))
    if of_x86 and not llvm.get_host_cpu_features().get("fma", False):
        logging.getLogger("bddtorque").warning(
            "this processor has no fused multiply-add: plans for target 'float' give the same words, but slowly"
        )
