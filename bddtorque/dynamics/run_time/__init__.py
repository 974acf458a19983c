"""Inputs that a robot can be given at run time besides its motion; each file defines a `RunTimeInput`."""

from __future__ import annotations

from bddtorque.base.record import records_in
from bddtorque.dynamics.run_time_input import RunTimeInput

RUN_TIME: dict[str, RunTimeInput] = records_in(__name__, __path__)
"""By name."""
