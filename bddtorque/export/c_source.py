"""The text of an exported C file and of its Makefile.

The few functions that generated C is written with; only those that are used are written out.

Arithmetic is modulo 2^32 or 2^64, in unsigned numbers, where C defines it. Bits become a signed number by a conversion
that wraps, as compilers for two's complement machines have it; MISRA C:2012 leaves no other way that costs nothing. C99
leaves open what `>>` makes of a negative number: `floor` divides instead, for which compilers take the one
instruction that shifts; avr-gcc sees that in another expression than the others do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bddtorque.export.c_blocks import PRAGMA, BlockCode
from bddtorque.export.c_signature import CSignature
from bddtorque.export.c_steps import Steps
from bddtorque.export.template_files import fill, template, template_sections

SECTIONS = template_sections("helpers.c")
HELPERS = {
    name.replace("BITS", str(bits)): text.replace("BITS", str(bits))
    for name, text in SECTIONS.items()
    if name.endswith("BITS")
    for bits in (32, 64)
} | {name: text for name, text in SECTIONS.items() if name.isidentifier() and not name.endswith("BITS")}


def used_helpers(text: str, signature: CSignature) -> str:
    """Return the helpers that a text calls, and those that they call, in the order they stand above."""
    helpers = HELPERS | {"clamp_words": HELPERS["clamp_words"].replace("WORD", signature.type)}
    if signature.register < 32:
        helpers["floor32"] = SECTIONS["small floor32"]
    called: set[str] = set()
    among = text
    while found := {name for name in helpers if re.search(rf"\b{name}\(", among)} - called:
        called |= found
        among = "\n".join(helpers[name] for name in found)
    return (
        "\n".join([SECTIONS["how functions are declared"], *(helpers[name] for name in helpers if name in called)])
        if called
        else ""
    )


def limbs_function(block: int, piece_bits: int, index: str) -> str:
    """Return the function that puts a product together, modulo 2^64, from a table of products of unsigned limbs.

    Magnitudes, piece by piece, then the sign (see `plan.plan.Product`). As many limbs are taken as the words can need,
    so that every state takes the same steps.
    """
    mask = f"UINT64_C({(1 << piece_bits) - 1})"
    return fill(template("limbs.c"), piece_bits=piece_bits, block=block, mask=mask, index=index)


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
