"""Ctrl-C held back for as long as it could leave a lock taken."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


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
