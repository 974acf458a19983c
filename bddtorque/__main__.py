"""``python -m bddtorque`` is the command ``bddtorque``."""

from __future__ import annotations

import sys

from bddtorque.cli import main

if __name__ == "__main__":
    sys.exit(main())
