"""The command line: one file per command, each importing what it needs when it runs."""

from __future__ import annotations

from bddtorque.cli.app import main

__all__ = ["main"]
