"""The decision diagram packages that build what is stored: CUDD, or pure Python where CUDD is missing.

An engine is given the unique nodes of a table, makes one function per output bit of them, reorders its variables, and
is then read back node by node: that is the diagram that files hold and evaluators walk. Our own builder makes it a
second time, as a check (`reduction`). This is the only file that imports `dd`, and only when an engine is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.consing import DEFAULT_MEMORY_LIMIT, canonical
from bddtorque.plan.table import IntegerArray

FIRST_MEMORY, FIRST_CACHE = 1 << 26, 1 << 12
"""Bytes and cache entries that CUDD lays its first tables out for; they grow with the diagram."""


class EngineLimit(BddTorqueError):  # noqa: N818 - it names what happened
    """A diagram is beyond what an engine takes: nothing wrong with the diagram."""


class _Name(str):
    """A variable's name, x0, x1, ...: autoref sifts in the order of a set of names, random for plain strings."""

    __slots__ = ()

    def __hash__(self) -> int:
        return int(self[1:])


class Engine(ABC):
    """A module of dd that holds one shared diagram and can reorder it."""

    name: str  # name under which `make_engine` knows it
    module: str  # what is imported
    # most nodes of a diagram that this engine builds. A node is two calls from Python, one to make it and one to read
    # it back: about 7 µs and 200 bytes with CUDD, for a million nodes some seconds
    load_limit: int
    sift_limit: int  # most nodes worth sifting, all start orders of a table together
    memory_errors: tuple[type[Exception], ...] = (MemoryError,)

    def __init__(self, memory_limit: int) -> None:
        self._memory_limit = memory_limit
        self._dd: Any = import_module(self.module)
        self._bdd: Any = None
        self._roots: list[Any] = []
        self._variables = 0
        self._signed = False

    def _new_manager(self) -> Any:
        """Return an empty manager that never reorders by itself: it would while nodes are made, out of our control."""
        manager = self._dd.BDD()
        manager.configure(reordering=False)
        return manager

    def load(self, diagram: Diagram) -> None:
        """Hold `diagram` instead of what was held before, under its own order; raises `EngineLimit`."""
        self.close()
        self._bdd = self._new_manager()
        self._variables, self._signed = diagram.input_bits, diagram.signed
        names = [_Name(f"x{variable}") for variable in diagram.order]
        self._bdd.declare(*names)
        try:
            self._roots = self._make_nodes(diagram, [self._bdd.var(name) for name in names])
        except self.memory_errors as error:
            self.close()
            raise EngineLimit(
                f"engine '{self.name}': {diagram.node_count} nodes do not fit in {self._memory_limit} bytes"
            ) from error

    def _make_nodes(self, diagram: Diagram, variables: list[Any]) -> list[Any]:
        """Make one node an `ite`, children first; `find_or_add` would crash CUDD on a complemented high edge."""
        ite = self._bdd.ite
        nodes = [self._bdd.false]

        def function(edge: int) -> Any:
            return ~nodes[edge >> 1] if edge & 1 else nodes[edge >> 1]

        columns = (array[1:].tolist() for array in (diagram.level, diagram.low, diagram.high))
        for level, low, high in zip(*columns, strict=True):
            nodes.append(ite(variables[level], function(high), nodes[low >> 1]))
        return [function(edge) for edge in diagram.roots.tolist()]

    def sift(self) -> None:
        """Move each variable once to its best level; raises `EngineLimit`."""
        if self._variables < 2:  # nothing to reorder, which autoref takes for an error
            return
        try:
            self._dd.reorder(self._bdd)
        except self.memory_errors as error:
            self.close()
            raise EngineLimit(f"engine '{self.name}': sifting does not fit in {self._memory_limit} bytes") from error

    def read(self) -> Diagram:
        """Return the diagram held: every node that a root reaches, each visited once.

        dd keeps complement marks on low edges and roots, and its one constant is *true*; `Diagram` keeps them on high
        edges, and its constant is *false*. The difference is a sign per node, found from the deepest level up.
        """
        edge, succ = self._edge, self._bdd.succ
        constant = edge(self._bdd.true)
        number = {constant: 0}
        levels, lows, highs = [self._variables], [constant], [constant]
        waiting = list(self._roots)
        while waiting:
            function = waiting.pop()
            node = edge(function) & ~1
            if node not in number:
                number[node] = len(number)
                level, low, high = succ(function)
                levels.append(level)
                lows.append(edge(low))
                highs.append(edge(high))
                waiting += (low, high)

        def numbered(edges: list[int]) -> IntegerArray:
            return np.array([2 * number[each & ~1] + (each & 1) for each in edges], np.int64)

        level = np.array(levels, np.int16)
        low, high, roots = numbered(lows), numbered(highs), numbered([edge(root) for root in self._roots])
        sign = np.ones(len(level), np.int64)
        for depth in reversed(range(self._variables)):
            here = level == depth
            sign[here] = sign[low[here] >> 1] ^ (low[here] & 1)
        low, high, roots = low & ~1, high ^ sign[high >> 1] ^ sign, roots ^ sign[roots >> 1]
        return Diagram.from_nodes(canonical(level[1:], low[1:], high[1:], roots, 1, 1), self.order(), self._signed)

    @staticmethod
    @abstractmethod
    def _edge(function: Any) -> int:
        """Return an integer that is even for a function stored as a node, one more for its complement."""

    @abstractmethod
    def node_count(self) -> int:
        """Return the number of decision nodes held, the constant not counted."""

    def order(self) -> tuple[int, ...]:
        """Return the variable at each level, top first."""
        return tuple(int(self._bdd.var_at_level(level)[1:]) for level in range(self._variables))

    def close(self) -> None:
        """Let go of everything held."""
        # functions first: a manager complains about functions that outlive it
        self._roots = []
        self._bdd = None


class CuddEngine(Engine):
    """CUDD, through `dd.cudd`."""

    name = "cudd"
    module = "dd.cudd"
    memory_errors = (MemoryError, RuntimeError, ValueError)  # dd stumbles over null pointers where memory is short
    load_limit = 1_000_000
    sift_limit = 150_000

    def _new_manager(self) -> Any:
        # by default CUDD starts with tables of megabytes: clearing them takes longer than sifting most blocks
        manager = self._dd.BDD(memory_estimate=FIRST_MEMORY, initial_cache_size=FIRST_CACHE)
        manager.configure(reordering=False, max_memory=self._memory_limit)
        return manager

    @staticmethod
    def _edge(function: Any) -> int:
        return int(function)  # the address of the node, plus 2; its last bit is the complement

    def node_count(self) -> int:
        """Return the number of decision nodes held, the constant not counted."""
        return int(self._dd.count_nodes(self._roots)) - 1


class AutorefEngine(Engine):
    """Pure Python, through `dd.autoref`: slower by a factor of about 50."""

    name = "autoref"
    module = "dd.autoref"
    load_limit = 50_000
    sift_limit = 5_000

    @staticmethod
    def _edge(function: Any) -> int:
        node = int(function)  # negative for a complement
        return 2 * node if node > 0 else 1 - 2 * node

    def node_count(self) -> int:
        """Return the number of decision nodes held, the constant not counted."""
        self._bdd.collect_garbage()
        return len(self._bdd) - 1


ENGINES: dict[str, type[Engine]] = {"cudd": CuddEngine, "autoref": AutorefEngine}


def make_engine(name: str = "auto", memory_limit: int = DEFAULT_MEMORY_LIMIT) -> Engine:
    """Return a new engine.

    `name`: ``"cudd"``, ``"autoref"``, or ``"auto"``: CUDD where it is installed, else autoref; `memory_limit`: bytes
    that the engine may take (CUDD only; autoref is bounded by its limits on nodes). Raise `BddTorqueError` if there is
    no such engine, or it is not installed.
    """
    if name == "auto":
        try:
            return CuddEngine(memory_limit)
        except ImportError:
            return AutorefEngine(memory_limit)
    if name not in ENGINES:
        raise BddTorqueError(not_among("engine", name, ("auto", *ENGINES)), option="engine")
    try:
        return ENGINES[name](memory_limit)
    except ImportError as error:
        said = f"engine '{name}' is not installed here; use engine='auto'"
        raise BddTorqueError(said, option="engine") from error
