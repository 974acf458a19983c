"""Sweeps: compiled torques compared with float Newton-Euler on any number of states."""

from __future__ import annotations

from bddtorque.sweeps.costs import ModelCost
from bddtorque.sweeps.figures import ErrorFigures, JointSweep, Sweep
from bddtorque.sweeps.quantity_sweep import OutputSweep, QuantitySweep, sweep_quantity
from bddtorque.sweeps.running import sweep
from bddtorque.sweeps.term_errors import TermError
from bddtorque.sweeps.trajectories import Trajectory, from_states, quintic, sine

__all__ = [
    "ErrorFigures",
    "JointSweep",
    "ModelCost",
    "OutputSweep",
    "QuantitySweep",
    "Sweep",
    "TermError",
    "Trajectory",
    "from_states",
    "quintic",
    "sine",
    "sweep",
    "sweep_quantity",
]
