"""How much of a command is the cold start: what Numba compiles once and then keeps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class ColdStart:
    """Seconds that Numba spent compiling in this process; worker processes not included."""

    seconds: float = 0.0


@contextlib.contextmanager
def numba_seconds() -> Iterator[ColdStart]:
    """Measure Numba's compilations while the block runs; what it finds in its cache does not count."""
    from numba.core import event

    cold = ColdStart()
    with event.install_recorder("numba:compile") as recorder:
        yield cold
    depth, began = 0, 0.0
    for moment, each in recorder.buffer:  # functions are compiled within functions: only the outermost count
        if each.is_start:
            began = moment if depth == 0 else began
            depth += 1
        else:
            depth -= 1
            cold.seconds += moment - began if depth == 0 else 0.0
