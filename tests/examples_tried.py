"""How many examples a property is tried with: a third in `make test`, all of them in `make test-all`."""

import os

EVERY = "BDDTORQUE_TEST_ALL" in os.environ


def examples(count: int) -> int:
    """Return how many of `count` examples to try."""
    return count if EVERY else max(4, count // 3)
