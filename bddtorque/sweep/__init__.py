"""Sweeps: compiled torques beside float Newton-Euler, on as many states as one likes."""

from __future__ import annotations

from bddtorque.sweep.figures import ErrorFigures, JointSweep, Sweep
from bddtorque.sweep.running import sweep

__all__ = ["ErrorFigures", "JointSweep", "Sweep", "sweep"]
