"""The tables of exported C, by running their functions for every index."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which

import numpy as np

from bddtorque.assurance.c_folder import read_c_folder
from bddtorque.base.errors import BddTorqueError
from bddtorque.model.model import Model

MAX_SECONDS = 600.0


def check_tables(model: Model, folder: str | Path, compiler: str = "cc") -> list[str]:
    """Return what is wrong with the tables of the C that `export_c` wrote to a folder: nothing if all words are right.

    A program that includes the exported file calls the function of every table with all its indices, twice: with the
    bits above the index clear, and with all of them set. Every word is compared with that of the model. The tables are
    those that the code reads.

    Parameters
    ----------
    model
        The model, for target ``"integer"`` or ``"tables"``.
    folder
        Where its C is.
    compiler
        The command that compiles C for this computer.

    Raises
    ------
    BddTorqueError
        If the C is of another model, or cannot be compiled or run.
    """
    command = which(compiler) if isinstance(compiler, str) else None
    if command is None:
        raise BddTorqueError(f"a C compiler is needed to run the tables, and {compiler!r:.60} was not found")
    files = read_c_folder(model, folder)
    tables = {block.number: model.tables[block.number] for block in files.exported.blocks}
    widths = {k: table.input_widths for k, table in tables.items()}
    with tempfile.TemporaryDirectory() as scratch:
        program, main = Path(scratch, "tables"), Path(scratch, "tables.c")
        header = files.exported.files[files.exported.call.header]
        for path, text in (
            (files.header, header),
            (files.source, files.text),
            (main.name, _program(files.source, widths)),
        ):
            Path(scratch, path).write_text(text, encoding="ascii", newline="\n")
        build = [str(Path(command).absolute()), "-std=c99", "-O1", "-w", "-o", program.name, main.name]
        errors = _run(build, scratch, f"compiler '{compiler}'").stderr.decode(errors="replace")
        if not program.exists():
            raise BddTorqueError(f"compiler '{compiler}' must write a program, but wrote none{_first_line(errors)}")
        output = _run([str(program)], scratch, "the program that looks up all words").stdout
    words = 2 * sum(len(table.values) for table in tables.values())
    if len(output) != 4 * words:
        raise BddTorqueError(f"the program that looks up all words must give {words:,}, got {len(output) // 4:,}")
    found = np.frombuffer(output, dtype=np.int32).reshape(-1, 2)
    wrong, first = [], 0
    for k, table in tables.items():
        size = len(table.values)
        differs = (found[first : first + size] != table.values.astype(np.int64)[:, None]).any(axis=1)
        first += size
        if differs.any():
            wrong.append(f"table {k}, index {int(differs.argmax())}")
    return wrong


def _run(command: Sequence[str], folder: str, what: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a folder, or say in one line why it failed."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=MAX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise BddTorqueError(f"{what} must end within {MAX_SECONDS:.0f} s, but did not") from None
    except OSError as problem:
        raise BddTorqueError(f"{what} cannot be run ({problem.strerror or problem})") from None
    if done.returncode:
        how = f"exit code {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        raise BddTorqueError(f"{what} failed with {how}{_first_line(done.stderr.decode(errors='replace'))}")
    return done


def _first_line(errors: str) -> str:
    """Return the line of a compiler's messages that says what is wrong."""
    lines = [line for line in errors.splitlines() if line.strip()]
    return f": {next((line for line in lines if 'error' in line), lines[0]):.200}" if lines else ", and gave no reason"


def _program(source: str, tables: Mapping[int, Sequence[int]]) -> str:
    """Return a C program that writes the words of tables to standard output; `tables` has the bits of their words."""
    lines = [f'#include "{source}"', "#include <stdio.h>", "int main(void) {", "    uint32_t i; int32_t words[2];"]
    for k, widths in tables.items():
        places = [sum(widths[n + 1 :]) for n in range(len(widths))]
        masks = [(1 << width) - 1 for width in widths]
        low = [f"(i >> {place}u) & {mask}u" for place, mask in zip(places, masks, strict=True)]
        high = [f"(i >> {place}u) | ~{mask}u" for place, mask in zip(places, masks, strict=True)]
        looks = [f"words[{n}] = (int32_t)block_{k}({', '.join(each)});" for n, each in enumerate((low, high))]
        write = "fwrite(words, sizeof words, 1, stdout);"
        lines.append(f"    for (i = 0u; i < {1 << sum(widths)}u; i++) {{ {' '.join([*looks, write])} }}")
    return "\n".join([*lines, "    return 0;", "}", ""])
