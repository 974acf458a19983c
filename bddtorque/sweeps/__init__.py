"""Sweeps: compiled models compared with their true values in float64 on any number of states."""

from __future__ import annotations

from bddtorque.sweeps.costs import ModelCost
from bddtorque.sweeps.figures import ErrorFigures, OutputSweep, Sweep
from bddtorque.sweeps.running import sweep
from bddtorque.sweeps.term_errors import TermError
from bddtorque.sweeps.trajectories import Trajectory, from_states, quintic, sine

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
