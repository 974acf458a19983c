"""A compiled function as an arm: evaluators know positions, velocities and accelerations in, and torques out.

A function of k words is run as an arm of k joints that reads its positions alone and whose first torque is the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bddtorque.diagrams.bdd import Diagram
from bddtorque.model.source import FunctionSource
from bddtorque.plan.float_plan import AnyPlan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Input
from bddtorque.words import Formats, JointFormats


@dataclass(frozen=True)
class Arm:
    """What an evaluator runs."""

    formats: Formats
    plan: AnyPlan
    tables: Sequence[Table]
    diagrams: Sequence[Diagram]
    memory: int


def function_arm(source: FunctionSource, plan: AnyPlan, tables: Sequence[Table], diagrams: Sequence[Diagram]) -> Arm:
    """Return a function as an arm."""
    places = {name: f"q{k}" for k, name in enumerate(source.input_names, 1)}
    wires: Any = tuple(
        replace(wire, name=places[wire.name]) if isinstance(wire, Input) else wire for wire in plan.wires
    )
    inputs = JointFormats("inputs", source.inputs)
    outputs = JointFormats("outputs", (source.output,) * len(source.inputs))
    formats = Formats(source.input_names, inputs, inputs, inputs, outputs)  # velocities and accelerations are not read
    return Arm(formats, replace(plan, wires=wires), tables, diagrams, source.memory)
