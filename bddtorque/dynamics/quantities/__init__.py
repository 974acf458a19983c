"""Quantities that can be compiled of a robot; each file defines one `Quantity`."""

from __future__ import annotations

from bddtorque.base.record import records_in
from bddtorque.dynamics.quantity import Quantity

QUANTITIES: dict[str, Quantity] = records_in(__name__, __path__)
"""By name."""
