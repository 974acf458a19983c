"""Interrupt writing at each of its lines, one after the other, and look at what is left.

    python interrupt_lines.py file|new_folder|folder|cache FOLDER

Prints how many lines were gone through. A process of its own: an exception at any line also ends destructors and leaves
files to the collector, of which pytest would complain.
"""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from broken_disks import interrupted_at

from bddtorque.base.caching import MISSING, Cache
from bddtorque.base.files import write_whole
from bddtorque.base.tasks import Task
from bddtorque.export.folder import with_manifest, write_folder

NEW, OLD = (with_manifest({"arm.c": f"{age}\n" * 9, "arm.h": f"{age}\n"}, "", "") for age in ("new", "old"))


def folder_of(path: Path) -> dict[str, str]:
    """Return the texts of the files of a folder, nothing if there is none."""
    return {each.name: each.read_text(encoding="utf-8") for each in path.iterdir()} if path.is_dir() else {}


def every_line(work: Callable[[], object], check: Callable[[], object]) -> int:
    """Interrupt something at each of its lines; return how many there are."""
    work()  # imports what it needs: whatever is imported only in part stays so
    check()
    line = 1
    while interrupted_at(line, work):
        try:
            check()
        except Exception as problem:
            raise AssertionError(f"interrupted at line {line}: {problem!r}") from None
        line += 1
    return line - 1


def required(held: bool, what: object) -> None:
    """Fail unless something holds; in every mode of Python."""
    if not held:
        raise AssertionError(what)


def of_a_file(folder: Path) -> int:
    """Write a file in the place of another."""
    path = folder / "file"
    path.write_bytes(b"old")

    def check() -> None:
        required(path.read_bytes() in (b"old", b"new"), path.read_bytes())
        required(list(folder.iterdir()) == [path], list(folder.iterdir()))
        path.write_bytes(b"old")

    lines = every_line(lambda: write_whole(path, b"new"), check)
    required(path.read_bytes() == b"new", "the last one was not interrupted")
    return lines


def of_a_folder(folder: Path, existing: bool) -> int:
    """Export to a folder, in the place of another export or of nothing."""
    target = folder / "c"

    def prepare() -> None:
        shutil.rmtree(target, ignore_errors=True)
        if existing:
            write_folder(target, OLD)

    def check() -> None:
        found = folder_of(target)
        required(found in (NEW, OLD if existing else {}), found)
        others = [path.name for path in folder.iterdir() if path != target]
        required(not others, others)
        prepare()

    prepare()
    lines = every_line(lambda: write_folder(target, NEW), check)
    required(folder_of(target) == NEW, "the last one was not interrupted")
    return lines


def identity(x: int) -> int:
    """Return what is given: a task."""
    return x


def of_the_cache(folder: Path) -> int:
    """Keep a result."""
    task = Task(identity, (1,))
    Cache(folder).put(task, 1)  # what is done once a process is done
    shutil.rmtree(folder)

    def check() -> None:
        left = [path for path in folder.rglob("*") if path.is_file() and path.name != "CACHEDIR.TAG"]
        required(all(path.name.endswith(".entry") for path in left), left)
        found = Cache(folder).get(task)
        required(found is MISSING or found == 1, found)
        shutil.rmtree(folder, ignore_errors=True)

    return every_line(lambda: Cache(folder).put(task, 1), check)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None
    work = {
        "file": of_a_file,
        "folder": lambda folder: of_a_folder(folder, True),
        "new_folder": lambda folder: of_a_folder(folder, False),
        "cache": of_the_cache,
    }
    sys.stdout.write(f"{work[sys.argv[1]](Path(sys.argv[2]))}\n")
