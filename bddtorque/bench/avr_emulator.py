"""Programs for AVR in simavr, by a small program linked with it (`avr_runner.c`)."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.interrupts import scratch_folder
from bddtorque.bench.binaries import SECONDS, Binary, Run, run_tool
from bddtorque.export.c_call import CCall
from bddtorque.spec.chips import Chip

LIBRARY = "libsimavr-dev libelf-dev"
"""Debian packages of simavr as a library."""


@cache
def runner() -> bytes:
    """Return the program that runs AVR code, built once per process."""
    with scratch_folder() as folder:
        program = folder / "avr_runner"
        source = Path(__file__).with_name("avr_runner.c")
        try:
            run_tool(["cc", "-O2", "-o", str(program), str(source), "-lsimavr", "-lelf"])
        except (OSError, subprocess.CalledProcessError) as problem:
            raise BddTorqueError(one_line(f"avr_runner.c does not compile: {problem}")) from None
        return program.read_bytes()


def run_avr(binary: Binary, chip: Chip, call: CCall, states: Any) -> Run:
    """Run an AVR program on states (N, inputs), with the cycles of the data sheet."""
    program = binary.elf.with_name("avr_runner")
    if not program.exists():
        program.write_bytes(runner())
        program.chmod(0o755)
    symbols = binary.symbols()
    places = [hex(symbols[name] & 0xFFFF) for name in ("in", "out", "mark")]
    word = np.dtype(call.dtype).itemsize
    done = subprocess.run(
        [program, binary.elf, chip.part, str(word * call.inputs), str(word * call.outputs), *places],
        input=states.tobytes(), capture_output=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    row = np.dtype([("words", call.dtype, (call.outputs,)), ("told", "<i4", (3,))])
    if done.returncode or len(done.stdout) != len(states) * row.itemsize:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["ended early"]
        raise BddTorqueError(one_line(f"simavr, chip '{chip.name}': {said[-1]}"))
    rows = np.frombuffer(done.stdout, row)
    cycles, stack, instructions = rows["told"].astype(np.int64).T
    return Run(rows["words"].astype(np.int64), cycles, instructions, int(stack.max()))
