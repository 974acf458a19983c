"""Folders of generated files: written whole or not at all, and nobody else's files away.

Their texts stand in the folder `templates`: what is there between two signs @ is filled in.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.files import beside, refuse_overwriting
from bddtorque.base.version import __version__

FOLDER = Path(__file__).with_name("templates")
MANIFEST = "bddtorque-export.json"
"""Lists the files of an export; of C, says how it is called too."""
SECTION = "//: "
"""Begins a line that names the section below it."""


@cache
def template(name: str) -> str:
    """Return a template as it is."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def template_sections(name: str) -> dict[str, str]:
    """Return the sections of a template by name, each with its last line's end."""
    parts = template(name).split(SECTION)[1:]
    named = (part.partition("\n") for part in parts)
    return {title.strip(): text.rstrip("\n") + "\n" for title, _, text in named}


def fill(text: str, **values: object) -> str:
    """Return the text of a template with values in their places, ``@bits@``, or ``@bits-1@``; each must be given."""

    def value(place: re.Match[str]) -> str:
        number: Any = values[place[1]]
        return str(number + int(place[2]) if place[2] else number)

    return re.sub(r"@(\w+?)([+-]\d+)?@", value, text)


BUILT = (".o", ".su", ".a", ".so")
"""Endings of files that the Makefile and compilers leave beside the sources; made again from them."""


def check_folder(directory: Path, force: bool) -> None:
    """Refuse a place that is no folder, or holds files that no export wrote unless `force` says so."""
    if directory.exists() and not directory.is_dir():
        raise BddTorqueError(one_line(f"{directory} must be a folder, but it is a file"))
    if not directory.parent.is_dir():
        raise BddTorqueError(one_line(f"{directory}: there is no folder '{directory.parent}' to make it in"))
    foreign = foreign_files(directory)
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.name not in foreign:  # it will be replaced, or looked into
            refuse_overwriting(path)
    if foreign and not force:
        others = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise BddTorqueError(
            one_line(
                f"{directory} holds '{foreign[0]}'{others}, which no export wrote: choose an empty folder, or --force "
                "to write beside what is there"
            )
        )


def with_manifest(files: Mapping[str, str], digest: str, built: str, **more: Any) -> dict[str, str]:
    """Return files with a manifest, by which a later export knows them; `built` is what is made of them."""
    manifest = {
        "written_by": f"bddtorque {__version__}",
        "digest": digest,
        "files": sorted([*files, MANIFEST]),
        "built": built,
        **more,
    }
    return {**files, MANIFEST: json.dumps(manifest, indent=1) + "\n"}


def foreign_files(directory: Path) -> list[str]:
    """Return what lies in a folder and was not written by an export, nor built from it."""
    if not directory.is_dir():
        return []
    ours = _listed(directory / MANIFEST)
    folders = {folder for name in ours for folder in map(str, Path(name).parents)}
    found = []
    for folder in sorted({".", *folders}):
        for each in (directory / folder).iterdir() if (directory / folder).is_dir() else ():
            name = each.relative_to(directory).as_posix()
            if name not in ours | folders and not (ours and each.suffix in BUILT and each.is_file()):
                found.append(name)
    return sorted(found)


def _listed(manifest: Path) -> set[str]:
    """Return what a manifest lists, itself included; nothing if it is none of ours."""
    try:
        listed = json.loads(manifest.read_text(encoding="utf-8"))
        names = [*listed["files"], listed["built"]]
    except (OSError, ValueError, TypeError, KeyError):
        return set()
    return {name for name in names if isinstance(name, str)}


def write_folder(directory: Path, files: Mapping[str, str], force: bool = False) -> None:
    """Write the files to a temporary folder that then takes the place of `directory`.

    An earlier export there is replaced as a whole. With `force`, a folder with foreign files keeps those, and ours are
    put beside them, each whole.
    """
    try:
        target = directory.resolve()
        check_folder(target, force)
        temporary = beside(target)
        try:
            temporary.mkdir()
            for name, text in files.items():
                (temporary / name).parent.mkdir(parents=True, exist_ok=True)
                (temporary / name).write_text(text, encoding="ascii", newline="\n")
            _put(temporary, target, list(files))
        finally:
            try:
                shutil.rmtree(temporary, ignore_errors=True)
            except BaseException:  # Ctrl-C comes, but this is done to its end
                shutil.rmtree(temporary, ignore_errors=True)
                raise
    except OSError as problem:
        said = f"{directory}: cannot write there ({problem.strerror or problem})"
        raise BddTorqueError(one_line(said)) from None


def _put(temporary: Path, target: Path, names: list[str]) -> None:
    if foreign_files(target):
        for name in names:
            refuse_overwriting(target / name)
        for name in names:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).replace(target / name)
        return
    if not target.exists():
        temporary.rename(target)
        return
    aside = beside(target)
    old = aside / "old"
    try:
        aside.mkdir()
        target.rename(old)
        temporary.rename(target)
    finally:
        try:
            _put_back(old, target)
        except BaseException:  # Ctrl-C comes, but this is done to its end
            _put_back(old, target)
            raise


def _put_back(old: Path, target: Path) -> None:
    """Remove an earlier export; if an error, or Ctrl-C, left nothing in its place, it comes back."""
    if old.exists() and not target.exists():
        old.rename(target)
    shutil.rmtree(old.parent, ignore_errors=True)
