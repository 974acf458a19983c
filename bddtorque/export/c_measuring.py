"""What exported code takes, measured: bytes of ROM and RAM of a linked program, bytes of stack from the compiler."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.interrupts import scratch_folder
from bddtorque.export.c_call import CCall
from bddtorque.spec.chips import Chip

FLAGS = ("-std=gnu99", "-O2", "-ffp-contract=off", "-fno-asynchronous-unwind-tables")
"""Tables by which a debugger or C++ would unwind the stack are no part of what runs."""
LINK = ("-ffunction-sections", "-fdata-sections", "-nostartfiles", "-Wl,--gc-sections,-e,main")
"""A program without what starts it."""
SECONDS = 300


@dataclass(frozen=True)
class Measured:
    """What the compiler made of the sources, in bytes."""

    compiler: str  # the command, and the flags it was given
    rom: int  # what the function adds to a program: code, tables, initial values, library functions that it calls
    ram: int  # variables that it adds, and tables that a start-up copies to RAM
    stack: int | None  # frames of the function and of what it calls, at most; None where the compiler does not tell


def find_compiler(wanted: str | None, chip: Chip | None = None) -> list[str] | None:
    """Return the command of a C compiler: the one `wanted`, or the chip's; or CC of the environment, cc, gcc, clang."""
    if not wanted and chip is not None and chip.tools:
        return [f"{chip.tools}gcc", *chip.flags] if shutil.which(f"{chip.tools}gcc") else None
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


def measure(files: Mapping[str, str], names: Sequence[str], call: CCall, command: Sequence[str]) -> Measured | str:
    """Link the files `names` among others into a program and return what they add to it, or why that is not known."""
    compiler, given = command[0], list(command[1:])
    with scratch_folder() as here:
        for name, text in files.items():
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).write_text(text, encoding="ascii")
        (here / "stub.c").write_text(call.stub_text())
        (here / "main.c").write_text(f"{call.call_text()}\nint main(void) {{ for (;;) call(); }}\n")
        told = True
        for name in names:
            problem = _run([compiler, *FLAGS, *given, "-fstack-usage", "-c", name], here)
            if isinstance(problem, str):  # perhaps it knows no -fstack-usage
                told = False
                problem = _run([compiler, *FLAGS, *given, "-c", name], here)
            if isinstance(problem, str):
                return problem
        frames = "".join(path.read_text() for path in sorted(here.rglob("*.su"))) if told else ""
        sizes = []
        for program, sources in (("whole", names), ("empty", ["stub.c"])):
            problem = _run([compiler, *FLAGS, *given, *LINK, "main.c", *sources, "-o", program, "-lm"], here)
            if isinstance(problem, str):
                return problem
            shown = _run([_size_tool(command, here), program], here)
            row = (
                None
                if isinstance(shown, str)
                else re.search(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s", shown.stdout, re.MULTILINE)
            )
            if row is None:
                return "the tool 'size' says nothing that can be read"
            sizes.append([int(number) for number in row.groups()])
        code, data, bss = (whole - empty for whole, empty in zip(*sizes, strict=True))
        return Measured(" ".join([compiler, *FLAGS, *given]), code + data, data + bss, stack_of(frames))


def stack_of(usage: str) -> int | None:
    """Return the deepest stack from what -fstack-usage wrote: of functions that call one another, one of each kind.

    The function in floats (in NAME_float.c) calls that in words or quantised; that calls limbs_K, which calls block_K;
    other helpers call nothing.
    """
    depth: dict[str, int] = {}
    for line in usage.splitlines():
        told = re.fullmatch(r"(?:.*/)?([^/:]*):.*?:?([A-Za-z0-9_.]+)\t(\d+)\t\S+", line)
        if told:
            file, name = told[1], told[2].split(".")[0]
            public = file.endswith("_float.c") and name.startswith(file.removesuffix("float.c"))
            kind = "floats" if public else "words" if name.endswith("_words") and name != "clamp_words" else ""
            kind = kind or next((k for k in ("limbs_", "block_") if name.startswith(k)), "helper")
            depth[kind] = max(depth.get(kind, 0), int(told[3]))
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
        lines = done.stderr.strip().splitlines() or ["failed"]
        said = next((line for line in lines if "error" in line or "overflow" in line), lines[0])
        return one_line(f"{command[0]}: {said}")
    return done
