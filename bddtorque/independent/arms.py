"""The proof of a compiled arm, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .bounds import Composition
from .certificate import (
    Stated,
    allowed_difference,
    check_difference,
    check_names,
    check_parts,
    check_range,
    fits,
    most_arithmetic,
    recomputed,
    torques_of,
    witness_words,
)
from .findings import Finding, require
from .float_plan import AnyPlan
from .header import check_version
from .passes import check_words, compose_errors, range_findings, run_state
from .robots import Robot, robot_of
from .sections import check_inputs, check_spec, words_of
from .tables import Facts
from .truth import Words, compare

POINTS = 5
"""Of the grid of docs/certificate.md, a joint that turns; three of a sliding one, times two."""


def arm_findings(header: dict[str, Any], plan: AnyPlan, tables: list[Any], facts: list[Facts]) -> Iterator[Finding]:
    """Yield what was found of an arm after its tables: words, ranges, dynamics, certificate, saturation."""
    robot = robot_of(header["robot"])
    check_version(header, floats=plan.target == "float", tree=not robot.serial)
    words = words_of(header["formats"], robot)
    inputs = zip(("q", "qd", "qdd"), (words.q, words.qd, words.qdd), strict=True)
    check_inputs(plan, {f"{name}{j}": word for name, row in inputs for j, word in enumerate(row, 1)})
    accuracy = check_spec(header["spec"], header, robot, words, plan)
    _check_friction(plan, robot, facts)
    n = len(robot.joints)
    yield Finding("words", True, f"robot, spec, formats and plan agree on the words of {n} joints")
    yield Finding("widths", True, check_words(plan))
    composition = compose_errors(plan, facts, {f"q{j + 1}": j for j in range(n)})
    stated = torques_of(header["certificate"])
    require(
        [each.name for each in stated] == [joint.name for joint in robot.joints], "certificate: expected every joint"
    )
    require(len(stated) == len(composition.outputs), "certificate: expected a torque for every output")
    limits = [allowed_difference(*pair) for pair in zip(stated, composition.outputs, strict=True)]
    comparison = compare(plan, robot, words, composition.unproved, limits)
    yield Finding("ranges", True, range_findings(plan, composition, comparison.reaches))
    for each, bound, difference in zip(stated, composition.outputs, comparison.differences, strict=True):
        check_difference(each, bound, difference, f"certificate, '{each.name:.40}'")
    shown = ", ".join(f"{each:.2g}" for each in comparison.differences)
    found = f"the cascade without roundings is within {shown} units of Newton-Euler, everywhere ({comparison.points:,} "
    yield Finding("dynamics", True, f"{found}positions of a grid, {comparison.monomials} products of motions)")
    points = math.prod(POINTS if joint.revolute else 2 * POINTS for joint in robot.joints)
    for j, (each, bound) in enumerate(zip(stated, composition.outputs, strict=True)):
        where = f"certificate, '{each.name:.40}'"
        check_names(each, robot.joints[j].name, words.tau[j], where)
        check_parts(each, bound, most_arithmetic(comparison.noise[j], bound, words.tau[j], points), where)
        check_range(each, bound, words.tau[j], where)
        require(
            accuracy is None or each.bound < accuracy,
            f"{where}: expected a bound below {accuracy} units, as the spec asks",
        )
    own = map(recomputed, stated, composition.outputs, comparison.differences)
    bounds = ", ".join(
        f"{each.name} {each.bound:.4f} (here {bound:.6f})" for each, bound in zip(stated, own, strict=True)
    )
    yield Finding("certificate", True, f"every figure follows; bounds, and what is proved here without them: {bounds}")
    for j, each in enumerate(stated):
        _check_saturation(j, each, plan, tables, words, composition)
    yield Finding("saturation", True, ", ".join(f"{each.name} {each.saturation}" for each in stated))


def _check_friction(plan: AnyPlan, robot: Robot, facts: list[Facts]) -> None:
    """Refuse tables of laws where no joint has one, or that are cut off."""
    laws = [joint.friction for joint in robot.joints if joint.friction is not None]
    for k, (block, fact) in enumerate(zip(plan.blocks, facts, strict=True)):
        require(block.kind != "given", f"block {k}: expected no given words in an arm")
        if block.law is not None:
            require(block.law in laws, f"block {k}: expected the friction of a joint")
            require(not fact.clamped, f"block {k}: expected a friction that is not cut off")


def _check_saturation(
    joint: int, stated: Stated, plan: AnyPlan, tables: list[Any], words: Words, composition: Composition
) -> None:
    """Refuse what is said on saturation if it is not so; what is not excluded must not be excluded by the range."""
    where = f"certificate, '{stated.name:.40}', saturation"
    output = plan.outputs[joint]
    inside = fits(composition.outputs[joint], output.low, output.high)
    require(
        (stated.saturation == "cannot") == inside, f"{where}: expected {'cannot' if inside else 'can or not excluded'}"
    )
    require(
        (stated.saturation == "can") == (stated.witness is not None),
        f"{where}: expected a witness where it can saturate, and nowhere else",
    )
    if stated.saturation == "can":
        formats = {"q": words.q, "qd": words.qd, "qdd": words.qdd}
        rows = witness_words(stated, [len(words.q)] * 3, where)
        state = {}
        for (name, row), chosen in zip(formats.items(), rows, strict=True):
            for j, (word, value) in enumerate(zip(row, chosen, strict=True), 1):
                require(word.lowest <= value <= word.highest, f"{where}: expected words of the inputs")
                state[f"{name}{j}"] = value
        total = run_state(plan, tables, state)[joint]
        require(not output.low <= total <= output.high, f"{where}: expected a state that leaves the range")
