"""Straight-line code: a plan as functions of its own, every wire a local variable. What a PC runs fastest.

    states(q, qd, qdd, tau, table, counts)  one state after another
    bare(q, qd, qdd, tau, table)            the same, counting nothing: what a kernel runs

Words are 64-bit integers. A word out of range is looked for in a way that costs next to nothing, and only then clamped
and counted. The statements of a large plan are cut into functions of bounded size (`cutting`): they run a little
slower, and are compiled in seconds instead of hours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.cutting import cut, is_large
from bddtorque.evaluate.generated import generated_module
from bddtorque.evaluate.input_code import angle_sums, check_inputs, input_words, load_inputs
from bddtorque.evaluate.integer_code import integer_statements
from bddtorque.evaluate.table_pool import Pool, blocks_read
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.words import Formats

HEADER = '''"""A compiled plan, written by bddtorque; made anew whenever it is missing."""
from numba import int64, njit
import numpy as np

from bddtorque.evaluate.pointers import array_at, space_of
'''
DECORATOR = '@njit(cache=True, nogil=True, _nrt=False, error_model="numpy")\n'


@dataclass(frozen=True)
class Straight:
    """Straight-line code of a plan, and its tables.

    Attributes
    ----------
    states, bare : compiled when first called, as are the others
    table : what all take as such
    tiles, columns : many states at once (see `float_straight`); None where words are integers
    rows : how many rows of `tile` floats a tile needs
    unchecked : as `bare`, for words that are known to be in range; None where there is no such function
    tile, kind : states of a tile, and the type of its floats
    """

    states: Callable[..., None]
    bare: Callable[..., None]
    table: npt.NDArray[Any]
    tiles: Callable[..., None] | None = None
    columns: Callable[..., None] | None = None
    rows: int = 0
    unchecked: Callable[..., None] | None = None
    tile: int = 1
    kind: Any = np.float64


def straight(plan: Plan, formats: Formats, tables: Sequence[Table], directory: Path, native: bool = True) -> Straight:
    """Return the straight-line code of a plan; with `native` products, or from tables alone.

    It is compiled when first called: in seconds, or a minute and more for the largest plans, unless that was done
    before and kept in `directory`.
    """
    pool = Pool(plan, blocks_read(plan, native))
    source = Source(plan, formats, pool, native)
    module = generated_module(source.text, directory, len(plan.wires), source.parts)
    return Straight(module.states, module.bare, pool.values(tables))


class Source:
    """The module of a plan.

    Attributes
    ----------
    text : what is written to a file
    parts : how many functions the statements were cut into, 0 if they were not
    """

    def __init__(self, plan: Plan, formats: Formats, pool: Pool, native: bool) -> None:
        self.inputs = input_words(plan, formats)
        self.outputs = range(len(plan.outputs))
        self.angles = list(angle_sums(plan, pool))
        self.functions = [HEADER]
        self.parts = 0
        self._add_states(list(integer_statements(plan, pool, self.inputs, native)))
        self.text = "\n\n".join(self.functions)

    def _add_states(self, body: list[str]) -> None:
        """Add the functions that take one state after another."""
        begin = []
        lines = [*self.angles, *body, *(f"tau[s, {k}] = r{k}" for k in self.outputs)]
        if is_large(lines) and not DISABLE_JIT:
            names = [f"x{word.wire}" for word in self.inputs]
            places = {name: f"ints[{k}]" for k, name in enumerate([*names, *(f"r{k}" for k in self.outputs)])}
            more = count(len(places))
            bodies = cut(body, self.angles, places, lambda name: f"ints[{next(more)}]")
            calls = [f"part{k}(ints, table)" for k in range(len(bodies))]
            for call, part in zip(calls, bodies, strict=True):
                self._add(call, part)
            self.parts = len(calls)
            size = next(more)
            begin = [f"ints = array_at(space_of({size}), ({size},), np.int64)"]
            results = [f"tau[s, {k}] = {places[f'r{k}']}" for k in self.outputs]
            lines = [*(f"{places[name]} = {name}" for name in names), *calls, *results]
        for head, counting in (
            ("states(q, qd, qdd, tau, table, counts)", True),
            ("bare(q, qd, qdd, tau, table)", False),
        ):
            state = [*load_inputs(self.inputs), *check_inputs(self.inputs, counting), *lines]
            self._add(head, [*begin, "for s in range(q.shape[0]):", *_indented(state)])

    def _add(self, head: str, body: Sequence[str]) -> None:
        self.functions.append("\n".join([f"{DECORATOR}def {head}:", *_indented(body), ""]))


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
