"""One small model for all sweeps."""

import pytest
from compiled import arm

from bddtorque.model.model import Model


@pytest.fixture(scope="session")
def model() -> Model:
    return arm(6, block_bits=12)
