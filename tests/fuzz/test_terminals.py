"""What people see: no name of a file reaches the terminal as anything but text, and a full disk is said in a line."""

import json
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
    assert process.returncode == 1


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
