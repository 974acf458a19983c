"""The blocks of a plan as C: each form's arrays as const tables, and a function ``block_K`` of words that reads them.

Functions are walkers over arrays: the code is the same few lines whatever the table. Form ``ifs`` is the exception:
code without any array. No words, however wild, read outside an array: bits above a word's are masked or never
tested.

Form ``ifs``: Blocks as test-and-branch code: the IF-THEN-ELSE of the Boolean/BDD paper, one diagram per output bit.

A node is a test of one input bit and a branch to either successor. Nodes that several paths of an output bit reach are
written once and jumped to. Complement edges are opened: a node that is reached both plain and complemented stands there
twice, so that no path carries a sign. Output bits share no code, since each continues with the next bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import njit
from bddtorque.base.plain import choice
from bddtorque.export.c_text import ConstantArray, constant_array, statement, unsigned
from bddtorque.model.model import Model
from bddtorque.plan.forms import (
    WORD_FORMS,
    Bits,
    Dense,
    EdgeValued,
    Folded,
    Form,
    Runs,
)
from bddtorque.plan.plan_cost import look_ups
from bddtorque.plan.table import Int32Array
from bddtorque.spec.chips import Chip
from bddtorque.targets.tables.cost import lower_blocks, smaller_forms

MAX_TESTS = 50_000
"""Tests of all blocks together: gcc takes a minute or two for so many, and the flash of a small chip ends before."""
BYTES_A_TEST = 9
"""Of object code, as an estimate: gcc makes 6 to 7 on AVR, 7 to 9 in Thumb, 10 to 11 on x86-64."""
PRAGMA = """\
#if defined(__GNUC__) && !defined(__clang__)
/* Passes that look for a better way through so many branches take minutes and find none. */
#pragma GCC optimize ("O1", "no-thread-jumps", "no-tree-fre", "no-tree-dominator-opts")
#endif
"""


def check_tests(forms: Sequence[Bits]) -> None:
    """Refuse blocks that would take too much code, and say how much."""
    tests = sum(int(reached_edges(form.successors, form.roots)[:, 2:].sum()) for form in forms)
    if tests > MAX_TESTS:
        raise BddTorqueError(
            f"form 'ifs' would take {tests:,} tests, about {tests * BYTES_A_TEST:,} bytes of code, and at most "
            f"{MAX_TESTS:,} tests can be exported: compile with fewer bits or a smaller block_bits, or use form 'bits'"
        )


def reached_edges(successors: Int32Array, roots: Int32Array) -> npt.NDArray[np.bool_]:
    """Return which edges are followed from each root, shape ``(output_bits, 2 * (nodes + 1))``."""
    reached = np.zeros((len(roots), len(successors)), np.bool_)
    _reach(successors, roots, reached)
    return reached


@njit
def _reach(successors: Int32Array, roots: Int32Array, reached: npt.NDArray[np.bool_]) -> None:
    for bit in range(len(roots)):
        reached[bit, roots[bit]] = True
        for edge in range(len(successors) - 1, 1, -1):  # children have smaller numbers
            if reached[bit, edge]:
                sign = edge & 1
                reached[bit, successors[edge & ~1] ^ sign] = True
                reached[bit, successors[edge | 1] ^ sign] = True


def if_code(form: Bits, tests: Sequence[str]) -> list[str]:
    """Return the statements that find a word bit by bit.

    `form`: the diagrams; `tests`: for each position of the index, 0 = least significant: an expression that is not zero
    if that bit is set.
    """
    lines = ["uint32_t word = 0;", ""]
    top = len(form.roots) - 1
    waiting = False  # the label that ends a bit stands before whatever comes next
    for bit, root in enumerate(form.roots.tolist()):
        bits = (1 << 32) - (1 << bit) if form.signed and bit == top else 1 << bit
        if waiting:
            lines.append(f"end_{bit - 1}:")
        waiting = False
        if root > 1:
            body, waiting = _tests(form, bit, root, tests)
            lines += body
        if root:
            lines.append(f"word |= UINT32_C({bits});")
    if waiting:
        lines.append(f"end_{top}:")
    return [*lines, "return signed32(word);" if form.signed else "return (int32_t)word;"]


def _tests(form: Bits, bit: int, root: int, tests: Sequence[str]) -> tuple[list[str], bool]:
    """Return the tests of an output bit, and whether one jumps to its end.

    What follows the tests sets the bit, and ``end_BIT`` comes after that.
    """
    successors, positions = form.successors.tolist(), form.positions.tolist()
    order: list[int] = []
    seen, stack = {0, 1}, [root]
    while stack:  # a path first, so that one of the two successors mostly comes next
        edge = stack.pop()
        if edge not in seen:
            seen.add(edge)
            order.append(edge)
            stack += [successors[edge | 1] ^ (edge & 1), successors[edge & ~1] ^ (edge & 1)]
    order.append(1)  # what is true falls out of the tests
    branches: dict[int, list[tuple[str, int]]] = {}  # of each edge: conditions, and where they jump to
    for edge, following in pairwise(order):
        low, high = (successors[place] ^ (edge & 1) for place in (edge & ~1, edge | 1))
        test = tests[positions[edge >> 1]]
        if high == following:
            branches[edge] = [(f"if (!({test})) ", low)]
        else:
            branches[edge] = [(f"if ({test}) ", high), *([("", low)] if low != following else [])]
    jumps = {place for taken in branches.values() for _, place in taken}
    lines: list[str] = []
    for edge in order:
        lines += [f"{_label(bit, edge)}:"] if edge in jumps else []
        lines += [f"{test}goto {_label(bit, place)};" for test, place in branches.get(edge, ())]
    return lines, 0 in jumps


def _label(bit: int, edge: int) -> str:
    """Return the label of an edge within an output bit: true is where the bit is set, false is its end."""
    return f"end_{bit}" if edge == 0 else f"set_{bit}" if edge == 1 else f"bit_{bit}_{edge}"


EXPORTED_FORMS = ("chosen", *WORD_FORMS, "bits", "ifs")
"""The forms a block can be exported in; ``chosen`` is for each block the one of least cost within the memory, ``ifs``
the diagrams of form ``bits`` as code."""
SPARE_CYCLES = 1 / 48
"""Of all cycles, for smaller tables where nobody asked for any: what is lost is less than between two compilers."""
FEW_RUNS = 8
"""Runs of equal words that an index is compared with one by one."""
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
    calls: frozenset[str] = frozenset()  # names of the helper functions that it calls

    @property
    def bytes(self) -> int:
        """Bytes of the tables."""
        return sum(array.bytes for array in self.arrays)


def block_codes(
    model: Model, numbers: Sequence[int], form: str, memory: int, chip: Chip, code_bytes: int = 0
) -> list[BlockCode]:
    """Return some blocks of a model as C, in a form, or each in the form chosen for it within `memory` bytes.

    `code_bytes` is what the rest of the code takes, about; 0 if nobody knows.
    """
    tables, diagrams = [model.tables[k] for k in numbers], [model.diagrams[k] for k in numbers]
    widths = [model.plan.blocks[k].input_widths for k in numbers]
    if choice(form, EXPORTED_FORMS, "form") == "ifs":
        walks = [Bits.from_diagram(diagram) for diagram in diagrams]
        check_tests(walks)
        return [_branches(k, walk, each) for k, walk, each in zip(numbers, walks, widths, strict=True)]
    forms = lower_blocks(form, tables, diagrams, memory)
    if form == "chosen":
        counts = look_ups(model.plan, native=True)
        spare = code_bytes / chip.code_per_cycle * SPARE_CYCLES
        forms = smaller_forms(forms, tables, [counts[k] for k in numbers], chip, spare)
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
    narrow = chip.register < 32 and sum(widths) <= 16 and isinstance(form, Dense | Folded | Runs)
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
    calls = {"signed32"} if any("signed32" in line for line in body) else set()
    inline = isinstance(form, Dense | Runs) or (isinstance(form, Folded) and index == "uint32_t")
    function = _function(k, words, body, index, inline and not reader)
    return BlockCode(k, form.name, form.constant, arrays, f"{reader}{function}", index, frozenset(calls))


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
    function = _function(k, words, [*body[:1], *unused, *body[1:]])
    return BlockCode(k, "ifs", False, (), function, calls=frozenset({"signed32"} if form.signed else ()))


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
            wave = _quarter_wave(name, form) if index == "uint32_t" and not largest else None
            return wave or _folded(name, form, index, largest)
        case Runs():
            return _runs(name, form, index)
        case EdgeValued():
            return _edge_valued(name, form)
        case Bits():
            return _bits(name, form)
        case _:
            raise BddTorqueError(f"form '{form.name}' cannot be exported")


def _mask(bits: int) -> str:
    return unsigned((1 << bits) - 1)


def _is_cut(array: ConstantArray, largest: int) -> bool:
    """Tell if an array is larger than a compiler takes; it takes any if `largest` is 0."""
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


def _quarter_wave(name: str, form: Folded) -> tuple[tuple[ConstantArray, ...], list[str]] | None:
    """Read a quarter wave without branches, by the distance from the middle of the half turn that the index lies in.

    None for other folds, and where an end of the quarter does not have the sign that its side has.
    """
    (bits, length, centre, first, second), *others = (tuple(map(int, rule)) for rule in form.rules)
    ends = (first < 0 and form.values[0]) or (second < 0 and form.values[-1])
    if others or centre or not second or bits < 3 or ends:
        return None
    words, quarter = constant_array(f"{name}_words", form.values[::-1]), length - 1
    lines = [
        f"const int32_t off = (int32_t)(index & {_mask(bits - 1)}) - {quarter};",
        f"const int32_t word = (int32_t){words.name}[(off < 0) ? -off : off];",
    ]
    # quarters of the other sign: the middle ones of an even function, the last ones of an odd one, else every other
    at, shift = (f"(index + {unsigned(quarter)})", bits - 2) if first > 0 else ("index", bits - 2 - (second < 0))
    sign = "" if first == second == 1 else f" * (1 - (int32_t)(({at} >> {shift}u) & 2u))"
    return (words,), [*lines, f"return word{sign};"]


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


def _runs(name: str, form: Runs, index: str) -> tuple[tuple[ConstantArray, ...], list[str]]:
    """Find the run of an index: by comparing it with all starts if they are few, else by halving."""
    words, starts = constant_array(f"{name}_words", form.values), form.starts.tolist()
    lines = [f"const {index} word = ({index})(index & {_mask(form.input_bits)});", "uint32_t run = 0u;"]
    if len(starts) <= FEW_RUNS:
        lines += [f"run += (word >= {unsigned(start)}) ? 1u : 0u;" for start in starts[1:]]
        return (words,), [*lines, f"return (int32_t){words.name}[run];"]
    begins = constant_array(f"{name}_starts", form.starts)
    lines += [
        "uint32_t step;",
        "",
        f"for (step = {1 << form.steps >> 1}u; step != 0u; step >>= 1u) {{",
        f"    if (((run + step) < {len(starts)}u) && (word >= {begins.name}[run + step])) {{",
        "        run += step;",
        "    }",
        "}",
        f"return (int32_t){words.name}[run];",
    ]
    return (words, begins), lines


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
