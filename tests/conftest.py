"""Shared by all tests. Its being here also lets them `from oracle import ...` (pytest puts this folder on the path)."""

from hypothesis import settings

# Machines that run the suite share their cores: time is measured by benchmarks, not by a deadline per example.
settings.register_profile("bddtorque", deadline=None)
settings.load_profile("bddtorque")
