"""A disk that fills up, at every operation there is: nothing half written, the old file still there, one clear line."""

import errno
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from broken_disks import Disk, on_disk
from fuzz_seeds import STATES
from interrupt_lines import NEW, OLD, folder_of

import bddtorque as bt
from bddtorque.base.caching import MISSING, Cache
from bddtorque.base.tasks import Task
from bddtorque.cli import main
from bddtorque.export.folder import write_folder

NUMBERS = (errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT)


@pytest.fixture(scope="session")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arm") / "arm.bdt"
    bt.compile("planar2r", bits=3, workers=1, cache=None).save(path)
    return path


COMMANDS = {
    "compile": (
        ["compile", "planar2r", "--bits", "3", "--workers", "1", "--no-cache", "-o", "OUT/arm.bdt"],
        ["arm.bdt"],
    ),
    "write-spec": (
        [
            "compile",
            "planar2r",
            "--bits",
            "3",
            "--workers",
            "1",
            "--no-cache",
            "-o",
            "OUT/a.bdt",
            "--write-spec",
            "OUT/a.toml",
        ],
        ["a.bdt", "a.toml"],
    ),
    "plan": (["plan", "planar2r", "--bits", "3", "-o", "OUT/plan.json"], ["plan.json"]),
    "eval": (["eval", "ARM", "STATES", "-o", "OUT/torques.csv"], ["torques.csv"]),
    "eval npy": (["eval", "ARM", "STATES", "-o", "OUT/torques.npy"], ["torques.npy"]),
    "sweep": (["sweep", "ARM", "--states", "100", "--no-cache", "--csv", "OUT/errors.csv"], ["errors.csv"]),
    "plot": (["sweep", "ARM", "--states", "100", "--no-cache", "--plot", "OUT/errors.svg"], ["errors.svg"]),
}


SLOW = ("write-spec", "plot", "sweep")
LONGEST = ("compile", "plot")
"""Run by `make test-all` only: what they do with a disk, `write-spec` and `sweep` do too."""


@pytest.mark.parametrize(
    ("name", "existing"),
    [
        *((name, True) for name in COMMANDS if name not in (*SLOW, *LONGEST)),
        *(pytest.param(name, True, marks=pytest.mark.slow) for name in SLOW if name not in LONGEST),
        *(pytest.param(name, True, marks=pytest.mark.everything) for name in LONGEST),
        *(pytest.param(name, False, marks=pytest.mark.everything) for name in SLOW),
        ("plan", False),
        ("eval", False),
    ],
)
def test_every_operation_of_every_command(
    name: str, existing: bool, arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = tmp_path / "states.csv"
    states.write_text(f"{STATES}\n0,0,0,0,0,0\n", encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    arguments, files = COMMANDS[name]
    given = [
        each.replace("OUT", str(out)).replace("ARM", str(arm)).replace("STATES", str(states)) for each in arguments
    ]

    def ran(disk: Disk) -> tuple[int, str]:
        for path in out.iterdir():
            path.unlink()
        for each in files if existing else ():
            (out / each).write_bytes(b"old")
        with on_disk(disk):
            code = main(given)
        return code, capsys.readouterr().err

    def ours(path: str) -> bool:
        return path.startswith(str(out)) or not path  # not what matplotlib keeps

    assert ran(Disk(applies=ours))[0] == 0  # code is compiled and kept, once
    whole = Disk(applies=ours)
    assert ran(whole) == (0, "")
    good = {path.name: path.read_bytes() for path in out.iterdir()}
    assert set(good) == set(files) and len(whole.operations) >= 5 * len(files)
    for k in range(1, len(whole.operations) + 1):
        code, said = ran(Disk(k, NUMBERS[k % len(NUMBERS)], ours))
        where = f"operation {k}, {whole.operations[k - 1]}"
        assert code == 2 and said.count("\n") == 1 and os.strerror(NUMBERS[k % len(NUMBERS)]) in said, (where, said)
        left = {path.name: path.read_bytes() for path in out.iterdir()}
        # of two files the first may be there, whole; nothing else is, not even under another name
        for each, content in left.items():
            assert each in files and content in (b"old", good[each]), where
        assert not existing or set(left) == set(files), where
        assert left.get(files[-1]) in (None, b"old"), where


@pytest.mark.parametrize("existing", [False, True])
def test_every_operation_of_an_export(existing: bool, tmp_path: Path) -> None:
    target = tmp_path / "c"
    whole = Disk()
    with on_disk(whole):
        write_folder(target, OLD)
        if existing:
            whole.operations.clear()
            write_folder(target, NEW)
    count = len(whole.operations)
    assert count >= 5
    for k in range(1, count + 1):
        shutil.rmtree(target, ignore_errors=True)
        if existing:
            write_folder(target, OLD)
        with on_disk(Disk(k, once=True)), pytest.raises(bt.BddTorqueError, match="No space left"):
            write_folder(target, NEW)
        assert folder_of(target) == (OLD if existing else {}), k
        assert [path.name for path in tmp_path.iterdir()] == (["c"] if existing else []), k


def identity(x: int) -> int:
    return x


def test_every_operation_of_the_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = Disk()
    with on_disk(whole):
        Cache(tmp_path / "whole").put(Task(identity, (1,)), 1)
    assert len(whole.operations) >= 6
    for k in range(1, len(whole.operations) + 1):
        cache = Cache(tmp_path / f"{k}")
        caplog.clear()
        with caplog.at_level(logging.WARNING, "bddtorque"), on_disk(Disk(k)):
            cache.put(Task(identity, (1,)), 1)
            cache.put(Task(identity, (2,)), 2)
        assert len(caplog.records) == 1 and "going on without it" in caplog.text, k
        left = [path.name for path in cache.directory.rglob("*") if path.is_file()]
        assert set(left) <= {"CACHEDIR.TAG"}, k
        cache.put(Task(identity, (1,)), 1)  # there is room again
        assert cache.get(Task(identity, (1,))) == 1 and cache.get(Task(identity, (2,))) is MISSING


def test_a_full_cache_is_said_and_the_model_is_the_same(arm: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    below_a_file = tmp_path / "file"
    below_a_file.write_text("x", encoding="utf-8")
    monkeypatch.setenv("BDDTORQUE_CACHE", str(below_a_file / "cache"))
    out = tmp_path / "arm.bdt"
    assert main(["compile", "planar2r", "--bits", "3", "--workers", "1", "-o", str(out)]) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "cannot be written" in said and "going on without it" in said
    assert out.read_bytes() == arm.read_bytes()
    monkeypatch.setenv("BDDTORQUE_CACHE", "~nobody-of-this-name/cache")
    assert main(["compile", "planar2r", "--bits", "3", "--workers", "1", "-o", str(out)]) == 0
    assert "BDDTORQUE_CACHE is no folder" in capsys.readouterr().err


def test_a_limit_of_the_system_is_a_full_disk(arm: Path, tmp_path: Path) -> None:
    """Not a stand-in: the system itself refuses to write more than 1,000 bytes to any file."""
    out = tmp_path / "copy.bdt"
    out.write_bytes(b"old")
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
    code += f"import bddtorque as bt; bt.load({str(arm)!r}).save({str(out)!r})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and "cannot be written: File too large" in ran.stderr.splitlines()[-1]
    assert out.read_bytes() == b"old" and list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        pytest.param("file", 20, marks=pytest.mark.everything),
        pytest.param("folder", 100, marks=pytest.mark.everything),
        pytest.param("new_folder", 50, marks=pytest.mark.everything),
        ("cache", 50),
    ],
)
def test_ctrl_c_at_every_line_of_writing(kind: str, lines: int, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    script = Path(__file__).parent / "interrupt_lines.py"
    ran = subprocess.run([sys.executable, script, kind, folder], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) > lines
