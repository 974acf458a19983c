"""The float front end of an exported model: physical units to words and back, as `words.formats` does it, bit for bit.

No libm either. The remainder of an angle by a turn is exact as fmod's is: the turn is cut into two halves, each times a
number of turns below 2^25 is exact, and so are the differences (see the comment in the code).
"""

from __future__ import annotations

import math

from bddtorque.export.c_signature import CSignature
from bddtorque.export.c_text import real
from bddtorque.export.template_files import fill, template
from bddtorque.words.formats import MAX_TURNS, TURN, TURN_REST, Format

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
    held = "\n".join(f"    {signature.type} {array}_words[{count}];" for array, count in counts.items())
    given, result = list(signature.arrays), signature.result
    quantised = ",\n        ".join(
        f"quantised({array}, {array}_formats, {counts[array]}, {array}_words)" for array in given
    )
    refused = " || ".join(f"(beyond[{k}] < 0)" for k in range(len(given)))
    return fill(
        template("float.c"),
        prefix=prefix,
        defined=defined,
        type=signature.type,
        tables=tables,
        prototype=signature.prototype(prefix, signature.float_function, "double"),
        held=held,
        arrays=len(given),
        quantised=quantised,
        refused=refused,
        function=signature.function,
        words=", ".join(f"{array}_words" for array in arrays),
        count=counts[result],
        result=result,
        total=" + ".join(f"beyond[{k}]" for k in range(len(given))),
    )


def _row(word: Format) -> str:
    numbers = (2.0**word.bits, word.centre, word.lsb, float(word.sign), word.offset)
    limits = [
        real(end) if math.isfinite(end) else "-DBL_MAX" if end < 0 else "DBL_MAX" for end in (word.low, word.high)
    ]
    return f"    {{{int(word.kind == 'angle')}, {', '.join([*map(real, numbers), *limits])}}}"
