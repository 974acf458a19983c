"""The files of exported C: the source, the float front end, the Makefile, and what makes a library of them.

The few functions that generated C is written with: only those that are used are written out. Arithmetic is modulo 2^32
or 2^64, in unsigned numbers, where C defines it. Bits become a signed number by a conversion that wraps, as compilers
for two's complement machines have it; MISRA C:2012 leaves no other way that costs nothing. C99 leaves open what `>>`
makes of a negative number: `floor` divides instead, for which compilers take the one instruction that shifts; avr-gcc
sees that in another expression than the others do.

The float front end turns physical units into words and back, as `words.formats` does it, bit for bit. No libm either.
The remainder of an angle by a turn is exact as fmod's is: the turn is cut into two halves, each times a number of turns
below 2^25 is exact, and so are the differences (see the comment in the code).

A library is one that a stock project takes: for the Arduino IDE, PlatformIO, CMake or Zephyr.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from bddtorque.base.version import __version__
from bddtorque.export.c_blocks import PRAGMA, BlockCode
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_steps import Steps
from bddtorque.export.c_text import real
from bddtorque.export.folder import fill, template, template_sections
from bddtorque.words.formats import MAX_TURNS, TURN, TURN_REST, Format

SECTIONS = template_sections("helpers.c")
CALLS = " calls "
"""Stands in the title of a helper between its name and that of the one that it calls, which stands above it."""
HELPERS = {
    title.partition(CALLS)[0]: (title.partition(CALLS)[2], text.replace("BITS", bits))
    for section, text in SECTIONS.items()
    for bits in (("32", "64") if "BITS" in section else ("",))
    for title in [section.replace("BITS", bits)]
    if title.partition(CALLS)[0].isidentifier()
}
"""By name: the helper that it calls, if any, and its text."""


def used_helpers(calls: Iterable[str], signature: CSignature) -> str:
    """Return the helpers among functions that are called, and those that they call, in the order they stand above."""
    used = set(calls)
    for name, (called, _) in reversed(HELPERS.items()):
        used |= {called} if name in used else set()
    texts = {name: text for name, (_, text) in HELPERS.items() if name in used}
    for name in {"clamp_words", "clamp_natural", "clamp_unsigned"} & texts.keys():
        texts[name] = texts[name].replace("WORD", f"int{signature.bits}_t").replace("Uint", "uint")
    if "floor32" in texts and signature.register < 32:
        texts["floor32"] = SECTIONS["small floor32"]
    return "\n".join([SECTIONS["how functions are declared"], *texts.values()]) if texts else ""


def partial_products_function(block: int, piece_bits: int, index: str) -> str:
    """Return the function that puts a product together, modulo 2^64, from a table of products of unsigned pieces.

    Magnitudes, piece by piece, then the sign (see `plan.plan.Product`). As many pieces are taken as the words can need,
    so that every state takes the same steps.
    """
    mask = f"UINT64_C({(1 << piece_bits) - 1})"
    return fill(template("partial_products.c"), piece_bits=piece_bits, block=block, mask=mask, index=index)


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
    products = "\n".join(
        partial_products_function(block, bits, indices[block]) for block, bits in steps.partial_products.items()
    )
    arrays = "\n".join(array.text() for array in steps.arrays)
    helpers = used_helpers(steps.calls.union(*(block.calls for block in blocks)), signature)
    first = f'/* {prefix}.c: see {prefix}.h; written by bddtorque. */\n#include "{prefix}.h"\n'
    pragma = PRAGMA if any(block.form == "ifs" for block in blocks) else ""
    rom = ROM if steps.arrays or any(block.arrays for block in blocks) else ""
    parts = (first, steps.preamble, pragma, rom, helpers, arrays, steps.functions, tables, products, function)
    return "\n".join(part for part in parts if part)


def _block_text(block: BlockCode) -> str:
    size = f": {block.bytes} bytes" if block.arrays else ""
    about = f"/* Table {block.number} of the plan, form {block.form.replace('_', '-')}{size}. */"
    return "\n".join([about, *(array.text() for array in block.arrays), block.function])


def makefile_text(prefix: str, floats: bool, libraries: str) -> str:
    """Return the Makefile: the object files, the self-test, their size."""
    objects = " ".join([f"{prefix}.o", *([f"{prefix}_float.o"] if floats else [])])
    return fill(template("c.mk"), objects=objects, prefix=prefix, libraries=libraries)


SPLIT = 2.0**23
"""The first half of the turn is a multiple of 2^-23, of 26 bits."""
TURN_HIGH = math.floor(TURN * SPLIT) / SPLIT
TURN_LOW = TURN - TURN_HIGH


def floats_text(prefix: str, signature: CSignature) -> str:
    """Return the C file of the float front end of a function of words."""
    arrays = {**signature.arrays, signature.result: signature.outputs}
    counts = {array: signature.count(prefix, array) for array in arrays}
    tables = "\n".join(
        f"static const struct format {array}_formats[{counts[array]}] = {{\n{rows}\n}};\n"
        for array, formats in arrays.items()
        for rows in [",\n".join(map(_row, formats))]
    )
    constants = {"TURN": TURN, "TURN_HIGH": TURN_HIGH, "TURN_LOW": TURN_LOW, "TURN_REST": TURN_REST}
    constants["MAX_ANGLE"] = MAX_TURNS * TURN
    defined = "\n".join(f"#define {name} {real(value)}" for name, value in constants.items())
    held = "\n".join(f"    {signature.type_of(array)} {array}_words[{count}];" for array, count in counts.items())
    given, result = list(signature.arrays), signature.result
    quantised = ",\n        ".join(
        f"quantised({array}, {array}_formats, {counts[array]}, {array}_words)" for array in given
    )
    refused = " || ".join(f"(beyond[{k}] < 0)" for k in range(len(given)))
    return fill(
        template("float.c"),
        prefix=prefix,
        defined=defined,
        type=signature.type_of(given[0]) if given else signature.type_of(result),
        tables=tables,
        prototype=signature.prototype(prefix, signature.float_function(prefix), "double"),
        held=held,
        arrays=len(given),
        quantised=quantised,
        refused=refused,
        function=signature.function(prefix),
        words=", ".join(f"{array}_words" for array in arrays),
        count=counts[result],
        result=result,
        total=" + ".join(f"beyond[{k}]" for k in range(len(given))),
    )


def _row(word: Format) -> str:
    numbers = (2.0**word.bits, float(word.lowest), word.centre, word.lsb, float(word.sign), word.offset)
    limits = [
        real(end) if math.isfinite(end) else "-DBL_MAX" if end < 0 else "DBL_MAX" for end in (word.low, word.high)
    ]
    return f"    {{{int(word.kind == 'angle')}, {', '.join([*map(real, numbers), *limits])}}}"


KCONFIG = """\
config {macro}
\tbool "{prefix}: words of torques with a proved error, written by bddtorque"
\tdefault y
"""


def packaged(
    package: str, files: Mapping[str, str], prefix: str, signature: CSignature, libraries: str
) -> dict[str, str]:
    """Return the files of a library from those of a plain export: sources in ``src/``, and an example."""
    sources = {f"src/{name}": text for name, text in files.items() if name.endswith((".c", ".h"))}
    example = {"examples/main.c": _example("main.c", prefix, signature)}
    selftest = sources.pop(f"src/{prefix}_selftest.c")
    if package == "arduino":
        return {
            "library.properties": fill(template("library.properties"), prefix=prefix, __version__=__version__),
            "keywords.txt": f"{signature.function(prefix)}\tKEYWORD2\n",
            **sources,
            f"examples/{prefix}_words/{prefix}_words.ino": _example("sketch.ino", prefix, signature),
        }
    if package == "platformio":
        return {
            "library.json": _platformio(prefix),
            **sources,
            **example,
        }
    names = " ".join(name for name in sources if name.endswith(".c"))
    if package == "zephyr":
        return {
            "zephyr/module.yml": f"name: {prefix}\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\n",
            "zephyr/Kconfig": KCONFIG.format(macro=prefix.upper(), prefix=prefix),
            "zephyr/CMakeLists.txt": _zephyr(prefix, [name for name in sources if name.endswith(".c")]),
            **sources,
            **example,
        }
    return {
        "CMakeLists.txt": _cmake(prefix, names, libraries),
        **sources,
        f"tests/{prefix}_selftest.c": selftest,
        **example,
    }


def _example(name: str, prefix: str, signature: CSignature) -> str:
    """Return an example that calls the function with all arrays zero, from a template."""
    declared = [
        f"static const {signature.type_of(array)} {array}[{signature.count(prefix, array)}] = {{0}};"
        for array in signature.arrays
    ]
    result = signature.result
    declared.append(f"static {signature.type_of(result)} {result}[{signature.count(prefix, result)}];")
    given = ", ".join([*signature.arrays, result])
    return fill(
        template(name), prefix=prefix, declared="\n".join(declared), function=signature.function(prefix), given=given,
        result=result,
    )  # fmt: skip


def _platformio(prefix: str) -> str:
    described = {
        "name": prefix,
        "version": "1.0.0",
        "description": "Fixed-point words in, fixed-point words out, with a proved error. Written by bddtorque.",
        "frameworks": "*",
        "platforms": "*",
        "headers": f"{prefix}.h",
        "build": {"srcDir": "src", "includeDir": "src"},
    }
    return json.dumps(described, indent=2) + "\n"


def _zephyr(prefix: str, names: Sequence[str]) -> str:
    listed = " ".join(f"${{CMAKE_CURRENT_LIST_DIR}}/../{name}" for name in names)
    return fill(template("zephyr.cmake"), macro=prefix.upper(), prefix=prefix, listed=listed)


def _cmake(prefix: str, names: str, libraries: str) -> str:
    linked = f"target_link_libraries({prefix} PUBLIC m)\n" if libraries else ""
    return fill(template("CMakeLists.txt"), prefix=prefix, names=names, linked=linked)
