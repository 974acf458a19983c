"""Limits and units of joints: what a limit is in, and which ones are placeholders."""

from __future__ import annotations

ACCELERATION_PER_VELOCITY = 4.0
"""1/s. Where neither robot nor spec knows an acceleration, a joint may reach full speed in a quarter of a second."""
PLACEHOLDERS = {"velocity": (60.0, 10.0), "acceleration": (1e4, 1e3)}
"""From so much on, of a revolute and of a prismatic joint, a limit in a robot's file is taken for a placeholder: no
drive of an arm turns its joint ten times a second."""

UNITS = {
    "position": ("rad", "m"),
    "velocity": ("rad/s", "m/s"),
    "acceleration": ("rad/s²", "m/s²"),
    "torque": ("N·m", "N"),
}
"""Units of a revolute and of a prismatic joint."""
