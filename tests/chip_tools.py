"""Whether the tools of a chip are there."""

import pytest

from bddtorque.bench.emulation import missing_tools


def needs(chip: str) -> None:
    """Skip a test where the tools of a chip are missing, in the words that a user gets."""
    lacking = missing_tools(chip)
    if lacking:
        pytest.skip(lacking)
