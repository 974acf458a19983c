"""The plan of a robot: from its terms or its recursion, for the words that the spec asks for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.draft import Draft, target_of
from bddtorque.compiler.origin import Origin, from_recursion, from_terms
from bddtorque.compiler.quantity_draft import draft_of_quantity, joint_frictions
from bddtorque.compiler.torque_ranges import resolve_spec
from bddtorque.dynamics.coupling import refuse_ambiguous_turns
from bddtorque.model.source import RobotSource
from bddtorque.plan.plan import Plan
from bddtorque.robots.robot import Robot
from bddtorque.spec import InputBits, Spec
from bddtorque.targets import TARGETS
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.float.float_planner import plan_floats
from bddtorque.targets.tables.budget import plan_by_paper
from bddtorque.targets.tables.cover import extra_bits, summand_counts
from bddtorque.targets.target import TracedOutputs, with_laws
from bddtorque.targets.target_plans import check_target, plan_for_target
from bddtorque.words.bounded import ROOM

FEW_JOINTS = 3
"""With more, the separate terms of an arm take a processor longer than the recursion."""


def draft_of_robot(spec: Spec, robot: Robot) -> Draft:
    """Return the plan of a robot, with its resolved spec and its words."""
    check_target(spec)
    if not spec.is_torque:
        return draft_of_quantity(spec, robot)
    if spec.accuracy == "paper":
        return _draft_by_paper(spec, robot)
    resolved = resolve_spec(spec, robot)
    source = RobotSource(robot, resolved, resolved.formats(robot))
    refuse_ambiguous_turns(robot, source.formats.q.joints)
    traces = [
        TracedOutputs(each.source, each.graph, _arithmetic_errors(source, each)) for each in _origins(spec, robot)
    ]
    planned = plan_for_target(
        resolved, source.accuracy, source.arguments, output_targets(source), traces, joint_frictions(source)
    )
    return Draft(source, planned.plan, planned.errors, dropped=planned.dropped, dust=planned.dust)


def plan_in_doubles(source: RobotSource) -> Plan:
    """Return the recursion of a robot, without friction, in double precision."""
    origin = from_recursion(source.robot)
    targets = output_targets(source)
    return plan_floats(origin.graph, source.arguments, targets, source.accuracy, origin.source, "double")


def _draft_by_paper(spec: Spec, robot: Robot) -> Draft:
    """Return words and plan by the paper's rule: r + m bits for every term and, unless the spec says, every input."""
    if not TARGETS[spec.target].made_of_tables or spec.source == "recursive":
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
    plan = with_laws(plan, joint_frictions(source), source.arguments, output_targets(source))
    return Draft(source, plan, _arithmetic_errors(source, origin))


def _origins(spec: Spec, robot: Robot) -> list[Origin]:
    """Return what may be compiled: the source asked for; else, for tables, the terms if there are few harmonics.

    With more than a few joints the recursion is planned too. For other targets it comes first.
    """
    if spec.source != "auto":
        return [from_terms(robot) if spec.source == "terms" else from_recursion(robot)]
    few, target = robot.degrees_of_freedom <= FEW_JOINTS, TARGETS[spec.target]
    if not target.made_of_tables:
        terms = few and target.compares_terms and not robot.followers
        return [from_recursion(robot), *([from_terms(robot)] if terms else [])]
    with suppress(BddTorqueError):
        return [from_terms(robot), *([] if few else [from_recursion(robot)])]
    return [from_recursion(robot)]


def output_targets(source: RobotSource) -> list[OutputFormat]:
    """Return what every torque word means."""
    return [target_of(word, f"tau{j}") for j, word in enumerate(source.formats.tau, 1)]


def _arithmetic_errors(source: RobotSource, origin: Origin) -> tuple[float, ...]:
    """Return how far the compiled function itself can be from each true torque, in units of its last bit."""
    errors = origin.errors(source.arguments, [max(map(abs, word.span)) for word in source.formats.q])
    return tuple(float(error) / word.lsb * ROOM for error, word in zip(errors, source.formats.tau, strict=True))
