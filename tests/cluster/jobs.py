"""What the machines of the tests are given to do."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def square(x: int) -> int:
    return x * x


def process_of(x: int) -> tuple[int, int]:
    time.sleep(0.05)
    return x, os.getpid()


def die(x: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return x


def rest(folder: str, x: int, seconds: float) -> int:
    """Say that it began, by a line with the number of the process in a file, and take so long."""
    with (Path(folder) / f"began{x}").open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    return x
