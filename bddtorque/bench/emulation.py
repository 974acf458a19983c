"""Build a folder of generated C for a small processor, run it there on given states, and return what it took.

    measured = measure("planar2r_c", "atmega2560", states)
    measured.words, measured.cycles.mean(), measured.flash, measured.stack

Nothing is measured with a clock: figures are the same on every machine that has the same compilers.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from shutil import which

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.system import scratch_folder
from bddtorque.bench.emulators import LIBRARY, LINKER_SCRIPT, Binary, run_avr, run_tool, run_unicorn, runner
from bddtorque.export.c_call import CCall
from bddtorque.spec.chips import Chip, chip_named

Words = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measurement:
    """Words, cycles and bytes of a folder of C on a chip."""

    chip: Chip
    words: Words  # (N, outputs), what came out for each state
    # cycles, instructions: (N,), of one call: arguments, call and return included
    cycles: Words
    instructions: Words
    empty: int  # cycles of the same call of a function that does nothing
    # flash, ram: bytes that the function adds to a program, library functions that it needs included
    flash: int
    ram: int
    stack: int  # bytes below the caller's, at most

    @property
    def net(self) -> Words:
        """Cycles of the function alone, (N,)."""
        return self.cycles - self.empty


def missing_tools(chip: str | Chip) -> str:
    """Return in one line what is not installed of what a chip needs, and how to get it; empty if all is there."""
    chip = chip if isinstance(chip, Chip) else chip_named(chip)
    if not chip.tools:
        return (
            f"chip '{chip.name}' stands for many: choose one that has a compiler and an emulator, such as 'cortex-m0'"
        )
    if which(f"{chip.tools}gcc") is None:
        return f"chip '{chip.name}' needs {chip.tools}gcc, which is not installed: apt-get install {chip.packages}"
    if chip.model != "avr":
        lacks = find_spec("unicorn") is None
        return (
            f"chip '{chip.name}' needs unicorn, which is not installed: pip install 'bddtorque[chips]'" if lacks else ""
        )
    try:
        runner()
    except BddTorqueError:
        return f"chip '{chip.name}' needs a C compiler and simavr as a library: apt-get install gcc {LIBRARY}"
    return ""


def measure(
    folder: str | PathLike[str], chip: str | Chip, states: npt.ArrayLike, flags: Sequence[str] = ("-O2",)
) -> Measurement:
    """Build a folder of C for a chip, run it on every state, and return words, cycles and sizes.

    Parameters
    ----------
    folder
        As `export_c` writes it, or any other whose manifest has the key ``call`` (`CCall`).
    chip
        One of `spec.chips`, or its name.
    states
        Input words, (N, inputs), in the order in which the call reads them.
    flags
        Of the compiler beside those of the chip, such as ``("-Os",)``.

    Raises
    ------
    BddTorqueError
        In one line, if a tool is missing, the code does not compile, or it does not fit the chip.
    """
    chip = chip if isinstance(chip, Chip) else chip_named(chip)
    lacking = missing_tools(chip)
    if lacking:
        raise BddTorqueError(lacking, option="chip")
    source = Path(folder)
    call = CCall.read(source)
    rows = np.ascontiguousarray(states, dtype=call.dtype)
    if rows.ndim != 2 or rows.shape[1] != call.inputs or not len(rows):
        raise BddTorqueError(f"states must have shape (N, {call.inputs}), N > 0, got {rows.shape}")
    with scratch_folder() as here:
        stub = here / "stub.c"
        stub.write_text(call.stub_text())
        nothing = _build(chip, call, source, here, "empty", [stub], flags)
        program = _build(chip, call, source, here, "program", [source / name for name in call.sources], flags)
        if program.flash > chip.flash or program.ram > chip.ram:
            raise BddTorqueError(
                f"{source}: {program.flash:,} bytes of flash and {program.ram:,} of RAM do not fit chip '{chip.name}', "
                f"which has {chip.flash:,} and {chip.ram:,}"
            )
        run = run_avr if chip.model == "avr" else run_unicorn
        done = run(program, chip, call, rows)
        empty = run(nothing, chip, call, rows[:1])
    return Measurement(
        chip, done.words, done.cycles, done.instructions, int(empty.cycles[0]),
        program.flash - nothing.flash, program.ram - nothing.ram, done.stack,
    )  # fmt: skip


def _build(
    chip: Chip, call: CCall, include: Path, folder: Path, name: str, sources: Sequence[Path], flags: Sequence[str]
) -> Binary:
    """Return a program that calls the function in `sources`."""
    avr = chip.model == "avr"
    main, elf = folder / f"{name}_main.c", folder / f"{name}.elf"
    main.write_text(call.main_text(avr))
    command = [
        f"{chip.tools}gcc",
        *chip.flags,
        *flags,
        "-ffunction-sections",
        "-fdata-sections",
        f"-I{include.resolve()}",
    ]
    link = ["-Wl,--gc-sections"]
    if not avr:
        script = folder / "linker.ld"
        script.write_text(LINKER_SCRIPT)
        link += ["-nostartfiles", f"-T{script}"]
    try:
        run_tool([*command, *link, str(main), *(str(each.resolve()) for each in sources), "-o", str(elf), "-lm"])
    except subprocess.CalledProcessError as problem:
        said = [line for line in problem.stderr.splitlines() if any(word in line for word in _TOLD)]
        reason = (said or problem.stderr.splitlines() or ["failed"])[0]
        raise BddTorqueError(one_line(f"{include}: {chip.tools}gcc for chip '{chip.name}': {reason}")) from None
    return Binary.read(elf, chip.tools)


_TOLD = ("error", "overflow", "will not fit", "undefined", "truncated")
