"""Statements of straight-line code for many states at once: every name is a vector, a state to each lane.

They are those of `llvm_code`, and these:

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

from bddtorque.evaluate.llvm_code import INT32, INT64, LlvmWriter, emitted


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

    def __init__(self, builder: Any, known: dict[str, Any], kinds: dict[str, Any], real: Any, lanes: int) -> None:
        super().__init__(builder, {"i": ir.Constant(INT64, 0)} | known, kinds, real)
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
