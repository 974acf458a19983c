"""What the independent checker makes of paths that lead to no file it could read: one finding of one line, at once."""

import os
from pathlib import Path

import pytest

from bddtorque.independent import check_file


@pytest.mark.parametrize("name", ["nothing", "folder", "pipe", "with\nlines", "with\0nul"])
def test_paths_that_lead_to_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (found,) = check_file(f"{tmp_path}/{name}")
    assert (found.name, found.passed) == ("file", False)
    assert found.detail
    assert found.detail.isprintable()


def test_a_device_that_never_ends() -> None:
    (found,) = check_file("/dev/zero")
    assert found.detail == "/dev/zero: expected a regular file"
