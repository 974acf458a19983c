"""No command writes over what it reads, whatever names it: arguments, specifications, robots, links."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import arm
from sample_robots import TWO_LINKS

import bddtorque as bt
from bddtorque.base.files import WouldOverwriteError, command_files, opened, refuse_overwriting, will_write, write_whole

STATES = "q:shoulder,q:elbow,qd:shoulder,qd:elbow,qdd:shoulder,qdd:elbow\n0,0,0,0,0,0\n"
SPEC = """robot = "arm.urdf"
bits = 4
block_bits = 8
ranges = { acceleration = 2.0 }
"""
RUBBING = """robot = "planar2r"
bits = 4
block_bits = 8
[[joint]]
[[joint]]
friction = { samples = "el.csv" }
"""
QUICK = ["--workers", "1", "--no-cache"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one file of every kind that commands read, and links to some."""
    monkeypatch.chdir(tmp_path)
    arm(4).save("arm.bdt")
    Path("s.csv").write_text(STATES)
    Path("arm.urdf").write_text(TWO_LINKS)
    Path("spec.toml").write_text(SPEC)
    Path("rub.toml").write_text(RUBBING)
    Path("el.csv").write_text("velocity,torque\n-3,-1\n0,0\n3,1\n")
    Path("link.csv").symlink_to("arm.bdt")
    os.link("arm.urdf", "hard.bdt")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "option", "read"),
    [
        (["sweep", "arm.bdt", "--states", "100", "--csv", "arm.bdt"], "--csv", "arm.bdt"),
        (["sweep", "arm.bdt", "--states", "100", "--csv", "link.csv"], "--csv (link.csv)", "arm.bdt"),
        (["sweep", "arm.bdt", "--trajectory", "s.csv", "--csv", "s.csv"], "--csv", "s.csv"),
        (["sweep", "spec.toml", "--states", "100", "--csv", "arm.urdf"], "--csv", "arm.urdf"),
        (["eval", "arm.bdt", "s.csv", "-o", "./s.csv"], "-o", "s.csv"),
        (["eval", "arm.bdt", "s.csv", "-o", "link.csv"], "-o (link.csv)", "arm.bdt"),
        (["report", "arm.bdt", "-o", "arm.bdt"], "-o", "arm.bdt"),
        (["plan", "spec.toml", "-o", "arm.urdf"], "-o", "arm.urdf"),
        (["plan", "spec.toml", "-o", "spec.toml"], "-o", "spec.toml"),
        (["compile", "spec.toml", "-o", "spec.toml"], "-o", "spec.toml"),
        (["compile", "spec.toml", "-o", "arm.urdf"], "-o", "arm.urdf"),
        (["compile", "spec.toml", "-o", "hard.bdt"], "-o (hard.bdt)", "arm.urdf"),
        (["compile", "spec.toml", "--write-spec", "arm.urdf"], "--write-spec", "arm.urdf"),
        (["compile", "rub.toml", "-o", "el.csv"], "-o", "el.csv"),
        (["compile", "planar2r", "--plan", "pl.json", "-o", "pl.json"], "-o", "pl.json"),
        (["compile", "--samples", "el.csv", "-o", "el.csv"], "-o", "el.csv"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_inputs_stay_what_they_are(
    arguments: list[str], option: str, read: str, folder: Path, refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pl.json").write_text("{}")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for planning in ("compiling", "robot_draft"):
        name = f"bddtorque.compiler.{planning}.draft_of_robot"
        monkeypatch.setattr(name, lambda *_: pytest.fail("work was begun"))
    expected = f"bddtorque: {option} would overwrite {read}, which this command reads: choose another name\n"
    assert refused(*arguments) == expected
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_exports_keep_the_model_they_read(folder: Path, refused, run) -> None:
    model = folder / "c" / "two.c"  # a model may have any name
    assert run("export", "arm.bdt", "--c", "c", "--name", "one").code == 0
    model.write_bytes(Path("arm.bdt").read_bytes())
    before = model.read_bytes()
    assert "holds 'two.c', which no export wrote" in refused("export", model, "--c", "c", "--name", "two", "--force")
    built = model.rename(model.with_suffix(".o"))  # as a file is called that is built from an export
    assert "holds 'two.o', which no export wrote" in refused("export", built, "--c", "c", "--name", "two")
    assert built.read_bytes() == before


def test_standard_input_is_a_file_that_is_read(folder: Path) -> None:
    command = [sys.executable, "-m", "bddtorque", "eval", "arm.bdt", "-", "-o", "s.csv"]
    with Path("s.csv").open() as states:
        ran = subprocess.run(command, stdin=states, capture_output=True, text=True, check=False)
    assert ran.stderr == (
        "bddtorque: -o (s.csv) would overwrite standard input, which this command reads: choose another name\n"
    )
    assert (ran.returncode, Path("s.csv").read_text()) == (2, STATES)


def test_one_file_cannot_be_two_outputs(folder: Path, refused) -> None:
    said = refused("sweep", "arm.bdt", "--csv", "a.png", "--plot", "./a.png")
    assert "--plot and --csv both name a.png: choose another name for one of them" in said


def test_other_files_are_replaced(folder: Path, run) -> None:
    for path in ("old.bdt", "old.toml"):
        Path(path).write_text("old")
    assert run("compile", "spec.toml", *QUICK, "-o", "old.bdt", "--write-spec", "old.toml").code == 0
    assert bt.load("old.bdt").formats.tau.bits == (4, 4)
    assert 'robot = "arm.urdf"' in Path("old.toml").read_text()


def test_a_script_may_rewrite_its_own_file(folder: Path) -> None:
    bt.load("arm.bdt").save("arm.bdt")
    with opened("s.csv") as file:
        write_whole("s.csv", file.read())


def test_each_command_knows_its_own_files_only(folder: Path) -> None:
    with command_files():
        opened("s.csv").close()
        with pytest.raises(WouldOverwriteError, match=r"the output would overwrite s\.csv"):
            write_whole("s.csv", b"")
        with pytest.raises(WouldOverwriteError):
            will_write("-o", "s.csv")
        refuse_overwriting("el.csv")
    with command_files():
        will_write("-o", "s.csv")
        write_whole("s.csv", b"")
    assert Path("s.csv").read_bytes() == b""


@pytest.mark.parametrize("name", ["/proc/arm.bdt", "x" * 300, ""], ids=["unwritable", "long", "empty"])
def test_outputs_that_cannot_be_written_are_refused_before_any_work(
    name: str, folder: Path, refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name for path in folder.iterdir()}
    monkeypatch.setattr("bddtorque.compiler.compiling.draft_of_robot", lambda *_: pytest.fail("work was begun"))
    assert refused("compile", "spec.toml", *QUICK, "--write-spec", name).startswith("bddtorque: --write-spec")
    assert {path.name for path in folder.iterdir()} == before
