"""The command line: ``bddtorque COMMAND``. One file a command; nothing heavy is imported before a command runs."""

from __future__ import annotations

from bddtorque.cli.app import main

__all__ = ["main"]
