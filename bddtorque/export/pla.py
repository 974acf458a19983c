"""The tables of a model in the format of Berkeley's Espresso, a PLA per block, for programs of logic synthesis.

Inputs are the bits of a block's words, the first word first and most significant, each from its most significant bit;
outputs those of its word, from the most significant bit, two's complement where it is signed. Rows are disjoint cubes:
runs of equal words that share their leading input bits are one row, and words that are zero are left out (``.type f``:
what no row covers is 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from bddtorque.export.folder import with_manifest, write_folder
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.plan.table import IntegerArray, Table


def export_pla(model: Model, directory: str | PathLike[str], force: bool = False) -> list[str]:
    """Write every table of a model as a Berkeley PLA: ``b0.pla``, ``b1.pla``, ..., one per block.

    Parameters
    ----------
    model
        A model for the target ``"tables"``.
    directory
        The folder, created if needed; an earlier export there is replaced.
    force
        Write into a folder that holds other files; these are kept.

    Returns
    -------
    list of str
        The names of the files.

    Raises
    ------
    BddTorqueError
        The export is impossible; nothing was written.
    """
    require(model, "diagrams", "a PLA")
    files = {f"b{k}.pla": pla_text(table, f"b{k}") for k, table in enumerate(model.tables)}
    write_folder(Path(directory), with_manifest(files, model.digest, ""), force)
    return list(files)


def pla_text(table: Table, name: str, words: Sequence[str] = ()) -> str:
    """Return a table as a PLA; `name` stands in its first line, `words` name the inputs (x0, x1, ... unless given)."""
    words = words or [f"x{k}" for k in range(len(table.input_widths))]
    widths = zip(words, table.input_widths, strict=True)
    inputs = [f"{word}_{bit}" for word, bits in widths for bit in reversed(range(bits))]
    outputs = [f"y_{bit}" for bit in reversed(range(table.output_bits))]
    rows = cubes(table)
    kind = "two's complement" if table.signed else "unsigned"
    lines = [
        f"# {name}: {len(table.values)} entries, words of {table.output_bits} bits, {kind}",
        f".i {len(inputs)}",
        f".o {len(outputs)}",
        f".ilb {' '.join(inputs)}",
        f".ob {' '.join(outputs)}",
        ".type f",
        f".p {len(rows)}",
        *rows,
        ".e",
    ]
    return "\n".join(lines) + "\n"


def cubes(table: Table) -> list[str]:
    """Return the rows of a PLA: input bits, of which the last may be open, and the output bits."""
    values = table.values.astype(np.int64)
    size, mask = table.input_bits, (1 << table.output_bits) - 1
    levels, merged = [np.ones(len(values), np.bool_)], values
    while len(merged) > 1:
        alike = levels[-1].reshape(-1, 2).all(axis=1) & (merged[0::2] == merged[1::2])
        levels.append(alike)
        merged = merged[0::2]
    found: list[tuple[int, int]] = []
    for free, alike in enumerate(levels):
        largest = alike if free == size else alike & ~np.repeat(levels[free + 1], 2)
        starts: IntegerArray = np.flatnonzero(largest) << free
        found += [(start, free) for start in starts[values[starts] != 0].tolist()]
    return [
        f"{format(start, f'0{size}b')[: size - free]}{'-' * free} {int(values[start]) & mask:0{table.output_bits}b}"
        for start, free in sorted(found)
    ]
