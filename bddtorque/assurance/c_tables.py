"""The tables of exported C, by running their functions for every index."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from shutil import which

import numpy as np

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.model.model import Model

MOST_SECONDS = 600.0


def check_tables(model: Model, folder: str | Path, compiler: str = "cc") -> list[str]:
    """Return what is wrong with the tables of the C that `export_c` wrote to a folder: nothing if all words are right.

    A program that includes the exported file calls the function of every table with all its indices; every word is
    compared with that of the model.
    """
    if which(compiler) is None:
        raise BddTorqueError(f"a C compiler is needed to run the tables, and '{compiler}' was not found")
    source = exported_source(folder)
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch, "tables")
        main = Path(scratch, "tables.c")
        main.write_text(_program(model, source.resolve()), encoding="utf-8")
        command = [compiler, "-std=c99", "-O1", "-w", "-o", str(program), str(main)]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode:
            raise BddTorqueError(f"C: {one_line(built.stderr):.200}")
        done = subprocess.run([str(program)], capture_output=True, timeout=MOST_SECONDS, check=True)
    found = np.frombuffer(done.stdout, dtype=np.int32)
    wrong, first = [], 0
    for k, table in enumerate(model.tables):
        values = found[first : first + len(table.values)]
        first += len(table.values)
        differs = values != table.values.astype(np.int64)
        if len(values) != len(table.values) or differs.any():
            wrong.append(f"table {k}, index {int(differs.argmax())}")
    return wrong


def exported_source(folder: str | Path) -> Path:
    """Return the C file of a model that `export_c` wrote, of all that are in the folder with it."""
    stems = {path.stem for path in Path(folder).glob("*.c")}
    beside = {f"{stem}_{ending}" for stem in stems for ending in ("selftest", "float")}
    if len(stems - beside) != 1:
        raise BddTorqueError(f"{folder} must hold one exported C file, found {len(stems - beside)}")
    return Path(folder, f"{min(stems - beside)}.c")


def _program(model: Model, source: Path) -> str:
    """Return a C program that writes the words of all tables to standard output."""
    lines = [f'#include "{source}"', "#include <stdio.h>", "int main(void) {", "    uint32_t i; int32_t word;"]
    for k, table in enumerate(model.tables):
        widths = table.input_widths
        places = [sum(widths[n + 1 :]) for n in range(len(widths))]
        words = [f"(i >> {place}u) & {(1 << width) - 1}u" for place, width in zip(places, widths, strict=True)]
        lines.append(
            f"    for (i = 0u; i < {len(table.values)}u; i++) "
            f"{{ word = (int32_t)block_{k}({', '.join(words)}); fwrite(&word, sizeof word, 1, stdout); }}"
        )
    return "\n".join([*lines, "    return 0;", "}", ""])
