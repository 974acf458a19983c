"""A file is written whole or not at all: whatever stops it leaves the old one and nothing beside it."""

import errno
import os
import threading
from pathlib import Path

import pytest
from bdt_files import saved
from compiled import compiled

import bddtorque as bt
from bddtorque.base.files import whole_file, write_whole


def refused(path: object, data: bytes = b"new") -> str:
    with pytest.raises(bt.BddTorqueError) as caught:
        write_whole(path, data)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_new_file_and_one_in_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "arm.bdt"
    for data in (b"first", b"second, longer", b""):
        write_whole(path, data)
        assert path.read_bytes() == data and list(tmp_path.iterdir()) == [path]


def test_the_permissions_are_those_of_any_file(tmp_path: Path) -> None:
    write_whole(tmp_path / "ours", b"")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "link", b"data")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_bytes() == b"data"


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    assert "No such file or directory" in refused(tmp_path / "none" / "arm.bdt")
    assert "directory" in refused(tmp_path)
    (tmp_path / "file").write_bytes(b"old")
    assert "Not a directory" in refused(tmp_path / "file" / "arm.bdt")
    assert "null" in refused("a\0b").lower()
    assert "too long" in refused(tmp_path / ("x" * 300))
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    refused(tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "file"]


def test_the_longest_name_that_can_be_is_no_trouble(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 127):
        write_whole(tmp_path / name, b"data")
        assert (tmp_path / name).read_bytes() == b"data"


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "arm.bdt").write_bytes(b"old")
    folder.chmod(0o500)
    with monkeypatch.context() as patch:
        if os.geteuid() == 0:  # whom no permission stops
            patch.setattr("pathlib.Path.open", failing(errno.EACCES))
        assert "Permission denied" in refused(folder / "arm.bdt")
    folder.chmod(0o700)
    assert (folder / "arm.bdt").read_bytes() == b"old" and len(list(folder.iterdir())) == 1


def failing(number: int):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace", "pathlib.Path.open"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_full_or_broken_disk(step: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "arm.bdt"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(step, failing(number))
        assert os.strerror(number) in refused(path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_device_that_is_full() -> None:
    assert "No space left" in refused("/dev/full", b"x" * 2**20)


def test_a_device_that_is_no_file() -> None:
    write_whole("/dev/null", b"data")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, MemoryError, RuntimeError])
def test_an_interrupted_write(interruption: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "arm.bdt"
    path.write_bytes(b"old")
    with pytest.raises(interruption), whole_file(path) as file:
        file.write(b"half of the ne")
        file.flush()
        assert path.read_bytes() == b"old"  # nobody sees a part
        raise interruption
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_many_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "arm.bdt"
    contents = [bytes([k]) * 100_000 for k in range(8)]
    threads = [threading.Thread(target=write_whole, args=(path, data)) for data in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents and list(tmp_path.iterdir()) == [path]


def test_saving_a_model_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(bt.BddTorqueError, match="cannot be written: No such file or directory"):
        compiled(bits=2).save(tmp_path / "none" / "arm.bdt")
    compiled(bits=2).save(tmp_path / "arm.bdt")
    assert (tmp_path / "arm.bdt").read_bytes() == saved(bits=2)
