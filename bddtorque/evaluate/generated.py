"""Generated modules: written to real files (Numba keeps compiled code only for functions that stand in one), imported.

The source holds nothing but numbers and names of our own making, whatever file a plan came from. A file is named by
its content, and written anew whenever it is missing or altered. Numba looks at that file alone when it decides whether
what it kept is still good, so the file also tells which state of our own code it calls.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from types import ModuleType

from bddtorque.base.caching import cache_directory
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import write_whole

_making = threading.Lock()


def generated_module(source: str, directory: Path, wires: int = 0, parts: int = 0) -> ModuleType:
    """Return a module of this source, from its file in `directory`.

    If it is not there yet, the log says what is waited for: code for so many wires, which seconds are spent on where
    somebody sees it, and minutes everywhere, where it is cut into parts.
    """
    source += f"\n# calls bddtorque {_called()}\n"
    name = f"plan_{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    with _making:  # Numba wants a module to be known while it is made, and other threads must not take half of it
        if name in sys.modules:
            return sys.modules[name]
        note = f"compiling code for a plan of {wires} wires: {'minutes' if parts else 'seconds'}, once"
        path = _written(source, directory, name, note if parts or (wires and _interactive()) else "")
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


def _interactive() -> bool:
    """Tell whether somebody sees the log: a terminal, or a prompt, as notebooks have one too."""
    return hasattr(sys, "ps1") or (sys.stderr is not None and sys.stderr.isatty())


def _renew_lock() -> None:
    """Start with a free lock in a forked child: the thread that held it is not there."""
    global _making  # noqa: PLW0603
    _making = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def plans_folder() -> Path:
    """Return the folder where the code of plans is kept: in the cache, else one that goes when this process ends."""
    kept = cache_directory()
    return private_folder() if kept is None else kept / "plans"


@cache
def private_folder() -> Path:
    """Return a new folder that nobody else can have prepared; it goes when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="bddtorque-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    """Remove a folder, unless this is but a child of the process that made it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _called() -> str:
    """Return what tells the code that generated modules can call from any other state of it."""
    evaluate = Path(__file__).parent
    package = evaluate.parent
    try:
        files = [*sorted(evaluate.glob("*.py")), *sorted((package / "words").glob("*.py")), package / "base" / "jit.py"]
        return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()
    except OSError:
        return "unknown"


def _written(source: str, directory: Path, name: str, note: str) -> Path:
    """Return the file with exactly this source: an altered one is replaced, and an unusable folder by a private one."""
    for wanted in (directory, None):
        try:
            folder = wanted or private_folder()
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = folder / f"{name}.py"
            if not path.exists() or path.read_text() != source:
                write_whole(path, source.encode())
                if note:
                    logging.getLogger("bddtorque").warning(note)
            return path
        except (OSError, BddTorqueError):
            continue
    raise OSError("no folder to write compiled plans to")
