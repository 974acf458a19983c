"""One small model for all commands, and a way to run them here."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from compiled import arm

from bddtorque.cli import main
from bddtorque.model.model import Model


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def model() -> Model:
    return arm(6, block_bits=12)


@pytest.fixture(scope="session")
def model_file(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "small.bdt"
    model.save(path)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def running(*arguments: object) -> Ran:
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return running


@pytest.fixture
def refused(run: Callable[..., Ran]) -> Callable[..., str]:
    """Run something that must be refused: exit code 2, nothing on standard output, one line that is returned."""

    def refusing(*arguments: object) -> str:
        ran = run(*arguments)
        assert ran.code == 2
        assert ran.out == ""
        assert ran.err.startswith("bddtorque: ")
        assert ran.err.count("\n") == 1
        assert "Traceback" not in ran.err
        return ran.err

    return refusing
