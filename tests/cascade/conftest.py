"""One cache of finished blocks for all processes of a test session, so that no block is made twice."""

from __future__ import annotations

import os
from collections.abc import Iterator

import arms
import pytest

from bddtorque.work import Cache


@pytest.fixture(scope="session", autouse=True)
def blocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cache]:
    own = tmp_path_factory.getbasetemp()
    arms.BLOCKS.append(Cache((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "blocks"))
    yield arms.BLOCKS[0]
    arms.BLOCKS.clear()
