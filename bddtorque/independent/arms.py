"""The proof of a compiled arm, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from .bounds import Composition, OutputBound
from .certificate import (
    Stated,
    allowed_difference,
    check_difference,
    check_names,
    check_parts,
    check_range,
    closer_range,
    fits,
    held,
    most_arithmetic,
    outputs_stated,
    witness_words,
)
from .findings import Finding, require
from .float_plan import AnyPlan
from .formats import Format
from .header import check_version
from .passes import check_words, compared, compose_errors, range_findings, run_state
from .quantities import quantity_of
from .robots import Robot, robot_of
from .sections import check_inputs, check_spec, words_of
from .subjects import TIP, Subject
from .tables import Facts
from .truth import Wanted, compare

POINTS = 5
"""Of the grid of docs/certificate.md, a joint that turns."""
ROOM = 16
"""Magnitudes of all that a torque is summed from, over its range."""
MOST_LISTED = 8
"""Outputs whose figures are listed within a line."""


def arm_findings(header: dict[str, Any], plan: AnyPlan, tables: list[Any], facts: list[Facts]) -> Iterator[Finding]:
    """Yield what was found of an arm after its tables: words, ranges, dynamics, certificate, saturation."""
    robot = robot_of(header["robot"])
    earlier = 3 if not robot.serial else 2 if plan.target == "float" else 1
    check_version(header, _version(robot, header["robot"]["payload"] is not None, earlier))
    subject = words_of(header["formats"], robot)
    names = [f"tau{j + 1}" for j in range(len(robot.joints))]
    stated = outputs_stated(header["certificate"], torques=True)
    yield from subject_findings(
        header, plan, tables, facts, subject, names, stated, [each.name for each in robot.joints]
    )


def quantity_findings(
    header: dict[str, Any], plan: AnyPlan, tables: list[Any], facts: list[Facts]
) -> Iterator[Finding]:
    """Yield the same of another quantity of a robot."""
    subject, labels = quantity_of(header, robot_of(header["robot"]))
    at_tip = header["robot"]["payload"] is not None or bool(subject.labels) or subject.quantity in TIP
    check_version(header, _version(subject.robot, at_tip, 4))
    torques = [word.name.startswith("torque of") for word in subject.outputs]
    names = [f"tau{j}" if torque else label for j, (torque, label) in enumerate(zip(torques, labels, strict=True), 1)]
    stated = outputs_stated(header["certificate"], torques=False)
    yield from subject_findings(header, plan, tables, facts, subject, names, stated, labels)


def _version(robot: Robot, at_tip: bool, earlier: int) -> int:
    """Return the first version that knows a file's robot, if what it holds depends on the tip or not."""
    fractions = any(member.fraction is not None for member in robot.members)
    return 5 if robot.tip_named or fractions or (at_tip and not robot.serial) else earlier


def _check_turns(subject: Subject) -> None:
    """Refuse joints that follow by a fraction of an angle whose leader may leave the turn that its word stands for."""
    for drive, _ in subject.fractions:
        word = subject.arrays["q"][drive]
        require(
            -math.pi <= word.low and word.high < (word.highest + 0.5) * word.lsb,
            f"robot, joint {drive + 1}: expected limits within a turn, for a joint follows a fraction of its angle",
        )


def subject_findings(
    header: dict[str, Any],
    plan: AnyPlan,
    tables: list[Any],
    facts: list[Facts],
    subject: Subject,
    names: list[str],
    stated: list[Stated],
    labels: list[str],
) -> Iterator[Finding]:
    """Yield what was found of a quantity; `names` are those of the plan's outputs, `labels` the certificate's."""
    robot = subject.robot
    check_inputs(plan, subject.words)
    _check_turns(subject)
    accuracy = check_spec(header["spec"], header, subject, plan, names)
    _check_friction(plan, robot, facts)
    n = len(robot.joints)
    yield Finding("words", True, f"robot, spec, formats and plan agree on the words of {n} joints")
    yield Finding("widths", True, check_words(plan))
    composition = compose_errors(plan, facts, subject.axes)
    require([each.name for each in stated] == labels, "certificate: expected every output")
    require(len(stated) == len(composition.outputs), "certificate: expected a torque for every output")
    limits = [allowed_difference(*pair) for pair in zip(stated, composition.outputs, strict=True)]
    triples = zip(stated, composition.outputs, subject.outputs, strict=True)
    asked = {j: span for j, each in enumerate(triples) if (span := closer_range(*each)) is not None}
    comparison = compare(plan, subject, Wanted(composition.unproved, asked, limits))
    differences = [comparison.differences[j] for j in range(len(stated))]
    yield Finding("ranges", True, range_findings(plan, composition, comparison.reaches))
    for each, bound, difference in zip(stated, composition.outputs, differences, strict=True):
        check_difference(each, bound, difference, f"certificate, '{each.name:.40}'")
    of = "the robot's kinematics" if subject.quantity in TIP else "Newton-Euler"
    yield _dynamics(differences, of, comparison.how)
    points, skew = math.prod(map(_points, subject.arrays["q"])), _skew(robot)
    if subject.quantity in TIP:  # compared in rationals, without a grid
        points, skew = 1, 0.0
    for j, (each, bound) in enumerate(zip(stated, composition.outputs, strict=True)):
        where, word = f"certificate, '{each.name:.40}'", subject.outputs[j]
        check_names(each, labels[j], word, where)
        arithmetic = most_arithmetic(comparison.noise[j], bound, word, points, skew)
        check_parts(each, bound, arithmetic, differences[j], where)
        check_range(each, bound, word, where, comparison.truths.get(j))
        require(
            accuracy is None or each.bound < accuracy,
            f"{where}: expected a bound below {accuracy} units, as the spec asks",
        )
    rows = map(_row, stated, composition.outputs, differences)
    yield Finding("certificate", True, "every figure follows from the file", tuple(rows))
    for j, each in enumerate(stated):
        _check_saturation(j, each, plan, tables, subject, composition)
    yield Finding("saturation", True, ", ".join(f"{each.name} {each.saturation}" for each in stated))


def _skew(robot: Robot) -> float:
    """Return how far rotations can be taken to be from true ones, in all terms of a torque, with room for sizes.

    docs/certificate.md charges every entry of a rotation, by 32 units in the last place beside what it is off, and in
    each of the inertial, centripetal, Coriolis and gravity terms.
    """
    n = len(robot.joints)
    terms = n + n + n * (n - 1) // 2 + 1
    return ROOM * terms * (robot.skew + 32 * 2.0**-52 * len(robot.members))


def _dynamics(differences: list[float], of: str, how: Sequence[str]) -> Finding:
    """Return how far the outputs are from the truth, in units: in one line, where there are few of them."""
    listed = ", ".join(f"{each:.2g}" for each in differences)
    few = len(differences) <= MOST_LISTED
    within = listed if few else f"{max(differences):.2g}"
    said = f"the cascade without roundings is within {within} units of {of}, everywhere ({'; '.join(how)})"
    return Finding("dynamics", True, said, () if few else (f"output by output: {listed}",))


def _row(stated: Stated, bound: OutputBound, difference: float) -> str:
    """Return what the file states of one output beside what was proved of it here."""
    said = f"{stated.name}: {compared(stated, bound, difference)}"
    if stated.parts["dropped"] and bound.proved is not None:
        said += f"; dropped {stated.parts['dropped']:.3g} in the file, at most {difference:.3g} found"
    return said


def _points(position: Format) -> float:
    """Return how many points of its grid docs/certificate.md counts a position as; three of a sliding one."""
    if position.angle:
        return POINTS
    farthest = max(abs(position.sign * end + position.offset) for end in (position.low, position.high))
    return 3 * 2 * max(1.0, farthest) ** 2


def _check_friction(plan: AnyPlan, robot: Robot, facts: list[Facts]) -> None:
    """Refuse tables of laws where no joint has one, or that are cut off."""
    laws = [joint.friction for joint in robot.joints if joint.friction is not None]
    for k, (block, fact) in enumerate(zip(plan.blocks, facts, strict=True)):
        require(block.kind != "given", f"block {k}: expected no given words in an arm")
        if block.law is not None:
            require(block.law in laws, f"block {k}: expected the friction of a joint")
            require(not fact.clamped, f"block {k}: expected a friction that is not cut off")


def _check_saturation(
    place: int, stated: Stated, plan: AnyPlan, tables: list[Any], subject: Subject, composition: Composition
) -> None:
    """Refuse what is said on saturation if it is not so; what is not excluded must not be excluded by the range."""
    where = f"certificate, '{stated.name:.40}', saturation"
    output = plan.outputs[place]
    inside = fits(held(stated, composition.outputs[place], subject.outputs[place]), output.low, output.high)
    require(
        (stated.saturation == "cannot") == inside, f"{where}: expected {'cannot' if inside else 'can or not excluded'}"
    )
    require(
        (stated.saturation == "can") == (stated.witness is not None),
        f"{where}: expected a witness where it can saturate, and nowhere else",
    )
    if stated.saturation == "can":
        rows = witness_words(stated, [len(row) for row in subject.arrays.values()], where)
        words = [value for row in rows for value in row]
        state = dict(zip(subject.words, words, strict=True))
        for word, value in zip(subject.words.values(), words, strict=True):
            require(word.lowest <= value <= word.highest, f"{where}: expected words of the inputs")
        total = run_state(plan, tables, state)[place]
        require(not output.low <= total <= output.high, f"{where}: expected a state that leaves the range")
