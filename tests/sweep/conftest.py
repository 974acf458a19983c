"""One small model for all sweeps."""

import pytest

import bddtorque as bt
from bddtorque.model.model import Model


@pytest.fixture(scope="session")
def model() -> Model:
    return bt.compile("planar2r", bits=6, block_bits=12, workers=1)
