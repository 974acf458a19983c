"""Checks of stored diagram arrays, so that a damaged or hostile file can neither crash a walk nor mislead it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import njit
from bddtorque.plan.diagram_memory import MAX_NODES
from bddtorque.plan.table import MAX_INPUT_BITS, MAX_OUTPUT_BITS, Int16Array, Int32Array, IntegerArray

BoolArray = npt.NDArray[np.bool_]


def check_order(given: npt.ArrayLike | None, variables: int | None = None) -> tuple[int, ...]:
    """Return an order as a tuple of ints; None stands for 0 to `variables` - 1.

    Raise `BddTorqueError` unless it is a permutation of 0 to n - 1, n being `variables` if given and 1 to 26 in any
    case.
    """
    order = np.asarray(range(variables or 0) if given is None else given)
    if order.ndim != 1 or order.dtype.kind not in "iu" or not 1 <= len(order) <= MAX_INPUT_BITS:
        raise BddTorqueError(
            f"diagram: the order must be 1 to {MAX_INPUT_BITS} integers in one dimension, "
            f"not {order.dtype} of shape {order.shape}"
        )
    found = tuple(int(variable) for variable in order)
    wanted = len(found) if variables is None else variables
    if sorted(found) != list(range(wanted)):
        raise BddTorqueError(f"diagram: the order must be a permutation of 0 to {wanted - 1}, not {found}")
    return found


def within(array: npt.NDArray[Any], name: str, lowest: int, highest: int) -> IntegerArray:
    """Return `array` as int64.

    Raise `BddTorqueError` unless every entry is from `lowest` to `highest`.
    """
    refuse((array < lowest) | (array > highest), name, f"must be {lowest} to {highest}", array)
    return array.astype(np.int64)


def refuse(wrong: BoolArray, name: str, required: str, given: npt.NDArray[Any]) -> None:
    """Raise an error that names the first wrong entry, if there is one."""
    if wrong.any():
        first = int(wrong.argmax())
        raise BddTorqueError(f"diagram: {name}[{first}] {required}, found {given[first]}")


def check_arrays(
    level: npt.NDArray[Any], low: npt.NDArray[Any], high: npt.NDArray[Any], roots: npt.NDArray[Any], variables: int
) -> tuple[Int16Array, Int32Array, Int32Array, Int32Array]:
    """Return the arrays of a `Diagram` in their own types.

    Raise `BddTorqueError` unless they are a reduced, ordered diagram in canonical numbering (conventions in `bdd`).
    """
    for name, array in (("level", level), ("low", low), ("high", high), ("roots", roots)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise BddTorqueError(
                f"diagram: {name} must be integers in one dimension, not {array.dtype} of shape {array.shape}"
            )
    if not len(level) == len(low) == len(high) or not 1 <= len(level) <= MAX_NODES:
        raise BddTorqueError(
            f"diagram: level, low and high must be equally long, with the constant at least 1, "
            f"not {len(level)}, {len(low)}, {len(high)}"
        )
    if not 1 <= len(roots) <= MAX_OUTPUT_BITS:
        raise BddTorqueError(f"diagram: there must be 1 to {MAX_OUTPUT_BITS} roots, not {len(roots)}")
    edges = 2 * len(level) - 1
    level = within(level, "level", 0, variables)
    low, high = within(low, "low", 0, edges), within(high, "high", 0, edges)
    roots = within(roots, "roots", 0, edges)
    constant = int(level[0]), int(low[0]), int(high[0])
    if constant != (variables, 0, 0):
        raise BddTorqueError(
            f"diagram: node 0, the constant, must have level {variables} and edges 0, 0, found {constant}"
        )
    node = np.arange(len(level))
    inner = node > 0
    refuse(inner & (level == variables), "level", f"must be below {variables} for a decision node", level)
    refuse(inner & (low & 1 == 1), "low", "must be a regular (even) edge", low)
    refuse(inner & (low == high), "high", "must differ from the low edge (else the node is redundant)", high)
    for name, edge in (("low", low), ("high", high)):
        refuse(inner & (edge >> 1 >= node), name, "must lead to a node numbered before its own", edge)
        refuse(inner & (level[edge >> 1] <= level), name, "must lead to a deeper level", edge)
    before = _precedes(level, low, high)
    refuse(~before, "level", "must belong to a node after its predecessor in (deeper level, low, high)", level)
    refuse(~reached(low, high, roots), "level", "must belong to a node that a root reaches", level)
    return level.astype(np.int16), low.astype(np.int32), high.astype(np.int32), roots.astype(np.int32)


def _precedes(level: IntegerArray, low: IntegerArray, high: IntegerArray) -> BoolArray:
    """Tell for each node whether it comes strictly after the one before it; strictly, so no two nodes are equal."""
    steps = np.zeros(len(level), np.int64)
    for key in (high, low, -level):  # the most significant key last, so that it decides
        difference = np.sign(np.diff(key, prepend=key[0]))
        steps = np.where(difference != 0, difference, steps)
    steps[:2] = 1
    return np.asarray(steps > 0)


@njit
def _mark(reached: BoolArray, low: IntegerArray, high: IntegerArray) -> None:
    for node in range(len(reached) - 1, 0, -1):  # parents come after their children
        if reached[node]:
            reached[low[node] >> 1] = True
            reached[high[node] >> 1] = True


def reached(low: IntegerArray, high: IntegerArray, roots: IntegerArray) -> BoolArray:
    """Tell for each node whether a root reaches it; for the constant it is always true."""
    found = np.zeros(len(low), np.bool_)
    found[0] = True
    found[roots >> 1] = True
    _mark(found, low, high)
    return found
