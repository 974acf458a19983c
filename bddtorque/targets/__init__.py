"""Targets of plans: one folder and one record for each target, and what their planners share."""

from bddtorque.targets.float import FLOAT_TARGET
from bddtorque.targets.integer import INTEGER_TARGET
from bddtorque.targets.tables import TABLES_TARGET
from bddtorque.targets.target import Target

TARGETS: dict[str, Target] = {each.name: each for each in (TABLES_TARGET, INTEGER_TARGET, FLOAT_TARGET)}
"""Every target, by its name."""
