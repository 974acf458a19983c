"""Ctrl-C held back for as long as it could leave something behind: a lock taken, a folder half removed."""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path


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
