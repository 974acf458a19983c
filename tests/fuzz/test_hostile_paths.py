"""Pipes, devices, links, huge files and impossible names in place of a file: the refusal that each must get."""

import io
import os
import socket
import stat
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
from bdt_files import saved, taken_apart
from fuzz_targets import BY_NAME
from hostile_files import file, refused

from bddtorque.base.errors import BddTorqueError
from bddtorque.model.model import from_bytes

KINDS = ("bdt_bytes", "robot_toml", "spec_toml", "urdf", "plan_bytes", "states_csv", "states_npy", "samples_csv")


@pytest.mark.parametrize("kind", KINDS)
def test_pipes_are_not_waited_for(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"pipe{BY_NAME[kind].suffix}"
    os.mkfifo(path)
    assert "this is a pipe, not a file" in refused(kind, path)


@pytest.mark.parametrize("kind", KINDS)
def test_sockets_folders_and_links_in_a_circle(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suffix = BY_NAME[kind].suffix
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # their names are short
        listener.bind(f"socket{suffix}")
        assert "read" in refused(kind, tmp_path / f"socket{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    assert "older" in refused(kind, tmp_path / f"folder{suffix}")
    circle = tmp_path / f"circle{suffix}"
    circle.symlink_to(circle)
    assert "Too many levels of symbolic links" in refused(kind, circle)
    dangling = tmp_path / f"dangling{suffix}"
    dangling.symlink_to(tmp_path / "nothing")
    assert "there is no such file" in refused(kind, dangling)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"])
def test_devices(kind: str, device: str, tmp_path: Path) -> None:
    """Endless or empty: read no further than there can be sense in."""
    if not Path(device).exists():
        pytest.skip("there is no such device here")
    link = tmp_path / f"device{BY_NAME[kind].suffix}"
    link.symlink_to(device)
    refused(kind, link)


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_no_file_can_have(kind: str, tmp_path: Path) -> None:
    suffix = BY_NAME[kind].suffix
    refused(kind, tmp_path / f"a\0b{suffix}")
    assert "File name too long" in refused(kind, tmp_path / f"{'x' * 5000}{suffix}")
    assert "\\n" in refused(kind, tmp_path / f"line\nbreak{suffix}") or kind in ("robot_toml", "urdf")  # there a space


HUGE = {
    "bdt_bytes": "at most 2,147,483,647 bytes, this one has more",
    "robot_toml": "a robot file must have at most 1,000,000 bytes, this one has more",
    "spec_toml": "a specification must have at most 1,000,000 bytes, this one has more",
    "urdf": "a robot file must have at most 10,000,000 bytes, this one has more",
    "plan_bytes": "a plan must have at most 67,108,864 bytes, this one has more",
    "states_csv": "line 1: a row must have at most 1,000,000 characters, this one has more",
    "samples_csv": "line 1: a row must have at most 1,000,000 characters, this one has more",
    "states_npy": "must be an npy file of numbers, but cannot be read",
}


def test_sparse_files_that_are_huge(tmp_path: Path) -> None:
    """A terabyte each that takes no disk, in a process that may have half a gigabyte more."""
    given = []
    for kind in HUGE:
        (tmp_path / kind).mkdir()
        path = file(tmp_path / kind, kind, b"PK\3\4" if kind == "bdt_bytes" else b"")
        try:
            os.truncate(path, 2**40)
        except OSError:
            os.truncate(path, 2**32)
        given += [kind, str(path)]
    lines = limited(given, 2**29)
    assert len(lines) == len(HUGE)
    for line, (kind, said) in zip(lines, HUGE.items(), strict=True):
        assert said in line, kind


def limited(given: list[str], memory: int) -> list[str]:
    """Return what a process says that reads files (kind, path, ...) with so much address space beyond what it has."""
    code = f"""
        import sys
        sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parent.parent)]}
        from pathlib import Path
        from fuzz_targets import BY_NAME
        from fuzz_worker import limit_memory
        from bddtorque.base.errors import BddTorqueError
        limit_memory({memory})
        for kind, path in zip(sys.argv[1::2], sys.argv[2::2]):
            try:
                BY_NAME[kind].check(Path(path))
            except BddTorqueError as problem:
                print(problem)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), *given]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


def test_links_in_an_archive_are_no_links() -> None:
    """Entries that say that they are symbolic links, in a zip that is else the very file: nothing is followed."""
    header, arrays = taken_apart(saved("planar2r", bits=3))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved("planar2r", bits=3))) as good, zipfile.ZipFile(buffer, "w") as linked:
        for name in ["header.json", *arrays]:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o644) << 16
            linked.writestr(entry, good.read(name))
    with pytest.raises(BddTorqueError, match="was altered or rewritten: it differs from what bddtorque writes"):
        from_bytes(buffer.getvalue(), "arm.bdt")
    assert header["format"] == "bddtorque model"
