"""The blocks of a plan as C: each form's arrays as const tables, and a function ``block_K`` of words that reads them.

Functions are walkers over arrays: the code is the same few lines whatever the table. Form ``ifs`` is the exception:
code without any array (`c_ifs`). No words, however wild, read outside an array: bits above a word's are masked or never
tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice
from bddtorque.export.c_ifs import check_tests, if_code
from bddtorque.export.c_text import ConstantArray, constant_array, statement, unsigned
from bddtorque.model.model import Model
from bddtorque.plan.forms import (
    WORD_FORMS,
    Bits,
    Dense,
    EdgeValued,
    Folded,
    Form,
)
from bddtorque.spec.chips import Chip
from bddtorque.targets.tables.choosing import lower_blocks

EXPORTED_FORMS = ("chosen", *WORD_FORMS, "bits", "ifs")
"""The forms a block can be exported in; ``chosen`` is for each block the one of least cost within the memory, ``ifs``
the diagrams of form ``bits`` as code."""
MAX_BYTES = 512 * 2**20
"""Bytes of all arrays together: text of more is nothing that a compiler reads."""


@dataclass(frozen=True, eq=False)
class BlockCode:
    """A block as C."""

    number: int  # of the block in the plan
    form: str  # name of its form
    constant: bool  # whether every input takes the same operations
    arrays: tuple[ConstantArray, ...]  # const tables
    function: str  # the text of `static int32_t block_K(uint32_t x0, uint32_t x1, ...)`, of input words
    index: str = "uint32_t"  # the type of these

    @property
    def bytes(self) -> int:
        """Bytes of the tables."""
        return sum(array.bytes for array in self.arrays)


def block_codes(model: Model, numbers: Sequence[int], form: str, memory: int, chip: Chip) -> list[BlockCode]:
    """Return some blocks of a model as C, in a form, or each in the form chosen for it within `memory` bytes."""
    tables, diagrams = [model.tables[k] for k in numbers], [model.diagrams[k] for k in numbers]
    widths = [model.plan.blocks[k].input_widths for k in numbers]
    if choice(form, EXPORTED_FORMS, "form") == "ifs":
        walks = [Bits.from_diagram(diagram) for diagram in diagrams]
        check_tests(walks)
        return [_branches(k, walk, each) for k, walk, each in zip(numbers, walks, widths, strict=True)]
    forms = lower_blocks(form, tables, diagrams, memory)
    codes = [_block(k, lowered, each, chip) for k, lowered, each in zip(numbers, forms, widths, strict=True)]
    size = sum(code.bytes for code in codes)
    if size > MAX_BYTES:
        raise BddTorqueError(
            f"tables take {size:,} bytes in this form, but at most {MAX_BYTES:,} can be exported: try another form"
        )
    if chip.largest_tables and size > chip.largest_tables:
        fewer = "compile with fewer bits"
        if model.plan.made_of_tables:
            fewer = "compile with less 'memory', or with target = 'integer'"
        raise BddTorqueError(
            f"tables take {size:,} bytes, but the compiler of chip '{chip.name}' reads at most {chip.largest_tables:,} "
            f"from flash: {fewer}"
        )
    return codes


def _block(k: int, form: Form, widths: Sequence[int], chip: Chip) -> BlockCode:
    name = f"block_{k}"
    narrow = chip.register < 32 and sum(widths) <= 16 and isinstance(form, Dense | Folded)
    index = "uint16_t" if narrow else "uint32_t"
    arrays, body = _code(name, form, index, chip.largest_array)
    reader = ""
    if isinstance(form, Dense | Folded) and _is_cut(arrays[0], chip.largest_array):
        reader = f"{_reader(arrays[0], chip.largest_array, index)}\n"
        arrays = _cut(arrays[0], chip.largest_array)
    for array in arrays:
        if chip.largest_array and array.bytes > chip.largest_array:
            raise BddTorqueError(
                f"table {k} in form '{form.name}' has an array of {array.bytes:,} bytes, but the compiler of chip "
                f"'{chip.name}' takes {chip.largest_array:,} at most: try another form or less memory"
            )
    words = ["index"]
    if len(widths) > 1:
        words = [f"x{place}" for place in range(len(widths))]
        body = [statement(f"const {index} index = ({index})(", _index(words, widths), ");", indent=""), *body]
    function = _function(k, words, body, index, isinstance(form, Dense) and not reader)
    return BlockCode(k, form.name, form.constant, arrays, f"{reader}{function}", index)


def _branches(k: int, form: Bits, widths: Sequence[int]) -> BlockCode:
    """Return a block as tests of the bits of its words: there is no index to put together."""
    words = [f"x{place}" for place in range(len(widths))]
    tests = [
        f"({word} & UINT32_C({1 << bit})) != 0u"
        for word, width in zip(reversed(words), reversed(widths), strict=True)
        for bit in range(width)
    ]
    body = if_code(form, tests)
    tested, low = set(form.positions[1:].tolist()), sum(widths)
    unused = []
    for word, width in zip(words, widths, strict=True):
        low -= width
        if tested.isdisjoint(range(low, low + width)):
            unused.append(f"(void){word};")
    return BlockCode(k, "ifs", False, (), _function(k, words, [*body[:1], *unused, *body[1:]]))


def _function(k: int, words: Sequence[str], body: Sequence[str], index: str = "uint32_t", inline: bool = False) -> str:
    """Return the function of a block; labels stand to the left."""
    lines = "\n".join(line if line.endswith(":") else f"    {line}" if line else "" for line in body)
    given = ", ".join(f"{index} {word}" for word in words)
    return f"static {'inline ' * inline}int32_t block_{k}({given})\n{{\n{lines}\n}}\n"


def _index(words: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return the index of a table: the words side by side, the first one highest; bits above the index are ignored."""
    terms, shift = [], sum(widths)
    for word, width in zip(words, widths, strict=True):
        shift -= width
        low = f"({word} & {_mask(width)})"
        terms.append(f"| ({low} << {shift})" if shift else f"| {low}")
    terms[0] = terms[0].removeprefix("| ")
    return terms


def _code(name: str, form: Form, index: str, largest: int) -> tuple[tuple[ConstantArray, ...], list[str]]:
    """Return the arrays of a form and the statements that look a word up at `index`, a variable of that type.

    Words of a whole or a folded table beyond `largest` bytes are read by a function, since they are cut into pieces.
    """
    match form:
        case Dense(values=values):
            words = constant_array(f"{name}_words", values)
            place = f"index & {_mask(len(values).bit_length() - 1)}"
            return (words,), [f"return (int32_t){_read(words, place, largest)};"]
        case Folded():
            return _folded(name, form, index, largest)
        case EdgeValued():
            return _edge_valued(name, form)
        case Bits():
            return _bits(name, form)
        case _:
            raise BddTorqueError(f"form '{form.name}' cannot be exported")


def _mask(bits: int) -> str:
    return unsigned((1 << bits) - 1)


def _is_cut(array: ConstantArray, largest: int) -> bool:
    """Whether an array is larger than a compiler takes; it takes any if `largest` is 0."""
    return 0 < largest < array.bytes


def _read(array: ConstantArray, place: str, largest: int) -> str:
    """Return the word of an array at a place."""
    return f"{array.name}({place})" if _is_cut(array, largest) else f"{array.name}[{place}]"


def _cut(array: ConstantArray, largest: int) -> tuple[ConstantArray, ...]:
    """Return an array in pieces of 2^n words, none larger than a compiler takes."""
    size = len(array.values)
    step = 1 << (size * largest // array.bytes).bit_length() - 1
    pieces = (array.values[first : first + step] for first in range(0, size, step))
    return tuple(ConstantArray(f"{array.name}_{k}", array.type, piece) for k, piece in enumerate(pieces))


def _reader(array: ConstantArray, largest: int, index: str) -> str:
    """Return a function that reads an array that is cut into pieces."""
    pieces = _cut(array, largest)
    step = len(pieces[0].values)
    low = step.bit_length() - 1
    lines = [f"static {array.type} {array.name}({index} place)", "{", f"    {array.type} word;", ""]
    lines.append(f"    switch (place >> {low}u) {{")
    for k, piece in enumerate(pieces):
        lines.append(f"    case {k}u:" if k < len(pieces) - 1 else "    default:")
        lines += [f"        word = {piece.name}[place & {_mask(low)}];", "        break;"]
    return "\n".join([*lines, "    }", "    return word;", "}", ""])


def _folded(name: str, form: Folded, index: str, largest: int) -> tuple[tuple[ConstantArray, ...], list[str]]:
    """Fold each word of the index by the rules of `diagrams.forms.folded`; signs are decided without any product."""
    words = constant_array(f"{name}_words", form.values)
    rules = [tuple(map(int, rule)) for rule in form.rules]
    shift = sum(rule[0] for rule in rules)
    lines = [f"{index} place = 0u;", f"{index} word;"]
    signed = any(-1 in (first, second) for _, _, _, first, second in rules)
    if signed:
        lines.append("int32_t negative = 0;")
    for bits, length, centre, first, second in rules:
        shift -= bits
        lines.append("")
        lines.append(f"word = ({index})(({index})(index >> {shift}u) & {_mask(bits)});")
        if first:
            half, full = 1 << (bits - 1), 1 << bits
            if centre:
                lines.append(f"word = ({index})((word + {unsigned(full - centre)}) & {_mask(bits)});")
            # above half a turn stand the negative words; the lowest of them has no mirror and is not above
            lines.append(f"if (word > {unsigned(half)}) {{")
            lines.append(f"    word = ({index})({unsigned(full)} - word);")
            lines += ["    negative = 1 - negative;"] if first < 0 else []
            lines.append("}")
            if second:
                lines.append(f"if (word > {unsigned(half >> 1)}) {{")
                lines.append(f"    word = ({index})({unsigned(half)} - word);")
                lines += ["    negative = 1 - negative;"] if second < 0 else []
                lines.append("}")
        lines.append(f"place = ({index})((place * {unsigned(length)}) + word);")
    word = f"(int32_t){_read(words, 'place', largest)}"
    lines += ["", f"return (negative != 0) ? -{word} : {word};" if signed else f"return {word};"]
    return (words,), lines


def _edge_valued(name: str, form: EdgeValued) -> tuple[tuple[ConstantArray, ...], list[str]]:
    """Add the weights on the path, modulo 2^32: the sum is a word of 32 bits again."""
    low, high = -(2**31), 2**31 - 1
    weights = (form.weights.astype(np.int64) - low) % 2**32 + low  # a difference of two words may take 33 bits
    tests = constant_array(f"{name}_tests", form.positions)
    follows = constant_array(f"{name}_follows", form.successors)
    adds = constant_array(f"{name}_adds", weights)
    assert low <= form.offset <= high
    return (tests, follows, adds), [
        f"uint32_t node = UINT32_C({form.root});",
        f"uint32_t total = UINT32_C({form.offset % 2**32});",
        "",
        "while (node != 0u) {",
        f"    const uint32_t side = (index >> {tests.name}[node]) & 1u;",
        f"    const uint32_t weight = (uint32_t){adds.name}[node];",
        "",
        "    total += side * weight;",
        f"    node = {follows.name}[(2u * node) + side];",
        "}",
        "return signed32(total);",
    ]


def _bits(name: str, form: Bits) -> tuple[tuple[ConstantArray, ...], list[str]]:
    """Walk the diagram once for each output bit; the last bit of an edge says whether it complements."""
    count = len(form.roots)
    tests = constant_array(f"{name}_tests", form.positions)
    follows = constant_array(f"{name}_follows", form.successors)
    roots = constant_array(f"{name}_roots", form.roots)
    top = 1 << (count - 1)
    return (tests, follows, roots), [
        "uint32_t word = 0u;",
        "uint32_t bit;",
        "",
        f"for (bit = 0u; bit < {count}u; bit++) {{",
        f"    uint32_t edge = {roots.name}[bit];",
        "",
        "    while (edge > 1u) {",
        f"        const uint32_t side = (index >> {tests.name}[edge >> 1u]) & 1u;",
        "",
        f"        edge = {follows.name}[(edge & ~UINT32_C(1)) | side] ^ (edge & 1u);",
        "    }",
        "    word |= edge << bit;",
        "}",
        f"return (int32_t)(word ^ UINT32_C({top})) - INT32_C({top});" if form.signed else "return (int32_t)word;",
    ]
