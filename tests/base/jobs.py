"""Functions that the machines of the tests run."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def square(x: int) -> int:
    return x * x


def meet(folder: str, x: int) -> int:
    """Leave a mark of this process, and wait until another has left one too."""
    (Path(folder) / f"process{os.getpid()}").touch()
    while len(list(Path(folder).glob("process*"))) < 2:
        time.sleep(0.02)
    return x


def die(x: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return x


def say(folder: str, x: int) -> int:
    """Say that it began, by a line with the number of the process in a file."""
    with (Path(folder) / f"began{x}").open("a") as file:
        file.write(f"{os.getpid()}\n")
    return x


def rest(folder: str, x: int) -> int:
    """Say that it began, and wait for a file named `end`."""
    say(folder, x)
    while not (Path(folder) / "end").exists():
        time.sleep(0.02)
    return x
