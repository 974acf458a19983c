"""A function, or a quantity of a robot, as an arm: evaluators know positions, velocities, accelerations, and torques.

Whatever takes k words and gives p is run as an arm of as many joints as the larger of the two, which reads its
positions alone. Its first torques are the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bddtorque.plan.bdd import Diagram
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Input
from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface, word_vector

UNUSED = Format("angle", 2, name="a word that nothing reads")
"""In the place of words that an arm has too many of; no number is out of its range."""


@dataclass(frozen=True)
class Arm:
    """What an evaluator runs."""

    formats: Interface
    plan: Plan
    tables: Sequence[Table]
    diagrams: Sequence[Diagram]
    memory: int


def word_arm(own: Interface, plan: Plan, tables: Sequence[Table], diagrams: Sequence[Diagram], memory: int) -> Arm:
    """Return what takes words by name as an arm."""
    places = {name: f"q{k}" for k, name in enumerate(own.words, 1)}
    wires: Any = tuple(
        replace(wire, name=places[wire.name]) if isinstance(wire, Input) else wire for wire in plan.wires
    )
    joints = max(len(own.words), len(own.results))
    names = [*own.words, *(f"unused{k}" for k in range(joints - len(own.words)))]
    inputs, outputs = ((*words.values(), *[UNUSED] * (joints - len(words))) for words in (own.words, own.results))
    motion = tuple(word_vector(name, names, inputs) for name in ("q", "qd", "qdd"))  # only positions are read
    formats = Interface(motion, (word_vector("tau", names, outputs),))
    return Arm(formats, replace(plan, wires=wires), tables, diagrams, memory)
