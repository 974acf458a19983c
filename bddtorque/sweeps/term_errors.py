"""The error of each term by itself: what the cascade adds to a torque for it, beside its float value.

    tau_i = Σ_j J_ij q̈_j + Σ_{j<k} C_ijk q̇_j q̇_k + Σ_j C_ijj q̇_j² + G_i + F_i(q̇_i)

A plan of the source `terms` adds one word for each term, or several, or one for several terms at once where a single
table holds them. Which term a word belongs to is read from the plan: every wire is a polynomial in velocities and
accelerations whose coefficients depend on positions alone, and its *motions* are the monomials that occur, found by
running the plan on sets of monomials in place of numbers. Words of a torque that share a motion are one row. No term of
the arm itself has one velocity alone, so that this motion is friction's, whatever its law.

The errors of all rows, of the sums between them and of the final rounding add up to that of the torque, clamping aside.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.batch import friction
from bddtorque.dynamics.terms import Terms, terms_of
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.plan.blocks import FunctionBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_sum, run_wires
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.sweeps.states import by_name

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]
Motion = tuple[str, ...]
"""The factors of a coefficient: ``()``, ``("qdd1",)`` or ``("qd1", "qd2")``, in order."""

STANDING: Motion = ()
ROUNDINGS = "roundings"
"""The row of errors that belong to no term: sums of several terms rounded on the way, and the final rounding."""


class Motions(frozenset[Motion]):
    """The monomials of a polynomial in velocities and accelerations: adds and multiplies as polynomials do."""

    def __add__(self, other: Motions) -> Motions:
        return Motions(self | other)

    __sub__ = __add__  # type: ignore[assignment]

    def __mul__(self, other: Motions) -> Motions:
        return Motions(tuple(sorted(a + b)) for a, b in product(self, other))

    def __neg__(self) -> Self:
        return self

    @staticmethod
    def sin(_: Motions) -> Motions:
        """Return those of a sine: positions alone have one."""
        return ALONE

    cos = sin


ALONE = Motions([STANDING])


@dataclass(frozen=True)
class TermError:
    """Error of one term of one torque, in units of the torque's last bit."""

    torque: int  # the joint, from 0
    name: str  # J12, C1_22, C1_12, G1, F1 (friction); several with + where one table holds them; or "roundings"
    value: float  # largest |value| of the term itself
    # largest, rms: of the error
    largest: float
    rms: float
    dropped: bool = False  # the plan has nothing for it: too small to matter, and charged to the certificate

    def to_plain(self) -> dict[str, Any]:
        """Return numbers by name."""
        return {
            "torque": self.torque + 1,
            "term": self.name,
            "largest_value_units": self.value,
            "max_units": self.largest,
            "rms_units": self.rms,
            "dropped": self.dropped,
        }


def term_errors(model: Model, words: Sequence[Words]) -> list[TermError]:
    """Return the error of each term on given input words q, qd and qdd, each (N, n); a model of the source `terms`."""
    terms = []
    for torque, name, value, error, kept in _rows(model, words):
        largest, rms = float(np.abs(error).max()), math.sqrt(float(np.mean(error**2)))
        terms.append(TermError(torque, name, float(np.abs(value).max()), largest, rms, not kept))
    return terms


def _rows(model: Model, words: Sequence[Words]) -> Iterable[tuple[int, str, Floats, Floats, bool]]:
    """Give torque, name, values and errors (N,) in units of each row, and whether the plan has anything for it."""
    _check(model)
    plan, zero = model.plan, np.zeros(len(words[0]))
    inputs = by_name(model.formats, np.concatenate(words, axis=1).T)
    wires, motions = run_wires(plan, model.tables, inputs), motions_of(plan)
    truths = _true_terms(model, terms_of(model.robot), words)
    for torque, (output, word) in enumerate(zip(plan.outputs, model.formats.tau, strict=True)):
        parts, roundings = _parts(plan, output, wires, motions)
        values = {motion: word.sign * value / word.lsb for motion, value in truths[torque].items()}
        shift = (word.sign * word.offset + word.centre) / word.lsb  # of the word against the torque itself
        if shift or any(STANDING in moving for moving, _ in parts):
            values[STANDING] = values.get(STANDING, 0.0) - shift + zero
        for group in groups_of([*(Motions([motion]) for motion in values), *(moving for moving, _ in parts)]):
            value = sum((values[motion] for motion in group if motion in values), start=zero)
            summands = [summand for moving, summand in parts if moving & group]
            name = "+".join(name_of(torque, motion) for motion in sorted(group))
            yield torque, name, value, sum(summands, start=zero) - value, bool(summands)
        yield torque, ROUNDINGS, zero, roundings, True


def _check(model: Model) -> None:
    require(model, "terms of torques")
    for word in (*model.formats.qd, *model.formats.qdd):
        if word.dequantise(0) != 0.0:
            raise BddTorqueError(
                f"errors of terms: the word 0 of {word.name} must stand for 0, got "
                f"{float(word.dequantise(0)):.6g} {word.unit}: a range that is the same on both sides of 0 would work"
            )


def _true_terms(model: Model, terms: Terms, words: Sequence[Words]) -> list[dict[Motion, Floats]]:
    """Return the terms (N,) of each torque by motion, at the exact values of input words, in N·m or N."""
    arrays = zip(model.formats.inputs, words, strict=True)
    q, qd, _ = values = [array.dequantise(columns) for array, columns in arrays]
    moved = dict(zip(model.formats.words, np.concatenate(values, axis=1).T, strict=True))
    truths: list[dict[Motion, Floats]] = [{} for _ in range(q.shape[1])]
    for term in terms.terms:
        coefficient = term.expansion(q)
        for torque, motion in term.summands():
            truths[torque][motion] = coefficient * math.prod((moved[name] for name in motion), start=np.ones(len(q)))
    frictions = friction(model.robot, qd)
    for torque in (j for j, joint in enumerate(model.robot.joints) if joint.friction is not None):
        truths[torque][(f"qd{torque + 1}",)] = frictions[:, torque]
    return truths


def _parts(
    plan: Plan, output: Output, wires: Sequence[Words], motions: Sequence[Motions]
) -> tuple[list[tuple[Motions, Floats]], Floats]:
    """Return the summands (N,) of a torque with their motions, in units, and the errors of rounding their sums."""
    scale = 2.0**-output.shift
    roundings = np.zeros_like(wires[0], dtype=np.float64)
    parts: list[tuple[Motions, Floats]] = [(ALONE, roundings + output.constant * scale)] if output.constant else []
    waiting = [(wire, factor * scale) for wire, factor in output.parts]
    exact = run_sum(output, wires) * scale
    final = np.floor(exact + 0.5) - exact
    while waiting:
        wire, factor = waiting.pop()
        step = plan.wires[wire]
        if isinstance(step, Sum) and len(motions[wire]) > 1:  # taken apart; only its rounding has no term
            unit = 2.0**-step.shift
            waiting += [(part, factor * weight * unit) for part, weight in step.parts]
            if step.constant:
                parts.append((ALONE, np.full(len(roundings), factor * step.constant * unit)))
            roundings = roundings + factor * (wires[wire] - run_sum(step, wires) * unit)
        else:
            parts.append((motions[wire], factor * wires[wire].astype(np.float64)))
    return parts, roundings + final


class _MotionsOf(Algebra[Motions]):
    """Computes in motions: a factor, a rounding or a wrap changes none."""

    def __init__(self, plan: Plan, off_centre: Container[str]) -> None:
        self.plan, self.off_centre = plan, off_centre

    def input(self, wire: Input) -> Motions:
        moving = Motions([(wire.name,)]) if wire.name.startswith("qd") else ALONE
        return moving + ALONE if wire.name in self.off_centre else moving

    def table(self, wire: Lookup, words: Sequence[Motions]) -> Motions:
        block = self.plan.blocks[wire.block]
        if not isinstance(block, FunctionBlock):  # a law: friction, a function of one velocity
            (velocity,) = words
            return velocity
        arguments = {
            f"x{k}": word + ALONE if argument.centre and word != ALONE else word
            for k, (word, argument) in enumerate(zip(words, block.arguments, strict=True))
        }
        (result,) = block.graph.evaluate(arguments, Motions, lambda value: Motions(ALONE if value else []))
        return result  # type: ignore[no-any-return]

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[Motions, int]]) -> Motions:
        return sum((word for word, _ in terms), start=Motions(ALONE if wire.constant else []))

    def wrapped(self, total: Motions, wire: AngleSum) -> Motions:
        return ALONE

    def rounded(self, exact: Motions, wire: Product | Sum | Output) -> Motions:
        return exact


def motions_of(plan: Plan, off_centre: Container[str] = ()) -> list[Motions]:
    """Return the motions of every wire of a plan; the word 0 of the inputs `off_centre` stands for some motion."""
    return plan.evaluate(_MotionsOf(plan, off_centre))


def groups_of(sets: Iterable[Motions]) -> list[Motions]:
    """Return the sets, those with a motion in common joined to one, in the order of their first."""
    groups: list[Motions] = []
    for motions in sets:
        joined = Motions(motions.union(*(group for group in groups if group & motions)))
        place = next((k for k, group in enumerate(groups) if group & motions), len(groups))
        groups = [group for group in groups if not group & motions]
        groups.insert(place, joined)
    return groups


@dataclass(frozen=True)
class TermSummands:
    """Summands of one torque for one term, or for several that one table holds."""

    torque: int  # the joint, from 0
    motions: tuple[Motion, ...]  # of the terms: one each
    parts: tuple[tuple[int, int], ...]  # (wire, factor) of the output's summands that belong to them
    constant: int  # of the output, where it belongs to them

    @property
    def name(self) -> str:
        """J12, C1_22, C1_12, G1, F1 (friction); several with + where one table holds them."""
        return "+".join(name_of(self.torque, motion) for motion in self.motions)

    @property
    def kind(self) -> str:
        """Inertial, centripetal, Coriolis, gravity or friction; several with +."""
        return "+".join(dict.fromkeys(map(kind_of, self.motions)))


def term_summands(model: Model) -> list[TermSummands]:
    """Return the summands of all torques by term, of a robot compiled from source `terms`."""
    require(model, "terms of torques")
    off_centre = {
        name for name, word in model.formats.words.items() if name.startswith("qd") and word.dequantise(0) != 0.0
    }
    plan = model.plan
    motions = motions_of(plan, off_centre)
    summands = []
    for torque, output in enumerate(plan.outputs):
        friction = (f"qd{torque + 1}",) if model.robot.joints[torque].friction else None
        moving = [motions[wire] for wire, _ in output.parts] + ([ALONE] if output.constant else [])
        for group in groups_of(moving):
            # one velocity alone is friction, or what a product with an off-centre velocity has besides: no term itself
            terms = tuple(motion for motion in sorted(group) if motion == friction or kind_of(motion) != "friction")
            parts = tuple((wire, factor) for wire, factor in output.parts if motions[wire] & group)
            summands.append(TermSummands(torque, terms, parts, output.constant if STANDING in group else 0))
    return summands


def kind_of(motion: Motion) -> str:
    """Return the kind of a term by what moves in it."""
    if not motion:
        return "gravity"
    if motion[0].startswith("qdd"):
        return "inertial"
    if len(motion) == 1:
        return "friction"
    return "centripetal" if motion[0] == motion[1] else "coriolis"


def name_of(torque: int, motion: Motion) -> str:
    """Return the name of a term of a torque (from 0) by what moves in it: J12, C1_12, G1, F1."""
    numbers = "".join(name.lstrip("qd") for name in motion)
    letters = {"gravity": "G{}", "inertial": "J{}{}", "friction": "F{}"}
    return letters.get(kind_of(motion), "C{}_{}").format(torque + 1, numbers)
