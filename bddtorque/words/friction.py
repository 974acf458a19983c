"""Friction of a joint: viscous, Coulomb and Stribeck, a function of its velocity.

    F(v) = viscous·v + sign(v)·(coulomb + (static − coulomb)·exp(−(v/stribeck_velocity)²))

F is what the drive must give on top of the rigid body's torque, so that it has the sign of the velocity. Coulomb and
static friction may differ by direction. At a standstill (|v| at most `standstill`) the sign is 0: friction holds and
does not push, and what it holds against is not known from the velocity. So F jumps there, and so does its table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from bddtorque.base.errors import BddTorqueError, refusals_in
from bddtorque.base.plain import describe, is_list, real, table, unwrap
from bddtorque.words.bounded import TINY, ULP, Bounded
from bddtorque.words.law import Law

STANDSTILL = 1e-9
"""rad/s or m/s. A velocity word of zero may be off by the rounding of its format, which is no motion."""
EXPONENTIAL_RADIUS = 8 * ULP
"""Relative; NumPy's vectorised exponential promises 4 units in the last place at most."""
_KEYS = ("viscous", "coulomb", "static", "stribeck_velocity", "standstill")

Sides = tuple[float, float]
"""Of positive and of negative velocities; both as magnitudes."""


@dataclass(frozen=True)
class Friction(Law):
    """Viscous, Coulomb and Stribeck friction of one joint.

    Attributes
    ----------
    viscous
        Viscous friction, N·m·s/rad or N·s/m.
    coulomb
        Coulomb friction, N·m or N: a number, or a pair of magnitudes for positive and negative velocity.
    static
        Breakaway friction, like `coulomb`; None for no Stribeck effect.
    stribeck_velocity
        Width of the Stribeck effect, rad/s or m/s; needed with `static`.
    standstill
        Speed up to which the joint counts as standing still, rad/s or m/s.
    """

    kind: ClassVar[str] = "friction"
    viscous: float = 0.0
    coulomb: Sides | float = (0.0, 0.0)
    static: Sides | float | None = None
    stribeck_velocity: float | None = None
    standstill: float = STANDSTILL

    def __post_init__(self) -> None:
        object.__setattr__(self, "viscous", real(self.viscous, "viscous", low=0))
        object.__setattr__(self, "standstill", real(self.standstill, "standstill", low=0))
        object.__setattr__(self, "coulomb", _sides(self.coulomb, "coulomb"))
        if (self.static is None) != (self.stribeck_velocity is None):
            raise BddTorqueError("static and stribeck_velocity belong together: give both or neither")
        if self.static is not None:
            object.__setattr__(self, "static", _sides(self.static, "static"))
            width = real(self.stribeck_velocity, "stribeck_velocity", low=0)
            if not (0 < width * width < math.inf and math.isfinite(1 / (width * width))):
                raise BddTorqueError(
                    f"stribeck_velocity must be above 0, and its square must not overflow or underflow, got {width}"
                )
            object.__setattr__(self, "stribeck_velocity", width)

    @property
    def real_valued(self) -> bool:
        """True if words are those of the real function: `exact` knows on which side of its jump a velocity lies."""
        return True

    @property
    def nothing(self) -> bool:
        """True if there is no friction at all."""
        return not (self.viscous or any(self._pair("coulomb")) or (self.static and any(self._pair("static"))))

    def bounded(self, values: Sequence[Bounded]) -> Bounded:
        """Return the friction at velocities known to a radius; the sign of one too close to call must be told apart."""
        (velocity,) = values
        v, radius = velocity.value, np.broadcast_to(velocity.radius, np.shape(velocity.value))
        moving = np.sign(v) * (np.abs(v) > self.standstill)
        total = _scaled(velocity, self.viscous)
        for side, direction in enumerate((1.0, -1.0)):
            here = moving == direction
            dry = Bounded(np.where(here, direction * self._pair("coulomb")[side], 0.0))
            if self.static is not None and self.stribeck_velocity is not None:
                above = direction * (self._pair("static")[side] - self._pair("coulomb")[side])
                ratio = _scaled(velocity, 1.0 / self.stribeck_velocity)
                decay = _falling(ratio * ratio)
                dry = dry + Bounded(np.where(here, above, 0.0), np.where(here, ULP * abs(above), 0.0)) * decay
            total = total + dry
        # velocities whose side of the standstill the radius leaves open: the whole jump, or so it is stated
        open_ = (np.abs(np.abs(v) - self.standstill) <= radius) & (radius > 0)
        jump = 2 * max(*self._pair("coulomb"), *(self._pair("static") if self.static else (0.0,)))
        return Bounded(total.value, np.where(open_, total.radius + jump, total.radius))

    def exact(self, values: Sequence[Fraction]) -> Any:
        """Return the friction at one rational velocity, in mpmath's precision."""
        import mpmath  # noqa: PLC0415 - for the compiler alone

        (velocity,) = values
        number = mpmath.mpf
        v = number(velocity.numerator) / velocity.denominator
        total = number(self.viscous) * v
        if abs(velocity) <= Fraction(self.standstill):
            return total
        side, direction = (0, 1) if velocity > 0 else (1, -1)
        dry = number(self._pair("coulomb")[side])
        if self.static is not None and self.stribeck_velocity is not None:
            decay = mpmath.exp(-((v / number(self.stribeck_velocity)) ** 2))
            dry += (number(self._pair("static")[side]) - dry) * decay
        return total + direction * dry

    def formula(self) -> str:
        """Return the law in a few words."""
        parts = [f"{self.viscous:g}·x0"] if self.viscous else []
        dry = _shown(self._pair("coulomb"))
        if self.static is not None:
            dry += f" to {_shown(self._pair('static'))} within {self.stribeck_velocity:g}"
        if any(self._pair("coulomb")) or self.static is not None:
            parts.append(f"sign(x0)·({dry})")
        return " + ".join(parts) or "0"

    def _pair(self, name: str) -> Sides:
        pair: Sides = getattr(self, name)
        return pair


def friction_from_table(given: object, where: str) -> Friction:
    """Return friction as people write it: a table with some of its keys, or a number, which is viscous friction."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        given = {"viscous": given}
    with refusals_in(where):
        return Friction(**table(given, (), where, (*_KEYS, "samples")))


def _scaled(number: Bounded, factor: float) -> Bounded:
    """Return factor · number; the factor is a float that may be off by half a unit in its last place."""
    scaled = number * Bounded(np.float64(factor), ULP * abs(factor))
    return scaled if isinstance(scaled, Bounded) else Bounded(np.float64(scaled))


def _falling(square: Bounded) -> Bounded:
    """Return exp(−x) of x >= 0 known to a radius: no steeper than 1, and at most e^radius times itself."""
    with np.errstate(under="ignore"):
        value = np.exp(-square.value)
    growth = np.expm1(np.minimum(square.radius, 1.0)) * (1 + 1e-9)
    return Bounded(value, value * (EXPONENTIAL_RADIUS + growth) + TINY)


def _sides(given: object, name: str) -> Sides:
    given = unwrap(given)
    if not is_list(given):
        return (both := real(given, name, low=0)), both
    if len(given) != 2:
        raise BddTorqueError(
            f"{name} must be a number, or two magnitudes (of positive and of negative velocities), got "
            f"{describe(given)}"
        )
    return real(given[0], name, low=0), real(given[1], name, low=0)


def _shown(pair: Sides) -> str:
    return f"{pair[0]:g}" if pair[0] == pair[1] else f"{pair[0]:g}/{pair[1]:g}"
