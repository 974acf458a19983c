"""Ctrl-C for real, at many moments of long commands; and two processes on one cache."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import bddtorque as bt

BITS = "4"
COMMANDS: dict[str, list[str]] = {
    "compile": ["compile", "planar2r", "--bits", BITS, "--workers", "1", "-o", "OUT"],
    "compile in processes": ["compile", "planar2r", "--bits", BITS, "--workers", "2", "-o", "OUT"],
    "sweep": ["sweep", "ARM", "--states", "300000", "--csv", "OUT"],
    "verify": ["verify", "ARM"],
    "export": ["export", "ARM", "--c", "OUT"],
}


@pytest.fixture(scope="session")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arm") / "arm.bdt"
    bt.compile("planar2r", bits=int(BITS), workers=1, cache=None).save(path)
    return path


def scratch_of(folder: Path) -> Path:
    """Return where a command keeps what is temporary: a short name, since worker processes have a socket there."""
    return Path(tempfile.gettempdir()) / f"bdt-{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"


@pytest.fixture(autouse=True)
def swept(tmp_path: Path) -> Iterator[None]:
    yield
    shutil.rmtree(scratch_of(tmp_path), ignore_errors=True)


CODE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the suite may have Ctrl-C ignored
count, moment, own = 0, int(sys.argv[1]), os.getpid()

def watch(event, given):
    global count
    if counting and event in ("open", "import", "os.rename", "os.listdir", "os.mkdir", "os.remove"):
        count += 1
        if count == moment and os.getpid() == own:
            os.killpg(0, signal.SIGINT)

from bddtorque.__main__ import run
sys.argv[1:] = sys.argv[2:]
counting = True
sys.addaudithook(watch)
code = run()
counting = False
signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is over: what follows is Python's own
if code == 0:
    print(count, file=sys.stderr)
sys.exit(code)
"""
"""Runs a command and sends Ctrl-C to all its processes, as a terminal does, when it opens its n-th file or the like."""


def started(arguments: list[str], folder: Path, moment: int = 0) -> subprocess.Popen[str]:
    """Start a command in a session of its own, with a folder of its own for whatever is temporary."""
    scratch = scratch_of(folder)
    scratch.mkdir(exist_ok=True)
    environment = {**os.environ, "BDDTORQUE_CACHE": str(folder / "cache"), "TMPDIR": str(scratch)}
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(moment), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> int:
    """Wait for a command that nobody interrupts; return how many moments it had."""
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    assert said.strip().isdecimal(), said  # nothing else was said
    return int(said)


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check(name: str, shares: list[float], arm: Path, folder: Path) -> None:
    """Let a command end, to know its moments; interrupt it at some of them, and look at what is left."""
    out = folder / "out"
    out.mkdir()
    target = out / ("c" if name == "export" else "result")
    given = [each.replace("OUT", str(target)).replace("ARM", str(arm)) for each in COMMANDS[name]]

    def begun(moment: int = 0) -> subprocess.Popen[str]:
        shutil.rmtree(folder / "cache", ignore_errors=True)
        return started(given, folder, moment)

    moments = ended(begun())
    whole = files_in(out)
    if name.startswith("compile"):
        assert target.read_bytes() == arm.read_bytes()
    for share in shares:
        shutil.rmtree(out)
        out.mkdir()
        while (process := begun(round(share * moments))).wait(600) == 0:  # Numba's cache was warm: there were fewer
            fewer = ended(process)
            assert fewer < share * moments
            moments = fewer
            shutil.rmtree(out)
            out.mkdir()
        said = process.communicate()[1]
        assert (process.returncode, said) == (130, "bddtorque: interrupted\n"), (name, share)
        assert files_in(out) in ({}, whole), (name, share)  # nothing, or all of it
        assert list(scratch_of(folder).iterdir()) == [], (name, share)
        assert not list((folder / "cache").rglob(".unfinished-*")), (name, share)


@pytest.mark.parametrize(("name", "share"), [("compile in processes", 0.6), ("export", 0.95)])
def test_ctrl_c(name: str, share: float, arm: Path, tmp_path: Path) -> None:
    check(name, [share], arm, tmp_path)


@pytest.mark.everything
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_at_many_moments(name: str, arm: Path, tmp_path: Path) -> None:
    check(name, [0.02, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99], arm, tmp_path)


@pytest.mark.slow
def test_two_processes_on_one_cache(arm: Path, tmp_path: Path) -> None:
    """Both compile the same arm at once and share what they make; the files are the same to the byte."""
    files = [tmp_path / f"{k}.bdt" for k in range(2)]
    for process in [started([*COMMANDS["compile"][:-1], str(path)], tmp_path) for path in files]:
        ended(process)
    assert {hashlib.sha256(path.read_bytes()).digest() for path in (*files, arm)} == {
        hashlib.sha256(arm.read_bytes()).digest()
    }
    assert not list((tmp_path / "cache").rglob(".unfinished-*"))
