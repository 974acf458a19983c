"""Bounds of a torque over all positions and motions, by grids of positions.

For one position left free, a coefficient of a torque is of the second degree m in its cosine and sine. With a kernel
K ≥ 0 of mean 1 and degree at most N − 1 − m, whose harmonics K̂_j are not 0, it is

    c(t) = Σ_k K(t − t_k)/N · c̃(t_k) ,    c̃: harmonics j of c times 1/K̂_j ,

over N equidistant angles t_k: a mean of values of c̃. Position by position, all coefficients together are means of
values on a grid. The largest torque of all motions is convex in them, so that nowhere it is beyond the largest on the
grid. The kernels are those of Fejér and Korovkin, whose harmonics are as close to 1 as can be (P. P. Korovkin, Linear
Operators and Approximation Theory, 1960). A sliding position counts with its square: points (x, x²) are means of both
ends of the parabola and of the points where tangents meet.

So a search for the largest value on a grid (`grid_search`) gives a bound. How many angles it takes is estimated where
the torque is large: the closer the bound is to be, the more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from bddtorque.proof.grid_search import POINTS, PRODUCT, PUSHED, SQUARE, STILL, climb, search_grid
from bddtorque.proof.motion_rows import MotionRows
from bddtorque.proof.sample_errors import grid_loss
from bddtorque.words.formats import TURN
from bddtorque.words.portable import sine_cosine

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Ends = tuple[float, float]
"""Of the largest torque, and of minus the smallest."""

DEGREES = np.array([[0, 1, 1, 2, 2], [0, 1, 2, 0, 0]])
"""Of the functions of a position that turns, and of one that slides."""
SIZES = (4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128)
"""Angles that are tried along a position; 4 are enough for the first degree only."""
PARTS = 8
"""Of a sliding position, between whose ends tangents meet."""
FINE_ANGLES, FINE_PLACES = 384, 65
COARSE = 7
STARTS, SOMEWHERE, SWEEPS = 7, 6, 8
ROUNDS = 5
AIM, MIN_AIM = 0.7, 0.1
"""Of the gap: how much of it a grid may take up at the largest torques that are known; less of it later."""
MAX_POINTS = 1e9
"""Of a grid, most of which is never looked at."""
WORK = 200_000_000
"""Points of grids, for one torque, of about 10 ns each (docs/decisions/ranges.md)."""


@lru_cache(maxsize=256)
def multipliers(points: int, second: bool) -> tuple[float, float, float]:
    """Return what harmonics 0, 1, 2 are multiplied with on a grid of angles; `second`: whether there are any of 2."""
    order = points - 3 if second else points - 2
    sines = sine_cosine(math.pi * np.arange(1, order + 2) / (order + 2))[0]
    total = _total(sines * sines)
    first, other = (_total(sines[:-k] * sines[k:]) for k in (1, 2))
    return 1.0, total / first, total / other if second else 0.0


def _total(numbers: Floats) -> float:
    """Return a sum, added from the first to the last."""
    return float(np.cumsum(numbers)[-1]) if numbers.size else 0.0


def _turning(angles: Floats) -> Floats:
    """Return 1, cos, sin, cos 2, sin 2 of some angles, (N, 5)."""
    (s, c), (s2, c2) = sine_cosine(angles), sine_cosine(2 * angles)
    return np.stack((np.ones_like(angles), c, s, c2, s2), axis=1)


def _sliding(x: Floats, squares: Floats) -> Floats:
    """Return 1, x, x² of some points, (N, 5); the last two are of nothing."""
    nothing = np.zeros_like(x)
    return np.stack((np.ones_like(x), x, squares, nothing, nothing), axis=1)


def _tangents() -> Floats:
    """Return points whose means are all (x, x²), -1 ≤ x ≤ 1."""
    cuts = np.linspace(-1.0, 1.0, PARTS + 1)
    x = np.concatenate(([-1.0], 0.5 * (cuts[1:] + cuts[:-1]), [1.0]))
    return _sliding(x, np.concatenate(([1.0], cuts[1:] * cuts[:-1], [1.0])))


FINE = (
    _turning(TURN * np.arange(FINE_ANGLES) / FINE_ANGLES),
    _sliding(*(np.linspace(-1, 1, FINE_PLACES) ** k for k in (1, 2))),
)
TANGENTS = _tangents()


@dataclass(frozen=True)
class LargeTorque:
    """A large torque, or minus a small one.

    Attributes
    ----------
    value
        N·m or N.
    positions, motion
        Where it is: angles, sliding positions from -1 to 1; velocities and accelerations from -1 to 1.
    amplitudes
        (3, ..., 3), what waves of each degree along each position have of it.
    """

    value: float
    positions: Floats
    motion: Floats
    amplitudes: Floats


class GridBound:
    """Search for the largest and the smallest torque; either is bounded at any time.

    Attributes
    ----------
    bounds
        No torque, and none with the opposite sign, is larger.
    found
        A large torque, and minus a small one.
    work
        Points of grids that were looked at, or what took as long.
    """

    def __init__(self, own: MotionRows, turning: Sequence[bool]) -> None:
        self._turning, (self._coefficients, kinds) = list(turning) or [True], _whole(own)
        self._axes, rows = len(self._turning), len(kinds)
        products = np.full((len(own.products), len(own.products)), -1, np.int64)
        squares = np.full(len(own.products), -1, np.int64)
        for j, k in product(range(len(products)), repeat=2):
            if own.products[j, k] >= 0:
                if j == k:
                    squares[j] = own.products[j, k]
                else:
                    products[j, k] = products[k, j] = own.products[j, k]
        self._roles = kinds, products, squares, own.even
        shape = (POINTS,) * self._axes
        size = np.zeros(POINTS**self._axes)
        for row in range(rows):
            size += np.abs(self._coefficients[:, row])
        degrees = [DEGREES[0 if turns else 1] for turns in self._turning]
        sizes = size.reshape(shape)
        self._sizes = self._by_degree(sizes)
        strengths = [_total(np.compress(degree > 0, sizes, axis=axis).ravel()) for axis, degree in enumerate(degrees)]
        self._second = [bool(np.take(self._sizes, 2, axis=axis).any()) for axis in range(self._axes)]
        self._order = sorted(range(self._axes), key=lambda axis: -strengths[axis])
        self._loss = own.summed * grid_loss(self._axes, self._turning.count(False), len(products) + 1), own.off
        ordered = self._coefficients.reshape(*shape, rows).transpose(*self._order, self._axes)
        self._flat = np.ascontiguousarray(ordered).reshape(-1)
        self._plain = np.ascontiguousarray(self._coefficients).reshape(-1)
        self.work = 0
        whole = own.total + own.off
        self.bounds: Ends = whole, whole
        self._known: list[list[LargeTorque]] = [[], []]
        self._look_around(own)

    def _by_degree(self, values: Floats) -> Floats:
        """Return sums of an array (5, ..., 5) over functions of the same degrees, (3, ..., 3)."""
        for axis, turns in enumerate(self._turning):
            parts = [np.take(values, [k], axis=axis) for k in range(POINTS)]
            if turns:
                parts = [parts[0], parts[1] + parts[2], parts[3] + parts[4]]
            values = np.concatenate(parts[:3], axis=axis)
        return values

    @property
    def positions(self) -> int:
        """The number of positions that matter."""
        return self._axes

    @property
    def found(self) -> Ends:
        """A large torque, and minus a small one."""
        return self._known[0][0].value, self._known[1][0].value

    def best(self, side: int) -> LargeTorque:
        """Return the largest torque that was found (0), or the smallest (1)."""
        return self._known[side][0]

    def _look_around(self, own: MotionRows) -> None:
        """Look for large torques: from the largest on a coarse grid, and from somewhere."""
        grids = [COARSE] * self._axes
        coarse = (
            _turning(TURN * np.arange(COARSE) / COARSE),
            _sliding(*(np.linspace(-1, 1, COARSE) ** k for k in (1, 2))),
        )
        tables = [coarse[0 if turns else 1] for turns in self._turning]
        _, firsts = self._search(grids, tables, (0.0, 0.0), True, WORK)
        firsts.sort(key=lambda first: -max(first[0]))
        for ends, places in firsts[:STARTS]:
            at = places[int(ends[1] > ends[0])]
            for side in range(2):
                self._climb(side, [self._nearest(axis, tables[axis][at[axis]]) for axis in range(self._axes)])
        rng = np.random.default_rng(self._axes)
        for side in [0, 1] * SOMEWHERE:
            self._climb(side, [int(rng.integers(0, len(FINE[0 if turns else 1]))) for turns in self._turning])

    def _nearest(self, axis: int, functions: Floats) -> int:
        """Return the point of the fine grid that is nearest to some functions of a position, whatever their sizes."""
        if not self._turning[axis]:
            return int(np.abs(FINE[1][:, 1] - functions[1]).argmin())
        return int((FINE[0][:, 1] * functions[1] + FINE[0][:, 2] * functions[2]).argmax())

    def _climb(self, side: int, at: list[int]) -> None:
        """Climb from a point of the fine grid, and keep what is found."""
        counts = np.array([len(FINE[0 if turns else 1]) for turns in self._turning])
        tables = np.zeros((self._axes, counts.max(), POINTS))
        for axis, turns in enumerate(self._turning):
            tables[axis, : counts[axis]] = FINE[0 if turns else 1]
        kinds, products = self._roles[:2]
        weights, place = np.empty(len(kinds)), np.array(at, np.int64)
        motion = np.zeros(len(products) + int(np.count_nonzero(kinds == PUSHED)))
        value = climb(self._plain, tables, counts, place, side, self._roles, SWEEPS, weights, motion)
        self.work += 2 * SWEEPS * POINTS**self._axes
        waves = np.zeros(POINTS**self._axes)
        for row in range(len(kinds)):
            waves += weights[row] * self._coefficients[:, row]
        waves = waves.reshape((POINTS,) * self._axes)
        positions = []
        for axis, turns in enumerate(self._turning):
            table = FINE[0 if turns else 1][place[axis]]
            waves = waves * table.reshape([-1 if k == axis else 1 for k in range(self._axes)])
            positions.append(TURN * place[axis] / FINE_ANGLES if turns else table[1])
        large = LargeTorque(float(value), np.array(positions), motion, self._by_degree(waves))
        self._known[side].append(large)
        self._known[side].sort(key=lambda known: -known.value)

    def _search(
        self, grids: list[int], tables: list[Floats], floors: Ends, coarse: bool, most: int
    ) -> tuple[Ends, list[tuple[Ends, Integers]]]:
        """Return the largest bounds on a grid, and those from each point of the first position on, with places."""
        own = np.zeros((self._axes, max(grids), POINTS))
        for level, axis in enumerate(self._order):
            own[level, : grids[axis]] = tables[axis]
        counts = np.array([grids[axis] for axis in self._order])
        groups = np.zeros((self._axes, POINTS ** max(self._axes - 1, 1)), np.int64)
        for left in range(1, self._axes):
            numbers = np.zeros(1, np.int64)
            for axis in self._order[self._axes - left :]:
                numbers = (numbers[:, None] * 3 + DEGREES[0 if self._turning[axis] else 1]).ravel()
            groups[left, : len(numbers)] = numbers
        firsts: list[tuple[Ends, Integers]] = []
        highest, lowest = -math.inf, -math.inf
        rest = most
        for first in range(counts[0]):
            ends, places, work = np.full(2, -np.inf), np.zeros((2, self._axes), np.int64), np.zeros(1, np.int64)
            search_grid(
                self._flat, counts, own, first, groups, self._roles, np.array(floors), coarse, rest,
                ends, places, work,
            )  # fmt: skip
            self.work += int(work[0])
            rest -= int(work[0])
            back = np.zeros_like(places)
            back[:, self._order] = places
            highest, lowest = max(highest, float(ends[0])), max(lowest, float(ends[1]))
            firsts.append(((float(ends[0]), float(ends[1])), back))
        return (highest, lowest), firsts

    def run(self, floors_of: Callable[[Ends], Ends], most: int = WORK) -> bool:
        """Search until no bound is above a floor, which may depend on what was found; return whether it came to that.

        Parameters
        ----------
        floors_of
            Returns for the two torques found what bounds need not be below.
        most
            Work to do, about.
        """
        share, rest = AIM, most + self.work
        for _ in range(ROUNDS):
            floors = floors_of(self.found)
            if any(floor <= found for floor, found in zip(floors, self.found, strict=True)):
                return False
            grids = self._chosen(floors, share)
            tables, loss = self._scaled_tables(grids)
            inner = floors[0] - loss, floors[1] - loss
            ends, firsts = self._search(grids, tables, inner, False, rest - self.work)
            closer = [
                min(old, max(end + loss, floor)) for old, end, floor in zip(self.bounds, ends, floors, strict=True)
            ]
            self.bounds = closer[0], closer[1]
            if all(bound <= floor for bound, floor in zip(self.bounds, floors, strict=True)):
                return True
            for side in range(2):  # the worst point: what is near it counts, and may be larger than what was found
                worst = max(firsts, key=lambda first: first[0][side])
                if worst[0][side] > inner[side]:
                    places = enumerate(worst[1][side].tolist())
                    self._climb(side, [self._nearest(axis, tables[axis][place]) for axis, place in places])
            beyond = max(
                (bound - floor) / (floor - own)
                for bound, floor, own in zip(self.bounds, floors, self.found, strict=True)
            )
            share = max(MIN_AIM, share - min(0.3, 0.5 * beyond))
            if self.work >= rest:
                break
        return False

    def _scales(self, grids: Sequence[int]) -> list[tuple[float, float, float]]:
        """Return the multipliers of harmonics along each position."""
        every = zip(grids, self._second, self._turning, strict=True)
        return [multipliers(points, second) if turns else (1.0, 1.0, 1.0) for points, second, turns in every]

    def _scaled_tables(self, grids: Sequence[int]) -> tuple[list[Floats], float]:
        """Return the functions of each position on a grid, harmonics multiplied; and what a bound by it may lose."""
        tables, scales = [], self._scales(grids)
        for points, scale, turns in zip(grids, scales, self._turning, strict=True):
            table = _turning(TURN * np.arange(points) / points) if turns else TANGENTS
            tables.append(table * np.array(scale)[DEGREES[0]] if turns else table)
        rounding, off = self._loss
        return tables, off + rounding * math.prod(map(max, scales))

    def _chosen(self, floors: Sequence[float], share: float) -> list[int]:
        """Return the fewest points along each position that keep, at large torques, within a share of the gap."""
        at = [int(second) for second in self._second]
        goals: list[tuple[Floats, float]] = []
        for side in range(2):
            if math.isfinite(floors[side]):
                gap = floors[side] - self.found[side]
                goals += [(large.amplitudes, floors[side] - (1 - share) * gap) for large in self._known[side]]

        def beyond(sizes: list[int]) -> float:
            scales = self._scales([SIZES[k] for k in sizes])
            return max((_scaled(amplitudes, scales) - goal for amplitudes, goal in goals), default=-1.0)

        now = beyond(at)
        while now > 0:
            best: tuple[float, list[int], float] | None = None
            for axis in range(self._axes):
                if self._turning[axis] and at[axis] + 1 < len(SIZES):
                    sizes = [k + (other == axis) for other, k in enumerate(at)]
                    rest = beyond(sizes)
                    gain = (now - rest) / math.log(SIZES[sizes[axis]] / SIZES[at[axis]])
                    if best is None or gain > best[0]:
                        best = gain, sizes, rest
            if best is None or best[0] <= 0 or math.prod(SIZES[k] for k in best[1]) > MAX_POINTS:
                break
            at, now = best[1], best[2]
        return [SIZES[k] if turns else PARTS + 2 for k, turns in zip(at, self._turning, strict=True)]


def _scaled(amplitudes: Floats, scales: Sequence[tuple[float, float, float]]) -> float:
    """Return the sum of amplitudes (3, ..., 3), each times the multipliers of its degrees."""
    for scale in reversed(scales):
        amplitudes = amplitudes[..., 0] * scale[0] + amplitudes[..., 1] * scale[1] + amplitudes[..., 2] * scale[2]
    return float(amplitudes)


def _whole(own: MotionRows) -> tuple[Floats, Integers]:
    """Return the coefficients as (5^d, rows), and the kinds of the rows."""
    axes, rows = max(1, len(own.positions)), len(own.layout)
    numbers = np.indices((POINTS,) * axes).reshape(axes, -1)
    whole = np.zeros((POINTS**axes, rows))
    for row, (*used_strides, first) in enumerate(own.layout.tolist()):
        strides = used_strides or [0]
        used = np.ones(whole.shape[0], dtype=np.bool_)
        place = np.full(whole.shape[0], first)
        for stride, number in zip(strides, numbers, strict=True):
            if stride:
                place += stride * number
            else:
                used &= number == 0
        whole[used, row] = own.coefficients[place[used]]
    kinds = np.full(rows, PRODUCT, np.int64)
    kinds[own.accelerations] = PUSHED
    kinds[own.still[own.still >= 0]] = STILL
    for j in range(len(own.products)):
        if own.products[j, j] >= 0:
            kinds[own.products[j, j]] = SQUARE
    return whole, kinds
