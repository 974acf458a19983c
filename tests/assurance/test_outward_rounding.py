"""Floats behind a certificate are rounded outward: however they are rounded, the bound is no less than the exact one.

The code that composes bounds is run again with other numbers in the place of its floats: rationals, for the exact
bound, and floats of which every operation rounds down, or up, as IEEE 754 allows.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from compiled import compiled

import bddtorque as bt
from bddtorque.compiler.verify import redraft
from bddtorque.plan import bound as word_bound
from bddtorque.plan.bound import BlockFacts, OutputBound
from bddtorque.plan.plan import Plan
from bddtorque.plan.tabulate import tabulate
from bddtorque.proof import recursion_truth, term_truth
from bddtorque.words import bounded, error_bound, turning
from bddtorque.words.ieee import Precision

COMPOSING = (word_bound, error_bound, turning, bounded)
"""The modules that compose bounds."""
MODELS = [
    ("planar2r", "tables", 8),
    ("planar2r", "integer", 12),
    ("planar2r", "float", 12),
    *(pytest.param("scara", *rest, marks=pytest.mark.everything) for rest in (("integer", 8), ("float", 12))),
]


def rounded_to(mode: int, value: Fraction) -> float:
    """Return a rational as a float, rounded down (-1) or up (1)."""
    nearest = float(value)
    if mode and Fraction(nearest) != value and (Fraction(nearest) > value) == (mode < 0):
        return math.nextafter(nearest, mode * math.inf)
    return nearest


class Directed(float):
    """A float whose operations round in one direction."""

    mode = 0

    def __new__(cls, value: Any = 0.0) -> "Directed":
        return super().__new__(cls, rounded_to(cls.mode, value) if isinstance(value, Fraction) else value)

    def _with(self, other: Any, combined: Callable[[Fraction, Fraction], Fraction]) -> Any:
        mine, theirs = float(self), float(other)
        if not math.isfinite(mine) or not math.isfinite(theirs):
            return NotImplemented
        return type(self)(combined(Fraction(mine), Fraction(theirs)))

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    def __pow__(self, other: Any) -> Any:
        assert other == 2
        return self * self

    def __neg__(self) -> Any:
        return type(self)(-float(self))

    def __abs__(self) -> Any:
        return type(self)(abs(float(self)))

    __radd__, __rmul__ = __add__, __mul__


class Down(Directed):
    mode = -1


class Up(Directed):
    mode = 1


def root(value: Fraction) -> Fraction:
    """Return the root of a rational, a little too small."""
    scale = 1 << 400
    return Fraction(math.isqrt(value.numerator * scale**2 // value.denominator), scale)


def shim(kind: type) -> SimpleNamespace:
    """Return what stands in for the module `math`."""
    if kind is Fraction:
        return SimpleNamespace(
            hypot=lambda x, y: root(Fraction(x) ** 2 + Fraction(y) ** 2),
            fsum=lambda values: sum(map(Fraction, values)),
            nextafter=lambda x, toward: x,
            inf=math.inf,
        )

    def hypot(x: float, y: float) -> Any:
        exact = root(Fraction(x) ** 2 + Fraction(y) ** 2)
        return kind(
            exact if exact**2 == Fraction(x) ** 2 + Fraction(y) ** 2 or kind.mode < 0 else exact + Fraction(1, 1 << 400)
        )

    return SimpleNamespace(
        hypot=hypot,
        fsum=lambda values: kind(sum(map(Fraction, values), Fraction(0))),
        nextafter=lambda x, toward: kind(math.nextafter(x, toward)),
        inf=math.inf,
    )


class OtherPrecision:
    """A precision whose rounding errors are found from any kind of number."""

    def __init__(self, precision: Precision, kind: type) -> None:
        self.kind, self.precision, self.name, self.largest = kind, precision, precision.name, precision.largest

    def nearest(self, value: Fraction) -> float:
        return self.precision.nearest(value)

    def rounding_error(self, magnitude: Any) -> Any:
        found = Fraction(magnitude)
        if not found:
            return self.kind(0)
        exponent = found.numerator.bit_length() - found.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > found
        return self.kind(max(Fraction(2) ** (exponent - self.precision.bits), Fraction(self.precision.tiny)))


@contextmanager
def numbers(kind: type, room: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a kind of number in the place of the floats that compose bounds, and `room` in that of `ROUND_UP`."""
    with monkeypatch.context() as patch:
        exact = kind is Fraction
        for module in COMPOSING:
            patch.setattr(module, "math", shim(kind))
            patch.setattr(module, "ROUND_UP", kind(room))
            patch.setattr(module, "float", kind, raising=False)
        patch.setattr(error_bound, "TINY", kind(0) if exact else kind(bounded.TINY))
        patch.setattr(bounded, "UP", kind(1) if exact else kind(bounded.UP))
        patch.setattr(word_bound, "added", lambda values: sum(values, kind(0)))
        sine_error = word_bound.sine_error
        patch.setattr(word_bound, "sine_error", lambda *given: kind(sine_error(*given[:3], given[3].precision)))
        patch.setattr(Plan, "floats", property(lambda plan: OtherPrecision(plan.precision, kind)))
        yield


def composed(
    model: bt.Model, facts: list[BlockFacts], kind: type, monkeypatch: pytest.MonkeyPatch, room: Any = bounded.ROUND_UP
) -> list[OutputBound]:
    """Return the bounds of a model, computed with a kind of number."""
    draft, _ = redraft(model)
    own = [BlockFacts(kind(fact.error), fact.low, fact.high) for fact in facts]
    with numbers(kind, 1 if kind is Fraction else room, monkeypatch):
        scales = {name: argument.scale for name, argument in draft.formats.arguments.items()}
        return word_bound.compose_bounds(draft.plan, scales, own)


def values_of(bound: OutputBound) -> dict[str, Any]:
    parts = ("dropped", "constants", "tables", "products", "sums", "arithmetic")
    return {part: Fraction(getattr(bound, part)) for part in parts}


@pytest.mark.parametrize(("arm", "target", "bits"), MODELS, ids=str)
def test_the_bound_is_no_less_than_the_exact_one(
    arm: str, target: str, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = compiled(arm, bits=bits, target=target)
    facts = [tabulate(block)[1] for block in model.plan.blocks]
    exact = composed(model, facts, Fraction, monkeypatch)
    monkeypatch.undo()
    for kind in (float, Down, Up):
        if kind is float:
            found = redraft(model)[0].bounds(facts)
        else:
            found = composed(model, facts, kind, monkeypatch)
            monkeypatch.undo()
        for mine, least in zip(found, exact, strict=True):
            for part, value in values_of(least).items():
                assert value <= values_of(mine)[part] <= value * (1 + Fraction(1, 10**8)), (kind, part)
            assert Fraction(mine.low) <= Fraction(least.low) <= Fraction(least.high) <= Fraction(mine.high)


def test_without_room_a_bound_could_be_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above tells: floats that round down with nothing to make up for it end below the exact bound."""
    model = compiled("planar2r", bits=12, target="integer")
    facts = [tabulate(block)[1] for block in model.plan.blocks]
    exact = composed(model, facts, Fraction, monkeypatch)
    found = composed(model, facts, Down, monkeypatch, room=1)
    assert all(values_of(mine)["tables"] < values_of(least)["tables"] for mine, least in zip(found, exact, strict=True))


@pytest.mark.parametrize("helper", ["nextafter", "ROUND_UP", "TINY"])
@pytest.mark.parametrize(("arm", "target", "bits"), MODELS[:3], ids=str)
def test_coarser_helpers_only_let_bounds_grow(
    arm: str, target: str, bits: int, helper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = compiled(arm, bits=bits, target=target)
    facts = [tabulate(block)[1] for block in model.plan.blocks]
    draft, _ = redraft(model)
    before = draft.bounds(facts)

    def farther(x: float, toward: float) -> float:
        for _ in range(50):
            x = math.nextafter(x, toward)
        return x

    coarse = SimpleNamespace(hypot=math.hypot, fsum=math.fsum, inf=math.inf, nextafter=farther)
    coarser = {"nextafter": ("math", coarse), "ROUND_UP": ("ROUND_UP", 1 + 1e-9), "TINY": ("TINY", 1e-20)}
    for module in COMPOSING:
        monkeypatch.setattr(module, *coarser[helper], raising=False)
    after = draft.bounds(facts)
    grown = False
    for old, new in zip(before, after, strict=True):
        for part, value in values_of(old).items():
            assert values_of(new)[part] >= value, part
            grown |= values_of(new)[part] > value
        assert new.low <= old.low <= old.high <= new.high
        grown |= new.low < old.low or new.high > old.high
    assert grown or (helper != "ROUND_UP" and target != "float")  # only floats need the other two


@pytest.mark.parametrize("source", ["recursive", "terms"])
def test_coarser_units_let_the_distance_to_the_robot_grow(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = compiled("planar2r", bits=12, target="integer", source=source)
    before = redraft(model)[0].arithmetic
    coarse = bounded.ULP * 64
    for module in (bounded, recursion_truth, term_truth):
        monkeypatch.setattr(module, "ULP", coarse)
    monkeypatch.setattr(term_truth, "SINE_RADIUS", term_truth.SINE_RADIUS * 64)
    after = redraft(model)[0].arithmetic
    assert all(new > old for old, new in zip(before, after, strict=True))
