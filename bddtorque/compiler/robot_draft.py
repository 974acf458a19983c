"""The plan of a robot: from its terms or its recursion, for the words that the spec asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.draft import Draft, target_of
from bddtorque.compiler.origin import Origin, from_recursion, from_terms
from bddtorque.compiler.torque_ranges import resolve_spec
from bddtorque.laws.interpolant import Interpolant
from bddtorque.laws.joint_friction import JointFriction
from bddtorque.laws.samples import check_reach
from bddtorque.model.source import RobotSource
from bddtorque.plan.float_plan import FloatPlan
from bddtorque.plan.plan import Plan
from bddtorque.planner.budget import plan_by_paper, plan_network
from bddtorque.planner.builder import Target
from bddtorque.planner.cover import extra_bits, summand_counts
from bddtorque.planner.extra_terms import COST, with_term
from bddtorque.planner.float_planner import LawTerm, plan_floats
from bddtorque.planner.integer_cost import plan_cycles
from bddtorque.planner.integer_planner import plan_integers
from bddtorque.robots.robot import Robot
from bddtorque.spec import InputBits, Spec
from bddtorque.spec.chips import Chip, chip_named
from bddtorque.words.bounded import ROOM

FEW_JOINTS = 3
"""With more, the separate terms of an arm take a processor longer than the recursion."""


def draft_of_robot(spec: Spec, robot: Robot) -> Draft:
    """Return the plan of a robot, with its resolved spec and its words."""
    if spec.products != "auto" and spec.target != "tables":
        raise BddTorqueError(
            f"products is only valid for target 'tables', got '{spec.products}' with target '{spec.target}'"
            f"{spec.at('products')}"
        )
    if spec.precision is not None and spec.target != "float":
        raise BddTorqueError(f"precision is only valid for target 'float', got target '{spec.target}'")
    if spec.chip is not None and spec.target != "integer":
        raise BddTorqueError(f"chip is only valid for target 'integer', got target '{spec.target}'{spec.at('chip')}")
    if spec.accuracy == "paper":
        return _draft_by_paper(spec, robot)
    resolved = resolve_spec(spec, robot)
    source = RobotSource(robot, resolved, resolved.formats(robot))
    if spec.target == "integer":
        chip = chip_named(str(resolved.chip))
        return _draft_of_integers(source, _origins(spec, robot), chip)
    origin = _origin(spec, robot)
    errors = _arithmetic_errors(source, origin)
    if spec.target == "float":
        laws = [LawTerm(j, law, name) for j, law, name in _frictions(source)]
        made = plan_floats(
            origin.graph, source.arguments, output_targets(source), source.accuracy, origin.source,
            spec.precision or "auto", errors, laws,
        )  # fmt: skip
        return Draft(source, made, errors)
    spent = max(errors) + (COST if source.robot.has_friction else 0.0)
    plan = plan_network(
        origin.graph, source.arguments, output_targets(source), source.accuracy, spec.block_bits, origin.source,
        spent, spec.products,
    )  # fmt: skip
    return Draft(source, _with_friction(plan, source), errors)


def plan_in_doubles(source: RobotSource) -> FloatPlan:
    """Return the recursion of a robot, without friction, in double precision."""
    origin = from_recursion(source.robot)
    targets = output_targets(source)
    return plan_floats(origin.graph, source.arguments, targets, source.accuracy, origin.source, "double")


def _draft_of_integers(source: RobotSource, origins: Sequence[Origin], chip: Chip) -> Draft:
    """Return the plan that costs a chip least, of those of some sources."""
    found: list[tuple[Plan, tuple[float, ...]]] = []
    for origin in origins:
        errors = _arithmetic_errors(source, origin)
        spent = max(errors) + (COST if source.robot.has_friction else 0.0)
        plan = plan_integers(
            origin.graph, source.arguments, output_targets(source), source.accuracy, source.spec.block_bits,
            origin.source, chip, spent,
        )  # fmt: skip
        found.append((_with_friction(plan, source), errors))
    best, errors = min(found, key=lambda each: plan_cycles(each[0], chip))
    return Draft(source, best, errors)


def _draft_by_paper(spec: Spec, robot: Robot) -> Draft:
    """Return words and plan by the paper's rule: r + m bits for every term and, unless the spec says, every input."""
    if spec.target != "tables" or spec.source == "recursive":
        raise BddTorqueError(
            f"accuracy 'paper' needs target 'tables' and source 'terms', got '{spec.target}' and '{spec.source}'"
        )
    origin, resolved = from_terms(robot, by_powers=True), resolve_spec(spec, robot)
    source = RobotSource(robot, resolved, resolved.formats(robot))
    terms = summand_counts(origin.graph, source.arguments)
    rubbing = [joint.friction is not None for joint in robot.joints]  # one term more each
    extra = [extra_bits(count + more) for count, more in zip(terms, rubbing, strict=True)]
    if spec.input_bits is None:
        wide = tuple(bits + max(extra) for bits in source.formats.tau.bits)
        resolved = replace(resolved, input_bits=InputBits(wide, wide, wide))
        source = RobotSource(robot, resolved, resolved.formats(robot))
    plan = plan_by_paper(origin.graph, source.arguments, output_targets(source), extra, spec.block_bits, spec.products)
    return Draft(source, _with_friction(plan, source), _arithmetic_errors(source, origin))


def _origin(spec: Spec, robot: Robot) -> Origin:
    """Return the source asked for; else the recursion, and for tables the terms if there are few."""
    if spec.source == "terms":
        return from_terms(robot)
    if spec.source == "auto" and spec.target == "tables":
        with suppress(BddTorqueError):
            return from_terms(robot)
    return from_recursion(robot)


def _origins(spec: Spec, robot: Robot) -> list[Origin]:
    """Return what may be compiled for a chip: the source asked for, else the recursion, and the terms of small arms."""
    if spec.source != "auto":
        return [_origin(spec, robot)]
    few = robot.degrees_of_freedom <= FEW_JOINTS and not robot.followers
    return [from_recursion(robot), *([from_terms(robot)] if few else [])]


def _with_friction(plan: Plan, source: RobotSource) -> Plan:
    """Return the plan with the friction of the joints added to their torques, one table of a velocity each."""
    for j, law, name in _frictions(source):
        plan = with_term(plan, j, law, name, source.arguments[name], source.formats.tau[j].sign)
    return plan


def _frictions(source: RobotSource) -> Iterator[tuple[int, JointFriction, str]]:
    """Yield the joints that have friction, with its law and the name of their velocity."""
    for j, joint in enumerate(source.robot.joints):
        if joint.friction is not None:
            name = f"qd{j + 1}"
            if isinstance(joint.friction, Interpolant) and not joint.friction.hold:
                (knots,) = joint.friction.knots
                check_reach(knots[0], knots[-1], source.words[name], "velocity", f"friction of joint '{joint.name}'")
            yield j, joint.friction, name


def output_targets(source: RobotSource) -> list[Target]:
    """Return what every torque word means."""
    return [target_of(word, f"tau{j}") for j, word in enumerate(source.formats.tau, 1)]


def _arithmetic_errors(source: RobotSource, origin: Origin) -> tuple[float, ...]:
    """Return how far the compiled function itself can be from each true torque, in units of its last bit."""
    errors = origin.errors(source.arguments, [max(map(abs, word.span)) for word in source.formats.q])
    return tuple(float(error) / word.lsb * ROOM for error, word in zip(errors, source.formats.tau, strict=True))
