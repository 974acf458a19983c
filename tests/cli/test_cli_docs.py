"""Every example of docs/cli.md runs, in order, in an empty folder."""

import re
import shlex
from pathlib import Path

import pytest

from bddtorque.cli.app import COMMANDS

DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert all(line.startswith("$ bddtorque ") for line in lines)
    return [shlex.split(line)[2:] for line in lines]


def test_every_command_has_an_example():
    assert {command[0] for command in commands()} == set(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("left_out", [("bench", "warm-up"), pytest.param((), marks=pytest.mark.everything)])
def test_examples_run(run, tmp_path, monkeypatch, left_out):
    """In order; test_warm_up_command.py has code compiled already, and `bench` has that of every contender."""
    monkeypatch.chdir(tmp_path)
    (states,), (robot,) = blocks("csv"), blocks("xml")
    Path("states.csv").write_text(states, encoding="utf-8")
    Path("arm.urdf").write_text(robot, encoding="utf-8")
    for command in (command for command in commands() if command[0] not in left_out):
        spread = command[0] in ("compile", "sweep", "verify") and "--independent" not in command
        here = ["--workers", "1"] if spread else []
        ran = run(*command, *here)
        assert (ran.code, ran.err) == (0, ""), command
        assert ran.out or "-o" in command, command
    assert Path("again.bdt").read_bytes() == Path("arm.bdt").read_bytes()
    assert {"torques.csv", "torques.npy", "errors.csv", "errors.png", "bits.png"} <= {
        p.name for p in tmp_path.iterdir()
    }
