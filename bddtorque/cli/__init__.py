"""The command line, `bddtorque COMMAND`: one file per command, heavy imports only when a command runs."""

from __future__ import annotations

from bddtorque.cli.app import main

__all__ = ["main"]
