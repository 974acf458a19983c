"""Specifications: the robot, ranges, word lengths, accuracy and budgets; where a name or path leads."""

from __future__ import annotations

from bddtorque.spec.records import InputBits, JointSpec, Payload, Ranges
from bddtorque.spec.resolve import assume_missing
from bddtorque.spec.spec import Spec, spec_from_plain
from bddtorque.spec.spec_files import from_toml, load_spec, save_spec, spec_names

__all__ = [
    "InputBits",
    "JointSpec",
    "Payload",
    "Ranges",
    "Spec",
    "assume_missing",
    "from_toml",
    "load_spec",
    "save_spec",
    "spec_from_plain",
    "spec_names",
]
