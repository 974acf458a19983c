"""What exported code takes, measured: bytes of ROM and RAM from the object file, bytes of stack from the compiler."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bddtorque.base.errors import BddTorqueError, one_line

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fno-asynchronous-unwind-tables")
"""Tables by which a debugger or C++ would unwind the stack are no part of what runs."""
SECONDS = 300


@dataclass(frozen=True)
class Measured:
    """What the compiler made of the sources, in bytes.

    Attributes
    ----------
    compiler : the command, and the flags it was given
    rom : code, tables and initial values
    ram : variables that outlive a call; 0, as there are none
    stack : frames of the function and of what it calls, at most; None where the compiler does not tell
    """

    compiler: str
    rom: int
    ram: int
    stack: int | None


def find_compiler(wanted: str | None) -> list[str] | None:
    """Return the command of a C compiler: the one `wanted`, or CC of the environment, cc, gcc or clang; else None."""
    for name in [wanted] if wanted else [os.environ.get("CC", ""), "cc", "gcc", "clang"]:
        try:
            command = shlex.split(name or "")
        except ValueError:
            continue
        if command and shutil.which(command[0]):
            return command
    if wanted:
        raise BddTorqueError(one_line(f"compiler must be a C compiler that is installed, got {wanted!r:.80}"))
    return None


def measure(files: Mapping[str, str], names: Sequence[str], command: Sequence[str]) -> Measured | str:
    """Compile the files `names` among others and return what they take, or in words why it is not known."""
    with tempfile.TemporaryDirectory(prefix="bddtorque-") as folder:
        here = Path(folder)
        for name, text in files.items():
            (here / name).write_text(text, encoding="ascii")
        objects = [str(Path(name).with_suffix(".o")) for name in names]
        told = True
        for name in names:
            problem = _run([*command, *FLAGS, "-fstack-usage", "-c", name], here)
            if isinstance(problem, str):  # perhaps it knows no -fstack-usage
                told = False
                problem = _run([*command, *FLAGS, "-c", name], here)
            if isinstance(problem, str):
                return problem
        sizes = _run([_size_tool(command, here), *objects], here)
        if isinstance(sizes, str):
            return sizes
        rows = re.findall(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s+\d+\s", sizes.stdout, re.MULTILINE)
        if len(rows) != len(names):
            return "the tool 'size' says nothing that can be read"
        code, data, bss = (sum(int(row[k]) for row in rows) for k in range(3))
        frames = "".join(path.read_text() for path in sorted(here.glob("*.su"))) if told else ""
        return Measured(" ".join([*command, *FLAGS]), code + data, data + bss, stack_of(frames))


def stack_of(usage: str) -> int | None:
    """Return the deepest stack from what -fstack-usage wrote: of functions that call one another, one of each kind.

    torque calls torque_words or quantised; that calls limbs_K, which calls block_K; other helpers call nothing.
    """
    depth: dict[str, int] = {}
    for line in usage.splitlines():
        found = re.fullmatch(r".*:([A-Za-z0-9_.]+)\t(\d+)\t\S+", line)
        if found:
            name = found[1].split(".")[0]
            kind = next((k for k in ("_torque_words", "_torque") if name.endswith(k)), None)
            kind = kind or next((k for k in ("limbs_", "block_") if name.startswith(k)), "helper")
            depth[kind] = max(depth.get(kind, 0), int(found[2]))
    return sum(depth.values()) if depth else None


def _size_tool(command: Sequence[str], folder: Path) -> str:
    """Return the tool `size` that belongs to a compiler: a cross compiler has its own."""
    told = _run([*command, "-print-prog-name=size"], folder)
    return "size" if isinstance(told, str) else told.stdout.strip() or "size"


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str] | str:
    """Return what a command said, or in one line why it did not do."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return one_line(f"{command[0]}: {problem}")
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["failed"])[0]
        return one_line(f"{command[0]}: {said}")
    return done
