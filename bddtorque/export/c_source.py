"""The C file of an exported model: helpers, tables, and one function from words to words."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.export.c_blocks import BlockCode
from bddtorque.export.c_helpers import limbs_function, used_helpers
from bddtorque.export.c_steps import Steps


def source_text(prefix: str, steps: Steps, blocks: Sequence[BlockCode]) -> str:
    """Return the C file."""
    macro = prefix.upper()
    body = "\n".join(steps.lines)
    function = (
        f"int {prefix}_torque_words(const int32_t q[{macro}_JOINTS], const int32_t qd[{macro}_JOINTS],\n"
        f"    const int32_t qdd[{macro}_JOINTS], int32_t tau[{macro}_JOINTS])\n"
        f"{{\n    int outside = 0;\n{body}\n    return outside;\n}}\n"
    )
    tables = "\n".join(_block(block) for block in blocks)
    limbs = "\n".join(limbs_function(block, bits) for block, bits in steps.limbs.items())
    code = "\n".join(part for part in (tables, limbs, function) if part)
    about = f"/* {prefix}.c: see {prefix}.h; written by bddtorque. */\n"
    return "\n".join(part for part in (about + f'#include "{prefix}.h"\n', used_helpers(code), code) if part)


def _block(block: BlockCode) -> str:
    about = f"/* Table {block.number} of the plan, form {block.form.replace('_', '-')}: {block.bytes} bytes. */"
    return "\n".join([about, *(array.text() for array in block.arrays), block.function])
