"""The decision diagram packages that build what is stored: CUDD, or pure Python where CUDD is missing.

An engine makes one function per output bit of a truth table, reorders its variables, and is read back node by node:
that is the diagram that files hold and evaluators walk. This is the only file that imports `dd`, and only when an
engine is made. Memory is estimated before anything is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.plan.bdd import MAX_NODES, Diagram, check_order
from bddtorque.plan.table import IntegerArray, Table

FIRST_MEMORY, FIRST_CACHE = 1 << 26, 1 << 12
"""Bytes and cache entries that CUDD lays its first tables out for; they grow with the diagram."""
PACKED_LEVELS = 6
"""Levels at the bottom whose truth tables are 64-bit words: equal ones are merged before any node is made."""
DEFAULT_MEMORY_LIMIT = 2 << 30
NODE_BYTES = 224
"""Of a node while three start orders are built in CUDD, 48 each, and one is read back: Python holds a function of dd
(64, and 8 in a list) and then the node's number, level and edges (130)."""
ENTRY_BYTES = 40
"""Of a table's entry while its bits are permuted, packed and compared."""


class MemoryLimit(BddTorqueError):  # noqa: N818 - it names what happened
    """A diagram would take more memory than it may."""


def max_nodes(input_bits: int, output_bits: int) -> int:
    """Return the most nodes that a shared diagram with complement edges can have.

    A level has no more nodes than there are paths to it, nor than functions (up to complement) of what lies below.
    """
    return sum(min(output_bits << level, 1 << min(60, (1 << (input_bits - level)) - 1)) for level in range(input_bits))


def memory_needed(input_bits: int, output_bits: int, nodes: int | None = None) -> int:
    """Return the bytes that building a shared diagram can take at its peak.

    Parameters
    ----------
    input_bits, output_bits
        Size of the table.
    nodes
        Number of nodes expected; by default the most there can be (`max_nodes`).
    """
    if nodes is None:
        nodes = max_nodes(input_bits, output_bits)
    return (ENTRY_BYTES << input_bits) + nodes * NODE_BYTES


def nodes_within(input_bits: int, memory_limit: int, node_bytes: int = NODE_BYTES) -> int:
    """Return the number of nodes, of `node_bytes` each, that `memory_limit` bytes leave room for.

    Raise `MemoryLimit` if not even the entries of the table fit.
    """
    left = memory_limit - (ENTRY_BYTES << input_bits)
    if left < 0:
        raise MemoryLimit(
            f"diagram: a table of {input_bits} input bits needs {ENTRY_BYTES << input_bits} bytes to reduce, "
            f"the limit is {memory_limit}; use smaller blocks or raise the memory limit"
        )
    return min(left // node_bytes, MAX_NODES)


class EngineLimit(BddTorqueError):  # noqa: N818 - it names what happened
    """A diagram is beyond what an engine takes: nothing wrong with the diagram."""


class _Name(str):
    """A variable's name, x0, x1, ...: autoref sifts in the order of a set of names, random for plain strings."""

    __slots__ = ()

    def __hash__(self) -> int:
        return int(self[1:])


class Engine(ABC):
    """A module of dd that holds the shared diagram of one table and can reorder it.

    Parameters
    ----------
    memory_limit
        Bytes that the diagram may take.
    """

    name: str  # name under which `make_engine` knows it
    module: str  # what is imported
    sift_limit: int  # most nodes worth sifting, all start orders of a table together
    node_bytes: int  # that a node takes while start orders are built and one is read back, in dd and in Python
    memory_errors: tuple[type[Exception], ...] = (MemoryError,)

    def __init__(self, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> None:
        self._memory_limit = memory_limit
        self._dd: Any = import_module(self.module)
        self._bdd: Any = None
        self._roots: list[Any] = []
        self._variables = 0
        self._signed = False
        self.level_widths: tuple[int, ...] = ()  # nodes that were made at each level, top first

    def _new_manager(self) -> Any:
        """Return an empty manager that never reorders by itself: it would while nodes are made, out of our control."""
        manager = self._dd.BDD()
        manager.configure(reordering=False)
        return manager

    def build(self, table: Table, order: tuple[int, ...] | None = None) -> None:
        """Hold the diagram of a table under an order, by default the table's own, instead of what was held before.

        Raise `BddTorqueError` if `order` is no permutation of the variables, and `MemoryLimit` if memory would not do.
        """
        order = check_order(order, table.input_bits)
        self.close()
        max_nodes = nodes_within(table.input_bits, self._memory_limit, self.node_bytes)
        self._bdd = self._new_manager()
        self._variables, self._signed = table.input_bits, table.signed
        names = [_Name(f"x{variable}") for variable in order]
        self._bdd.declare(*names)
        nodes = _Nodes(self._bdd, names, max_nodes)
        try:
            self._roots = nodes.roots(table, order)
            self.level_widths = tuple(nodes.widths)
        except MemoryLimit:
            self.close()
            raise
        except self.memory_errors as error:
            self.close()
            raise MemoryLimit(
                f"diagram: engine '{self.name}' needs more than the {self._memory_limit} bytes of the memory limit for "
                f"a table of {table.input_bits} input bits; use smaller blocks or raise the limit"
            ) from error
        finally:
            nodes.release()

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
        levels, lows, highs = array("q", [self._variables]), array("q", [constant]), array("q", [constant])
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

        def numbered(edges: Iterable[int]) -> IntegerArray:
            return np.array([2 * number[each & ~1] + (each & 1) for each in edges], np.int64)

        level = np.array(levels, np.int16)
        low, high, roots = numbered(lows), numbered(highs), numbered([edge(root) for root in self._roots])
        sign = np.ones(len(level), np.int64)
        for depth in reversed(range(self._variables)):
            here = level == depth
            sign[here] = sign[low[here] >> 1] ^ (low[here] & 1)
        low, high, roots = low & ~1, high ^ sign[high >> 1] ^ sign, roots ^ sign[roots >> 1]
        return Diagram.from_nodes(level[1:], low[1:], high[1:], roots, self.order(), self._signed)

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


class _Nodes:
    """Functions made in a manager of dd, from the deepest level up.

    An edge is ``2 * number + complement``, as in `plan.bdd`; number 0 is *false*. A pair of edges is handed to dd once,
    however often it occurs in the table.
    """

    def __init__(self, manager: Any, names: list[_Name], max_nodes: int) -> None:
        self._ite, self._variables = manager.ite, [manager.var(name) for name in names]
        self._max_nodes = max_nodes
        self._functions = [manager.false]
        self.widths = [0] * len(names)

    def roots(self, table: Table, order: tuple[int, ...]) -> list[Any]:
        """Return the function of each output bit, least significant first."""
        packed = min(PACKED_LEVELS, table.input_bits)
        words = table.reordered(order).reshape(-1, 1 << packed)
        bottom = np.stack([_pack((words >> bit) & 1) for bit in range(table.output_bits)])
        distinct, places = np.unique(bottom, return_inverse=True)
        top = table.input_bits - packed
        edges = self._unpack(distinct, top, 1 << packed)[places.reshape(bottom.shape)]
        for level in reversed(range(top)):
            edges = self._join(level, edges[:, ::2], edges[:, 1::2])
        return [self._function(edge) for edge in edges[:, 0].tolist()]

    def _unpack(self, words: npt.NDArray[np.uint64], level: int, size: int) -> IntegerArray:
        """Return the edges of truth tables of `size` bits, the first bit the most significant."""
        if size == 1:
            return words.astype(np.int64)
        half = np.uint64(size // 2)
        sides = np.stack([words >> half, words & ((np.uint64(1) << half) - np.uint64(1))])
        distinct, places = np.unique(sides, return_inverse=True)
        below = self._unpack(distinct, level + 1, size // 2)[places.reshape(sides.shape)]
        return self._join(level, below[0], below[1])

    def _join(self, level: int, low: IntegerArray, high: IntegerArray) -> IntegerArray:
        """Return the edges of the functions that are `low` where the variable of a level is 0, and `high` where 1."""
        sign = low & 1
        pairs, places = np.unique(((low ^ sign) << 32) | (high ^ sign), return_inverse=True)
        lows, highs = pairs >> 32, pairs & 0xFFFFFFFF
        differ = lows != highs
        self.widths[level] = int(differ.sum())
        first = len(self._functions)
        if first + self.widths[level] > self._max_nodes:
            raise MemoryLimit(
                f"diagram: more than the {self._max_nodes} nodes that the memory limit leaves room for; use smaller "
                "blocks or raise the limit"
            )
        # `find_or_add` would crash CUDD on a complemented high edge
        ite, function, variables = self._ite, self._function, self._variables
        for below, above in zip(lows[differ].tolist(), highs[differ].tolist(), strict=True):
            self._functions.append(ite(variables[level], function(above), self._functions[below >> 1]))
        edges = lows.copy()
        edges[differ] = 2 * np.arange(first, len(self._functions))
        joined: IntegerArray = edges[places.reshape(low.shape)] ^ sign
        return joined

    def release(self) -> None:
        """Let go of every function now, whoever still looks at a frame of ours, as profilers do.

        Sifting counts nodes that anything refers to: an order must not depend on when Python ends an object.
        """
        self._functions.clear()
        self._variables.clear()

    def _function(self, edge: int) -> Any:
        return ~self._functions[edge >> 1] if edge & 1 else self._functions[edge >> 1]


def _pack(bits: IntegerArray) -> npt.NDArray[np.uint64]:
    """Return rows of up to 64 bits, a power of two, as words, the first bit the most significant."""
    size = bits.shape[1]
    packed = np.packbits(bits.astype(np.bool_), axis=1)
    if size < 8:
        packed >>= 8 - size
    return packed.view(f">u{packed.shape[1]}").reshape(-1).astype(np.uint64)


class CuddEngine(Engine):
    """CUDD, through `dd.cudd`."""

    name = "cudd"
    module = "dd.cudd"
    memory_errors = (MemoryError, RuntimeError, ValueError)  # dd stumbles over null pointers where memory is short
    sift_limit = 150_000
    node_bytes = NODE_BYTES

    def _new_manager(self) -> Any:
        # by default CUDD starts with tables of megabytes: clearing them takes longer than sifting most blocks
        manager = self._dd.BDD(memory_estimate=FIRST_MEMORY, initial_cache_size=FIRST_CACHE)
        manager.configure(reordering=False, max_memory=max(self._memory_limit, FIRST_MEMORY))
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
    sift_limit = 5_000
    node_bytes = 1_500

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
