"""What the independent checker makes of paths that lead to no file it could read: one finding of one line, at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bdt_files import saved

from bddtorque.independent import check_file
from bddtorque.independent.__main__ import main
from bddtorque.independent.checker import true_finding


@pytest.mark.parametrize("name", ["nothing", "folder", "pipe", "with\nlines", "with\0nul"])
def test_paths_that_lead_to_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (found,) = check_file(f"{tmp_path}/{name}")
    assert (found.name, found.passed) == ("file", False)
    assert found.detail
    assert found.detail.isprintable()


@pytest.mark.parametrize("name", ["nothing", "folder"])
def test_the_command_calls_that_bad_use(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder").mkdir()
    assert main([f"{tmp_path}/{name}"]) == 2
    shown = capsys.readouterr()
    said = {"nothing": "there is no such file", "folder": "this is a folder"}[name]
    assert shown == ("", f"bddtorque.independent: {tmp_path}/{name}: {said}\n")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (-30, "the file is damaged or cut off: expected a directory that agrees with the entry at byte "),
        (100, "the file is damaged or cut off: the entry at byte 0 does not match its checksum"),
        (-1, "the file is damaged or cut off: expected the end record of a zip archive in the last 22 bytes"),
    ],
)
def test_it_says_that_a_file_is_damaged(place: int, said: str, tmp_path: Path) -> None:
    data = bytearray(saved(bits=2))
    data[place] ^= 1
    (tmp_path / "arm.bdt").write_bytes(data)
    (found,) = check_file(tmp_path / "arm.bdt")
    assert found.detail.startswith(said)


def command(*ends: str) -> tuple[int, str]:
    """Run the command in a shell, with what stands behind it; return the exit code and what it says of errors."""
    text = " ".join([sys.executable, "-m", "bddtorque.independent", *ends])
    ran = subprocess.run(["bash", "-c", f"set -o pipefail; {text}"], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stderr


def test_an_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "arm.bdt").write_bytes(saved(bits=2))
    path = str(tmp_path / "arm.bdt")
    assert command(path, "| true") == (141, "")
    assert command(path, ">&-") == (2, "bddtorque.independent: output: standard output is closed\n")
    if Path("/dev/full").exists():
        assert command(path, "> /dev/full") == (2, "bddtorque.independent: output: No space left on device\n")


@pytest.mark.parametrize("where", ["numpy", "bddtorque.independent.checker"])
def test_an_interruption_is_one_line(where: str) -> None:
    """Ctrl-C while it is imported, and while it works: both are a finder of modules that is interrupted."""
    code = (
        "import runpy, sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {where!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "sys.argv = ['independent', 'arm.bdt']\n"
        "runpy.run_module('bddtorque.independent', run_name='__main__')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "bddtorque.independent: interrupted\n")


def test_the_last_line_is_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.bdt"
    path.write_bytes(saved(bits=2))
    assert main([str(path)]) == 0
    assert capsys.readouterr().out.endswith(f"\n{path}: verified\n")
    path.write_bytes(saved(bits=2)[:-1])
    assert main([str(path)]) == 1
    assert capsys.readouterr().out.endswith(f"\n{path}: NOT verified\n")


def test_figures_of_many_outputs_have_a_line_of_their_own() -> None:
    few, many = (true_finding("dynamics", "Newton-Euler", [0.25] * (count - 1) + [0.5], ["how"]) for count in (3, 23))
    assert "within 0.25, 0.25, 0.5 units of Newton-Euler, everywhere (how)" in few.detail and not few.rows
    assert "within 0.5 units of" in many.detail and many.rows == (f"output by output: {'0.25, ' * 22}0.5",)


def test_a_device_that_never_ends() -> None:
    (found,) = check_file("/dev/zero")
    assert found.detail == "/dev/zero: expected a regular file"
