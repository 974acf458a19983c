"""Sweeps: compiled torques compared with float Newton-Euler on any number of states."""

from __future__ import annotations

from bddtorque.sweep.costs import ModelCost
from bddtorque.sweep.figures import ErrorFigures, JointSweep, Sweep
from bddtorque.sweep.running import sweep
from bddtorque.sweep.term_errors import TermError
from bddtorque.sweep.trajectories import Trajectory, from_states, quintic, sine

__all__ = [
    "ErrorFigures",
    "JointSweep",
    "ModelCost",
    "Sweep",
    "TermError",
    "Trajectory",
    "from_states",
    "quintic",
    "sine",
    "sweep",
]
