"""Folders of generated files: written whole or not at all, and nobody else's files away.

A manifest lists the files of an export with their digests. Only a file that still has its digest is replaced or
removed; whatever else lies in a folder stays as it is.

Their texts stand in the folder `templates`: what is there between two signs @ is filled in.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.files import beside, refuse_overwriting
from bddtorque.base.version import __version__

FOLDER = Path(__file__).with_name("templates")
MANIFEST = "bddtorque-export.json"
"""Lists the files of an export; of C, says how it is called too."""
MAX_MANIFEST = 1 << 20
"""Bytes: more than an export of any model needs."""
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


BUILT = (".o", ".su")
"""Endings of what the Makefile and compilers leave beside a source."""


@dataclass(frozen=True)
class EarlierExport:
    """The files of an earlier export in a folder, by what its manifest says; none where there is no such manifest."""

    listed: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()  # those that are as they were written, and the manifest
    folders: frozenset[str] = frozenset({"."})  # where files were written
    built: frozenset[str] = frozenset()  # what may have been built of them

    @classmethod
    def of(cls, directory: Path) -> EarlierExport:
        """Return what lies in a folder."""
        path = directory / MANIFEST
        try:
            if not path.is_file() or path.stat().st_size > MAX_MANIFEST:
                return cls()
            manifest = json.loads(path.read_text(encoding="utf-8"))
            digests = [*manifest["files"].items(), *manifest.get("replaced", {}).items()]
            listed = [(name, digest) for name, digest in digests if _is_inside(name)]
            built = str(manifest["built"])
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls()
        names = frozenset(name for name, _ in listed)
        sources = [name.removesuffix(".c") for name in names if name.endswith(".c")]
        return cls(
            names,
            frozenset({MANIFEST, *(name for name, digest in listed if _digest_of(directory / name) == digest)}),
            frozenset({".", *(str(parent) for name in names for parent in PurePosixPath(name).parents)}),
            frozenset({built, *(f"{source}{end}" for source in sources for end in BUILT)}),
        )


def _is_inside(name: str) -> bool:
    """Tell whether a name leads to a file below a folder, on any system."""
    path = PurePosixPath(name)
    return bool(path.name) and not path.is_absolute() and ".." not in path.parts and not set(name) & set(":\\\0")


def _digest_of(path: Path) -> str:
    """Return the digest of a regular file; nothing of anything else."""
    if path.is_symlink() or not path.is_file():
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_folder(directory: Path, force: bool, names: Collection[str] = ()) -> None:
    """Refuse a place that is no folder, or holds files that no export wrote unless `force` says so.

    Even with `force` no file is replaced that no export wrote; `names` are those to be written.
    """
    where, directory = directory, directory.resolve()
    if directory.exists() and not directory.is_dir():
        raise BddTorqueError(one_line(f"{where} must be a folder, but it is a file"))
    if not directory.parent.is_dir():
        raise BddTorqueError(one_line(f"{where}: there is no folder '{where.parent}' to make it in"))
    earlier, foreign = EarlierExport.of(directory), foreign_files(directory)
    for name in earlier.files:
        refuse_overwriting(directory / name)
    hint = "choose an empty folder, or --force to write beside what is there"
    if force:
        foreign = sorted(name for name in set(names) - earlier.files if os.path.lexists(directory / name))
        hint = "move it, or choose another folder"
    if foreign:
        others = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        why = "changed since its export" if foreign[0] in earlier.listed else "which no export wrote"
        raise BddTorqueError(one_line(f"{where} holds '{foreign[0]}'{others}, {why}: {hint}"))


def with_manifest(files: Mapping[str, str], digest: str, built: str, **more: Any) -> dict[str, str]:
    """Return files with a manifest, by which a later export knows them; `built` is what is made of them."""
    manifest = {
        "written_by": f"bddtorque {__version__}",
        "digest": digest,
        "files": {name: hashlib.sha256(files[name].encode()).hexdigest() for name in sorted(files)},
        "built": built,
        **more,
    }
    return {**files, MANIFEST: json.dumps(manifest, indent=1) + "\n"}


def foreign_files(directory: Path) -> list[str]:
    """Return what lies in a folder and was not written by an export, was changed since, and was not built from one."""
    earlier, found = EarlierExport.of(directory), []
    for folder in earlier.folders:
        for path in (directory / folder).iterdir() if (directory / folder).is_dir() else ():
            name = path.relative_to(directory).as_posix()
            if name not in earlier.files | earlier.built and not (name in earlier.folders and path.is_dir()):
                found.append(name)
    return sorted(found)


def write_folder(directory: Path, files: Mapping[str, str], force: bool = False) -> None:
    """Write the files to a temporary folder, from where they take the place of an earlier export.

    A folder with nothing else in it is replaced as a whole. What else there is stays, and ours are put beside it, each
    whole.
    """
    try:
        check_folder(directory, force, files)
        target = directory.resolve()
        temporary = beside(target)
        try:
            temporary.mkdir()
            for name, text in files.items():
                (temporary / name).parent.mkdir(parents=True, exist_ok=True)
                (temporary / name).write_text(text, encoding="ascii", newline="\n")
            _put(temporary, target, files)
        finally:
            try:
                shutil.rmtree(temporary, ignore_errors=True)
            except BaseException:  # Ctrl-C comes, but this is done to its end
                shutil.rmtree(temporary, ignore_errors=True)
                raise
    except OSError as problem:
        said = f"{directory}: cannot write there ({problem.strerror or problem})"
        raise BddTorqueError(one_line(said)) from None


def _put(temporary: Path, target: Path, files: Mapping[str, str]) -> None:
    """Put new files in the place of an earlier export."""
    earlier = EarlierExport.of(target)
    if any(path.relative_to(target).as_posix() not in earlier.files | earlier.folders for path in target.rglob("*")):
        _put_beside(temporary, target, files, earlier)
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


def _put_beside(temporary: Path, target: Path, files: Mapping[str, str], earlier: EarlierExport) -> None:
    """Put new files beside what else there is; if that is interrupted, the manifest lists old ones and new ones."""
    old = earlier.files - {MANIFEST}
    if MANIFEST in files:
        both = {**json.loads(files[MANIFEST]), "replaced": {name: _digest_of(target / name) for name in old}}
        (temporary / "both").write_text(json.dumps(both), encoding="ascii")
        (temporary / "both").replace(target / MANIFEST)
    for name in (*(name for name in files if name != MANIFEST), *({MANIFEST} & files.keys())):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (temporary / name).replace(target / name)
    for name in old - files.keys():
        (target / name).unlink()
        with contextlib.suppress(OSError):  # others keep files there
            (target / name).parent.rmdir()


def _put_back(old: Path, target: Path) -> None:
    """Remove an earlier export; if an error, or Ctrl-C, left nothing in its place, it comes back."""
    if old.exists() and not target.exists():
        old.rename(target)
    shutil.rmtree(old.parent, ignore_errors=True)
