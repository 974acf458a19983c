"""Sweeps: compiled models compared with their true values in float64 on any number of states."""

from __future__ import annotations

from bddtorque.sweeps.figures import ErrorFigures, ModelCost, OutputSweep, Sweep
from bddtorque.sweeps.running import sweep
from bddtorque.sweeps.states import Trajectory, from_states, quintic, sine
from bddtorque.sweeps.term_errors import TermError

__all__ = [
    "ErrorFigures",
    "ModelCost",
    "OutputSweep",
    "Sweep",
    "TermError",
    "Trajectory",
    "from_states",
    "quintic",
    "sine",
    "sweep",
]
