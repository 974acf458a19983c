"""The processors there are to use, and Ctrl-C held back for as long as it could leave something behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bddtorque.base.plain import at_least


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_processors(given: Any) -> int:
    """Return a number of processors, 1 or more; None stands for as many as this process may use.

    Raise `BddTorqueError` for anything else, booleans and fractions included.
    """
    return usable_processors() if given is None else at_least(given, 1, "processors")


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait until the end of a short piece of work on futures.

    Python raises KeyboardInterrupt between any two steps, also between the one that takes a future's lock and the one
    that promises to give it back. Whoever wants that lock then, such as the thread that ends a pool, waits forever.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:  # Ctrl-C raises nothing here
        yield
        return
    came = []
    signal.signal(signal.SIGINT, lambda *given: came.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give an empty folder, which is gone afterwards, whenever Ctrl-C comes."""
    folder = None
    try:
        with interrupts_held():
            folder = Path(tempfile.mkdtemp(prefix="bddtorque-"))
        yield folder
    finally:
        if folder is not None:
            with interrupts_held():
                shutil.rmtree(folder, ignore_errors=True)
