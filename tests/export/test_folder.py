"""Folders are written whole or not at all, and nobody's files are lost."""

import json
import os
from pathlib import Path

import pytest

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.folder import MANIFEST, foreign_files, write_folder


def files(*names: str, text: str = "new\n") -> dict[str, str]:
    listed = {"files": [*names, MANIFEST], "built": "arm_selftest"}
    return {**dict.fromkeys(names, text), MANIFEST: json.dumps(listed)}


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_a_new_and_an_empty_folder(tmp_path):
    for folder in (tmp_path / "new", tmp_path / "empty"):
        if folder.name == "empty":
            folder.mkdir()
        write_folder(folder, files("arm.c", "arm.h"))
        assert names(folder) == {"arm.c", "arm.h", MANIFEST}
        assert (folder / "arm.c").read_text() == "new\n"
        assert folder.stat().st_mode & 0o777 == 0o777 & ~_umask()
    assert names(tmp_path) == {"new", "empty"}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_an_earlier_export_is_replaced_with_what_was_built_of_it(tmp_path):
    folder = tmp_path / "c"
    write_folder(folder, files("arm.c", "old.c", text="old\n"))
    for built in ("arm.o", "arm.su", "arm_selftest"):
        (folder / built).write_text("built")
    assert foreign_files(folder) == []
    write_folder(folder, files("arm.c"))
    assert names(folder) == {"arm.c", MANIFEST}
    assert (folder / "arm.c").read_text() == "new\n"
    assert names(tmp_path) == {"c"}


def test_foreign_files_are_never_lost(tmp_path):
    folder = tmp_path / "c"
    write_folder(folder, files("arm.c", text="old\n"))
    (folder / "main.c").write_text("mine")
    (folder / "notes").mkdir()
    with pytest.raises(BddTorqueError, match=r"holds 'main.c' and 1 more, which no export wrote: .* or --force"):
        write_folder(folder, files("arm.c"))
    assert (folder / "arm.c").read_text() == "old\n"
    write_folder(folder, files("arm.c"), force=True)
    assert (folder / "arm.c").read_text() == "new\n"
    assert (folder / "main.c").read_text() == "mine"
    assert names(folder) == {"arm.c", "main.c", "notes", MANIFEST}
    assert names(tmp_path) == {"c"}


@pytest.mark.parametrize(
    "manifest",
    [None, "no json", "[]", "3", '{"files": 3}', "{}", '{"files": ["main.c"]}', '{"files": [], "built": 1}'],
)
def test_a_folder_that_is_not_ours(tmp_path, manifest):
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "main.c").write_text("mine")
    if manifest is not None:
        (folder / MANIFEST).write_text(manifest)
    with pytest.raises(BddTorqueError, match=r"holds .*, which no export wrote"):
        write_folder(folder, files("arm.c"))
    assert (folder / "main.c").read_text() == "mine"


def test_objects_of_somebody_else(tmp_path):
    (tmp_path / "lib.o").write_text("mine")
    with pytest.raises(BddTorqueError, match=r"'lib.o'"):
        write_folder(tmp_path, files("arm.c"))


def test_places_that_are_no_folders(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BddTorqueError, match="must be a folder, but it is a file"):
        write_folder(tmp_path / "file", files("arm.c"), force=True)
    with pytest.raises(BddTorqueError, match="there is no"):
        write_folder(tmp_path / "no" / "such", files("arm.c"))
    assert names(tmp_path) == {"file"}


def test_nothing_is_left_of_a_failure(tmp_path, monkeypatch):
    folder = tmp_path / "c"
    write_folder(folder, files("arm.c", text="old\n"))
    with pytest.raises(UnicodeEncodeError):
        write_folder(folder, files("arm.c", text="ä"))
    renamed = Path.rename

    def full(self, target):
        if self.name.startswith("."):
            raise OSError(28, "No space left on device")
        return renamed(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(BddTorqueError, match="No space left"):
        write_folder(folder, files("arm.c"))
    monkeypatch.undo()
    assert (folder / "arm.c").read_text() == "old\n"
    assert names(tmp_path) == {"c"}


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_folder(tmp_path / "link", files("arm.c"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "arm.c").is_file()
