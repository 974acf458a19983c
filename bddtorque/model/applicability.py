"""Features that do not apply to every model, in one table: each feature with what it needs and why.

Everything else works for every quantity, function and target. `require` refuses with the reason of the table; a test
tries every feature on every kind of model and reads the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bddtorque.base.errors import WrongKindError

if TYPE_CHECKING:
    from bddtorque.model.model import Model


@dataclass(frozen=True)
class Need:
    """Something that a model may have or lack."""

    held: Callable[[Model], bool]  # whether a model has it
    missing: str  # what to say of a model that lacks it, after its name
    instead: str  # what would work


TABLES = Need(
    lambda model: model.plan.made_of_tables,
    "was compiled for a target that multiplies: it has no diagrams of all its steps",
    'compile it with target = "tables" (--target tables)',
)
INTEGERS = Need(
    lambda model: not model.plan.in_floats,
    "was compiled for a target that computes in floats",
    'compile it with target = "integer" (--target integer --chip fpga)',
)
TORQUE = Need(
    lambda model: model.provenance.is_torque,
    "is not the torque of q, qd and qdd",
    'compile it with quantity = "torque" and nothing given at run time',
)
TERMS = Need(
    lambda model: model.plan.source == "terms",
    "was not compiled from separate terms",
    'compile it with source = "terms" (--source terms)',
)
ROBOT = Need(
    lambda model: model.provenance.robot is not None,
    "is a function, which has no joints",
    "compile a robot",
)
TRUTH = Need(
    lambda model: model.true_values({name: np.zeros(1, dtype=np.int64) for name in model.formats.words}) is not None,
    "was compiled from the floats of a function that its file does not hold",
    "use model.error_of(function)",
)
MOTION = Need(
    lambda model: [array.name for array in model.formats.inputs] == ["q", "qd", "qdd"],
    "does not take q, qd and qdd and nothing else",
    "give a trajectory of its own inputs, from a file or by bt.sweeps.from_states",
)

FEATURES: dict[str, tuple[Need, ...]] = {
    "torque calls": (TORQUE,),
    "terms of torques": (TORQUE, TABLES, TERMS),
    "diagrams": (TABLES,),
    "circuits": (INTEGERS,),
    "planning anew": (ROBOT,),
    "words and blocks of the plan": (TABLES,),
    "drives": (ROBOT,),
    "sweeps": (TRUTH,),
    "built-in trajectories": (MOTION,),
    "parameters of the robot": (ROBOT,),
    "proofs of C": (INTEGERS,),
}
"""Needs of each feature, by name; features that are not listed need nothing."""


def applies(model: Model, feature: str) -> bool:
    """Return whether a feature applies to a model."""
    return all(need.held(model) for need in FEATURES[feature])


def require(model: Model, feature: str, where: str = "") -> None:
    """Refuse a feature that does not apply to a model, with the reason of the table; `where` begins the message."""
    for need in FEATURES[feature]:
        if not need.held(model):
            said = f"{where}: " if where else ""
            raise WrongKindError(f"{said}{feature}: '{model.name:.60}' {need.missing}: {need.instead}")
