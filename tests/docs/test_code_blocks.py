"""Every python block of README and docs runs, a page's blocks one after another in an empty folder.

A `text` block right after a python block is what that block prints. Commands of bddtorque between them run too. A
comment `<!-- not run: why -->` before a block leaves it out.
"""

import contextlib
import io
import os
import shlex
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from pages import NAMES, ROOT, blocks
from sample_robots import example_urdf

from bddtorque.cli import main

OWN_TESTS = {"docs/cli.md", "docs/c.md"}
"""Pages that tests of their own run as a whole: tests/cli/test_cli_docs.py and those of tests/export."""
RUN = [name for name in NAMES if name not in OWN_TESTS and any(block.language == "python" for block in blocks(name))]
SLOW = {"docs/spec.md"}
NEEDS = {"docs/assurance.md": "gappa"}
"""Programs of others that a page runs."""


def arm_urdf() -> str:
    """Return the robot that docs/cli.md shows."""
    (robot,) = (block.text for block in blocks("docs/cli.md") if block.language == "xml")
    return robot


def lay_out(name: str) -> None:
    """Write the files that a page speaks of as yours."""
    if name == "docs/spec.md":
        Path("my_arm.toml").write_text(next(b.text for b in blocks(name) if b.language == "toml"), encoding="utf-8")
        Path("arm.urdf").write_text(arm_urdf(), encoding="utf-8")
    if name in ("docs/your-urdf.md", "docs/esp32-rp2040.md"):
        arm = next(b.text for b in blocks("docs/your-urdf.md") if b.language == "xml")
        Path("arm.urdf").write_text(arm, encoding="utf-8")
    if name == "docs/robots.md":
        builtin = files("bddtorque") / "robots" / "builtin" / "scara.toml"
        Path("my_arm.toml").write_text(builtin.read_text(encoding="utf-8"), encoding="utf-8")
        shutil.copy(example_urdf("panda_description/urdf/panda.urdf"), "panda.urdf")


def run_command(line: str) -> None:
    arguments = shlex.split(line, comments=True)[1:]
    if arguments[0] in ("compile", "sweep", "verify") and not {"--independent", "--gappa"} & {*arguments}:
        arguments += ["--workers", "1"]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(arguments) == 0, line
    assert out.getvalue(), line


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in RUN])
def test_blocks_run(name, tmp_path, monkeypatch):
    if name in NEEDS and shutil.which(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)  # no processes of its own for each page
    lay_out(name)
    names: dict = {"__name__": "page"}
    printed = ""
    for block in blocks(name):
        where = f"{name}, line {block.line}"
        if block.not_run:
            continue
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, where, "exec"), names)
            printed = out.getvalue()
        elif block.language == "text" and block.follows:
            assert printed.rstrip() == block.text.rstrip(), where
        elif block.language in ("console", "sh"):
            for line in block.text.splitlines():
                if line.removeprefix("$ ").startswith("bddtorque "):
                    run_command(line.removeprefix("$ "))


def test_what_is_not_run_says_why():
    unclear = [
        (name, block.line)
        for name in NAMES
        for block in blocks(name)
        if block.not_run is not None and len(block.not_run) < 8
    ]
    assert unclear == []


def test_pages_with_tests_of_their_own_have_them():
    assert (ROOT / "tests" / "cli" / "test_cli_docs.py").exists()
    assert any("c.md" in path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "export").glob("test_*.py"))
