"""``python -m bddtorque`` is the command ``bddtorque``."""

from __future__ import annotations

import sys


def run() -> int:
    """Run the command line and return the exit code; Ctrl-C ends it in one line even while it is being imported."""
    try:
        from bddtorque.cli import main

        return main()
    except KeyboardInterrupt:
        sys.stderr.write("bddtorque: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(run())
