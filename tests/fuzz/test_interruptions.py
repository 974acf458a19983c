"""Ctrl-C for real, at many moments of long commands; and two processes on one cache."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import bddtorque as bt

BITS = "6"
COMMANDS: dict[str, list[str]] = {
    "compile": ["compile", "planar2r", "--bits", BITS, "--workers", "1", "-o", "OUT"],
    "compile in processes": ["compile", "planar2r", "--bits", BITS, "--workers", "2", "-o", "OUT"],
    "sweep": ["sweep", "ARM", "--states", "3000000", "--csv", "OUT"],
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


def started(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    """Start a command in a session of its own, with a folder of its own for whatever is temporary."""
    scratch = scratch_of(folder)
    scratch.mkdir(exist_ok=True)
    # whoever runs the suite in the background may have Ctrl-C ignored, and children inherit that
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += (
        f"from bddtorque.__main__ import run; sys.argv[1:] = {arguments}\nprint('ready', flush=True); code = run()\n"
    )
    code += "signal.signal(signal.SIGINT, signal.SIG_IGN); sys.exit(code)"  # it is over: what follows is Python's own
    environment = {**os.environ, "BDDTORQUE_CACHE": str(folder / "cache"), "TMPDIR": str(scratch)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def interrupted(arguments: list[str], folder: Path, wait: float) -> tuple[int, str]:
    """Run a command and send Ctrl-C to all its processes, as a terminal does; return the code and standard error."""
    process = started(arguments, folder)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(wait)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


def check(name: str, moments: list[float], arm: Path, folder: Path) -> None:
    """Interrupt a command at some moments after it began; then let it end, and compare."""
    out = folder / "out"
    out.mkdir()
    target = out / ("c" if name == "export" else "result")
    given = [each.replace("OUT", str(target)).replace("ARM", str(arm)) for each in COMMANDS[name]]
    count = 0
    for wait in moments:
        code, said = interrupted(given, folder, wait)
        if code == 0:  # it was faster
            continue
        count += 1
        assert (code, said) == (130, "bddtorque: interrupted\n"), (name, wait)
        assert list(out.iterdir()) == [], (name, wait)
        left = [path.name for path in scratch_of(folder).iterdir()]
        assert left == [], (name, wait)
        assert not list((folder / "cache").rglob(".unfinished-*")), (name, wait)
    assert count or len(moments) < 3
    process = started(given, folder)
    _, said = process.communicate(timeout=100)
    assert (process.returncode, said) == (0, ""), name
    if name.startswith("compile"):
        assert target.read_bytes() == arm.read_bytes()


@pytest.mark.parametrize("name", ["compile", "export"])
def test_ctrl_c(name: str, arm: Path, tmp_path: Path) -> None:
    check(name, [0.02, 0.4], arm, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_at_many_moments(name: str, arm: Path, tmp_path: Path) -> None:
    check(name, [0.1, 0.3, 0.5, 0.8], arm, tmp_path)


@pytest.mark.slow
def test_two_processes_on_one_cache(arm: Path, tmp_path: Path) -> None:
    """Both compile the same arm at once and share what they make; the files are the same to the byte."""
    files = [tmp_path / f"{k}.bdt" for k in range(2)]
    running = [started([*COMMANDS["compile"][:-1], str(path)], tmp_path) for path in files]
    for process in running:
        _, said = process.communicate(timeout=100)
        assert (process.returncode, said) == (0, "")
    assert {hashlib.sha256(path.read_bytes()).digest() for path in (*files, arm)} == {
        hashlib.sha256(arm.read_bytes()).digest()
    }
    assert not list((tmp_path / "cache").rglob(".unfinished-*"))
