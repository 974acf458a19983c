"""Folders are written whole or not at all, and nobody's files are lost."""

import json
import os
from pathlib import Path

import pytest

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.folder import MANIFEST, foreign_files, with_manifest, write_folder


def files(*names: str, text: str = "new\n") -> dict[str, str]:
    return with_manifest(dict.fromkeys(names, text), "digest", "arm_selftest")


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


def test_an_earlier_export_is_replaced_and_what_was_built_of_it_stays(tmp_path):
    folder = tmp_path / "c"
    write_folder(folder, files("src/arm.c", "old/old.c", text="old\n"))
    write_folder(folder, files("src/arm.c", "arm.h"))
    assert names(folder) == {"src", "arm.h", MANIFEST}
    for built in ("src/arm.o", "src/arm.su", "arm_selftest"):
        (folder / built).write_text("built")
    assert foreign_files(folder) == []
    write_folder(folder, files("src/arm.c", "new.c"))
    assert names(folder) == {"src", "new.c", "arm_selftest", MANIFEST}
    assert names(folder / "src") == {"arm.c", "arm.o", "arm.su"}
    assert json.loads((folder / MANIFEST).read_text()) == json.loads(files("src/arm.c", "new.c")[MANIFEST])
    assert names(tmp_path) == {"c"}


def test_foreign_files_are_never_lost(tmp_path):
    folder = tmp_path / "c"
    write_folder(folder, files("arm.c", text="old\n"))
    for name in ("main.c", "libmine.a", "mine.so", "mine.o"):
        (folder / name).write_text("mine")
    (folder / "notes").mkdir()
    with pytest.raises(BddTorqueError, match=r"holds 'libmine.a' and 4 more, which no export wrote: .* or --force"):
        write_folder(folder, files("arm.c"))
    assert (folder / "arm.c").read_text() == "old\n"
    write_folder(folder, files("arm.c"), force=True)
    assert (folder / "arm.c").read_text() == "new\n"
    assert names(folder) == {"arm.c", "main.c", "libmine.a", "mine.so", "mine.o", "notes", MANIFEST}
    assert {(folder / name).read_text() for name in ("main.c", "libmine.a", "mine.so", "mine.o")} == {"mine"}
    assert names(tmp_path) == {"c"}


@pytest.mark.parametrize("force", [False, True])
def test_files_that_no_export_wrote_are_never_replaced(tmp_path, force, monkeypatch):
    (tmp_path / "Makefile").write_text("mine")
    with pytest.raises(BddTorqueError, match=r"holds 'Makefile', which no export wrote: "):
        write_folder(tmp_path, files("arm.c", "Makefile"), force)
    assert (tmp_path / "Makefile").read_text() == "mine" and names(tmp_path) == {"Makefile"}
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(BddTorqueError, match=f"^{tmp_path.name} holds 'Makefile'"):  # as it was given
        write_folder(Path(tmp_path.name), files("arm.c", "Makefile"), force)
    (tmp_path / "Makefile").unlink()
    write_folder(tmp_path, files("arm.c", "Makefile"))
    (tmp_path / "arm.c").write_text("changed")
    with pytest.raises(BddTorqueError, match=r"holds 'arm.c', changed since its export: "):
        write_folder(tmp_path, files("arm.c"), force)
    assert (tmp_path / "arm.c").read_text() == "changed"


def test_an_export_that_was_interrupted_beside_other_files_can_be_repeated(tmp_path, monkeypatch):
    write_folder(tmp_path / "c", files("arm.c", "gone.c", text="old\n"))
    (tmp_path / "c" / "mine").write_text("mine")
    replaced = Path.replace

    def full(self, target):
        if self.name == "new.c":
            raise OSError(28, "No space left on device")
        return replaced(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(BddTorqueError, match="No space left"):
        write_folder(tmp_path / "c", files("arm.c", "new.c"), force=True)
    monkeypatch.undo()
    assert foreign_files(tmp_path / "c") == ["mine"]
    write_folder(tmp_path / "c", files("arm.c", "new.c"), force=True)
    assert names(tmp_path / "c") == {"arm.c", "new.c", "mine", MANIFEST}


@pytest.mark.parametrize(
    "manifest",
    [
        None,
        "no json",
        "[]",
        "3",
        '{"files": 3}',
        "{}",
        '{"files": ["main.c"], "built": ""}',
        "[" * 10**6,
        '{"files": {"main.c": 3}, "built": 1}',
        '{"files": {"/main.c": "", "../c/main.c": "", "": ""}, "built": ""}',
        '{"files": {"notes": ""}, "built": ""}',
        " " * 2**21 + "{}",
    ],
)
def test_a_folder_that_is_not_ours(tmp_path, manifest):
    folder = tmp_path / "c"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "mine").write_text("mine")
    (folder / "main.c").write_text("mine")
    if manifest is not None:
        (folder / MANIFEST).write_text(manifest)
    with pytest.raises(BddTorqueError, match=r"holds .*, (which no export wrote|changed since its export)"):
        write_folder(folder, files("arm.c"))
    assert (folder / "main.c").read_text() == (folder / "notes" / "mine").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_for_a_manifest_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / MANIFEST)
    with pytest.raises(BddTorqueError, match=r"holds .*, which no export wrote"):
        write_folder(tmp_path, files("arm.c"))


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
