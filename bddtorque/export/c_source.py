"""The text of an exported C file and of its Makefile."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.export.c_blocks import BlockCode
from bddtorque.export.c_helpers import limbs_function, used_helpers
from bddtorque.export.c_ifs import PRAGMA
from bddtorque.export.c_signature import CSignature
from bddtorque.export.c_steps import Steps
from bddtorque.export.template_files import fill, template

ROM = """\
#ifndef BDDTORQUE_ROM
#ifdef __FLASH /* avr-gcc, -std=gnu99 and later: tables stay in flash */
#define BDDTORQUE_ROM __flash
#else
#define BDDTORQUE_ROM /* a qualifier or attribute of all tables */
#endif
#endif
"""


def function_text(prefix: str, signature: CSignature, lines: Sequence[str]) -> str:
    """Return the function."""
    body = "\n".join(lines)
    return f"{signature.prototype(prefix)}\n{{\n    int outside = 0;\n{body}\n    return outside;\n}}\n"


def source_text(prefix: str, function: str, steps: Steps, blocks: Sequence[BlockCode], signature: CSignature) -> str:
    """Return the C file."""
    tables = "\n".join(_block_text(block) for block in blocks)
    indices = {block.number: block.index for block in blocks}
    limbs = "\n".join(limbs_function(block, bits, indices[block]) for block, bits in steps.limbs.items())
    arrays = "\n".join(array.text() for array in steps.arrays)
    code = "\n".join(part for part in (arrays, steps.functions, tables, limbs, function) if part)
    first = f'/* {prefix}.c: see {prefix}.h; written by bddtorque. */\n#include "{prefix}.h"\n'
    pragma = PRAGMA if any(block.form == "ifs" for block in blocks) else ""
    rom = ROM if steps.arrays or any(block.arrays for block in blocks) else ""
    return "\n".join(part for part in (first, steps.preamble, pragma, rom, used_helpers(code, signature), code) if part)


def _block_text(block: BlockCode) -> str:
    size = f": {block.bytes} bytes" if block.arrays else ""
    about = f"/* Table {block.number} of the plan, form {block.form.replace('_', '-')}{size}. */"
    return "\n".join([about, *(array.text() for array in block.arrays), block.function])


def makefile_text(prefix: str, floats: bool, libraries: str) -> str:
    """Return the Makefile: the object files, the self-test, their size."""
    objects = " ".join([f"{prefix}.o", *([f"{prefix}_float.o"] if floats else [])])
    return fill(template("c.mk"), objects=objects, prefix=prefix, libraries=libraries)
