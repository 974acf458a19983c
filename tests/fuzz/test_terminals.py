"""Terminals: no name of a file reaches the terminal as anything but text, and a full disk is said in a line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bdt_files import saved, taken_apart
from fuzz_models import signed_again

from bddtorque.cli import main

HOSTILE = "sh\x1b]0;owned\x07\u202eou\x9b2J\u2066\r"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model, rightly signed, whose first joint has a name that takes over a terminal."""
    header, arrays = taken_apart(saved("planar2r", bits=3))
    changed = json.loads(json.dumps(header).replace("shoulder", json.dumps(HOSTILE)[1:-1]))
    path = tmp_path_factory.mktemp("hostile") / "arm.bdt"
    path.write_bytes(signed_again(changed, arrays))
    return path


@pytest.mark.parametrize(
    "arguments", [["info"], ["info", "--levels"], ["verify"], ["sweep", "--states", "64", "--no-cache"]]
)
def test_names_cannot_take_over_a_terminal(arguments: list[str], hostile: Path, capsys) -> None:
    main([arguments[0], str(hostile), *arguments[1:]])
    shown = capsys.readouterr()
    text = (shown.out + shown.err).replace("\n", "")
    assert text.isprintable() and len(text) > 100
    assert "sh\\x1b]0;owned" in text or arguments == ["verify"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", [["robots"], ["robots", "--json"]])
def test_standard_output_on_a_full_disk(command: list[str]) -> None:
    code = f"import sys; from bddtorque.cli import main; sys.exit(main({command}))"
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "bddtorque: output: No space left on device\n")


def test_standard_output_that_nobody_reads() -> None:
    code = "import sys; from bddtorque.cli import main; sys.exit(main(['robots', '--json']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141  # 128 + SIGPIPE; 1 would say that a check failed


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of the shell, in which `bddtorque` is the command."""
    line = command.replace("bddtorque", f"{sys.executable} -m bddtorque", 1)
    settings = {**os.environ, **environment}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=settings, capture_output=True, text=True, check=False)


def test_a_reader_that_stops_early_is_no_failed_check(hostile: Path, tmp_path: Path) -> None:
    """The file does verify; nobody reads the answer."""
    ran = shell(f"bddtorque info {hostile} | (exec <&-; sleep 0.1); exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (ran.returncode, ran.stderr) == (141, "")


def test_a_standard_output_that_is_closed(tmp_path: Path) -> None:
    ran = shell("bddtorque robots >&-", tmp_path)
    assert (ran.returncode, ran.stderr) == (2, "bddtorque: output: standard output is closed\n")
    ran = shell("bddtorque robots --json >&-", tmp_path)
    assert (ran.returncode, ran.stderr) == (2, "bddtorque: output: standard output is closed\n")
    assert shell("bddtorque info none.bdt >&- 2>&-", tmp_path).returncode == 2


def test_a_standard_input_that_is_closed(hostile: Path, tmp_path: Path) -> None:
    ran = shell(f"bddtorque eval {hostile} - <&-", tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("bddtorque: standard input is closed, but STATES is -") and ran.stderr.count("\n") == 1
    assert shell("bddtorque --version <&-", tmp_path).returncode == 0


@pytest.mark.parametrize(
    "encoding", ["ascii", *(pytest.param(each, marks=pytest.mark.everything) for each in ("latin-1", "utf-8"))]
)
def test_json_is_json_in_any_encoding(encoding: str, hostile: Path, tmp_path: Path) -> None:
    ran = shell(f"bddtorque info {hostile} --json", tmp_path, PYTHONIOENCODING=encoding)
    assert (ran.returncode, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    assert ran.stdout.isascii() and told["words"]["outputs"][0]["words"][0]["unit"] == "N·m"


@pytest.mark.parametrize("columns", ["0", "1", "19", "zero", "-5"])
def test_terminals_without_a_width_that_makes_sense(columns: str, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["robots"]) == 0
    shown = capsys.readouterr().out
    assert "planar2r" in shown and max(map(len, shown.splitlines())) > 60


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "planar2r", "--bits", "3", "-o"],
        ["compile", "planar2r", "--bits", "3", "-o"],
        ["compile", "planar2r", "--bits", "3", "-o", "x.bdt", "--write-spec"],
        ["sweep", "x.bdt", "--csv"],
        ["export", "x.bdt", "--c"],
        ["eval", "x.bdt", "--q", "0,0", "-o"],
        ["info"],
        ["verify"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("name", ["x" * 5000 + ".csv", "a/" * 3000 + "x.csv"], ids=["long", "deep"])
def test_names_that_are_too_long(arguments: list[str], name: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    code = main([*arguments, name])
    shown = capsys.readouterr()
    assert (code == 2 and shown.err.count("\n") == 1) or (arguments == ["verify"] and code == 1)
    assert list(tmp_path.iterdir()) == []
