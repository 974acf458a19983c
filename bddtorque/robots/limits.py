"""Limits of joints that nobody states."""

from __future__ import annotations

ACCELERATION_PER_VELOCITY = 4.0
"""1/s. Where neither robot nor spec knows an acceleration, a joint may reach full speed in a quarter of a second."""
