"""`PlanDraft`: a plan before its tables are made; and the certificate, once they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.model.provenance import Provenance
from bddtorque.plan.bound import BlockFacts, OutputBound, compose_bounds, planned_facts
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.proof.certificate import Certificate
from bddtorque.proof.proved_bound import ROBOT, Parts, ProvedBound
from bddtorque.proof.saturation import Verdict, Witness, prove_saturation, prove_word_saturation
from bddtorque.proof.torque_range import torque_box
from bddtorque.targets.builder import OutputFormat
from bddtorque.words.bounded import ROUND_UP, Interval
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import wrap
from bddtorque.words.interface import Interface

REACH_SLACK = 1e-12
"""Of a reach in units: more than its float operations can lose."""


@dataclass(frozen=True)
class PlanDraft:
    """A plan, before its tables are made, and all that its proof needs besides them."""

    formats: Interface  # the words
    provenance: Provenance  # the robot or the function
    plan: Plan  # what is computed
    # how far the compiled function itself can be from the true one, for each output, in units
    arithmetic: tuple[float, ...]
    relative_to: str = ROBOT  # what the certificate will be relative to
    direct: bool = False  # whether one table of all input words gives the output
    table: Table | None = None  # the words themselves, where they are given
    # the lowest and the highest word that the output would need, where the table is clamped itself
    reach: tuple[int, int] | None = None
    # assumed, spread: as the certificate states them
    assumed: float = 0.0
    spread: float = 0.0
    # sound ranges of the true outputs, in SI units, where they are known apart from the plan
    ranges: tuple[Interval, ...] = ()
    # what dust that a plan in floats leaves out costs each output, in units; and how many summands that is
    dropped: tuple[float, ...] = ()
    dust: int = 0

    def bounds(self, facts: Sequence[BlockFacts] | None = None) -> list[OutputBound]:
        """Return what the errors of the blocks amount to, output by output; those that were planned unless given."""
        known = planned_facts(self.plan.blocks) if facts is None else facts
        scales = {name: argument.scale for name, argument in self.formats.arguments.items()}
        bounds = compose_bounds(self.plan, scales, known)
        if not self.dropped:
            return bounds
        return [replace(bound, dropped=charge) for bound, charge in zip(bounds, self.dropped, strict=True)]


def target_of(word: Format, name: str) -> OutputFormat:
    """Return what an output word means; an offset of the value is one of its centre."""
    centre = Fraction(word.centre) + word.sign * Fraction(word.offset)
    return OutputFormat(name, Fraction(word.lsb), word.lowest, word.highest, centre, word.sign)


@contextmanager
def within_floats(kind: str, name: str) -> Iterator[None]:
    """Refuse, in one line, parameters and ranges whose values are beyond what float64 holds."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except ArithmeticError as problem:
        raise BddTorqueError(
            f"{kind} '{name:.60}': parameters and ranges must give values within float64: {problem.args[-1]}"
        ) from None


def certify(draft: PlanDraft, facts: Sequence[BlockFacts], tables: Sequence[Table]) -> Certificate:
    """Return what the proved errors of the blocks amount to, output by output."""
    bounds = _within_truth(draft, draft.bounds(facts))
    parts = []
    for bound, arithmetic in zip(bounds, draft.arithmetic, strict=True):
        composed = {each.name: getattr(bound, each.name) for each in fields(Parts)}
        composed["arithmetic"] = (arithmetic + bound.arithmetic) * ROUND_UP if bound.arithmetic else arithmetic
        parts.append(Parts(**composed))
    proved = []
    verdicts = _verdicts(draft, bounds, [replace(each, final_rounding=0.0).total for each in parts], tables)
    words = draft.formats.results.items()
    for (name, word), own, (saturation, witness, reach) in zip(words, parts, verdicts, strict=True):
        # a word off by its bound, on either side, is still within the range stated
        low, high = draft.reach or reach
        low, high = sorted(word.value(end) for end in (low - own.total, high + own.total))
        proved.append(
            ProvedBound(
                name, word.unit, word.lsb, own, low, high, saturation, witness,
                relative_to=draft.relative_to, assumed=draft.assumed, spread=draft.spread,
            )
        )  # fmt: skip
    return draft.provenance.certificate(draft.formats, tuple(proved))


def _within_truth(draft: PlanDraft, bounds: list[OutputBound]) -> list[OutputBound]:
    """Return the bounds with their reach cut down to that of the true outputs, which they are close to."""
    if not draft.ranges:
        return bounds
    closer = []
    every = zip(bounds, draft.ranges, draft.formats.results.values(), draft.arithmetic, strict=True)
    for bound, true, word, arithmetic in every:
        ends = sorted((float(word.units(true.low)), float(word.units(true.high))))
        slack = bound.total + arithmetic + REACH_SLACK * max(1.0, *map(abs, ends))
        if not word.signed:  # before it is rounded: then it is seen that no sum is rounded to less than 0
            slack -= bound.final_rounding
        low, high = max(bound.low, ends[0] - slack), min(bound.high, ends[1] + slack)
        closer.append(replace(bound, low=low, high=high))
    return closer


def check_accuracy(provenance: Provenance, certificate: Certificate) -> None:
    """Refuse a model whose proof, with all that the plan could not know, is above what was asked for."""
    for output in certificate.outputs:
        if output.parts.total >= provenance.accuracy:
            what = provenance.what if provenance.robot is None else f"{provenance.what}, {output.name}"
            raise BddTorqueError(
                f"{what}: the proved error of {output.parts.total:.4g} units is not below the accuracy of "
                f"{provenance.accuracy:g} requested; float arithmetic behind the tables takes "
                f"{output.parts.arithmetic:.2g}: use fewer output bits or a larger accuracy"
            )


def _verdicts(
    draft: PlanDraft, bounds: Sequence[OutputBound], errors: Sequence[float], tables: Sequence[Table]
) -> Sequence[Verdict]:
    """Return whether each output can leave its range, and input words for which it does."""
    formats, provenance, plan = draft.formats, draft.provenance, draft.plan
    reach = [(bound.low, bound.high) for bound in bounds]
    if provenance.is_torque:
        robot, spec = provenance.require_robot()
        return prove_saturation(robot, formats, plan, tables, reach, errors, torque_box(spec, robot, formats.words))
    if provenance.robot is not None and provenance.spec is not None:
        box = torque_box(provenance.spec, provenance.robot, formats.words)
        outputs = list(formats.results.values())

        def units(words: Mapping[str, npt.NDArray[np.int64]], place: int) -> npt.NDArray[np.float64]:
            true = provenance.true_values(formats, words, plan.blocks)
            assert true is not None  # a robot's are known
            return outputs[place].units(true[:, place])  # type: ignore[no-any-return]

        return prove_word_saturation(formats, plan, tables, reach, units, errors, box)
    output = plan.outputs[0]
    if math.floor(bounds[0].low + 0.5) >= output.low and math.floor(bounds[0].high + 0.5) <= output.high:
        return [("cannot", None, reach[0])]
    if draft.direct:
        beyond = np.flatnonzero((tables[0].values < output.low) | (tables[0].values > output.high))
        witness = _words_at(formats, int(beyond[0])) if len(beyond) else None
        return [("can" if witness else "cannot", witness, reach[0])]
    return [("not excluded", None, reach[0])]


def _words_at(formats: Interface, index: int) -> Witness:
    """Return the input words at an index of a table that has them one after another, the first most significant."""
    words = []
    for word in reversed(formats.words.values()):
        words.append((wrap(index, word.bits),))
        index >>= word.bits
    return tuple(reversed(words))
