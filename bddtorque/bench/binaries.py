"""A linked program for a small processor, as its binary tools tell of it: sizes, symbols, instructions."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

SECONDS = 600
"""What one tool may take: a compiler over large test-and-branch code takes minutes."""


@dataclass(frozen=True)
class Binary:
    """A linked program."""

    elf: Path  # the file
    tools: str  # what the names of its tools begin with
    # flash, ram: bytes of code, constants and initial values; bytes of variables
    flash: int
    ram: int

    @classmethod
    def read(cls, elf: Path, tools: str) -> Self:
        """Return a program with its sizes."""
        text, data, bss = map(int, run_tool([f"{tools}size", str(elf)]).splitlines()[1].split()[:3])
        return cls(elf, tools, text + data, data + bss)

    def symbols(self) -> dict[str, int]:
        """Return the address of every symbol."""
        lines = (line.split() for line in run_tool([f"{self.tools}nm", str(self.elf)]).splitlines())
        return {fields[2]: int(fields[0], 16) for fields in lines if len(fields) == 3}

    def section(self, name: str) -> bytes:
        """Return the contents of a section."""
        out = self.elf.with_suffix(name)
        run_tool([f"{self.tools}objcopy", "-O", "binary", "-j", name, str(self.elf), str(out)])
        return out.read_bytes()

    def instructions(self) -> dict[int, tuple[str, str]]:
        """Return the mnemonic and the operands of the instruction at each address."""
        listed = run_tool([f"{self.tools}objdump", "-d", "--no-show-raw-insn", str(self.elf)])
        found = re.findall(r"^\s*([0-9a-f]+):\s+(\S+)[^\S\n]*(.*)$", listed, re.MULTILINE)
        return {int(address, 16): (mnemonic, operands) for address, mnemonic, operands in found}


@dataclass(frozen=True, eq=False)
class Run:
    """What a program did: words (N, outputs), cycles and instructions (N,) of a call, bytes of stack at most."""

    words: npt.NDArray[np.int64]
    cycles: npt.NDArray[np.int64]
    instructions: npt.NDArray[np.int64]
    stack: int


def run_tool(command: Sequence[str]) -> str:
    """Return what a tool printed; `CalledProcessError` has what it complained of."""
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True, timeout=SECONDS).stdout
